"""Types for the native module's JSON have the keys of its crates' types: measures, bounds, schedules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tsnbench
from support import rust_types
from support.python_types import annotations

ROOT = Path(tsnbench.__file__).parent
ROOTS = {
    "runs/measures.py": {"measure": ("Measures",)},
    "plan/bounds/types.py": {"bounds": ("Bounds",), "verify": ("Proven", "Windows")},
    "planning/scheduling/problem.py": {
        "schedule": ("Problem", "Outcome", "Placed", "Hop", "Share", "CandidatePath"),
        "python": ("GateColumns",),
    },
}
"""For each module of types the crates, and the objects that are read or written as a whole."""
ADDED = {
    "Bounds": {"version"},
    "FlowBounds": {"source", "jitter_ns", "release_tick_ns", "undrained", "drops_late"},
    "Measures": {"measured_from"},
    "PathReport": {"round_trip"},
}
"""Keys that `tsnbench.plan.bounds`, `tsnbench.runs.bounds`, `tsnbench.measure.run` and `….answers` add."""
KEBAB = {"Jitter"}
"""Objects whose keys have dashes in JSON."""
OTHER_WORDS = {
    "list[(u32, Refusal)]": "list[tuple[int, Refusal]]",
    "Tree": "list[TreeEntry]",
    # A chain of links may be written without its parents.
    "NotRequired[list[TreeEntry]]": "NotRequired[list[TreeEntry] | list[int]]",
    "Reason | None": "str | None",
}
CALLER_LEAVES_OUT = {("Outcome", "moved"), ("Outcome", "ejections")}
"""Keys that the exact engine's answer does not have."""


def structs() -> list[tuple[str, rust_types.Struct]]:
    """Every object of which the root objects consist, in any file of its crate."""
    found = []
    for module, crates in ROOTS.items():
        for crate, roots in crates.items():
            files = sorted((rust_types.CRATES / crate / "src").rglob("*.rs"))
            declared = {each.name: each for file in files for each in rust_types.declared(file)}
            waiting, seen = list(roots), set()
            while waiting:
                name = waiting.pop()
                own = declared.get(name)
                if name in seen or not isinstance(own, rust_types.Struct):
                    continue
                seen.add(name)
                found.append((module, own))
                for field in own.fields:
                    words = "Vec<TreeEntry>" if "Tree" in field.rust else field.rust
                    waiting += re.findall(r"\b[A-Z]\w+", words)
    return found


def expected(struct: rust_types.Struct) -> dict[str, str]:
    found = {}
    for field in struct.fields:
        name = field.name.replace("_", "-") if struct.name in KEBAB else field.name
        text = OTHER_WORDS.get(field.annotation, field.annotation)
        found[name] = f"NotRequired[{text}]" if (struct.name, name) in CALLER_LEAVES_OUT else text
    return found


@pytest.mark.parametrize(("module", "struct"), structs(), ids=lambda one: getattr(one, "name", None))
def test_an_answer_has_the_keys_of_its_rust_type(module: str, struct: rust_types.Struct) -> None:
    written = annotations(ROOT / module)[struct.name]
    assert isinstance(written, dict)
    added = ADDED.get(struct.name, set())
    assert set(written) >= added
    assert {name: text for name, text in written.items() if name not in added} == expected(struct)


def test_structs_are_found() -> None:
    assert len(structs()) > 30
