"""Defects of filters, of merging member streams and of pre-emption, each found by its own test alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.devices import bench, lab, results, verdicts
from support.profile import PROFILE

SEEDS = 20 if PROFILE == "nightly" else 1
METER = "{at: talker -> switch, streams: [loop], meter: {cir: 10 Mbit/s, cbs: 3000 B}}"
GATE = (
    "{at: talker -> switch, streams: [loop], gate: {base-time: 10 us, "
    "entries: [{for: 300 us}, {open: false, for: 700 us}]}}"
)
CLOSES = GATE.replace("gate: {", "gate: {close-on-invalid: true, ")
RED = METER.replace("3000 B", "3000 B, mark-all-red: true")
SDU = "{at: talker -> switch, streams: [loop], max-sdu: 200 B}"


def text(policing: str) -> str:
    return lab(f"policing: [{policing}]\n".replace("{", "{{").replace("}", "}}"))


DEFECTS = [
    ("psfp.meter", METER, METER.replace("10 Mbit/s", "20 Mbit/s")),
    ("psfp.meter", METER, METER.replace("10 Mbit/s", "9.8 Mbit/s")),
    ("psfp.meter", METER, METER.replace("3000 B", "6000 B")),
    ("psfp.gate", GATE, GATE.replace("10 us", "15 us")),
    ("psfp.gate", GATE, GATE.replace("for: 300 us", "for: 310 us").replace("700", "690")),
    ("psfp.gate", GATE, GATE.replace("open: false, ", "")),
    ("psfp.sdu", SDU, SDU.replace("200 B", "201 B")),
    ("psfp.sdu", SDU, SDU.replace("200 B", "199 B")),
    ("psfp.sdu", SDU, SDU.replace("200 B}", "200 B, block-oversize: true}")),
    ("psfp.block", SDU.replace("200 B}", "200 B, block-oversize: true}"), SDU),
    ("psfp.block", CLOSES, GATE),
    ("psfp.gate", CLOSES, CLOSES.replace("for: 300 us", "for: 290 us").replace("700", "710")),
    ("psfp.block", RED, METER),
    ("psfp.meter", RED, RED.replace("3000 B", "6000 B")),
]


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
@pytest.mark.parametrize(("test", "expected", "device"), DEFECTS)
def test_a_defect_is_found_by_its_own_test_alone(
    test: str, expected: str, device: str, seed: int, tmp_path: Path
) -> None:
    own = bench(text(expected), text(device).replace("seed: 1", f"seed: {seed}"), ["switch -> robot"])
    found = verdicts(results(own, tmp_path, ["psfp"]))
    assert [name for name, verdict in found.items() if verdict == "fail"] == [test]


@pytest.mark.parametrize(("test", "expected"), {one: own for one, own, _ in DEFECTS}.items())
@pytest.mark.parametrize("rate", ["10 Mbit/s", "1 Gbit/s"])
def test_a_device_without_a_defect_passes(test: str, expected: str, rate: str, tmp_path: Path) -> None:
    scenario = text(expected).replace("rate: 100 Mbit/s", f"rate: {rate}").replace("cir: 10", "cir: 2")
    found = verdicts(results(bench(scenario, only=["switch -> robot"]), tmp_path, ["psfp"]))
    assert {verdict: name for name, verdict in found.items() if verdict != "not-offered"} == {"pass": test}


RING = """\
name: ring
duration: 10 ms
network:
  stations: [talker, robot]
  bridges: {fast: {}, slow: {processing: 450 us}, switch: {}}
  links:
    rate: 100 Mbit/s
    between: [talker -- fast, talker -- slow, fast -- switch, slow -- switch, switch -- robot]
streams:
  door: {from: talker, to: robot, period: 100 us, frame: 100 B, frer: {disjoint: 2, at: switch}}
"""


@pytest.mark.parametrize(
    ("device", "failed"),
    [
        (RING, []),
        (RING.replace("at: switch", "at: switch, recovery: match"), ["frer.eliminate"]),
        (RING + "faults: [{loss: 2 %, on: switch -> robot}]\n", ["frer.complete"]),
    ],
)
def test_numbers_leave_once(device: str, failed: list[str], tmp_path: Path) -> None:
    found = verdicts(results(bench(RING, device, ["switch -> robot"]), tmp_path, ["frer"]))
    assert [name for name, verdict in found.items() if verdict != "pass"] == failed


CUT = """\
name: cut
duration: 10 ms
network:
  stations: [t1, t2, robot]
  bridges: [switch]
  links: {rate: 100 Mbit/s, between: [t1 -- switch, t2 -- switch, switch -- robot]}
streams: {loop: {from: t1, to: robot, pcp: 6, frame: 600 B, period: 1 ms}}
shapers: {switch -> robot: {preemption: {express: [7]}}}
"""


@pytest.mark.parametrize(
    ("device", "failed"),
    [
        (CUT, []),
        (CUT[: CUT.index("shapers")], ["preempt.express"]),
        (CUT.replace("[7]", "[6]"), ["preempt.express"]),
    ],
)
def test_express_frames_interrupt(device: str, failed: list[str], tmp_path: Path) -> None:
    found = verdicts(results(bench(CUT, device, ["switch -> robot"]), tmp_path, ["preempt"]))
    assert [name for name, verdict in found.items() if verdict != "pass"] == failed
