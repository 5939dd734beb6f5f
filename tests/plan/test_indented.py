"""JSON for people is byte for byte what Python's own encoder writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tsnbench.plan.indented import for_people, write_indented

VALUES: list[Any] = [
    {},
    [],
    {"b": [1, -2.5, 1e-7, 1e16, 1e300, 0.1, True, None], "a": {"é": 'µs\n\t"\\\u0001\u007f', "": []}},
    [[], {}, [{}], {"a": {"b": {"c": [1 << 80, "}", "[", ","]}}}],
    {"nan": float("nan"), "endless": [float("inf")]},
    {1: "a number as key", None: 2},
    "text",
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_it_is_what_python_writes(value: Any) -> None:
    assert for_people(value) == json.dumps(value, indent=2, ensure_ascii=False)


@pytest.mark.parametrize("value", [*VALUES, [*range(100_000)], "\ud800"], ids=range(len(VALUES) + 2))
def test_parts_are_together_what_python_writes(value: Any) -> None:
    parts: list[str] = []
    write_indented(json.dumps(value), parts.append)
    assert "".join(parts) == json.dumps(value, indent=2)
    assert max(map(len, parts)) < 100_000


def test_an_error_of_the_writer_ends_it() -> None:
    written: list[str] = []

    def write(part: str) -> None:
        written.append(part)
        raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        write_indented(json.dumps([*range(100_000)]), write)
    assert len(written) == 1
