"""``tsnbench``: one scenario, from plan to verdict.

A command's module is loaded only for that command: loading the options of all commands takes longer than most
commands do.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from tsnbench.cli.console.net import guarded
from tsnbench.cli.console.output import print_message
from tsnbench.cli.console.overview import Overview
from tsnbench.cli.console.renamed import current
from tsnbench.cli.console.summaries import SUMMARIES
from tsnbench.version import __version__

COMMANDS = {
    "init": "planning.init",
    "check": "planning.check",
    "schema": "planning.listing",
    "catalogue": "planning.listing",
    "import": "planning.importing",
    "plan": "planning.plan",
    "tune": "study.tune",
    "cnc": "cnc",
    "join": "cnc.join",
    "run": "running.run",
    "measure": "measuring.measure",
    "inspect": "measuring.inspect",
    "report": "report",
    "compare": "compare",
    "replay": "replay",
    "study": "study",
    "reproduce": "study.reproduce",
    "calibrate": "machines.calibrate",
    "conform": "conform",
    "prove": "machines.prove",
    "doctor": "machines.doctor",
    "discover": "machines.discover",
    "diff": "machines.diff",
    "watch": "machines.watch",
    "deploy": "machines.deploy",
    "send": "live.send",
    "receive": "live.receive",
    "lab": "machines.lab",
    "restore": "machines.restore",
    "ui": "editing.ui",
    "explain": "planning.explain",
    "wireshark": "measuring.wireshark",
    "lsp": "editing.lsp",
}
"""Every command and the module of ``tsnbench.cli`` that has it under its name, in the order of ``--help``.

A module with subcommands, such as ``import``, has them as ``app``."""
COMPLETION = "_TSNBENCH_COMPLETE"
"""The environment variable by which a shell asks for completions."""


@cache
def application(names: tuple[str, ...] = tuple(COMMANDS)) -> typer.Typer:
    """The program with the commands of these names; by default with all commands."""
    made = _without_commands()
    for name in names:
        module = import_module(f"tsnbench.cli.{COMMANDS[name]}")
        if hasattr(module, name):
            made.command(name)(getattr(module, name))
        else:
            made.add_typer(module.app, name=name)
    return made


def _without_commands() -> typer.Typer:
    made = typer.Typer(
        name="tsnbench",
        cls=Overview,
        help="Find out whether a time-sensitive network is on time.",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        epilog="Exit codes: 0 every requirement was met, 1 a requirement failed (or runs differ), "
        "2 the input is wrong, 3 the backend failed.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback(invoke_without_command=True)(root)
    return made


@cache
def outline() -> typer.Typer:
    """The program whose commands have a summary and nothing else: ``--help`` shows no more of them."""
    made = _without_commands()
    for name, summary in SUMMARIES.items():
        made.command(name, help=summary)(_nothing)
    return made


def run(words: list[str]) -> None:
    """Runs the command that these words name; without words, prints the help.

    Raises:
        SystemExit: the command has ended.
    """
    now, notes = current(words)
    for note in notes:
        print_message(note)
    _parser(program(now))(args=now or ["--help"], prog_name="tsnbench")


_parser = cache(get_command)
"""What reads the words of a program. It is made once: that takes longer than a small command does."""


def program(words: list[str]) -> typer.Typer:
    """The program with the commands that these words need."""
    if words[:1] == ["--version"]:
        return application(())
    if COMPLETION in os.environ:
        words = completed()
    if words and words[0] in COMMANDS:
        return application((words[0],))
    if any(word in COMMANDS for word in words):
        return application()
    return outline()


def completed() -> list[str]:
    """The whole words of the line that a shell completes, without the program.

    The shell waits, so only the options of the command that the line names are loaded.
    """
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    words = line.split()
    return words[1:] if line[-1:].isspace() else words[1:-1]


def _nothing() -> None:
    """Stands for a command."""


def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Find out whether a time-sensitive network is on time.

    Exit codes: 0 every requirement was met, 1 a requirement failed, 2 the input is wrong,
    3 the backend failed.
    """
    if version:
        typer.echo(__version__)
        raise typer.Exit


def __getattr__(name: str) -> Any:
    """``app``: the whole program, for calls from Python."""
    if name == "app":
        return application()
    raise AttributeError(name)


def main() -> None:
    """Entry point of the ``tsnbench`` program."""
    # Trees of large scenarios have no cycles: a search for them every 700 objects takes a fifth of the time.
    gc.set_threshold(100_000)
    if sys.argv[1:2] in (["plan"], ["check"]):
        # These commands make only such trees, and end soon.
        gc.disable()
    words = sys.argv[1:]
    code = guarded(lambda: run(words))
    # All memory is freed at once at the end: a search for cycles has no use.
    gc.freeze()
    sys.exit(code)
