"""The guide "files of other tools", word for word: every command of its table and of its blocks runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.compare.test_inet import recorded, vectors
from tests.foreign_files.test_figures import ARRIVALS, FRAMES, RTC, isochron
from tests.foreign_files.test_pipelines import COMBINED

from support import captures
from support.commands import tsnbench
from support.written_captures import Section, ethernet, interfaces_pcapng

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/guides/files.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\|[^|\n]+\| `((?:measure|inspect|import) [^`]+)` \|", GUIDE, re.MULTILINE)
BLOCKS = re.findall(r"^(?:\$ )?(tsnbench|tshark) (.+)$", GUIDE, re.MULTILINE)
GATE_OPEN = {"measure --sync ptp4l.log": 1}
"""The log of this clock ends while its gate is closed."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the guide names, and the run that it calls ``runs/ring``."""
    place = tmp_path_factory.mktemp("files")

    captures.recorded("rtc_out_A.pcap", place, "A.pcap")
    captures.recorded("rtc_out_A.pcap", place, "tx.pcap")
    captures.recorded("rtc_in_B.pcap", place, "B.pcap")
    captures.recorded("netlatency_veth_1ms_2000.jsonl", place, "log.jsonl")
    for name, ports in (("both.pcapng", ["eth0", "eth1"]), ("ports.pcapng", ["swp1", "swp2", "swp3"])):
        frames = [
            (port, n * 1_000_000 + port * 5_000, ethernet(0x22F0, b"\x02\x81" + bytes([n, 0]) + bytes(50)))
            for n in range(20)
            for port in range(len(ports))
        ]
        interfaces_pcapng(place / name, [Section(ports, frames)])
    (place / "isochron.dat").write_bytes(isochron(FRAMES, ARRIVALS, 3))
    (place / "reference.log").write_text(RTC.format(1000), encoding="utf-8")
    (place / "latency.txt").write_text(
        "# Histogram\n000003 000010\n# Histogram Overflows: 00000\n", encoding="utf-8"
    )
    (place / "csv-….csv").write_text(COMBINED, encoding="utf-8")
    (place / "General-#0.vec").write_text(vectors(recorded("two-ports")), encoding="utf-8")
    for name, to in (
        ("captures/flextest_robotic.csv", "audio.csv"),
        ("captures/tcpreplay_200.txt", "tcpreplay.txt"),
        ("captures/ptp4l_free_running.log", "ptp4l.log"),
        ("exports/golden/tsnkit/task.csv", "task.csv"),
        ("exports/golden/tsnkit/topo.csv", "topo.csv"),
    ):
        shutil.copyfile(ROOT / "tests" / name, place / to)
    options = ("--only", "port=gates", "--duration", "20ms", "--pcap", "--into", "runs/all")
    done = tsnbench("run", ROOT / "scenarios/tutorial/2-gates.yaml", *options, cwd=place)
    assert done.returncode in (0, 1), done.stderr
    (place / "runs/all/port=gates").rename(place / "runs/ring")
    shutil.copyfile(place / "runs/ring/captures/switch-robot-rx.pcapng", place / "own.pcap")
    return place


def test_the_table_has_a_row_for_every_tool() -> None:
    assert len(ROWS) == 13, ROWS


@pytest.mark.parametrize("row", ROWS)
def test_a_command_of_the_table_prints_figures(row: str, folder: Path) -> None:
    done = tsnbench(*shlex.split(row), cwd=folder)
    assert done.returncode == GATE_OPEN.get(row, 0), done.stderr
    assert len(done.stdout.splitlines()) > 4


def test_the_commands_of_the_blocks(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    seen = []
    for program, rest in BLOCKS:
        words = shlex.split(rest, comments=True)
        # Beside two captures, the capture at the listener is of the same frames; elsewhere it is of the Plan.
        own = "B.pcap" if "tx.pcap" in words else "own.pcap"
        shutil.copyfile(folder / own, folder / "rx.pcap")
        if program == "tshark":
            if shutil.which("tshark") is None:
                continue
            done = subprocess.run(
                ["tshark", *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
            )
        else:
            done = tsnbench(*words, cwd=folder)
        seen.append(words[0])
        if "--tx" in words:
            said = GUIDE.partition(f"$ tsnbench {rest}\n")[2].partition("```")[0]
            assert (done.returncode, done.stderr) == (2, said)
            continue
        assert done.returncode == 0, (words, done.stderr)
        if program == "tshark":
            assert "loop" in done.stdout
    assert {"measure", "inspect", "wireshark"} <= set(seen)
    assert (folder / "capture.html").stat().st_size > 10_000
