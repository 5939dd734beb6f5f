"""The worst case of a run's Plan: computed once, kept in its folder, for verdict, report and comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tsnbench import foreign
from tsnbench.plan.bounds import BoundsError, bounds_of
from tsnbench.plan.bounds.promise import after_promise
from tsnbench.runs import documents
from tsnbench.runs.errors import FolderError
from tsnbench.runs.file_names import BOUNDS, PLAN
from tsnbench.runs.run import Run
from tsnbench.version import __version__

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import Bounds, ClockPromise


def bounds_of_run(folder: Path, keep: bool = False) -> Bounds:
    """The bounds of a run's Plan, without the parts of single ports: those in its folder, or computed now.

    Bounds that rely on a promise about clocks are left out if the run broke it.

    Args:
        folder: the run folder.
        keep: whether newly computed bounds are kept in the folder.

    Raises:
        BoundsError: the Plan contradicts itself.
        OSError: the Plan cannot be read, or the folder cannot be written.
    """
    text = foreign.read_text(folder / PLAN, foreign.MOST_JSON)
    kept = _kept(folder, text)
    found = kept or _computed(text)
    if keep and not kept:
        part = folder / f"{BOUNDS}.part"
        part.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(folder / BOUNDS)
    if "clocks_within_ns" not in found:
        return found
    try:
        return after_promise(found, promise_of(Run(folder, {})))
    except FolderError:
        # Without counters nobody knows whether the promise was kept: the source of the bounds names it.
        return found


def promise_of(run: Run) -> ClockPromise | None:
    """The scenario's promise about its clocks, and the clocks' greatest difference in the run.

    None if nothing was promised, or if the backend cannot read the true clocks (kernels, hosts).

    Raises:
        FolderError: the counters of the run cannot be read.
    """
    within = run.plan.document.get("clocks", {}).get("within_ns")
    seen = run.counters.get("clocks") if within is not None else None
    if within is None or seen is None:
        return None
    return {
        "within_ns": within,
        "apart_ns": -(-seen["apart_ps"] // 1_000),
        "at_ns": seen["at_ns"],
        "ahead": seen["ahead"],
        "behind": seen["behind"],
        "kept": seen["apart_ps"] <= within * 1_000,
    }


def _computed(text: str) -> Bounds:
    found = bounds_of(text, hops=False)
    found["version"] = __version__
    return found


def _kept(folder: Path, text: str) -> Bounds | None:
    """The bounds that an earlier call kept, if this version computed them from this Plan."""
    try:
        kept = cast("Bounds", documents.read(folder / BOUNDS))
        plan = json.loads(text).get("hash")
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
    same = plan is not None and (kept.get("plan"), kept.get("version")) == (plan, __version__)
    return kept if same else None


__all__ = ["BoundsError", "bounds_of_run", "promise_of"]
