"""Every error that ends a command has a code, and each code has commands that give it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.commands import MAIN, Done
from support.commands import tsnbench as command
from support.package_imports import nodes, trees
from tsnbench.cli.measuring.modes import MODES
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts.by_hand import Checklist
from tsnbench.messages import Kind, codes_of, kinds, whole

ELSEWHERE = {"<text>": "fail", "<mode.input>": "MODES"}
"""Texts that another place gives to that of an error."""
BY_PROBLEMS = {"ScenarioErrors", "PlanningErrors", "NotAcceptedError"}
"""Errors with the codes of their problems (tests/scenario/test_messages.py)."""


def name_of(node: ast.expr) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


@cache
def families() -> dict[str, type[Exception]]:
    """The classes of errors in the sources by their names, each with the same parents and a plain text."""
    made: dict[str, type[Exception]] = {"InputError": InputError, "BackendError": BackendError}
    written = [node for file in trees() for node in nodes(file) if isinstance(node, ast.ClassDef)]
    for _ in range(3):
        for node in written:
            if parents := [made[name_of(base)] for base in node.bases if name_of(base) in made]:
                made.setdefault(node.name, type(node.name, tuple(parents), {}))
    return made


def text_of(node: ast.expr, constants: dict[str, str]) -> str:
    """A message as it is written; a part that is known at run time only is its expression in brackets."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, constants) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    return "--option" if name_of(node) == "option" else f"<{ast.unparse(node)}>"


def constants_of(file: str) -> dict[str, str]:
    """Texts that have names in a file."""
    return {
        name_of(node.targets[0]): text_of(node.value, {})
        for node in nodes(file)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr)
    }


def raised() -> Iterator[tuple[str, Exception]]:
    """Every error that the sources make, with its place."""
    for file in trees():
        constants = constants_of(file)
        for node in nodes(file):
            if not (isinstance(node, ast.Call) and node.args):
                continue
            name, arguments = name_of(node.func), node.args
            if name == "fail" and len(arguments) == 2 and ast.unparse(arguments[0]) == "Exit.INPUT_WRONG":
                name, arguments = "InputError", arguments[1:]
            if name in families() and name not in BY_PROBLEMS:
                said = ": ".join(text_of(one, constants) for one in arguments)
                yield f"{file}:{node.lineno}", families()[name](said)


def test_every_error_has_a_code() -> None:
    found = {place: error for place, error in raised() if str(error) not in ELSEWHERE}
    found |= {mode: InputError(MODES[mode].input) for mode in set(MODES) - {"capture", "log"}}
    assert len(found) > 300
    assert [f"{place}: {error}" for place, error in found.items() if not codes_of(error)] == []


def test_every_class_of_the_list_is_there() -> None:
    """A class that was renamed would give its errors the code of its parent."""
    own = {name for one in kinds().values() for name in one.errors}
    assert own - set(families()) == {
        *("UsageError", "NoSuchOption", "BadParameter", "OSError", "MemoryError"),
        *(
            "FileNotFoundError",
            "IsADirectoryError",
            "NotADirectoryError",
            "FileExistsError",
            "PermissionError",
        ),
    }


def test_a_checklist_without_a_confirmation_has_a_code() -> None:
    """The one kind that no command gives without a lab."""
    with pytest.raises(InputError) as error:
        Checklist("s1", "").require(None, "s1.txt")
    (silent,) = (one.code for one in kinds().values() if not one.commands and not one.example)
    assert codes_of(error.value) == [silent]


def without(module: str, words: list[str], cwd: Path) -> Done:
    """A command in a process of its own, as this one may have read the module for another test."""
    start = f"import sys; sys.modules[{module!r}] = None; {MAIN}"
    return subprocess.run(
        [sys.executable, "-c", start, *words],
        cwd=cwd,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("kind", [one for one in kinds().values() if one.commands], ids=lambda one: one.code)
def test_the_commands_give_the_code(kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "example.yaml").write_text(whole(kind.example), encoding="utf-8")
    for line in kind.commands:
        if not line.startswith("tsnbench "):
            subprocess.run(line, shell=True, cwd=tmp_path, check=True)
            continue
        words = [one[0] or one[1] for one in re.findall(r"'([^']*)'|(\S+)", line)][1:]
        done = without(kind.without, words, tmp_path) if kind.without else command(*words, cwd=tmp_path)
    last = done.stderr.splitlines()[-1]
    assert last == f"more about it: tsnbench explain {kind.code}", done.stderr
    assert done.returncode == (3 if kind.code.startswith("TSN12") else 2)
