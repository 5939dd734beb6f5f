"""The reference of the Plan names every field that its Rust types have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/reference/plan.md").read_text(encoding="utf-8")
TYPES = [
    path for path in sorted((ROOT / "crates/plan/src").glob("*.rs")) if not path.stem.startswith("check")
]
FIELD = re.compile(
    r"^    (?:    )?(?:pub )?([a-z][a-z0-9_]*): [A-Z&]?[A-Za-z0-9<>:, ()\[\]]+,$", re.MULTILINE
)
DERIVED = re.compile(r"#\[derive\([^)]*Serialize.*?^}", re.MULTILINE | re.DOTALL)


def fields(path: Path) -> list[str]:
    found = DERIVED.findall(path.read_text(encoding="utf-8"))
    return sorted({name for body in found for name in FIELD.findall(body)})


@pytest.mark.parametrize("path", TYPES, ids=lambda path: path.stem)
def test_every_field_of_a_plan_is_in_the_reference(path: Path) -> None:
    missing = [name for name in fields(path) if not re.search(rf"\b{name}\b", TEXT)]
    assert not missing


def test_fields_are_found() -> None:
    assert sum(len(fields(path)) for path in TYPES) > 150
