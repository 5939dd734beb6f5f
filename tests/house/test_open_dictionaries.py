"""Signatures with dictionaries whose keys no type fixes: few, because mypy sees no mistake in them.

An alias with a docstring that says why (``Json``, ``Row``, ``Part``) is not counted.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python/tsnbench"
MOST = 60
OPEN = ("dict[str, Any]", "Mapping[str, Any]")


def test_few_signatures_have_open_dictionaries() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{function.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for annotation in [*(one.annotation for one in _arguments(function)), function.returns]
        if annotation is not None
        for _ in range(sum(ast.unparse(annotation).count(word) for word in OPEN))
    ]
    assert len(found) < MOST, found


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
