"""The worst case of a run's Plan: computed once, kept in its folder, for verdict, report and comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tsnbench import foreign
from tsnbench.plan.bounds import BoundsError, bounds_of
from tsnbench.runs import documents
from tsnbench.runs.file_names import BOUNDS, PLAN
from tsnbench.version import __version__

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import Bounds


def bounds_of_run(folder: Path, keep: bool = False) -> Bounds:
    """The bounds of a run's Plan, without the parts of single ports: those in its folder, or computed now.

    Args:
        folder: the run folder.
        keep: whether newly computed bounds are kept in the folder.

    Raises:
        BoundsError: the Plan contradicts itself.
        OSError: the Plan cannot be read, or the folder cannot be written.
    """
    text = foreign.read_text(folder / PLAN, foreign.MOST_JSON)
    if kept := _kept(folder, text):
        return kept
    found = _computed(text)
    if keep:
        part = folder / f"{BOUNDS}.part"
        part.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(folder / BOUNDS)
    return found


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


__all__ = ["BoundsError", "bounds_of_run"]
