"""Conditions and sums over quantities: ``mean_high < mean_low``, ``100 * (guarded / plain - 1)``.

Arithmetic, comparisons, ``and``/``or``/``not``, and the functions below; nothing else. A name of several
quantities is a list: an operation with a list is done for each member, a comparison holds if it holds for
all of them.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "percent": 0.01, "Mbit": 1_000_000}

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _increasing(values: Sequence[float]) -> bool:
    return all(after > before for before, after in pairwise(values))


def _steps(values: Sequence[float]) -> list[float]:
    """From each member to the next."""
    return [after - before for before, after in pairwise(values)]


def _near(found: float, wanted: float, share: float) -> bool:
    return abs(found - wanted) <= share * abs(wanted)


def _grade(mean: float, median: float, most: float, limit: float) -> str:
    """EnGINE's three words: YES* where mean and median keep a limit that some frame does not."""
    if most <= limit:
        return "YES"
    return "YES*" if max(mean, median) <= limit else "NO"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": lambda value: _each(abs, value),
    "grade": _grade,
    "increasing": _increasing,
    "max": max,
    "mean": lambda values: sum(values) / len(values),
    "min": min,
    "near": _near,
    "range": lambda values: max(values) - min(values),
    "steps": _steps,
    "sum": sum,
}


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    return [function(one) for one in value] if isinstance(value, list) else function(value)


def names(text: str) -> set[str]:
    """The quantities that an expression is about."""
    found = {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    return found - set(FUNCTIONS) - set(UNITS)


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """
    Raises:
        ValueError: something that is no arithmetic, or an unknown name.
    """
    return _value(ast.parse(text, mode="eval").body, {**UNITS, **values})


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.List(elts=members) | ast.Tuple(elts=members):
            return [_value(member, known) for member in members]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _each(operator.neg, _value(operand, known))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, known)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _pairs(_ARITHMETIC[type(op)], _value(left, known), _value(right, known))
        case ast.BoolOp(op=op, values=parts):
            both = all if isinstance(op, ast.And) else any
            return both([bool(_value(part, known)) for part in parts])
        case ast.Compare(left=first, ops=ops, comparators=others):
            sides = [_value(side, known) for side in (first, *others)]
            return all(
                _holds(_COMPARISONS[type(op)], left, right)
                for op, (left, right) in zip(ops, pairwise(sides), strict=True)
            )
        case ast.Subscript(value=whole, slice=place):
            return _value(whole, known)[_value(place, known)]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(argument, known) for argument in arguments))
    raise ValueError(f"no arithmetic over known quantities: {ast.unparse(node)}")


def _pairs(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if isinstance(left, list) and isinstance(right, list):
        return [function(a, b) for a, b in zip(left, right, strict=True)]
    if isinstance(left, list):
        return [function(a, right) for a in left]
    if isinstance(right, list):
        return [function(left, b) for b in right]
    return function(left, right)


def _holds(compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    found = _pairs(compare, left, right)
    return all(found) if isinstance(found, list) else bool(found)
