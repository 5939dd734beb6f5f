"""Parts of a scenario: their values, and that they are immutable."""

from __future__ import annotations

import pytest

from tsnbench.scenario.part import Part


class Inner(Part):
    size: int
    name: str | None = None


class Outer(Part):
    inner: Inner
    parts: tuple[Inner, ...] = ()
    by_name: dict[str, int] = {}  # noqa: RUF012


def test_values_are_given_by_name_and_defaults_fill_the_rest() -> None:
    made = Outer(inner=Inner(size=3))
    assert (made.inner.size, made.inner.name, made.parts, made.by_name) == (3, None, (), {})
    assert made.model_fields_set == {"inner"}
    assert repr(made.inner) == "Inner(size=3, name=None)"


def test_unknown_and_missing_values_are_refused() -> None:
    with pytest.raises(TypeError, match="Inner has no length"):
        Inner(size=1, length=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Inner needs size"):
        Inner()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Inner has no length"):
        Inner(size=1).model_copy(update={"length": 2})


def test_a_part_does_not_change() -> None:
    made = Inner(size=1)
    with pytest.raises(AttributeError, match="does not change"):
        made.size = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="does not change"):
        del made.size
    assert made.size == 1


def test_a_copy_has_other_values_and_leaves_the_first_alone() -> None:
    first = Inner(size=1)
    second = first.model_copy(update={"name": "a"})
    assert (first.name, second.name, second.size) == (None, "a", 1)
    assert second.model_fields_set == {"size", "name"}


def test_equal_are_parts_of_one_kind_with_equal_values() -> None:
    class Other(Part):
        size: int
        name: str | None = None

    assert Inner(size=1) == Inner(size=1, name=None)
    assert Inner(size=1) != Inner(size=2)
    assert Inner(size=1) != Other(size=1)
    assert len({Inner(size=1), Inner(size=1), Inner(size=2)}) == 2


def test_no_two_parts_share_a_dictionary() -> None:
    first, second = Outer(inner=Inner(size=1)), Outer(inner=Inner(size=1))
    first.by_name["a"] = 1
    assert second.by_name == {}
    assert Outer(inner=Inner(size=1)).by_name == {}


def test_values_as_a_dictionary() -> None:
    made = Outer(inner=Inner(size=1), parts=(Inner(size=2, name="b"),))
    assert made.model_dump() == {
        "inner": {"size": 1, "name": None},
        "parts": ({"size": 2, "name": "b"},),
        "by_name": {},
    }
    assert made.model_dump(exclude_unset=True) == {"inner": {"size": 1}, "parts": ({"size": 2, "name": "b"},)}
    assert made.model_dump(exclude_none=True)["inner"] == {"size": 1}
    assert made.model_dump(exclude_defaults=True).keys() == {"inner", "parts"}
