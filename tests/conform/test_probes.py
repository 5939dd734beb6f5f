"""Probes of all priorities, on the simulator: in which windows they leave is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.devices import lab
from tsnbench import Simulation
from tsnbench.conform import probes
from tsnbench.conform.prove import probed
from tsnbench.discover.gate_times import gate_times
from tsnbench.discover.running import Shaping
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

ENTRIES = ((0b010, 200_000), (0b001, 500_000), (0b100, 300_000))
CLASS_OF = (0, 0, 0, 0, 0, 2, 1, 1)
SHAPING = Shaping(
    "taprio",
    CLASS_OF,
    (None,) * 3,
    gates=gate_times(0, 1_000_000, [(length, frozenset()) for _, length in ENTRIES]),
    flags=2,
    entries=ENTRIES,
    cycle_ns=1_000_000,
)
DEVICE = """\
shapers:
  switch -> robot:
    queues: {{classes: {{0: 0, 1: 0, 2: 0, 3: {three}, 4: 0, 5: 2, 6: 1, 7: 1}}}}
    gates:
      by: class
      base-time: 123 us
      entries: [{{open: [1], for: 200 us}}, {{open: [0], for: 500 us}}, {{open: [2], for: 300 us}}]
"""


@pytest.mark.parametrize(
    ("three", "fault", "answer", "words"),
    [
        (0, "", "yes", "probes of each PCP at most 0.0 % left at a closed gate"),
        (1, "", "no", "frames of PCP 3 leave in the windows of class 1, and the map sends them to class 0"),
        (0, "faults: [{schedule: open, on: switch -> robot}]\n", "no", "frames of PCP 0 leave at all times"),
    ],
)
def test_frames_show_whether_a_list_is_on(
    three: int, fault: str, answer: str, words: str, tmp_path: Path
) -> None:
    sent = probes.plan_of(SHAPING, 10**8, "02:00:00:00:00:01").document["streams"]
    streams = "".join(
        f"  {one['name']}: {{from: talker, to: robot, pcp: {one['pcp']}, vlan: 1, frame: 100 B, "
        "poisson: 1 Mbit/s}\n"
        for one in sent
    )
    text = lab(DEVICE, three=three).replace("duration: 10 ms", "duration: 300 ms") + fault
    text = text[: text.index("  loop:")] + streams + text[text.index("shapers:") :]
    run = Simulation().execute(plan(read_scenario(text)[0]), tmp_path / "run", pcap=True)
    (file,) = [one for one in (run.folder / "captures").iterdir() if "robot-rx" in one.name]
    found = probed(SHAPING, str(file), 10**8, 100)
    assert (found.answer, words in found.sentence) == (answer, True), found.sentence
