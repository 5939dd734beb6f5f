"""Parts of the Plan without the values that a draft does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

_Part = TypeVar("_Part")


def without_none(values: Mapping[str, object]) -> _Part:  # type: ignore[type-var]
    """A part of the Plan, of the type that the caller expects; keys whose value is None are absent.

    Every Plan is read by ``crates/plan``, which refuses unknown and missing keys.
    """
    return cast(_Part, {key: value for key, value in values.items() if value is not None})
