"""One capture of several interfaces: each is a tap, as if it had a file of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.written_captures import Section, Stamped, ethernet, interfaces_pcapng, pcap
from tsnbench.measure import MeasureError, measure_captures
from tsnbench.measure.captures.interfaces import interfaces
from tsnbench.runs.measures import Measures

PERIOD_NS, DELAY_NS = 1_000_000, 30_000


def avtp(n: int) -> bytes:
    return ethernet(0x22F0, b"\x02\x81" + bytes([n % 256, 0]) + bytes(7) + b"\x05" + bytes(40))


def at(place: int, numbers: list[int], delay_ns: int = 0) -> list[tuple[int, int, bytes]]:
    """Frames of one interface: its place, time, octets."""
    return [(place, n * PERIOD_NS + delay_ns, avtp(n)) for n in numbers]


SENT, ARRIVED = list(range(40)), [n for n in range(40) if n not in (7, 20, 21)]


def both(first: str = "eth0", second: str = "eth1") -> Section:
    frames = sorted(at(0, SENT) + at(1, ARRIVED, DELAY_NS), key=lambda one: one[1])
    return Section([first, second], frames)


def counts(measures: Measures) -> tuple[int, int, int | None, int | None]:
    (path,) = measures["paths"]
    assert path["delay"] is not None
    count = path["count"]
    return count["sent"], count["received"], count["lost"], path["delay"]["median"]


EXPECTED = (40, 37, 3, DELAY_NS)


def test_interfaces_are_measured_like_files(tmp_path: Path) -> None:
    file = interfaces_pcapng(tmp_path / "one.pcapng", [both()])
    tx, rx = interfaces(file)
    assert [(one.name, one.frames) for one in (tx, rx)] == [("eth0", 40), ("eth1", 37)]
    found = measure_captures(tx, rx)
    assert counts(found) == EXPECTED
    assert [one.get("interface") for one in found["source"]["files"]] == ["eth0", "eth1"]
    separate = measure_captures(
        pcap(tmp_path / "tx.pcap", [(n * PERIOD_NS, avtp(n)) for n in SENT]),
        pcap(tmp_path / "rx.pcap", [(n * PERIOD_NS + DELAY_NS, avtp(n)) for n in ARRIVED]),
    )
    assert found["paths"] == separate["paths"]


def test_the_only_two_interfaces_are_the_ends(tmp_path: Path) -> None:
    file = interfaces_pcapng(tmp_path / "one.pcapng", [both()])
    done = tsnbench("measure", file, "--json")
    assert counts(json.loads(done.stdout)) == EXPECTED
    assert f"at the talker: {file} (eth0), 40 frames" in done.stderr
    # The listener's interface is the first of the file.
    frames = sorted(at(1, SENT) + at(0, ARRIVED, DELAY_NS), key=lambda one: one[1])
    swapped = interfaces_pcapng(tmp_path / "swapped.pcapng", [Section(["eth0", "eth1"], frames)])
    done = tsnbench("measure", swapped, "--json")
    assert counts(json.loads(done.stdout)) == EXPECTED
    assert f"at the talker: {swapped} (eth1), 40 frames" in done.stderr


def test_two_interfaces_of_different_networks_are_no_path(tmp_path: Path) -> None:
    other = [(1, n * PERIOD_NS, ethernet(0x88B5, bytes([n]) * 50)) for n in range(60)]
    frames = sorted(at(0, SENT) + other, key=lambda one: one[1])
    file = interfaces_pcapng(tmp_path / "one.pcapng", [Section(["eth0", "wlan0"], frames)])
    done = tsnbench("measure", file, "--json")
    assert json.loads(done.stdout)["frames"] == 100
    assert "2 interfaces: eth0 (40 frames), wlan0 (60 frames)" in done.stderr


def test_of_more_interfaces_two_are_named(tmp_path: Path) -> None:
    names = ["eth0", "eth1", "eth2"]
    frames = sorted(at(0, SENT) + at(1, SENT, 9) + at(2, ARRIVED, DELAY_NS), key=lambda one: one[1])
    file = interfaces_pcapng(tmp_path / "one.pcapng", [Section(names, frames)])
    # All at once, frames are there three times.
    done = tsnbench("measure", file, "--json")
    (stream,) = json.loads(done.stdout)["streams"]
    assert (stream["frames"], stream["duplicate"]) == (40, 77)
    assert "has frames of 3 interfaces: eth0 (40 frames), eth1 (40 frames), eth2" in done.stderr
    done = tsnbench("measure", file, "--interface", "eth0", "--interface", "eth2", "--json")
    assert counts(json.loads(done.stdout)) == EXPECTED
    for command in ("measure", "inspect"):
        done = tsnbench(command, file, "--interface", "eth2", "--json")
        found = json.loads(done.stdout)
        (stream,) = found["streams"]
        assert (stream["frames"], stream["missing"], stream["duplicate"]) == (37, 3, 0)
        assert (found["interface"], found["warnings"]) == ("eth2", [])


def test_names_that_are_there_twice_and_sections_that_follow(tmp_path: Path) -> None:
    """Two files with an eth0 each, merged; and a file behind another, as dumpcap's ring of files has them."""
    merged = interfaces_pcapng(tmp_path / "merged.pcapng", [both("eth0", "eth0")])
    tx, rx = interfaces(merged)
    assert (tx.name, rx.name) == ("eth0", "eth0 #2")
    assert counts(measure_captures(tx, rx)) == EXPECTED
    first = Section(["eth0", "eth1"], at(0, SENT[:20]) + at(1, [n for n in ARRIVED if n < 20], DELAY_NS))
    # The second section has its interfaces in the other order.
    second = Section(["eth1", "eth0"], at(1, SENT[20:]) + at(0, [n for n in ARRIVED if n >= 20], DELAY_NS))
    file = interfaces_pcapng(tmp_path / "two.pcapng", [first, second])
    tx, rx = interfaces(file)
    assert [(one.name, one.frames) for one in (tx, rx)] == [("eth0", 40), ("eth1", 37)]
    assert counts(measure_captures(tx, rx)) == EXPECTED
    unnamed = interfaces_pcapng(tmp_path / "unnamed.pcapng", [both("", "")])
    tx, rx = interfaces(unnamed)
    assert (tx.name, rx.name) == ("interface 0", "interface 1")
    assert counts(measure_captures(tx, rx)) == EXPECTED


def test_an_interface_without_readable_frames_does_not_matter_to_another(tmp_path: Path) -> None:
    frames = sorted(at(0, SENT) + at(1, ARRIVED, DELAY_NS) + at(2, [3]), key=lambda one: one[1])
    section = Section(["eth0", "eth1", "usb"], frames, links=[1, 1, 220])
    file = interfaces_pcapng(tmp_path / "one.pcapng", [section])
    tx, rx, _ = interfaces(file)
    assert counts(measure_captures(tx, rx)) == EXPECTED
    with pytest.raises(MeasureError, match="link type 220"):
        measure_captures(file, file)


def sll2(frames: list[tuple[int, int, bytes]]) -> list[Stamped]:
    """Ethernet frames with the second Linux cooked header: 4 in its field of the direction is outgoing."""
    made = []
    for index, t_ns, frame in frames:
        head = frame[12:14] + bytes(2) + index.to_bytes(4, "big") + b"\0\x01\x04\x06" + frame[6:12] + bytes(2)
        made.append((t_ns, head + frame[14:]))
    return made


def test_frames_of_any_are_told_apart_by_the_interfaces_index(tmp_path: Path) -> None:
    frames = sorted(at(3, SENT) + at(7, ARRIVED, DELAY_NS), key=lambda one: one[1])
    file = pcap(tmp_path / "any.pcap", sll2(frames), link=276)
    assert [(one.name, one.frames) for one in interfaces(file)] == [("index 3", 40), ("index 7", 37)]
    done = tsnbench("measure", file, "--json")
    assert counts(json.loads(done.stdout)) == EXPECTED
    done = tsnbench("inspect", file, "--interface", "index 7", "--json")
    assert json.loads(done.stdout)["frames"] == 37
    # In a pcapng, the interface has a name, too.
    named = Section(["any"], [(0, t_ns, octets) for t_ns, octets in sll2(frames)], links=[276])
    file = interfaces_pcapng(tmp_path / "any.pcapng", [named])
    tx, rx = interfaces(file)
    assert (tx.name, rx.name) == ("any index 3", "any index 7")
    assert counts(measure_captures(tx, rx)) == EXPECTED


def test_what_names_no_interface_is_told(tmp_path: Path) -> None:
    file = interfaces_pcapng(tmp_path / "one.pcapng", [both()])
    done = tsnbench("measure", file, "--interface", "eth7")
    assert done.returncode == 2
    assert (
        "expected an interface of this capture: eth0 (40 frames), eth1 (37 frames); found eth7" in done.stderr
    )
    plain = pcap(tmp_path / "plain.pcap", [(0, avtp(0))])
    assert interfaces(plain) == []
    done = tsnbench("inspect", plain, "--interface", "eth0")
    assert done.returncode == 2
    assert "does not name its interface" in done.stderr
    three = [word for name in "abc" for word in ("--interface", name)]
    for words in ([file, *three], ["--tx", file, "--rx", file, "--interface", "a"]):
        done = tsnbench("measure", *words)
        assert done.returncode == 2
        assert "--interface: expected one" in done.stderr


def test_merged_by_mergecap(tmp_path: Path) -> None:
    """An independent writer: two files become the interfaces of one."""
    mergecap = shutil.which("mergecap")
    if mergecap is None:
        pytest.skip("needs mergecap")
    parts = [
        pcap(tmp_path / "tx.pcap", [(n * PERIOD_NS, avtp(n)) for n in SENT]),
        pcap(tmp_path / "rx.pcap", [(n * PERIOD_NS + DELAY_NS, avtp(n)) for n in ARRIVED]),
    ]
    file = tmp_path / "merged.pcapng"
    subprocess.run([mergecap, "-I", "none", "-w", file, *parts], check=True, timeout=60)
    tx, rx = interfaces(file)
    assert (tx.frames, rx.frames) == (40, 37)
    assert counts(measure_captures(tx, rx)) == EXPECTED
