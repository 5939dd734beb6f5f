"""Every option that takes a path gets every kind of file that a path can name.

No command hangs, fills the memory or ends with a traceback: one mistake gives one message that names the
file, with exit code 2.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

HERE = Path(__file__).parent
NO_THREADS = {"OPENBLAS_NUM_THREADS": "1", "_RJEM_MALLOC_CONF": "background_thread:false"}
"""Variables with which numpy and polars start no threads: their process forks."""
SCENARIO = """\
name: small
duration: 2 ms
network:
  stations: [a, c]
  bridges: [dut]
  links: {rate: 1 Gbit/s, between: [a -- dut, c -- dut]}
streams:
  video: {from: a, to: c, pcp: 5, period: 100 us, frame: 1000 B, requires: {delay: 1 ms}}
clocks: {a: {drift: 1 ppm}}
"""
REPLAY = "  played: {from: a, to: c, pcp: 4, frame: 500 B, replay: FILE}\nclocks"
INSIDE = {
    # A file that the scenario names.
    "trace.csv": SCENARIO.replace("{drift: 1 ppm}", "{trace: FILE}"),
    "replay.csv": SCENARIO.replace("clocks", REPLAY),
    "replay.parquet": SCENARIO.replace("clocks", REPLAY),
    "replay.pcap": SCENARIO.replace("clocks", REPLAY),
    "times.csv": SCENARIO.replace("bridges: [dut]", "bridges: {dut: {processing: {file: FILE}}}"),
    "host.txt": SCENARIO + "hosts: {a: {wakeup: {cyclictest: FILE}}}\n",
}
DEEP = "[" * 200_000


def _fifo(path: Path) -> None:
    os.mkfifo(path)


KINDS: dict[str, Callable[[Path], Any]] = {
    "missing": lambda path: None,
    "folder": Path.mkdir,
    "fifo": _fifo,
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "empty": Path.touch,
    "garbage": lambda path: path.write_bytes(random.Random(7).randbytes(5000)),
    "wrong": lambda path: path.write_text(
        '{"format": "tsnbench-run/1", "state": 5, "paths": 5, "rows": [5]}'
    ),
    "deep": lambda path: path.write_text(DEEP),
}
READ = tuple(KINDS)
UNREADABLE = ("folder", "fifo", "zero", "empty", "garbage")
A_FILE = ("empty",)


@dataclass(frozen=True)
class Option:
    """A command with an option; ``{}`` is the path, ``GOOD`` a run folder, ``SMALL`` a scenario."""

    words: str
    kinds: tuple[str, ...] = READ
    suffix: str = ""
    codes: tuple[int, ...] = (2,)
    below: str = ""
    """The name of a file below the path."""


OPTIONS = (
    Option("check {}", suffix=".yaml"),
    Option("plan {}", suffix=".yaml"),
    Option("plan SMALL --keep-schedule {}", suffix=".json"),
    Option("plan SMALL --as csv --into {}", kinds=A_FILE),
    Option("plan SMALL --as csv --into {}", kinds=A_FILE, below="/x"),
    Option("plan SMALL --as html --into {}", kinds=A_FILE),
    Option("plan SMALL --as html --into {}", kinds=A_FILE, below="/x"),
    Option("run {}", suffix=".yaml"),
    Option("run SMALL --into never --keep-schedule {}", suffix=".json"),
    Option("run SMALL --into {}", kinds=A_FILE),
    Option("run SMALL --into {}", kinds=A_FILE, below="/x"),
    Option("doctor --for {}", suffix=".yaml"),
    Option("import tsnkit {} TOPO", suffix=".csv"),
    Option("import tsnkit TASK {}", suffix=".csv"),
    Option("import inet {}", suffix=".ini"),
    Option("import matrix {}", suffix=".csv"),
    Option("import arxml {}", suffix=".arxml"),
    Option("import drawio {}", suffix=".drawio"),
    Option("import graphml {}", suffix=".graphml"),
    Option("import containerlab {}", suffix=".yml"),
    Option("import matrix {}", kinds=UNREADABLE, suffix=".xlsx"),
    Option("import saihu {}", suffix=".json"),
    Option("measure {}"),
    Option("measure --stages {}", kinds=UNREADABLE),
    Option("measure --tx {} --rx CAPTURE", suffix=".pcap"),
    Option("measure --tx CAPTURE --rx {}", suffix=".pcap"),
    Option("measure --tx CAPTURE --rx CAPTURE --output {}", kinds=A_FILE, below="/x"),
    Option("report {}"),
    Option("report GOOD --into {}", kinds=A_FILE),
    Option("report GOOD --into {}", kinds=A_FILE, below="/x"),
    Option("compare {} GOOD"),
    Option("compare GOOD {}"),
    Option("compare GOOD --tx {} --rx CAPTURE", suffix=".pcap"),
    Option("compare GOOD GOOD --into {}", kinds=A_FILE),
    Option("compare GOOD GOOD --into {}", kinds=A_FILE, below="/x"),
    Option("deploy {} --netconf 127.0.0.1:9", suffix=".json"),
    Option("deploy {} --netconf 127.0.0.1:9", suffix=".yaml"),
    Option("deploy --restore {}", suffix=".json"),
    Option(
        "deploy PLAN --node dut=127.0.0.1:9 --dry-run --partial --key {}", kinds=("folder", "fifo", "zero")
    ),
    Option("deploy PLAN --node dut=127.0.0.1:9 --dry-run --partial --known-hosts {}", kinds=UNREADABLE),
    *(Option(f"check INSIDE/{name}.yaml", suffix=name) for name in INSIDE),
)
PARTS = (
    ("manifest.json", ("report",)),
    ("plan.json", ("report", "measure")),
    ("measures.json", ("report", "compare")),
    ("verdict.json", ("report",)),
    ("counters.json", ("report", "measure")),
    ("bounds.json", ("measure",)),
    ("observations.parquet", ("report", "measure", "measure --stages")),
    ("frames.parquet", ("report", "compare")),
    ("clock_error.parquet", ("report",)),
)
"""The files of a run folder; with each file, commands on a run folder in which that file is damaged."""


def _damaged(path: Path) -> None:
    """Replace random octets of the file."""
    octets = bytearray(path.read_bytes())
    draws = random.Random(3)
    for _ in range(max(20, len(octets) // 20)):
        octets[draws.randrange(4, len(octets) * 2 // 3)] = draws.randrange(256)
    path.unlink()
    path.write_bytes(octets)


def _other_table(path: Path) -> None:
    path.unlink()
    pl.DataFrame({"a": ["x"]}).write_parquet(path)


def _make(kind: str, path: Path) -> None:
    if kind in ("damaged", "other"):
        (_damaged if kind == "damaged" else _other_table)(path)
        return
    path.unlink(missing_ok=True)
    KINDS[kind](path)


class Cases:
    """All commands; one process runs them at the same time, each in a fork."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.given: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.option: list[Option] = []

    def add(self, name: str, arguments: list[str], option: Option) -> None:
        own = self.folder / f"cwd-{len(self.given)}"
        own.mkdir()
        self.given.append({"arguments": arguments, "folder": str(own)})
        self.names.append(name)
        self.option.append(option)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Option, dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "small.yaml").write_text(SCENARIO)
    first = ["run", str(folder / "small.yaml"), "--into", str(folder / "good"), "--pcap"]
    done = _run([{"arguments": first, "folder": str(folder)}])
    assert done[0]["code"] == 0, done
    capture = next((folder / "good").rglob("*.pcap*"))
    golden = HERE.parent / "exports/golden/tsnkit"
    words = {
        "SMALL": folder / "small.yaml",
        "GOOD": folder / "good",
        "PLAN": folder / "good/plan.json",
        "CAPTURE": capture,
        "TASK": golden / "task.csv",
        "TOPO": golden / "topo.csv",
    }
    cases = Cases(folder)
    for option in OPTIONS:
        for kind in option.kinds:
            place = folder / f"{len(cases.given)}"
            place.mkdir()
            path = place / f"{kind}{'-' if option.suffix in INSIDE else ''}{option.suffix}"
            _make(kind, path)
            given = []
            for word in option.words.split():
                if word.startswith("INSIDE/"):
                    (place / "inside.yaml").write_text(INSIDE[option.suffix].replace("FILE", path.name))
                    word = str(place / "inside.yaml")
                given.append(str(words.get(word, word.replace("{}", str(path) + option.below))))
            cases.add(f"{option.words} {kind}{option.below}", given, option)
    for name, commands in PARTS:
        kinds = ("damaged", "other") if name.endswith(".parquet") else ("wrong", "deep", "empty")
        for command, kind in product(commands, ("fifo", "zero", "garbage", *kinds)):
            place = folder / f"{len(cases.given)}"
            shutil.copytree(folder / "good", place)
            _make(kind, place / name)
            given = [*command.split(), str(place), *([str(folder / "good")] if command == "compare" else [])]
            # The command may not need the file that is missing or damaged, and a report names what it lacks.
            cases.add(f"{command}: {name} {kind}", given, Option(command, codes=(0, 1, 2)))
    return list(zip(cases.names, cases.option, _run(cases.given), strict=True))


def _run(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "support.hostile_runner"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **NO_THREADS},
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_every_command_ends_with_a_message(outcomes: list[tuple[str, Option, dict[str, Any]]]) -> None:
    wrong = []
    for name, option, done in outcomes:
        problems = []
        if done["code"] not in option.codes:
            problems.append(f"exit code {done['code']}, not {option.codes}")
        if "Traceback" in done["err"] or "panicked" in done["err"] or "defect" in done["err"]:
            problems.append("a traceback")
        # All mistakes of a scenario are reported together.
        if done["code"] == 2 and not 1 <= len(done["err"].strip().splitlines()) <= 20:
            problems.append("not a few lines")
        if done["kib"] > 1 << 20:
            problems.append(f"{done['kib']} KiB")
        if problems:
            wrong.append(f"{name}: {'; '.join(problems)}\n{done['err'][-400:]}")
    assert len(outcomes) > 250
    assert not wrong, f"{len(wrong)} of {len(outcomes)}:\n" + "\n".join(wrong)


def test_messages_name_the_file(outcomes: list[tuple[str, Option, dict[str, Any]]]) -> None:
    silent = []
    for name, option, done in outcomes:
        kind = name.split()[-1].partition("/")[0]
        if option in OPTIONS and done["code"] == 2 and kind not in done["err"]:
            silent.append(f"{name}: {done['err']}")
    assert not silent, "\n".join(silent)
