"""Some of a sweep's scenarios, or the same scenario with another duration or seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.scenario.text.sweep import same

if TYPE_CHECKING:
    from tsnbench.scenario.model import Scenario


def shortened(scenario: Scenario, duration_ns: int | None, seed: int | None) -> Scenario:
    """A copy of the scenario with another duration or seed."""
    changes: dict[str, int] = {}
    if duration_ns is not None:
        changes["duration"] = duration_ns
    if seed is not None:
        changes["seed"] = seed
    return scenario.model_copy(update=changes)


def selected(scenarios: Sequence[Scenario], only: Sequence[str]) -> list[Scenario]:
    """The runs of a sweep whose parameters have the values of ``only`` (``hops=3``; ``45us`` is ``45 us``).

    Raises:
        InputError: a condition that is not ``name=value``, or that no run fulfils.
    """
    chosen = list(scenarios)
    for condition in only:
        key, separator, value = condition.partition("=")
        if not separator:
            raise InputError(f"--only: expected name=value, found {condition}")
        kept = [one for one in chosen if key in one.variant and same(one.variant[key], value)]
        if not kept:
            there = sorted({f"{k}={v}" for s in scenarios for k, v in s.variant.items()})
            choices = ", ".join(there) if there else "none: the scenario is no sweep"
            raise InputError(f"--only: no run has {condition}\nhint: there are {choices}")
        chosen = kept
    return chosen
