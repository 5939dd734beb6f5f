"""The smallest defect that each test of ``tsnbench conform`` finds in all of its draws, on the simulator.

Defects become half as large until one draw does not fail its own test. ``PYTHONPATH=tests python
benches/device_limits.py [DRAWS [TEST…]]`` prints the table of docs/guides/conform.md; 20 draws take minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from support.device_defects import BOUNDARY, CHANGES, GATE, METER, PTP, RING
from support.devices import bench, lab, results

BRIDGE = """\
name: lab
duration: 10 ms
seed: 1
network:
  stations: [t1, t2, robot]
  bridge switch: {processing: 2000 ns, queues: {limit-frames: 50}}
  links: {rate: 100 Mbit/s, cable: 5 m, between: [t1 -- switch, t2 -- switch, switch -- robot]}
streams:
  loop: {from: t1, to: robot, pcp: 6, frame: 600 B, period: 1 ms}
shapers: {switch -> robot: {cbs: {6: {bandwidth: 10000 kbit/s}}}}
"""


def moved(text: str, before: str, after: str) -> str:
    """A text with another value, which must be in it."""
    assert before in text, before
    return text.replace(before, after)


def slower(by: int) -> str:
    """The list of the lab with a cycle that is longer."""
    return moved(lab(), "800 us", f"{800_000 + by} ns")


def shorter(by: int) -> str:
    """The first entry shorter, and the second one longer."""
    return moved(moved(lab(), "200 us", f"{200_000 - by} ns"), "800 us", f"{800_000 + by} ns")


def closing(by: int) -> str:
    """The first entry shorter, and all gates closed until the second one."""
    entry = f"{{open: [6], for: {200_000 - by} ns}}, {{open: none, for: {by} ns}}"
    return moved(lab(), "{open: [6], for: 200 us}", entry)


DEFECTS: dict[str, tuple[str, str, Callable[[int], str], int]] = {
    "gates.edge": (lab(), "ns late", lambda by: moved(lab(), "30 us", f"{30_000 + by} ns"), 4096),
    "gates.cycle": (lab(), "ns longer", slower, 512),
    "gates.entry": (lab(), "ns shorter", shorter, 4096),
    "gates.close": (lab(), "ns earlier", closing, 32768),
    "forwarding.residence": (
        BRIDGE, "ns longer", lambda by: moved(BRIDGE, "2000 ns", f"{2000 + by} ns"), 512,
    ),
    "cbs.slope": (
        BRIDGE, "kbit/s of 10 Mbit/s", lambda by: moved(BRIDGE, "10000 kbit/s", f"{10_000 + by} kbit/s"), 512,
    ),
    "cbs.burst": (
        BRIDGE,
        "bit of 978 less",
        lambda by: moved(BRIDGE, "kbit/s}", f"kbit/s, hi-credit: {978 - by} bit}}"),
        512,
    ),
    "gates.change": (
        CHANGES, "ns later", lambda by: moved(CHANGES, "30100 us", f"{30_100_000 + by} ns"), 64,
    ),
    "psfp.gate": (GATE, "ns late", lambda by: moved(GATE, "10 us", f"{10_000 + by} ns"), 8192),
    "psfp.meter": (
        METER, "kbit/s of 10 Mbit/s", lambda by: moved(METER, "10 Mbit/s", f"{10_000 + by} kbit/s"), 256,
    ),
    "frer.gap": (
        RING,
        "of 32 numbers less",
        lambda by: moved(RING, "at: switch", f"at: switch, history: {32 - by}"),
        16,
    ),
    "frer.rogue": (
        RING,
        "numbers more than 32",
        lambda by: moved(RING, "at: switch", f"at: switch, history: {32 + by}"),
        64,
    ),
    "frer.reset": (RING, "us longer than 50 ms", lambda by: moved(RING, "50 ms", f"{50_000 + by} us"), 1024),
    "ptp.correction": (
        PTP,
        "ns",
        lambda by: moved(PTP, "seed: 1\n", f"seed: 1\nfaults: [{{delay: {by} ns, on: gm -> switch}}]\n"),
        128,
    ),
    "ptp.time": (
        BOUNDARY,
        "ns of delay at one side of 200 ns within",
        lambda by: moved(BOUNDARY, "seed: 1\n", f"seed: 1\nfaults: [{{delay: {by} ns, on: gm -> switch}}]\n"),
        2048,
    ),
    "queue.depth": (
        BRIDGE, "frames of 50 less", lambda by: moved(BRIDGE, "frames: 50", f"frames: {50 - by}"), 32,
    ),
}  # fmt: skip
"""By test: the lab, the unit, the device with a defect of a size, and the largest size."""


def found(test: str, size: int, draws: int, folder: Path) -> int:
    """In how many draws the test fails."""
    expected, _, device, _ = DEFECTS[test]
    hits = 0
    for seed in range(1, draws + 1):
        own = bench(
            expected,
            device(size).replace("seed: 1", f"seed: {seed}"),
            ["switch -> robot", "switch -> t1"] if expected is BRIDGE else ["switch -> robot"],
        )
        rows = results(own, folder / f"{test}-{size}-{seed}", [test.partition(".")[0]])
        hits += any(one.test == test and one.verdict == "fail" for one in rows)
    return hits


def main() -> None:
    """Prints a row for each test."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    chosen = sys.argv[2:] or list(DEFECTS)
    print("| test | smallest defect found in all draws | next smaller one |\n|---|---|---|")
    with TemporaryDirectory() as scratch:
        for test in chosen:
            _, unit, _, size = DEFECTS[test]
            least, hits = None, draws
            while size and hits == draws:
                hits = found(test, size, draws, Path(scratch))
                least, size = (size, size // 2) if hits == draws else (least, size)
            missed = f"{size} {unit}: {hits} of {draws}" if hits < draws else "\u2013"
            print(f"| `{test}` | {least} {unit} | {missed} |", flush=True)


if __name__ == "__main__":
    main()
