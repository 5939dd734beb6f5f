"""How commands end when their input is not at fault: one line and exit code 3, or a signal's exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer

from support.commands import SCENARIO, Done, command, limited, started, tsnbench, uncoded
from tsnbench.cli.console.output import user_errors

RANDOM = """\
name: random
duration: DURATION
network:
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a--b]}
streams:
  x: {from: a, to: b, poisson: 200 Mbit/s, payload: 100 B}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(SCENARIO)
    (tmp_path / "random.yaml").write_text(RANDOM.replace("DURATION", "2 s"))
    (tmp_path / "long.yaml").write_text(RANDOM.replace("DURATION", "10 min"))
    return tmp_path


def one_line(said: str) -> str:
    """The message, which is one line, an optional hint, and the line with its code."""
    lines = uncoded(said).strip().splitlines()
    assert len(lines) <= 2, said
    assert "Traceback" not in said
    assert len(lines) == 1 or lines[1].startswith("hint: ")
    return lines[0]


@pytest.mark.parametrize("words", [["plan", "small.yaml"], ["plan", "small.yaml", "--json"], ["--help"]])
def test_standard_output_on_a_full_disk(here: Path, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = started(*words, cwd=here, stdout=full)
    assert done.returncode == 3
    assert one_line(done.stderr) == "standard output cannot be written: No space left on device"


def test_what_cannot_be_said_on_a_full_standard_error_changes_nothing(here: Path) -> None:
    with open("/dev/full", "w") as full:
        done = started("run", "small.yaml", "--no-report", cwd=here, stderr=full)
    assert done.returncode == 1
    assert (here / "runs/small/verdict.json").exists()


@pytest.mark.parametrize("words", [["--json"], []])
def test_a_reader_that_has_gone_changes_no_exit_code(here: Path, words: list[str]) -> None:
    """The requirement fails with exit code 1; a reader such as ``| head -1`` changes neither 0 nor 1."""
    gone, end = os.pipe()
    os.close(gone)
    with os.fdopen(end, "w") as out:
        done = started("run", "small.yaml", "--no-report", *words, cwd=here, stdout=out)
        assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (1, "run folder: runs/small")
        plan = started("plan", "small.yaml", *words, cwd=here, stdout=out)
        assert plan.returncode == 0
        assert "rror" not in plan.stderr


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_standard_streams_that_are_closed(here: Path, closed: str) -> None:
    """The requirement fails with exit code 1, as with any other output."""
    words = [*command("run", "small.yaml", "--no-report"), "--force"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *words], cwd=here, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "defect" not in done.stderr
    # No file of the run has taken the place of a stream.
    assert json.loads((here / "runs/small/manifest.json").read_text())["state"] == "complete"


SIGNALS = pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)


def under_way(here: Path, *more: str, **keys: Any) -> subprocess.Popen[str]:
    """A long run of which frames were simulated when this returns."""
    process = subprocess.Popen(
        command("run", "long.yaml", "--no-report", "--progress", "json", *more), cwd=here, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **({"preexec_fn": interruptible} | keys),
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline().startswith("note: ")
    while '"frame_hops"' not in (said := process.stderr.readline()):
        assert said, "it has ended"
    return process


def interruptible() -> None:
    """A shell starts background jobs with SIGINT ignored, and a test run may be such a job."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(here: Path, process: subprocess.Popen[str], code: int) -> None:
    """The run has ended with this exit code, and its folder can be read."""
    with process:
        assert process.stderr is not None
        said = [line for line in process.stderr if not line.startswith("{")]
        assert process.wait(60) == code, said
    assert said == ["interrupted; what was measured until then is kept\n"]
    folder = here / "runs/random"
    assert json.loads((folder / "manifest.json").read_text())["state"] == "interrupted"
    assert not (folder / ".tsnbench.lock").exists()
    measures = json.loads(tsnbench("measure", folder, "--json").stdout)["measures"]
    assert measures["paths"][0]["count"]["received"] > 0


@SIGNALS
def test_signals_leave_a_run_that_can_be_measured(here: Path, number: signal.Signals, code: int) -> None:
    process = under_way(here)
    process.send_signal(number)
    interrupted(here, process, code)


def test_a_run_ends_with_the_program_that_holds_its_input(here: Path) -> None:
    process = under_way(here, "--until-closed", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()
    interrupted(here, process, 143)


def test_a_run_that_a_program_holds_is_interrupted_also_in_the_background(here: Path) -> None:
    """A shell ignores SIGINT for background jobs, and all their children inherit this."""
    process = under_way(
        here, "--until-closed", stdin=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    process.send_signal(signal.SIGINT)
    interrupted(here, process, 130)


GUARDED = """
import signal, sys, time
from tsnbench.cli.console.net import guarded
class Lost:
    def __del__(self):
        signal.raise_signal(number)
def lost():
    Lost()
    for _ in range(1000):
        time.sleep(0.01)
def changed(error, chained):
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt as interrupt:
        raise error from (interrupt if chained else None)
class Importer:
    def find_spec(self, name, *_):
        if name == "torn":
            changed(RuntimeError("release unlocked lock"), False)
sys.meta_path.insert(0, Importer())
def clean_up():
    try:
        signal.raise_signal(number)
    finally:
        raise RuntimeError("the clean-up")
number = signal.Signals(int(sys.argv[1]))
sys.exit(guarded(lambda: eval(sys.argv[2])))
"""


@SIGNALS
@pytest.mark.parametrize(
    "work",
    [
        "lost()",
        "changed(SyntaxError('unicodedata'), False)",
        "changed(ImportError('numpy'), False)",
        "changed(RuntimeError('__set_name__'), True)",
        "__import__('torn')",
    ],
)
def test_a_signal_that_python_turns_into_another_error_or_ignores(
    number: signal.Signals, code: int, work: str
) -> None:
    """As during imports: a callback ignores it, a compiler makes it a SyntaxError."""
    done = guarded(number, work)
    assert (done.returncode, done.stderr) == (code, "")


def test_an_error_of_the_work_after_a_signal_is_told() -> None:
    for work in ("clean_up()", "changed(RuntimeError('the clean-up'), False)"):
        done = guarded(signal.SIGINT, work)
        assert done.returncode == 130
        assert one_line(done.stderr) == "this is a defect of tsnbench: RuntimeError: the clean-up"


def guarded(number: signal.Signals, work: str) -> Done:
    words = [sys.executable, "-c", GUARDED, str(int(number)), work]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, preexec_fn=interruptible)


def test_a_hang_up_that_is_ignored_stays_so(here: Path) -> None:
    """``nohup tsnbench run …``"""
    process = subprocess.Popen(
        command("run", "random.yaml", "--no-report"), cwd=here, stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    while not (here / "runs/random/observations.parquet").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=60) == 0


def test_files_that_may_not_be_so_large(here: Path) -> None:
    """The limit is reached during the simulation; SIGXFSZ does not end the process."""
    done = started("run", "random.yaml", "--no-report", cwd=here, preexec_fn=limited(300_000))
    assert done.returncode == 3
    assert one_line(done.stderr) == "runs/random: cannot be written: File too large"
    manifest = json.loads((here / "runs/random/manifest.json").read_text())
    assert (manifest["state"], manifest["problem"].partition("\n")[0]) == ("failed", one_line(done.stderr))


def test_measures_that_do_not_fit(here: Path) -> None:
    """The observations fit into the limit, the table of frames does not."""
    assert tsnbench("run", "random.yaml", "--no-report", cwd=here).returncode == 0
    done = started("measure", "runs/random", cwd=here, preexec_fn=limited(300_000))
    assert done.returncode == 3
    assert one_line(done.stderr) == "runs/random: cannot be written: File too large"
    assert tsnbench("measure", "runs/random", cwd=here).returncode == 0


def test_last_rows_that_do_not_fit(here: Path) -> None:
    """A short run writes all of its rows at the end: the message is about the disk, not about Parquet."""
    (here / "short.yaml").write_text(RANDOM.replace("DURATION", "200 ms"))
    done = started("run", "short.yaml", "--no-report", cwd=here, preexec_fn=limited(50_000))
    assert done.returncode == 3
    assert one_line(done.stderr) == "runs/random: cannot be written: File too large"


def test_a_scenario_to_begin_with_that_does_not_fit(here: Path) -> None:
    """No incomplete file stays: the next call would find one and refuse it."""
    done = started("init", "ring", cwd=here, preexec_fn=limited(1000))
    assert done.returncode == 3
    assert one_line(done.stderr) == "ring.yaml: cannot be written: File too large"
    assert not (here / "ring.yaml").exists()
    assert tsnbench("init", "ring", cwd=here).returncode == 0
    assert tsnbench("init", "ring", cwd=here).returncode == 2


@pytest.mark.parametrize("kind", ["small", "full", "read-only"])
def test_a_disk_that_takes_no_more(here: Path, kind: str) -> None:
    disk = here / "disk"
    disk.mkdir()
    options = "size=600k" + (",ro" if kind == "read-only" else "")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        if kind == "full":
            with (disk / "notes").open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
        done = tsnbench("run", "random.yaml", "--no-report", "--into", disk / "run", cwd=here)
        assert done.returncode == 3
        said = "Read-only file system" if kind == "read-only" else "No space left on device"
        assert one_line(done.stderr) == f"{disk}/run: cannot be written: {said}"
        if kind == "small":
            assert json.loads((disk / "run/manifest.json").read_text())["state"] == "failed"
            # tsnbench can still recognise and replace the incomplete run.
            (here / "other.yaml").write_text(SCENARIO.replace("small", "random"))
            done = tsnbench("run", "other.yaml", "--no-report", "--into", disk / "run", cwd=here)
            assert done.returncode == 1, done.stderr
        else:
            assert not (disk / "run").exists()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_that_another_process_writes_into(here: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tsnbench.runs.lock import held\n"
        "with held(Path('runs/small')):\n    print(flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        done = tsnbench("run", "small.yaml", "--force", cwd=here)
        assert done.returncode == 3
        assert one_line(done.stderr) == f"runs/small: process {other.pid} is writing into this folder"
        other.kill()
    assert tsnbench("run", "small.yaml", "--no-report", cwd=here).returncode == 1


@pytest.mark.parametrize("traceback", [False, True])
def test_a_defect_is_said_to_be_one(here: Path, monkeypatch: pytest.MonkeyPatch, traceback: bool) -> None:
    def plan(*_: object) -> NoReturn:
        raise KeyError("what\nnow")

    monkeypatch.setattr("tsnbench.cli.running.chosen.make_plan", plan)
    monkeypatch.setenv("TSNBENCH_TRACEBACK", "1" if traceback else "")
    done = tsnbench("run", "small.yaml", cwd=here)
    assert done.returncode == 3
    assert "this is a defect of tsnbench: KeyError: 'what\\nnow'\nhint: TSNBENCH_TRACEBACK=1" in done.stderr
    assert ("Traceback" in done.stderr) == traceback
    if not traceback:
        one_line(done.stderr)


@pytest.mark.parametrize("into", ["small.yaml", "small.yaml/run", "dangling", ".", "x" * 300, "loop/run"])
def test_places_where_no_run_can_be(here: Path, into: str) -> None:
    (here / "dangling").symlink_to(here / "nothing")
    (here / "loop").symlink_to(here / "loop")
    before = sorted(here.rglob("*"))
    done = tsnbench("run", "small.yaml", "--into", into, "--force", cwd=here)
    assert done.returncode == 2, done.stderr
    one_line(done.stderr)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    ("measuring", "said"),
    [(False, "interrupted\n"), (True, "interrupted; what was measured until then is kept\n")],
)
def test_only_commands_that_measure_say_that_results_are_kept(
    capsys: pytest.CaptureFixture[str], measuring: bool, said: str
) -> None:
    with pytest.raises(typer.Exit) as ended, user_errors(measuring=measuring):
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == said
