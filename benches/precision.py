"""How precisely frames are sent every millisecond: tsnbench send, tcpreplay and iperf3, one after the other.

TSN-FlexTest, Table V: the distance between frames, minus what it should be, in ns. All send over one veth
link between two namespaces that are made for it; one capture behind it stamps them all. Tools that are
missing are named.

    make precision, or as root: python benches/precision.py [seconds]
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from captures import FILE_HEADER, FRAME
from tsnbench import __version__, _native

PERIOD_NS = 1_000_000
PAYLOAD = 100
SPACES = ("tsnb-precision-a", "tsnb-precision-b")
ADDRESSES = ("10.98.0.1", "10.98.0.2")
SETTLE_S = 0.5
LAST_S = 1.5
"""A capture hands over what it has once a second."""
COLUMNS = ("frames", "min", "mean", "median", "stdev", "p99", "max")


@dataclass(frozen=True)
class Tool:
    """One way to send."""

    name: str
    program: str
    version: Callable[[], str]
    send: Callable[[], None]


def main() -> int:
    """Prints the table."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    gone = [tool for tool in ("ip", "tcpdump") if shutil.which(tool) is None]
    if os.geteuid() or gone:
        print(f"skipped: needs {', '.join(gone) or 'root'}")
        return 0
    machine = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    print(f"Linux {platform.release()}, {machine}, {seconds} s each\n")
    print(f"| tool | version | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 2)}")
    with _link(), tempfile.TemporaryDirectory(prefix="tsnbench-precision-") as place:
        for tool in _tools(Path(place), seconds):
            if shutil.which(tool.program) is None:
                print(f"| {tool.name} | missing |{' - |' * len(COLUMNS)}")
                continue
            row = deviations(_captured(Path(place) / "capture.pcap", tool.send))
            print(f"| {tool.name} | {tool.version()} | {' | '.join(row)} |", flush=True)
    return 0


def deviations(times: Sequence[int]) -> list[str]:
    """Of a capture's times, as Table V has them."""
    off = sorted(late - early - PERIOD_NS for early, late in pairwise(times))
    if len(off) < 2:
        return [str(len(times)), *("-" for _ in COLUMNS[1:])]
    p99 = off[min(len(off) - 1, len(off) * 99 // 100)]
    found = (off[0], statistics.fmean(off), statistics.median(off), statistics.stdev(off), p99, off[-1])
    return [str(len(times)), *(f"{number:.0f}" for number in found)]


def _tools(folder: Path, seconds: int) -> Iterator[Tool]:
    recorded = folder / "recorded.pcap"
    _record(recorded, seconds * 1000)

    def own(**extra: object) -> Callable[[], None]:
        options = {"to": "v0", "duration": f"{seconds} s"} | extra
        streams = {"s": f"period: 1 ms, payload: {PAYLOAD} B, vlan: none"}
        code = f"from tsnbench.live import Sending, send; send(Sending(streams={streams!r}, **{options!r}))"
        return lambda: _inside(0, sys.executable, "-c", code)

    def replay(*options: str) -> Callable[[], None]:
        return lambda: _inside(0, "tcpreplay", "-q", "-i", "v0", *options, str(recorded))

    def replay_own() -> None:
        code = f"from pathlib import Path; replay(Path({str(recorded)!r}), 'v0')"
        code = f"from tsnbench.live import replay; {code}"
        _inside(0, sys.executable, "-c", code)

    def iperf() -> None:
        server = ["ip", "netns", "exec", SPACES[1], "iperf3", "-s", "-1"]
        with subprocess.Popen(server, stdout=subprocess.DEVNULL):
            time.sleep(SETTLE_S)
            words = ["-u", "-l", str(PAYLOAD), "-b", str(PAYLOAD * 8 * 1000), "-t", str(seconds)]
            _inside(0, "iperf3", "-c", ADDRESSES[1], *words)

    def ours() -> str:
        return __version__

    yield Tool("tsnbench send", "ip", ours, own())
    yield Tool("tsnbench send, asleep until its time", "ip", ours, own(advance="0 us"))
    yield Tool("tsnbench send, asleep, ordinary priority", "ip", ours, own(advance="0 us", priority=0))
    yield Tool("tsnbench send --replay", "ip", ours, replay_own)
    for options in ((), ("--timer=nano",), ("--timer=gtod",)):
        version = _version("tcpreplay", "-V")
        yield Tool(" ".join(("tcpreplay", *options)), "tcpreplay", version, replay(*options))
    yield Tool("iperf3 -u", "iperf3", _version("iperf3", "--version"), iperf)


def _version(program: str, option: str) -> Callable[[], str]:
    def find() -> str:
        said = subprocess.run([program, option], capture_output=True, text=True, check=False)
        found = re.search(r"\d+\.\d+[.\d]*", said.stdout + said.stderr)
        return found[0] if found else "?"

    return find


def _record(into: Path, frames: int) -> None:
    """A capture of so many frames, a period apart."""
    octets = FRAME + bytes(PAYLOAD + 42 - len(FRAME))
    with into.open("wb") as file:
        file.write(FILE_HEADER)
        for number in range(frames):
            seconds, ns = divmod(number * PERIOD_NS, 10**9)
            head = (seconds, ns, len(octets), len(octets))
            file.write(b"".join(word.to_bytes(4, "little") for word in head) + octets)


def _captured(path: Path, send: Callable[[], None]) -> list[int]:
    """When frames came, in ns, while something sends."""
    words = [
        "ip",
        "netns",
        "exec",
        SPACES[1],
        "tcpdump",
        "-i",
        "v1",
        "-n",
        "-Z",
        "root",
        "-s",
        "64",
        "-B",
        "8192",
    ]
    words += [
        "--time-stamp-precision=nano",
        "-Q",
        "in",
        "-w",
        str(path),
        "greater",
        "100",
        "and",
        "not",
        "tcp",
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as capture:
        try:
            # It says when it listens.
            while capture.stderr is not None and "listening" not in (
                capture.stderr.readline() or "listening"
            ):
                pass
            send()
            time.sleep(LAST_S)
        finally:
            capture.terminate()
    return [at for at, _ in _native.capture_trace(str(path), "{}")[1]]


def _inside(side: int, *words: str) -> None:
    subprocess.run(["ip", "netns", "exec", SPACES[side], *words], check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _link() -> Iterator[None]:
    """Two namespaces with a veth link; gone afterwards."""
    try:
        for space in SPACES:
            subprocess.run(["ip", "netns", "add", space], check=True)
        words = f"ip -n {SPACES[0]} link add v0 type veth peer name v1 netns {SPACES[1]}"
        subprocess.run(words.split(), check=True)
        for space, device, address in zip(SPACES, ("v0", "v1"), ADDRESSES, strict=True):
            subprocess.run(f"ip -n {space} addr add {address}/24 dev {device}".split(), check=True)
            subprocess.run(f"ip -n {space} link set {device} up".split(), check=True)
        time.sleep(SETTLE_S)
        yield
    finally:
        for space in SPACES:
            subprocess.run(["ip", "netns", "del", space], check=False, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    raise SystemExit(main())
