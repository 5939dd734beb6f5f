"""The live program's ``capture`` has every frame that tcpdump has, and lost frames are counted."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.live.conftest import until

from support.captures import frames

MAGIC = b"TSN\x01"
"""The first octets of a test frame's payload."""


@pytest.fixture(autouse=True)
def _quiet(request) -> None:
    """Only the test itself sends frames, as frames are counted."""
    if "link" in request.fixturenames:
        for side in (0, 1):
            request.getfixturevalue("link").do(side, "sysctl -qw net.ipv6.conf.all.disable_ipv6=1")


@pytest.fixture
def tcpdump() -> str:
    if (found := shutil.which("tcpdump")) is None:
        pytest.skip("tcpdump is missing")
    return found


def _capture(link, side: int, *words: str) -> subprocess.Popen[str]:
    """A capture that has started when this returns."""
    capture = link.raw(side, "capture", *words)
    assert capture.stdout.readline() == "capturing\n", capture.communicate()
    return capture


def _ended(capture: subprocess.Popen[str], code: int = 0) -> dict:
    """The counts of a capture that has ended."""
    out, said = capture.communicate(timeout=60)
    assert capture.returncode == code, said
    return json.loads(out) | {"said": said}


def _send(link, side: int, *words: str) -> int:
    """Send test frames; the number of frames sent."""
    sender = link.start(side, "send", "--interface", f"v{side}", "--json", *words)
    out, said = sender.communicate(timeout=60)
    assert sender.returncode == 0, said
    return sum(stream["frames"] for stream in json.loads(out)["streams"])


def _read(tcpdump: str, path: Path) -> list[tuple[int, int, bytes]]:
    """Stamp (ns), octets on the wire and captured octets of each frame, as tcpdump reads the file."""
    words = [tcpdump, "-r", str(path), "--time-stamp-precision=nano", "-w", "-"]
    octets = subprocess.run(words, capture_output=True, check=True).stdout
    assert octets[:4] == bytes.fromhex("4d3cb2a1")
    return frames(octets)


@pytest.mark.parametrize("snap", ["96", "16"])
@pytest.mark.parametrize(("direction", "told"), [("in", "in"), ("out", "out"), ("both", "inout")])
def test_a_capture_has_the_frames_and_stamps_of_tcpdump(link, tmp_path, tcpdump, direction, told, snap):
    ours, theirs = tmp_path / "ours.pcap", tmp_path / "theirs.pcap"
    capture = _capture(link, 1, "v1", "--direction", direction, "--file", str(ours), "--snap", snap)
    other = subprocess.Popen(
        ["ip", "netns", "exec", link.spaces[1], tcpdump, "-Z", "root", "-n", "-i", "v1", "-Q", told,
         "-s", snap, "-B", "8192", "-U", "--immediate-mode", "--time-stamp-precision=nano",
         "-w", str(theirs)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while "listening on" not in (said := other.stderr.readline()):
        assert said, "tcpdump ended"
    words = ["--period", "1ms", "--duration", "100ms", "--vlan", "7", "--pcp", "5"]
    words += ["--stream", "plain: {period: 2 ms, payload: 300 B, vlan: none}"]
    arrived = _send(link, 0, *words, "--payload", "100B")
    sent = _send(link, 1, *words, "--payload", "200B")
    expected = {"in": arrived, "out": sent, "both": arrived + sent}[direction]
    # All frames are longer than what is captured of them.
    until(lambda: theirs.stat().st_size >= 24 + expected * (16 + int(snap)))
    for each in (capture, other):
        each.send_signal(signal.SIGTERM)
    other.communicate(timeout=60)
    counts = _ended(capture)
    assert (counts["frames"], counts["dropped"], counts["missing_stamps"]) == (expected, 0, 0)
    assert counts["stamps"] == "software"
    found = _read(tcpdump, ours)
    assert found == _read(tcpdump, theirs)
    assert {len(octets) for _, _, octets in found} == {int(snap)}
    # There are frames with and without a tag, and the tag is at its place.
    tagged = [length for _, length, octets in found if octets[12:16] == b"\x81\x00\xa0\x07"]
    assert 0 < len(tagged) < len(found)


def test_all_frames_until_the_signal_are_kept(link, tmp_path, tcpdump):
    file = tmp_path / "a.pcap"
    capture = _capture(link, 0, "v0", "--direction", "out", "--file", str(file))
    sent = _send(link, 0, "--saturating", "--payload", "100B", "--duration", "100ms")
    capture.terminate()
    counts = _ended(capture)
    assert counts["frames"] + counts["dropped"] == sent > 100
    assert len(_read(tcpdump, file)) == counts["frames"]


def test_frames_in_a_block_that_is_not_full_are_kept(link, tmp_path):
    """The kernel hands over such a block some ms later."""
    file = tmp_path / "a.pcap"
    capture = _capture(link, 0, "v0", "--direction", "out", "--file", str(file))
    capture.send_signal(signal.SIGSTOP)
    sent = _send(link, 0, "--period", "1ms", "--payload", "100B", "--duration", "5ms")
    capture.terminate()
    capture.send_signal(signal.SIGCONT)
    assert _ended(capture)["frames"] == sent == 5


def test_frames_that_have_no_room_are_counted(link, tmp_path, tcpdump):
    file = tmp_path / "a.pcap"
    words = ["v0", "--direction", "out", "--file", str(file), "--ring", "1", "--snap", "2000"]
    capture = _capture(link, 0, *words)
    # The capture is stopped while frames arrive, so nothing empties its ring.
    capture.send_signal(signal.SIGSTOP)
    sent = _send(link, 0, "--duration", "300ms", "--period", "100us", "--payload", "1000B")
    capture.send_signal(signal.SIGCONT)
    capture.terminate()
    counts = _ended(capture)
    assert counts["frames"] + counts["dropped"] == sent == 3000
    assert counts["dropped"] > 1000
    # At the end of each block of the 1 MiB some octets stay unused.
    assert counts["frames"] > 700
    assert len(_read(tcpdump, file)) == counts["frames"]


def test_it_ends_at_its_time(link, tmp_path):
    until_ns = time.clock_gettime_ns(time.CLOCK_TAI) + 300_000_000
    capture = _capture(link, 0, "v0", "--file", str(tmp_path / "a.pcap"), "--until", str(until_ns))
    assert _ended(capture)["frames"] == 0
    assert 0 <= time.clock_gettime_ns(time.CLOCK_TAI) - until_ns < 10_000_000_000


@pytest.mark.parametrize("size", ["0", "64k"])
def test_a_full_disk_is_named_and_the_file_ends_with_a_whole_frame(link, tmp_path, tcpdump, size):
    disk, kept = tmp_path / "disk", tmp_path / "kept.pcap"
    disk.mkdir()
    file = Path("/dev/full") if size == "0" else disk / "a.pcap"
    # Only the processes of the namespace see this disk.
    script = f"[ {size} = 0 ] || mount -t tmpfs -o size={size} none {disk} || exit 9; "
    script += f'"$@" capture v0 --file {file} --snap 2000; code=$?; '
    script += f"[ {size} = 0 ] || cp {file} {kept}; exit $code"
    from tsnbench.backends.kernel import traffic

    capture = subprocess.Popen(
        ["ip", "netns", "exec", link.spaces[0], "sh", "-c", script, "sh", str(traffic.program())],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert capture.stdout.readline() == "capturing\n", capture.communicate()
    _send(link, 0, "--duration", "100ms", "--period", "100us", "--payload", "1000B")
    out, said = capture.communicate(timeout=60)
    assert (capture.returncode, out) == (1, ""), said
    assert f"{file}: No space left on device" in said
    if size != "0":
        frames = _read(tcpdump, kept)
        # 64 KiB hold frames of 1042 octets, each with its pcapng header.
        assert 50 < len(frames) < 64
        assert all(len(octets) == length and MAGIC in octets for _, length, octets in frames)


def test_an_interface_that_goes_down_may_come_up_again(link, tmp_path):
    capture = _capture(link, 0, "v0", "--direction", "out", "--file", str(tmp_path / "a.pcap"))
    sent = _send(link, 0, "--period", "1ms", "--payload", "100B", "--duration", "5ms")
    link.do(0, "ip link set v0 down")
    assert "v0: Network is down" in capture.stderr.readline()
    link.do(0, "ip link set v0 up")
    sent += _send(link, 0, "--period", "1ms", "--payload", "100B", "--duration", "5ms")
    capture.terminate()
    counts = _ended(capture)
    assert counts["frames"] == sent == 10


def test_an_interface_that_is_gone_ends_the_capture(link, tmp_path):
    capture = _capture(link, 0, "v0", "--direction", "out", "--file", str(tmp_path / "a.pcap"))
    sent = _send(link, 0, "--period", "1ms", "--payload", "100B", "--duration", "5ms")
    link.do(0, "ip link del v0")
    counts = _ended(capture, code=1)
    assert counts["frames"] == sent == 5
    assert "v0: No such device" in counts["said"]


def test_an_interface_that_goes_down_and_later_is_gone_ends_the_capture(link, tmp_path):
    """The kernel reports an error when the interface goes down, and none when it is then deleted."""
    capture = _capture(link, 0, "v0", "--direction", "out", "--file", str(tmp_path / "a.pcap"))
    link.do(0, "ip link set v0 down")
    assert "v0: Network is down" in capture.stderr.readline()
    link.do(0, "ip link del v0")
    assert "v0: No such device" in _ended(capture, code=1)["said"]


def test_another_interface_of_the_same_name_is_not_captured(link, tmp_path):
    capture = _capture(link, 0, "v0", "--direction", "out", "--file", str(tmp_path / "a.pcap"))
    for words in ("ip link del v0", "ip link add v0 type dummy", "ip link set v0 up"):
        link.do(0, words)
    assert "v0: No such device" in _ended(capture, code=1)["said"]


def test_missing_hardware_stamps_are_named(link, tmp_path):
    capture = _capture(link, 1, "v1", "--file", str(tmp_path / "a.pcap"), "--hardware")
    capture.terminate()
    counts = _ended(capture)
    assert counts["stamps"] == "software"
    assert "interface v1: it has no hardware stamps" in counts["said"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["v0"], "expected capture INTERFACE --file PATH"),
        (["v0", "--file", "/nowhere/b.pcap"], "/nowhere/b.pcap: No such file or directory"),
        (["v9", "--file", "a.pcap"], "interface v9: No such device"),
        (["v0", "--file", "a.pcap", "--direction", "up"], "--direction: expected in, out or both"),
    ],
)
def test_what_cannot_be_captured_is_refused_in_words(link, tmp_path, words, expected):
    capture = link.raw(0, "capture", *[word.replace("a.pcap", str(tmp_path / "a.pcap")) for word in words])
    out, said = capture.communicate(timeout=60)
    assert (capture.returncode, out) == (1, "")
    assert expected in said
