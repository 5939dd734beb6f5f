"""The modules that a command loads before its work: only those that it needs."""

from __future__ import annotations

import subprocess
import sys
from inspect import cleandoc
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from support.commands import tsnbench
from tsnbench.cli.console.summaries import GROUPS, SUMMARIES
from tsnbench.cli.main import COMMANDS, app, application, program

SLOW = ("pydantic", "polars", "matplotlib", "numpy", "ortools", "jinja2")
"""Libraries for figures, tables, and the search for optimal schedules."""

SMALL = """\
name: small
duration: 1 ms
network: {stations: [a, b], bridges: [s], links: [a -- s, s -- b], rate: 1 Gbit/s}
streams: {one: {from: a, to: b, pcp: 7, frame: 200 B, period: 500 us, requires: {delay: 1 ms}}}
"""


def loaded(*words: str) -> list[str]:
    """The modules that a command has loaded when it ends."""
    code = (
        "import sys; from tsnbench.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return done.stderr.split()


def test_reading_and_planning_load_no_library_that_takes_long() -> None:
    code = "import sys, tsnbench.scenario, tsnbench.planning; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(SLOW) & set(found.stdout.split())


def test_a_command_loads_no_other_command() -> None:
    found = loaded("catalogue")
    assert "tsnbench.cli.planning.listing" in found
    others = ("running.run", "machines.deploy", "compare", "report", "planning.check")
    assert not {f"tsnbench.cli.{name}" for name in others} & set(found)
    assert not set(SLOW) & set(found)
    assert "tsnbench.runs" not in found


def test_the_version_loads_no_command() -> None:
    found = loaded("--version")
    assert not {f"tsnbench.cli.{name}" for name in COMMANDS.values()} & set(found)


def test_a_plan_loads_the_passes_that_its_scenario_uses(tmp_path: Path) -> None:
    scenario = tmp_path / "small.yaml"
    rarely = ("tsnbench.planning.scheduling.schedule", "tsnbench.planning.windows.planner")
    scenario.write_text(SMALL)
    assert not set(rarely) & set(loaded("plan", str(scenario)))
    scenario.write_text(SMALL + "shapers: {all: {gates: plan}}\n")
    assert set(rarely) & set(loaded("plan", str(scenario))) == {rarely[1]}


def test_a_small_run_into_a_pipe_loads_nothing_that_draws(tmp_path: Path) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SMALL)
    found = loaded("run", str(scenario), "--no-report", "--into", str(tmp_path / "run"))
    assert "tsnbench.sheet" in found
    assert not {*SLOW, "rich", "rich.console"} & set(found)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_alone_is_the_one_of_the_whole_program(name: str) -> None:
    alone = CliRunner().invoke(application((name,)), [name, "--help"])
    whole = CliRunner().invoke(app, [name, "--help"])
    assert alone.exit_code == whole.exit_code == 0
    assert alone.output == whole.output


def test_an_unknown_command_is_answered_with_a_similar_one() -> None:
    done = tsnbench("rnu")
    assert done.returncode == 2
    assert "Did you mean 'run'?" in done.stderr


def test_python_runs_the_package_as_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tsnbench", "check", "no-such-file.yaml"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("no-such-file.yaml:1:1: expected a scenario file, found no such file")


def test_the_help_loads_no_command() -> None:
    found = loaded("--help")
    assert not {f"tsnbench.cli.{name}" for name in COMMANDS.values()} & set(found)


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["rnu"], 2), (["--no-such"], 2)])
def test_the_outline_answers_as_the_whole_program(words: list[str], code: int) -> None:
    outlined, whole = (CliRunner().invoke(made, words) for made in (program(words), application()))
    assert program(words).registered_commands[0].help == SUMMARIES["init"], "an outline"
    assert outlined.exit_code == whole.exit_code == code
    assert (outlined.stdout, outlined.stderr) == (whole.stdout, whole.stderr)


def test_no_words_are_answered_with_the_help() -> None:
    alone, helped = tsnbench(), tsnbench("--help")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout == helped.stdout


def test_the_help_lists_every_command_once_in_a_group_and_cuts_no_line() -> None:
    text = tsnbench("--help", columns=80).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.split("\n", 1)[1]
    lines = [line.split() for line in text.splitlines() if line.startswith("  ")]
    for name, summary in SUMMARIES.items():
        assert lines.count([name, *summary.split()]) == 1
    assert [text.index(f"{title}:") for title in GROUPS] == sorted(
        text.index(f"{title}:") for title in GROUPS
    )
    assert list(SUMMARIES) == list(COMMANDS)


@pytest.mark.parametrize("variable", ["COMP_WORDS", "_TYPER_COMPLETE_ARGS"])
def test_a_shell_completes_the_options_of_every_command(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bash, and the other shells; no command is loaded but the one whose options are completed."""
    monkeypatch.setenv("_TSNBENCH_COMPLETE", "complete_bash")
    for name in COMMANDS:
        monkeypatch.setenv(variable, f"tsnbench {name} --n")
        group = get_command(program([]))
        assert isinstance(group, TyperGroup)
        assert list(group.commands) == [name]
        if name == "run":
            assert "--no-report" in {
                word for one in group.commands["run"].params for word in one.secondary_opts
            }
    monkeypatch.setenv(variable, "tsnbench ru")
    group = get_command(program([]))
    assert isinstance(group, TyperGroup)
    assert list(group.commands) == list(COMMANDS)
    assert program([]).registered_commands[0].help == SUMMARIES["init"], "an outline"


@pytest.mark.parametrize("name", ["import", "study", "lab", "wireshark"])
def test_the_help_of_a_group_cuts_no_summary(name: str) -> None:
    text = tsnbench(name, "--help", columns=80).stdout
    assert "..." not in text.partition("Commands:")[2]
    assert max(map(len, text.splitlines())) <= 80
    alone = tsnbench(name)
    assert (alone.returncode, alone.stderr) == (2, text)


def test_the_summary_of_a_command_is_the_first_paragraph_of_its_help() -> None:
    group = get_command(application())
    assert isinstance(group, TyperGroup)
    told = {name: cleandoc(one.help or "").partition("\n\n")[0] for name, one in group.commands.items()}
    assert {name: text.replace("\n", " ") for name, text in told.items()} == SUMMARIES
