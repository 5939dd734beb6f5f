"""Hints of messages name only options that the command has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from typer.main import get_command

from tsnbench.cli.main import program

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OF_ANOTHER_PROGRAM = re.compile(r"(?<![\w-])(isochron|iperf3|tc|ethtool) [^:;]*")
COMMAND = re.compile(r"tsnbench ([a-z]+)(?: ([a-z]+))?")


def strangers(words: Sequence[str], said: str) -> list[str]:
    """Options in the hints of a message that neither the called command nor one that the hint names has.

    Args:
        words: of the call.
        said: what it printed to stderr.
    """
    lines = [
        OF_ANOTHER_PROGRAM.sub("", line.partition("hint:")[2])
        for line in said.splitlines()
        if "hint:" in line
    ]
    if not any(OPTION.search(line) for line in lines):
        return []
    own = _options(words)
    return [
        option
        for line in lines
        for option in OPTION.findall(line)
        if option not in own and option not in _of_others(line)
    ]


def _options(words: Sequence[str]) -> set[str]:
    """The long options of a command, and of the commands above it."""
    found: set[str] = set()
    command: Any = get_command(program(list(words)))
    for word in [*words, ""]:
        found |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        command = getattr(command, "commands", {}).get(word, command)
    return found


def _of_others(line: str) -> set[str]:
    """The options of commands that a hint names: "tsnbench lab up"."""
    return {option for words in _named(line) for option in _options(words)}


def _named(line: str) -> Iterator[list[str]]:
    for found in COMMAND.finditer(line):
        yield [word for word in found.groups() if word]
