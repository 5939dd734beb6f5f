"""The live program's ``probe``: the interface at the other end of each wire."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

PROBE = bytes.fromhex("ffffffffffff02000000000188b5") + b"tsnprb\x00\x01"


@pytest.fixture
def two(link):
    """A second link beside the first: ``w0`` and ``w1``."""
    _wire(link, "w0", "w1")
    return link


def _wire(link, one: str, other: str) -> None:
    link.do(0, f"ip link add {one} type veth peer name {other} netns {link.spaces[1]}")
    link.do(0, f"ip link set {one} up")
    assert link.do(1, f"ip link set {other} up").returncode == 0


def _listen(link, side: int, *words: str) -> subprocess.Popen[str]:
    listener = link.raw(side, "probe", "listen", *words)
    assert listener.stdout.readline() == "listening\n", listener.communicate()
    return listener


def _send(link, side: int, *words: str) -> None:
    sender = link.raw(side, "probe", "send", *words)
    out, said = sender.communicate(timeout=20)
    assert (sender.returncode, out) == (0, ""), said


def _heard(listener: subprocess.Popen[str], expected: int) -> list[str]:
    """All lines of a listener that is told to end after the expected ones."""
    assert listener.stdout is not None
    lines = [listener.stdout.readline() for _ in range(expected)]
    if expected:
        listener.terminate()
    out, said = listener.communicate(timeout=60)
    assert listener.returncode == 0, said
    return "".join([*lines, out]).splitlines()


def test_each_probe_is_received_once_at_the_other_end_of_its_wire(two):
    listener = _listen(two, 1, "v1", "w1", "--for", "60s")
    back = _listen(two, 0, "v0", "w0", "--for", "60s")
    _send(two, 0, "v0", "h1.v0:a_b-1")
    _send(two, 0, "w0", "w0", "--count", "5")
    _send(two, 1, "w1", "w1")
    assert sorted(_heard(listener, 2)) == ["v1 h1.v0:a_b-1", "w1 w0"]
    assert _heard(back, 1) == ["w0 w1"]


def test_a_swapped_pair_is_named(two):
    for device in ("v0", "w0"):
        two.do(0, f"ip link del {device}")
    _wire(two, "v0", "w1")
    _wire(two, "w0", "v1")
    listener = _listen(two, 1, "v1", "w1", "--for", "60s")
    for device in ("v0", "w0"):
        _send(two, 0, device, device)
    assert sorted(_heard(listener, 2)) == ["v1 w0", "w1 v0"]


def test_a_port_of_a_bridge_receives_probes(two):
    if two.do(1, "ip link add name br0 type bridge").returncode:
        pytest.skip("this kernel has no bridge")
    for words in ("br0 up", "v1 master br0"):
        two.do(1, f"ip link set {words}")
    listener = _listen(two, 1, "v1", "--for", "60s")
    _send(two, 0, "v0", "v0")
    assert _heard(listener, 1) == ["v1 v0"]


def test_a_listener_without_probes_ends_at_its_time(link):
    began = time.monotonic()
    assert _heard(_listen(link, 1, "v1", "--for", "300ms"), 0) == []
    assert 0.3 <= time.monotonic() - began < 15


def test_frames_that_are_no_probes_are_ignored(link, tmp_path: Path):
    listener = _listen(link, 1, "v1", "--for", "60s")
    garbage = [
        PROBE[:14].ljust(60, b"\xff"),
        (PROBE[:14] + b"TSNPRB\x00\x01\x01a").ljust(60, b"\0"),
        (PROBE[:12] + b"\x08\x00" + PROBE[14:] + b"\x01a").ljust(60, b"\0"),
        (PROBE + b"\x00").ljust(60, b"\0"),
        (PROBE + b"\x41" + b"a" * 65),
        (PROBE + b"\xff").ljust(60, b"a"),
        (PROBE + b"\x05a\nv1 ").ljust(60, b"\0"),
        (PROBE + b"\x02\xc3\xa4").ljust(60, b"\0"),
        PROBE.ljust(1400, b"\x80"),
        (PROBE + b"\x04fine").ljust(60, b"\0"),
    ]
    capture = tmp_path / "garbage.pcap"
    with capture.open("wb") as file:
        file.write(bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000"))
        for octets in garbage:
            file.write(bytes(8) + 2 * len(octets).to_bytes(4, "little") + octets)
    sender = link.raw(0, "replay", str(capture), "--port", "0=v0", "--log", str(tmp_path / "log"))
    _, said = sender.communicate(timeout=20)
    assert sender.returncode == 0, said
    assert _heard(listener, 1) == ["v1 fine"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["send", "v0"], "expected probe send INTERFACE ID"),
        (["send", "v0", "a b"], "a b: expected 1 to 64 letters, digits, or signs of _.:-"),
        (["send", "v9", "a"], "interface v9: No such device"),
        (["listen", "v0", "v9"], "interface v9: No such device"),
        (["listen", "v0", "--for", "2"], "--for: expected a time such as 2s or 500ms, found 2"),
    ],
)
def test_what_cannot_be_probed_is_refused_in_words(link, words, expected):
    probe = link.raw(0, "probe", *words)
    out, said = probe.communicate(timeout=20)
    assert (probe.returncode, out) == (1, "")
    assert expected in said
