"""Functions of the package are short and flat, and few dictionaries have keys that no type fixes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support.package_imports import PACKAGE, nodes, trees

MOST_LINES = 60
MOST_LEVELS = 4
MOST_OPEN = 39
"""``dict[str, Any]`` and ``Mapping[str, Any]``, also in aliases such as ``Json``: mypy is blind there."""
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith, ast.Match)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for file in trees():
        yield from ((f"{file}:{one.name}", one) for one in nodes(file) if isinstance(one, Function))


def levels(node: ast.AST, above: int = 0) -> int:
    """The greatest number of blocks within each other; ``elif`` is no level of its own."""
    return max((levels(below, above + deeper) for below, deeper in within(node)), default=above)


def within(node: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    for below in ast.iter_child_nodes(node):
        is_elif = isinstance(node, ast.If) and isinstance(below, ast.If) and node.orelse == [below]
        yield below, int(isinstance(below, BLOCKS) and not is_elif)


def test_functions_are_short() -> None:
    lines = {name: (node.end_lineno or 0) - node.lineno + 1 for name, node in functions()}
    assert {name: found for name, found in lines.items() if found > MOST_LINES} == {}


def test_functions_are_flat() -> None:
    deep = {name for name, node in functions() if levels(node) > MOST_LEVELS}
    assert deep == set()


def test_few_dictionaries_are_open() -> None:
    texts = ((PACKAGE / file).read_text(encoding="utf-8") for file in trees())
    assert sum(text.count(f"{kind}[str, Any]") for text in texts for kind in ("dict", "Mapping")) <= MOST_OPEN
