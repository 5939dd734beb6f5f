"""The live program's ``sync``: ptp4l's own state, and no waiting for a ptp4l that does not answer."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SILENT = "ptp4l does not answer"

# Both ends use the machine's clock, which is read and not steered.
CONFIG = """[global]
network_transport L2
time_stamping software
delay_mechanism P2P
free_running 1
logSyncInterval -3
logAnnounceInterval -3
logMinPdelayReqInterval -3
fault_reset_interval -2
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as paths of sockets have a limit."""
    made = Path(tempfile.mkdtemp(prefix="tsnb-"))
    yield made
    shutil.rmtree(made)


class Clocks:
    """One ptp4l per side of a link."""

    def __init__(self, link, folder: Path) -> None:
        self.link, self.folder = link, folder
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, side: int, more: str = "", ports: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        config = self.folder / f"{side}.cfg"
        # On a loaded machine, the second clock does not take late messages for the loss of its master.
        patience = (3, 80)[side]
        lines = f"uds_address {self.folder}/{side}\npriority1 {side + 100}\n{more}"
        lines += f"announceReceiptTimeout {patience}\n"
        config.write_text(CONFIG + lines)
        devices = [word for port in ports or (f"v{side}",) for word in ("-i", port)]
        with (self.folder / f"{side}.log").open("ab") as log:
            started = subprocess.Popen(
                ["ip", "netns", "exec", self.link.spaces[side], "ptp4l", "-S", "-m", "-f", str(config),
                 *devices],
                stdout=log, stderr=log,
            )  # fmt: skip
        self.running.append(started)
        return started

    def sync(self, side: int, *words: str) -> subprocess.Popen[str]:
        return self.link.raw(side, "sync", "--socket", f"{self.folder}/{side}", *words)

    def read(self, side: int, *words: str) -> dict:
        """One reading."""
        (reading,) = _readings(self.sync(side, "--count", "1", *words))
        return reading

    def until(self, side: int, ready: Callable[[dict], bool], *words: str) -> dict:
        """The first reading for which ``ready`` is true."""
        end = time.monotonic() + 60
        while not ready(reading := self.read(side, *words)):
            assert time.monotonic() < end, (reading, (self.folder / f"{side}.log").read_text())
            time.sleep(0.1)
        return reading

    def pmc(self, side: int, what: str) -> dict[str, str]:
        words = ["pmc", "-u", "-b", "0", "-s", f"{self.folder}/{side}", f"GET {what}"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        return dict(re.findall(r"^\t\t(\S+) +(.*)$", said, re.MULTILINE))


@pytest.fixture
def clocks(link, folder) -> Iterator[Clocks]:
    if shutil.which("ptp4l") is None:
        pytest.skip("ptp4l (linuxptp) is missing")
    made = Clocks(link, folder)
    yield made
    for each in made.running:
        each.send_signal(signal.SIGCONT)
        each.kill()
        each.wait()


def _readings(sync: subprocess.Popen[str]) -> list[dict]:
    out, said = sync.communicate(timeout=60)
    assert (sync.returncode, said) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def _follows(reading: dict) -> bool:
    return reading.get("port_state") in ("UNCALIBRATED", "SLAVE") and reading["age_ns"] is not None


def test_readings_agree_with_pmc(clocks):
    clocks.start(0)
    clocks.start(1)
    reading = clocks.until(1, _follows)
    parent, own = clocks.pmc(1, "PARENT_DATA_SET"), clocks.pmc(1, "DEFAULT_DATA_SET")
    assert reading["gm_identity"] == parent["grandmasterIdentity"]
    assert reading["parent"] == parent["parentPortIdentity"]
    assert reading["clock_identity"] == own["clockIdentity"]
    assert (reading["gm_present"], reading["steps_removed"]) == (True, 1)
    (port,) = reading["ports"]
    assert (port["port"], port["interface"], port["stamps"], port["log_sync_interval"]) == (
        1, "v1", "software", -3,
    )  # fmt: skip
    # Software stamps are in UTC, for any offset of TAI.
    assert 0 <= reading["age_ns"] < 2_000_000_000
    utc = reading["tai_ns"] - reading["tai_minus_utc_s"] * 10**9
    assert abs(reading["ingress_time_ns"] + reading["age_ns"] - utc) < 1_000_000_000
    assert abs(reading["master_offset_ns"]) < 1_000_000_000
    assert reading["tai_minus_utc_s"] in (0, 37)
    # A later reading has a later Sync.
    later = clocks.until(1, lambda found: found["ingress_time_ns"] > reading["ingress_time_ns"])
    assert later["tai_ns"] > reading["tai_ns"]
    master = clocks.read(0)
    assert (master["port_state"], master["gm_present"], master["steps_removed"]) == ("MASTER", False, 0)
    assert master["gm_identity"] == master["clock_identity"] == reading["gm_identity"]
    assert (master["ingress_time_ns"], master["age_ns"]) == (None, None)


def test_the_end_and_the_return_of_ptp4l_are_reported(clocks):
    clocks.start(0)
    first = clocks.start(1)
    clocks.until(1, _follows)
    sync = clocks.sync(1, "--every", "100ms")
    assert "error" not in json.loads(sync.stdout.readline())
    first.kill()
    first.wait()
    while "error" not in (reading := json.loads(sync.stdout.readline())):
        pass
    assert reading["error"] == SILENT
    (clocks.folder / "1").unlink()
    assert json.loads(sync.stdout.readline())["error"] == SILENT
    clocks.start(1)
    while "error" in json.loads(sync.stdout.readline()):
        pass
    sync.terminate()
    _readings(sync)
    # The program has removed its own socket.
    assert not list(Path(tempfile.gettempdir()).glob(f"tsnbench-sync-{sync.pid}-*"))


def test_a_ptp4l_that_is_stopped_is_not_waited_for(clocks):
    stopped = clocks.start(1)
    clocks.until(1, lambda reading: "error" not in reading)
    stopped.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    # The readings are more than the buffer of ptp4l's socket can hold.
    found = _readings(clocks.sync(1, "--count", "13", "--every", "10ms"))
    assert [reading.get("error") for reading in found] == 13 * [SILENT]
    assert 13 * 0.5 <= time.monotonic() - began < 20
    stopped.send_signal(signal.SIGCONT)
    clocks.until(1, lambda reading: "error" not in reading)


def test_gptp_and_other_domains_answer(clocks):
    clocks.start(1, more="transportSpecific 0x1\ndomainNumber 24\n")
    clocks.until(1, lambda reading: "error" not in reading, "--domain", "24")
    assert clocks.read(1, "--domain", "0")["error"] == SILENT


def test_all_ports_of_a_clock_are_listed_and_the_slave_port_gives_the_state(clocks):
    clocks.link.do(0, f"ip link add w0 type veth peer name w1 netns {clocks.link.spaces[1]}")
    clocks.link.do(0, "ip link set w0 up")
    clocks.link.do(1, "ip link set w1 up")
    clocks.start(0)
    clocks.start(1, ports=("w1", "v1"))
    reading = clocks.until(1, _follows)
    states = {port["interface"]: (port["port"], port["state"]) for port in reading["ports"]}
    assert states.keys() == {"v1", "w1"}
    assert states["v1"] == (2, reading["port_state"])
    assert states["w1"][0] == 1
    assert states["w1"][1] != reading["port_state"]


class FakePtp4l:
    """A ptp4l that answers each request with the messages of ``answer``."""

    def __init__(self, path: Path, answer: Callable[[bytes], list[bytes]]) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.answer = answer
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            request, who = self.socket.recvfrom(2000)
            for octets in self.answer(request):
                self.socket.sendto(octets, who)


def _response(request: bytes, data: bytes, action: int = 2, tlv: int = 1) -> bytes:
    """A response as ptp4l sends it: header, the requesting port, the TLV."""
    body = request[52:54] + data if tlv == 1 else data
    length = (54 + len(body) - 2).to_bytes(2)
    head = request[:2] + length + request[4:20] + bytes(8) + b"\0\1" + request[30:32] + b"\4\x7f"
    return head + bytes(8) + request[28:30] + bytes([0, 0, action, 0, 0, tlv]) + len(body).to_bytes(2) + body


DATA = {
    0x2000: bytes([1, 0, 0, 1, 128, 248, 254, 255, 255, 128]) + b"\1\2\3\4\5\6\7\x08" + bytes(2),
    0x2001: b"\0\3" + bytes(16),
    0x2002: b"\x0a" * 8 + b"\0\2" + bytes(14) + b"\x0b" * 8,
    0x2003: b"\0\x25\x0c\xa0",
    0x2004: b"\1\2\3\4\5\6\7\x08\0\1\x09\0" + (1000 << 16).to_bytes(8) + b"\0\3\xfd\2\0\2",
    0xC000: (-1000).to_bytes(8, signed=True) + (5).to_bytes(8) + bytes(22) + b"\0\0\0\1" + b"\x0b" * 8,
}


def test_signs_are_kept_and_unknown_data_sets_are_missing(link, folder):
    def answer(request: bytes) -> list[bytes]:
        number = int.from_bytes(request[52:54])
        if number in DATA:
            return [_response(request, DATA[number])]
        return [_response(request, b"\0\2" + request[52:54] + bytes(4), tlv=2)]

    FakePtp4l(folder / "s", answer)
    (reading,) = _readings(link.raw(0, "sync", "--socket", f"{folder}/s", "--count", "1"))
    assert (reading["master_offset_ns"], reading["ingress_time_ns"], reading["age_ns"]) == (-1000, 5, None)
    assert (reading["port_state"], reading["steps_removed"]) == ("SLAVE", 3)
    assert (reading["gm_identity"], reading["parent"]) == ("0b0b0b.0b0b.0b0b0b", "0a0a0a.0a0a.0a0a0a-2")
    assert (reading["utc_offset_s"], reading["ptp_timescale"]) == (37, True)
    assert reading["ports"] == [
        {"port": 1, "state": "SLAVE", "interface": None, "stamps": None, "mean_link_delay_ns": 1000,
         "log_sync_interval": -3}
    ]  # fmt: skip


def test_malformed_answers_are_ignored(link, folder):
    def answer(request: bytes) -> list[bytes]:
        right = _response(request, DATA[0x2000])
        other = right[:30] + b"\xff\xff" + right[32:]
        return [b"", b"\xff" * 1500, right[:60], other, request, right[:46] + b"\1" + right[47:]]

    FakePtp4l(folder / "s", answer)
    (reading,) = _readings(link.raw(0, "sync", "--socket", f"{folder}/s", "--count", "1"))
    assert reading["error"] == SILENT


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda request: [_response(request, b"")], "ptp4l's data set 0x2000 cannot be read"),
        (
            lambda request: [_response(request, b"\0\6" + request[52:54] + bytes(4), tlv=2)],
            "ptp4l refuses data set 0x2000 with error 6",
        ),
    ],
)
def test_unreadable_data_sets_and_errors_are_reported(link, folder, answer, expected):
    FakePtp4l(folder / "s", answer)
    (reading,) = _readings(link.raw(0, "sync", "--socket", f"{folder}/s", "--count", "1"))
    assert reading["error"] == expected


def test_without_ptp4l_and_hardware_clock_a_reading_says_so(link):
    words = ["--socket", "/nowhere/ptp4l", "--count", "2", "--every", "200ms"]
    words += ["--phc", "/dev/null", "--phc", "/dev/ptp999"]
    found = _readings(link.raw(0, "sync", *words))
    assert [reading["error"] for reading in found] == [SILENT, SILENT]
    assert found[0]["phc"].keys() == {"/dev/null", "/dev/ptp999"}
    assert "No such file" in found[0]["phc"]["/dev/ptp999"]["error"]
    assert found[0]["phc"]["/dev/null"].keys() == {"error"}
    assert found[1]["tai_ns"] - found[0]["tai_ns"] >= 100_000_000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--domain", "256"], "--domain: expected a number, found 256"),
        (["--every", "1"], "--every: expected a time such as 2s or 500ms, found 1"),
        (["--every", "1ms"], "--every: expected 10ms or more"),
        (["/var/run/ptp4l"], "expected sync [--socket PATH]"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(link, words, expected):
    sync = link.raw(0, "sync", *words)
    out, said = sync.communicate(timeout=20)
    assert (sync.returncode, out) == (1, "")
    assert expected in said
