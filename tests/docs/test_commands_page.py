"""docs/reference/commands.md agrees with the program's help: every command, every option.

``TSNBENCH_UPDATE=1`` writes the page anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from support.golden import matches
from tsnbench.cli.main import app

PAGE = Path(__file__).parents[2] / "docs/reference/commands.md"
HEAD = """# Commands

The program writes this page from its own help (`tsnbench COMMAND --help`). Data goes to stdout,
messages go to stderr. Exit code 0: every requirement was met; 1: a requirement failed, or compared
runs differ; 2: the input is wrong; 3: the backend failed.
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
    if parameter.is_flag or default in (None, "", []) or callable(default) or str(default) in what:
        return f"| {names}{'' if parameter.is_flag else f' {parameter.metavar}'} | {what} |"
    return f"| {names} {parameter.metavar} | {what}; {default} unless given |"


def _page() -> str:
    lines = [HEAD]
    for name, command in _commands(get_command(app)):
        arguments = [_argument(one) for one in command.params if one.param_type_name == "argument"]
        lines += [f"## `{' '.join(['tsnbench', name, *arguments])}`", "", " ".join(command.help.split()), ""]
        options = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
        if options:
            lines += ["| option | what |", "|---|---|", *map(_option, options), ""]
    return "\n".join(lines).rstrip() + "\n"


def test_the_page_is_the_programs_help() -> None:
    page = _page()
    matches(PAGE, page)
    assert all(
        f"## `tsnbench {name}" in page for name in ("check", "plan", "run", "compare", "deploy", "send")
    )


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
