"""The imports of the package, from its syntax trees: nothing of it is imported here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python/tsnbench"
BY_NAME = ("Lazy", "import_module")
"""Functions that import a module by its name."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
TREES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
}
"""Each file's syntax tree, by its path in the package."""


def module_of(file: str) -> str:
    """``plan.document`` for ``plan/document.py``; a folder's name for its ``__init__.py``."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


FILES = {module_of(file): file for file in TREES} | {"_native": "_native.pyi"}
"""Files by their modules."""


def named(node: ast.AST) -> Iterator[str]:
    """The modules that a node imports; a module that is imported by its name as a text counts, too."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "a relative import"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole.removeprefix("tsnbench.") in FILES else str(node.module)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
        "import_module",
        "Lazy",
    ):
        yield from (str(one.value) for one in node.args if isinstance(one, ast.Constant))


def imports_of(tree: ast.AST) -> set[str]:
    """The modules of tsnbench that a file imports anywhere: at its top, in functions, for types only."""
    every = (module for node in ast.walk(tree) for module in named(node))
    own = {module.removeprefix("tsnbench.") for module in every if module.split(".")[0] == "tsnbench"}
    return {"__init__" if module == "tsnbench" else module for module in own}


IMPORTS = {file: imports_of(tree) for file, tree in TREES.items()}
"""The modules of tsnbench that a file imports."""
LATE = {
    file: sorted(
        {
            module
            for function in ast.walk(tree)
            if isinstance(function, FUNCTIONS)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for module in named(node)
        }
    )
    for file, tree in TREES.items()
}
"""The modules that a file imports in functions."""


def circle(graph: dict[str, set[str]]) -> str:
    """The files or rooms on one circle; empty if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " needs ".join(reversed(error.args[1]))
    return ""
