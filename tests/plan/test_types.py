"""The Python types of a Plan have the names, keys and optional keys of ``crates/plan``."""

from __future__ import annotations

from pathlib import Path

import pytest

import tsnbench.plan.types
from support import rust_types
from support.python_types import annotations

FOLDER = Path(tsnbench.plan.types.__file__).parent
PYTHON_ONLY = {"GateCycle", "GateList"}
"""Names for common parts of several Rust types."""


def keys(fields: tuple[rust_types.Field, ...]) -> dict[str, str]:
    return {field.name: field.annotation for field in fields}


def expected() -> dict[str, dict[str, str] | str]:
    """Every name that the Python types must have: keys and annotations of objects, texts of aliases."""
    found: dict[str, dict[str, str] | str] = {}
    for path in rust_types.sources():
        for each in rust_types.declared(path):
            if isinstance(each, rust_types.Struct):
                found["PlanDocument" if each.name == "Plan" else each.name] = keys(each.fields)
                continue
            cases = []
            for variant in each.variants:
                name = variant.name + each.name
                if each.tagged:
                    found[name] = {"kind": f"Literal['{variant.word}']", **keys(variant.fields)}
                elif variant.holds is not None:
                    found[name] = {variant.word: variant.holds}
                else:
                    continue
                cases.append(name)
            words = [repr(one.word) for one in each.variants if not each.tagged and one.holds is None]
            found[each.name] = " | ".join([f"Literal[{', '.join(words)}]"] * bool(words) + cases)
    return found


def written() -> dict[str, dict[str, str] | str]:
    """The names of the Python types, in the form of :func:`expected`."""
    found: dict[str, dict[str, str] | str] = {}
    for path in sorted(FOLDER.glob("*.py")):
        found |= annotations(path)
    return {name: keys for name, keys in found.items() if name not in PYTHON_ONLY}


@pytest.mark.parametrize("name", sorted(expected()))
def test_a_type_of_a_plan_has_the_keys_of_its_rust_type(name: str) -> None:
    assert written().get(name) == expected()[name]


def test_every_python_type_has_a_rust_type() -> None:
    assert set(written()) - set(expected()) == set()
    assert set(tsnbench.plan.types.__all__) == set(expected()) | PYTHON_ONLY


def test_optional_keys_are_optional_at_run_time() -> None:
    assert tsnbench.plan.types.Stream.__optional_keys__ >= {"vid", "redundancy", "socket", "scheduled"}
    assert "name" in tsnbench.plan.types.Stream.__required_keys__


def test_rust_types_are_found() -> None:
    objects = [keys for keys in expected().values() if isinstance(keys, dict)]
    assert len(objects) > 70
    assert sum(map(len, objects)) > 290
