"""``tsnbench conform`` as a command: output, exit codes, files, and a second run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.devices import lab

WITH_LIST = ("conform", "lab.yaml", "--dut", "switch")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lab.yaml").write_text(lab(), encoding="utf-8")
    (tmp_path / "late.yaml").write_text(lab(base=35), encoding="utf-8")
    return tmp_path


def test_a_defect_is_told_with_its_test_and_exit_code(folder: Path) -> None:
    done = tsnbench(*WITH_LIST, "--suite", "gates", "--device", "late.yaml", "--into", "out", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "6 passed, 1 failed, 2 not offered. This is a measurement" in done.stdout
    assert "the list runs 5 us late in every cycle" in " ".join(done.stdout.split())
    assert "smallest certain shift 24 ns" in done.stderr
    told = json.loads((folder / "out/conform.json").read_text())
    assert told["format"] == "tsnbench-conform/1"
    (edge,) = [one for one in told["tests"] if one["id"] == "gates.edge"]
    assert (edge["verdict"], edge["found"]["value"], edge["limit"]["high"]) == ("fail", 5000, 12)
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert "a rehearsal on the simulator" in page
    assert "5 us late" in page
    assert "certified" not in page + done.stdout
    # A second command uses the run again.
    before = (folder / "out/gates-2/manifest.json").read_bytes()
    assert (
        tsnbench(
            *WITH_LIST, "--suite", "gates", "--device", "late.yaml", "--into", "out", cwd=folder
        ).returncode
        == 1
    )
    assert (folder / "out/gates-2/manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("conform", "--list"), 0, "gates.guard"),
        ((*WITH_LIST, "--plan-only"), 0, "gates-2"),
        ((*WITH_LIST, "--suite", "gates", "--tolerance", "1ns"), 2, "expected at least 12 ns, found 1 ns"),
        ((*WITH_LIST, "--suite", "gate"), 2, "--suite: expected suites or tests, found gate"),
        (("conform", "lab.yaml", "--dut", "swich"), 2, "--dut: expected a node of the network, found swich"),
        (("conform", "lab.yaml"), 2, "expected a scenario and its device"),
        ((*WITH_LIST, "--port", "switch -> x"), 2, "--port: expected a port of switch"),
        ((*WITH_LIST, "--suite", "queue", "--into", "none"), 3, "no test could be decided"),
        ((*WITH_LIST, "--suite", "gates,queue", "--require", "queue", "--into", "some"), 1, "7 passed"),
    ],
)
def test_words_and_exit_codes(words: tuple[str, ...], code: int, said: str, folder: Path) -> None:
    done = tsnbench(*words, cwd=folder)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert said in done.stdout + done.stderr


def test_what_one_port_offers_is_not_listed_as_missing(folder: Path) -> None:
    """VLANs of the scenario leave by one of two ports; no port has a filter of VLANs where frames arrive."""
    done = tsnbench(*WITH_LIST, "--suite", "vlan", "--into", "vlans", "--no-report", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.partition("device: ")[2].split("\n")[0].strip() == "vlan.ingress"


def test_a_folder_of_others_is_left_alone(folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine/notes.txt").write_text("mine")
    done = tsnbench(*WITH_LIST, "--suite", "gates", "--into", "mine", cwd=folder)
    assert (done.returncode, sorted(one.name for one in (folder / "mine").iterdir())) == (2, ["notes.txt"])


def test_a_folder_of_a_sweep_has_hints_that_the_command_knows(folder: Path) -> None:
    (folder / "sweep.yaml").write_text(lab().replace("payload: 100 B", "payload: [100 B, 200 B]"))
    assert tsnbench("run", "sweep.yaml", "--into", "out", cwd=folder).returncode in (0, 1)
    done = tsnbench(*WITH_LIST, "--suite", "gates", "--into", "out", cwd=folder)
    assert done.returncode == 2
    assert "name another folder with --into; --force replaces it" in done.stderr
    assert "--keep-runs" not in done.stderr
