"""The imports of the package, from its syntax trees: nothing of it is imported here."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python/tsnbench"
BY_NAME = ("Lazy", "import_module")
"""Functions that import a module by its name."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@cache
def trees() -> dict[str, ast.Module]:
    """Each file's syntax tree, by its path in the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def nodes(file: str) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree."""
    return tuple(ast.walk(trees()[file]))


@cache
def files() -> dict[str, str]:
    """Files by their modules: ``plan/document.py`` by ``plan.document``; ``__init__.py`` by its folder."""
    own = {file.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in trees()}
    return own | {"_native": "_native.pyi"}


def named(node: ast.AST) -> Iterator[str]:
    """The modules that a node imports; a module that is imported by its name as a text counts, too."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "a relative import"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole.removeprefix("tsnbench.") in files() else str(node.module)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in BY_NAME:
        yield from (str(one.value) for one in node.args if isinstance(one, ast.Constant))


@cache
def imports() -> dict[str, set[str]]:
    """The modules of tsnbench that a file imports anywhere: at its top, in functions, for types only."""
    return {file: _own(module for node in nodes(file) for module in named(node)) for file in trees()}


def _own(modules: Iterable[str]) -> set[str]:
    own = {module.removeprefix("tsnbench.") for module in modules if module.split(".")[0] == "tsnbench"}
    return {"__init__" if module == "tsnbench" else module for module in own}


def late() -> set[str]:
    """The files that import modules in functions."""
    return {
        file
        for file in trees()
        for function in nodes(file)
        if isinstance(function, FUNCTIONS)
        and any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(function))
    }


def circle(graph: dict[str, set[str]]) -> str:
    """The files or rooms on one circle; empty if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " needs ".join(reversed(error.args[1]))
    return ""
