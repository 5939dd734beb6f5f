"""How many examples a property is tried with: a share of those of the profile in force."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(share: float, **more: Any) -> settings:
    """Settings with so many times the examples of the profile: few in a quick run, many at night."""
    return settings(max_examples=max(5, round(settings().max_examples * share)), **more)
