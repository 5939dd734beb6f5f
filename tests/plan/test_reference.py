"""The reference of the Plan names every field that its Rust types have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import rust_types

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/reference/plan.md").read_text(encoding="utf-8")
TYPES = [path for path in rust_types.sources() if rust_types.declared(path)]


def fields(path: Path) -> set[str]:
    found = set()
    for each in rust_types.declared(path):
        if isinstance(each, rust_types.Struct):
            found |= {field.name for field in each.fields}
        else:
            found |= {field.name for variant in each.variants for field in variant.fields}
    return found


@pytest.mark.parametrize("path", TYPES, ids=lambda path: path.stem)
def test_every_field_of_a_plan_is_in_the_reference(path: Path) -> None:
    assert sorted(name for name in fields(path) if not re.search(rf"\b{name}\b", TEXT)) == []


def test_fields_are_found() -> None:
    assert sum(len(fields(path)) for path in TYPES) > 220
