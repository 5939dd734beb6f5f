"""Grids of one kind and any size: stretches of five bridges, with streams from the first to the last one.

Every frame makes six hops whatever the size, so that what a frame-hop costs can be compared.
"""

from __future__ import annotations

from pathlib import Path

from tsnbench.scenario import load
from tsnbench.scenario.model import Scenario

STRETCH = 5
"""Bridges of a stretch."""
STREAMS = 100
"""Streams of a stretch; each sends 1000 frames per second over 6 hops."""
SIZES = {10: (1, 1), 100: (5, 2), 1000: (20, 5)}
"""Nodes, bridges and stations together: rows of the grid and stretches of a row."""
FRAME_HOPS = 6_000_000


def grid(nodes: int, folder: Path) -> Scenario:
    """The grid with so many nodes, for as long as gives about :data:`FRAME_HOPS`."""
    rows, stretches = SIZES[nodes]
    name = f"grid-{nodes}"
    pace = rows * stretches * STREAMS * 1_000 * (STRETCH + 1)
    lines = [
        f"name: bench-{name}",
        f"duration: {FRAME_HOPS * 1_000 // pace} ms",
        f"network: {{grid: {{rows: {rows}, columns: {stretches * STRETCH}, stations: 1, rate: 1 Gbit/s}}}}",
        "streams:",
    ]
    for row in range(1, rows + 1):
        for first in range(1, stretches * STRETCH, STRETCH):
            ends = f"from: station{row}.{first}, to: station{row}.{first + STRETCH - 1}"
            rest = f"pcp: 3, frame: 100 B, period: 1 ms, offset: {7 * row + 3 * first} us, count: {STREAMS}"
            lines.append(f"  s{row}-{first}: {{{ends}, {rest}}}")
    file = folder / f"{name}.yaml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load(file)
