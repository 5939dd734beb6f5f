"""A host plays a recording: its frames leave with the recorded sizes and distances."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from support.captures import frames
from tsnbench.hosts.backend import Hosts
from tsnbench.scenario import load

from .conftest import SCENARIO, Rig, heard

FRAMES = [(0, 100), (3_000, 1_400), (3_500, 64), (20_000, 700), (41_000, 333), (90_000, 1_518)]
"""When a frame begins, in us, and its octets with FCS."""
FCS = 4
SLOWER = 10
NEAR_S = 0.01
"""In the recording's time. Namespaces of a busy machine: a talker may be late. Without the recording,
distances are all alike."""


def test_a_recording_is_played_by_a_host(rig: Rig, tmp_path: Path) -> None:
    rows = "".join(f"{at},{octets}\n" for at, octets in FRAMES)
    (tmp_path / "drive.csv").write_text(f"time_us,frame\n{rows}")
    scenario = tmp_path / "replay.yaml"
    own = "x: {from: a, to: b, vlan: none, replay: {file: drive.csv}}"
    lines = SCENARIO.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("  x:"))
    scenario.write_text("\n".join([*lines[:place], f"  {own}"]) + "\n")
    pcap = tmp_path / "heard.pcap"
    with heard(rig, "b", pcap):
        run = load(scenario).plan().run(on=Hosts(rig.inventory, dilate=SLOWER), into=tmp_path / "run")
    played = run.frames()
    assert played["delay_ns"].null_count() == 0
    assert played.height == len(FRAMES)
    address = bytes.fromhex(run.plan.document["streams"][0]["destination_mac"].replace(":", ""))
    ours = [(at, octets) for at, octets, frame in frames(pcap.read_bytes()) if frame.startswith(address)]
    assert [octets + FCS for _, octets in ours] == [octets for _, octets in FRAMES]
    for (early, late), (first, second) in zip(pairwise(ours), pairwise(FRAMES), strict=True):
        assert abs((late[0] - early[0]) / 1e9 / SLOWER - (second[0] - first[0]) / 1e6) < NEAR_S
