"""TCNopen's own programs as the peer of tsnbench's TRDP end devices, in namespaces.

TCNopen is another project's program, and this repository has no part of it. Environment variables name what
the tests need:

- ``TSNBENCH_TCNOPEN``: the folder of its programs (``trdp-pd-test``, ``test_mdSingle``, ...);
- ``TSNBENCH_TCNOPEN_TSN``: the folder of ``sendTSN`` and ``receiveTSN``; unless set, the first one;
- ``TSNBENCH_TCNOPEN_TELEGRAMS``: the smallest number of telegrams of each kind that are exchanged;
- ``TSNBENCH_TCNOPEN_PULL_S``: the time for each of them in the test of pulled data;
- ``TSNBENCH_TCNOPEN_CAPTURES``: a folder for a capture of each test, taken at tsnbench's end of the link.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.live.conftest import Link

FOLDER = os.environ.get("TSNBENCH_TCNOPEN")
TSN_FOLDER = os.environ.get("TSNBENCH_TCNOPEN_TSN", FOLDER)
TELEGRAMS = int(os.environ.get("TSNBENCH_TCNOPEN_TELEGRAMS", "20"))
PULL_S = float(os.environ.get("TSNBENCH_TCNOPEN_PULL_S", "0.55"))
"""TCNopen's test program requests slightly slower than every 500 ms, and pushes faster; on a loaded machine
it requests every second."""
CAPTURES = os.environ.get("TSNBENCH_TCNOPEN_CAPTURES")
OWN, PEER, GROUP = "10.97.0.1", "10.97.0.2", "239.2.24.1"
NS_PER_S = 10**9


class Theirs:
    """A program of TCNopen at the other end of the link; its screen goes to a file, which never blocks it."""

    def __init__(self, link: Link, screen: Path, *words: str, folder: str | None = FOLDER) -> None:
        self._screen = screen
        program, *rest = words
        # Output that the program has not yet flushed would be lost when it is killed.
        line = ["stdbuf", "-oL", str(Path(folder or "") / program), *rest]
        with screen.open("wb") as file:
            self._process = subprocess.Popen(
                ["ip", "netns", "exec", link.spaces[1], *line], stdout=file, stderr=subprocess.STDOUT
            )

    def wait(self, seconds: float) -> None:
        """Wait until the program ends by itself."""
        self._process.wait(timeout=seconds)

    def end(self) -> str:
        """Kill the program, and return its output."""
        self._process.kill()
        self._process.wait(timeout=10)
        return self._screen.read_text(encoding="utf-8", errors="replace")


def be(link: Link, tmp_path: Path, device: dict[str, Any]) -> subprocess.Popen[str]:
    """An end device of tsnbench at this end of the link, whose ports are open."""
    file = tmp_path / "device.json"
    file.write_text(json.dumps({"interface": "v0", "address": OWN, **device}), encoding="utf-8")
    ours = link.raw(0, "trdp", str(file), "--log", str(tmp_path / "log.json"))
    assert ours.stdout is not None
    assert ours.stdout.readline() == "ready\n", ours.communicate()
    return ours


def results(ours: subprocess.Popen[str], tmp_path: Path, seconds: float) -> dict[str, Any]:
    """The counters of an end device, when it has ended."""
    _, said = ours.communicate(timeout=seconds)
    assert ours.returncode == 0, said
    found: dict[str, Any] = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))
    return found


def groups(link: Link, names: tuple[str, str] = ("v0", "v1")) -> None:
    """Routes to multicast groups on both sides."""
    for side, device in enumerate(names):
        link.do(side, f"ip route add 224.0.0.0/4 dev {device}")


@contextmanager
def captured(link: Link, name: str, folder: Path) -> Iterator[Path]:
    """A capture at this end of the link, for as long as the block runs: 200 octets of each frame."""
    file = Path(CAPTURES or folder) / f"{name}.pcap"
    words = ["tcpdump", "-i", "v0", "-s", "200", "--time-stamp-precision=nano", "-w", str(file)]
    words += ["-U", "--immediate-mode"]
    taking = subprocess.Popen(
        ["ip", "netns", "exec", link.spaces[0], *words], stderr=subprocess.PIPE, text=True
    )
    assert taking.stderr is not None
    for line in taking.stderr:
        if "listening" in line:
            break
    try:
        yield file
    finally:
        time.sleep(0.5)
        taking.terminate()
        taking.communicate(timeout=10)
