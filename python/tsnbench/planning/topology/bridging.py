"""Nodes: their processing times, and the memory that their ports share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Node
from tsnbench.planning.parts import without_none
from tsnbench.planning.streams import recording
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Buffer, Further, Learning, ListFurther

MOST_VALUES = 1 << 16
"""Different times that one node's table may have."""

_PLURAL = {"station": "stations", "bridge": "bridges", "host": "hosts"}


def planned_node(draft: Draft, name: str, node: model.Node) -> Node:
    """The node; mistakes in its table of times are reported."""
    least = node.processing
    further: Further | None = None
    spread = node.processing_jitter
    if spread is not None and spread.up_to is not None:
        further = {"kind": "uniform", "up_to_ns": spread.up_to}
    elif spread is not None and spread.file is None:
        further = {"kind": "list", "values_ns": sorted(spread.values)}
    elif spread is not None and spread.file is not None:
        try:
            least, further = _measured(Path(spread.file))
        except recording.RecordingError as error:
            found = f"{Path(spread.file).name}, which {error}"
            path = key_of(draft.scenario, name, "processing")
            draft.problem(path, "a table of processing times", found)
    if spread is not None and spread.per_octet and further is not None and further["kind"] == "list":
        # The largest frame is known when all sizes are: size_flows fills it.
        further = {**further, "kind": "per-octet", "per_octet_ps": spread.per_octet, "most_octets": 0}
    buffer: Buffer | None = None
    if node.buffer is not None:
        buffer = without_none({"octets": node.buffer.size, "alpha_permille": node.buffer.alpha})
    learning: Learning | None = None if node.learning is None else {"ageing_ns": node.learning}
    return Node(name, node.kind, least, node.cut_through, further, buffer, learning)


def key_of(scenario: model.Scenario, name: str, key: str) -> str:
    """The path of a node's key."""
    # A node is written among its kind, or alone: bridges: {dut: …}, or bridge dut: ….
    kind = scenario.network.nodes[name].kind
    alone, among = f"network.{kind} {name}", f"network.{_PLURAL[kind]}.{name}"
    is_alone = scenario.where(alone) != scenario.where("network")
    return f"{alone if is_alone else among}.{key}"


def _measured(path: Path) -> tuple[int, ListFurther]:
    """The least time, and the differences of the others from it, with their counts."""
    counts: dict[int, int] = {}
    for time, count in recording.read_times(path):
        counts[time] = counts.get(time, 0) + count
    counts = {time: count for time, count in sorted(counts.items()) if count}
    if not 1 <= len(counts) <= MOST_VALUES:
        raise recording.RecordingError(f"has {len(counts)} different times, not 1 to {MOST_VALUES}")
    least = min(counts)
    further: ListFurther = {"kind": "list", "values_ns": [time - least for time in counts]}
    if len(set(counts.values())) > 1:
        further["counts"] = list(counts.values())
    return least, further
