"""A host plays a recording: its frames leave with the recorded sizes and distances."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tsnbench.hosts.backend import Hosts
from tsnbench.scenario import load

from .conftest import SCENARIO, Rig, heard

FRAMES = [(0, 100), (3_000, 1_400), (3_500, 64), (20_000, 700), (41_000, 333), (90_000, 1_518)]
"""When a frame begins, in us, and its octets with FCS."""
FCS = 4
NEAR_S = 0.02
"""Namespaces of a busy machine: a talker may be late. Without the recording, distances are all alike."""


def packets(pcap: Path) -> Iterator[tuple[float, int, bytes]]:
    """Time in s, octets on the wire without FCS, and the captured octets of each packet."""
    octets, at = pcap.read_bytes(), 24
    while at < len(octets):
        seconds, micros, kept, whole = struct.unpack_from("<IIII", octets, at)
        yield seconds + micros / 1e6, whole, octets[at + 16 : at + 16 + kept]
        at += 16 + kept


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
        run = load(scenario).plan().run(on=Hosts(rig.inventory), into=tmp_path / "run")
    frames = run.frames().sort("seq")
    assert frames["delay_ns"].null_count() == 0
    assert frames.height == len(FRAMES)
    address = bytes.fromhex(run.plan.document["streams"][0]["destination_mac"].replace(":", ""))
    ours = [(at_s, octets) for at_s, octets, frame in packets(pcap) if frame.startswith(address)]
    assert [octets + FCS for _, octets in ours] == [octets for _, octets in FRAMES]
    for (early, late), (first, second) in zip(pairwise(ours), pairwise(FRAMES), strict=True):
        assert abs(late[0] - early[0] - (second[0] - first[0]) / 1e6) < NEAR_S
