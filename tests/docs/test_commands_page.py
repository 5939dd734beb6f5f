"""docs/reference/commands.md agrees with the program's help: every command, every option.

``TSNBENCH_UPDATE=1`` writes the page anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from support.golden import matches
from tsnbench.cli.console.renamed import RENAMED
from tsnbench.cli.main import app

PAGE = Path(__file__).parents[2] / "docs/reference/commands.md"
HEAD = """# Commands

The program writes this page from its own help (`tsnbench COMMAND --help`). Data goes to stdout,
messages go to stderr. Exit code 0: every requirement was met; 1: a requirement failed, or compared
runs differ; 2: the input is wrong; 3: the backend failed. `tsnbench --install-completion` makes the
shell complete options, scenario files, run folders, and names of streams, nodes and parameters.
"""
OLD_NAMES = """## Old names

One word names one thing in all commands: `--into` a folder that is written to, `--output` a file, `--as`
formats, `--on` a backend, `--hosts` the hosts of a lab, `--dry-run` a trial that changes nothing. These
old names still work in this version, and a note on stderr names the new one.
"""


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return str(name) if parameter.required else f"[{name}]"


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    what = " ".join((parameter.help or "").split()).rstrip(".")
    default = parameter.default
    metavar = parameter.metavar or " or ".join(getattr(parameter.type, "choices", ()))
    if parameter.is_flag or default in (None, "", []) or callable(default) or str(default) in what:
        return f"| {names}{'' if parameter.is_flag else f' {metavar}'} | {what} |"
    return f"| {names} {metavar} | {what}; {default} by default |"


def _page() -> str:
    lines = [HEAD]
    for name, command in _commands(get_command(app)):
        arguments = [_argument(one) for one in command.params if one.param_type_name == "argument"]
        lines += [f"## `{' '.join(['tsnbench', name, *arguments])}`", "", " ".join(command.help.split()), ""]
        options = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
        if options:
            lines += ["| option | meaning |", "|---|---|", *map(_option, options), ""]
    lines += [OLD_NAMES, "| command | old | new |", "|---|---|---|"]
    lines += [
        f"| `{name}` | `{old}` | `{new}` |" for name, all_ in RENAMED.items() for old, new in all_.items()
    ]
    return "\n".join(lines).rstrip() + "\n"


def test_the_page_is_the_programs_help() -> None:
    page = _page()
    matches(PAGE, page)
    assert all(
        f"## `tsnbench {name}" in page for name in ("check", "plan", "run", "compare", "deploy", "send")
    )


def test_one_word_names_one_thing() -> None:
    """An option has one kind of value in all commands, apart from these."""
    two_meanings = {
        "--frame": "a frame of a run, or the size of one (a key of scenarios)",
        "--for": "a time, or the nodes of a calibration",
        "--into": "the folder of results, or the file of a description",
        "--from": "the begin of a span of time, or of stages",
        "--to": "the end of a span of time, or of stages",
        "--interface": "an interface, or one for each port",
        "--node": "a node, or the device of one",
        "--port": "a port of the network, or of this machine's TCP",
        "--on": "a backend, or the judge of tune, which may also be the bounds",
        "--timeout": "seconds to wait for a device, or the time-out of TRDP subscriptions",
    }
    found: dict[str, set[str]] = {}
    for _, command in _commands(get_command(app)):
        for one in command.params:
            for name in one.opts if one.param_type_name == "option" else ():
                found.setdefault(name, set()).add("" if one.is_flag else str(one.metavar))
    assert {name: kinds for name, kinds in found.items() if len(kinds) > 1}.keys() <= two_meanings.keys()
    assert found["--into"] == {"DIR", "FILE"}
    assert found["--output"] == {"FILE"}
    assert found["--as"] == {"FORMATS"}
    assert found["--dry-run"] == {""}


def test_options_are_lower_case() -> None:
    """typer writes an option in capitals if the name of its value is the same word: ``--TIME TIME``."""
    names = [
        f"{name} {one}"
        for name, command in _commands(get_command(app))
        for parameter in command.params
        for one in parameter.opts
        if one.startswith("--") and one != one.lower()
    ]
    assert names == []
