"""JSON for people is byte for byte what Python's own encoder writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tsnbench.plan.indented import for_people

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
