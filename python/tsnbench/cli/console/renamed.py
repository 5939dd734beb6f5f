"""Old names of options: each goes on working for one version, and a note names the new one.

Every option of every command is listed in docs/reference/commands.md; one word names one thing in all
commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tsnbench.errors import InputError

RENAMED: Mapping[str, Mapping[str, str]] = {
    "plan": {
        "--export": "--into",
        "--to": "--as",
        "--report": "--as html --into",
        "--keep": "--keep-schedule",
    },
    "run": {"--say": "--dry-run", "--jobs": "--workers", "--keep": "--keep-schedule"},
    "tune": {"--by": "--on"},
    "study run": {"--on": "--cluster"},
    "doctor": {"--on": "--host"},
    "measure": {"--report": "--into", "--frames": "--output", "--time-out": "--timeout"},
    "inspect": {"--report": "--into"},
    "compare": {"--to": "--into", "--within": "--tolerance"},
    "replay": {"--html": "--output", "--until": "--to"},
    "send": {"--to": "--interface", "--for": "--duration", "--offset": "--shift", "--slower": "--dilate"},
    "receive": {"--for": "--duration"},
    "wireshark install": {"--folder": "--into"},
}
"""For each command, its old options and the options that replace them. A value goes to the last of these."""


def current(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command with new names for old ones, and a note for each old name.

    Args:
        words: the words after ``tsnbench``.

    Raises:
        InputError: two old names became the same new one, so that one of their values would be lost.
    """
    command, renamed = _renamed_of(words)
    if not renamed:
        return list(words), []
    made: list[str] = []
    found: dict[str, str] = {}
    for word, old, value in _split(words):
        if old not in renamed:
            made.append(word)
            continue
        *before, last = renamed[old].split()
        other = next((name for name, new in found.items() if new == last and name != old), None)
        if other is not None:
            raise InputError(
                f"{other} and {old} are now both {last}\nhint: write two commands, or {last} once"
            )
        found[old] = last
        made += [*before, last if value is None else f"{last}={value}"]
    notes = [
        f"note: tsnbench {command}: {old} is now {renamed[old]}; the next version knows only the new name"
        for old in found
    ]
    return made, notes


def _renamed_of(words: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """The command that the words begin with, and its old options."""
    for length in (2, 1):
        command = " ".join(words[:length])
        if command in RENAMED:
            return command, RENAMED[command]
    return "", {}


def _split(words: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    """Each word with its option and the value behind ``=``; words behind ``--`` are no options."""
    options = True
    for word in words:
        options = options and word != "--"
        name, equals, value = word.partition("=")
        yield word, name if options else "", value if equals else None
