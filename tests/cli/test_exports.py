"""Exports and imports from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import tsnbench, uncoded

ROOT = Path(__file__).resolve().parents[2]
RICH = ROOT / "tests/exports/rich.yaml"
GOLDEN = ROOT / "tests/exports/golden"


def test_files_on_stdout_and_what_is_lost_on_stderr(tmp_path: Path) -> None:
    done = tsnbench("plan", RICH, "--into", tmp_path / "out", "--as", "tc,csv")
    assert done.returncode == 0, done.stderr
    paths = [Path(line) for line in done.stdout.splitlines()]
    assert all(path.is_file() for path in paths)
    assert tmp_path / "out/left/tc.batch" in paths
    assert "csv: not exported: clocks and PTP, because" in done.stderr
    notes = (tmp_path / "out/notes.txt").read_text().splitlines()
    shown = done.stderr.splitlines()
    assert len(notes) == len(shown)
    # The file has all places of a kind of note, the terminal the first three.
    (long,) = [line for line in notes if line.startswith("tc: ports with mqprio (11: ")]
    (short,) = [line for line in shown if line.startswith("tc: ports with mqprio (11: ")]
    assert "controller -> left" in long
    assert " right -> left and 8 more)" in short
    script = tmp_path / "out/left/up.sh"
    assert script.stat().st_mode & 0o111


def test_choices_reach_the_text(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tsnbench(
        "plan", RICH, "--into", out, "--as", "tc", "--taprio", "full", "--queues", "renumbered",
        "--interface", "left -> right=enp3s0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in (out / "left/tc.batch").read_text().splitlines() if " taprio " in line]
    assert "dev enp3s0 " in line
    assert "flags 0x2" in line
    assert "queues 1@0 1@1 1@2 1@3" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--as", "tv"],
            "--as: expected some of tc, ptp4l, yang, inet, tsnkit, csv, ansible, trdp, saihu, html, found tv",
        ),
        (["--taprio", "fast"], "--taprio: expected one of software, txtime-assist, full, found fast"),
        (["--queues", "odd"], "--queues: expected one of reversed, renumbered, straight, found odd"),
        (["--interface", "eth0"], "--interface: expected a port and its interface"),
        (["--interface", "left -> right=a-long-name-123"], None),
        (["--interface", "left -> right=a-much-too-long-name"], "expected the name of an interface"),
        (["--interface", "left -> right=-a"], "expected the name of an interface"),
        (["--interface", "left -> right=a/b"], "expected the name of an interface"),
        (["--interface", "left -> right=a b"], "expected the name of an interface"),
        (["--interface", "left -> right=a;reboot"], "expected the name of an interface"),
        (["--interface", "left -> right=$(id)"], "expected the name of an interface"),
        (["--interface", "left -> right=a\nb"], "expected the name of an interface"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, arguments: list[str], words: str | None) -> None:
    done = tsnbench("plan", RICH, "--into", tmp_path / "out", "--as", "csv", *arguments)
    assert done.returncode == (0 if words is None else 2)
    if words is not None:
        assert words in done.stderr
        assert not (tmp_path / "out").exists()


def test_a_sweep_exports_one_run(tmp_path: Path) -> None:
    done = tsnbench(
        "plan", ROOT / "scenarios/tutorial/2-gates.yaml", "--into", tmp_path / "out", "--as", "csv"
    )
    assert done.returncode == 2
    assert "expected one run, found 3" in done.stderr
    assert "--only" in done.stderr


def test_a_problem_of_tsnkit_is_imported(tmp_path: Path) -> None:
    done = tsnbench("import", "tsnkit", GOLDEN / "tsnkit/task.csv", GOLDEN / "tsnkit/topo.csv")
    assert done.returncode == 0, done.stderr
    (tmp_path / "back.yaml").write_text(done.stdout)
    assert tsnbench("check", tmp_path / "back.yaml").returncode == 0
    planned = json.loads(tsnbench("plan", tmp_path / "back.yaml", "--json").stdout)
    assert all("scheduled" in stream for stream in planned["streams"])
    assert any("gates" in port for port in planned["ports"])
    run = tsnbench("run", tmp_path / "back.yaml", "--into", tmp_path / "run", "--no-report")
    assert run.returncode == 0, run.stderr
    wrong = tsnbench("import", "tsnkit", GOLDEN / "tsnkit/topo.csv", GOLDEN / "tsnkit/task.csv")
    assert wrong.returncode == 2
    assert "task.csv:1: expected the columns link" in wrong.stderr
    assert tsnbench("import", "tsnkit", tmp_path / "none.csv", tmp_path / "none.csv").returncode == 2


def test_a_table_of_streams_never_replaces_another_file(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    words = ["import", "tsnkit", GOLDEN / "tsnkit/task.csv", GOLDEN / "tsnkit/topo.csv", "--table", own]
    own.write_text("measured,by,hand\n")
    done = tsnbench(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert uncoded(done.stderr) == (
        f"{own}: expected a file that is not there yet, found one\n"
        "hint: name another file with --table, or remove this one first\n"
    )
    assert own.read_text() == "measured,by,hand\n"
    own.unlink()
    # The same table again is no other file.
    assert [tsnbench(*words).returncode for _ in range(2)] == [0, 0]
