"""The requirements of every flow in the Plan's form: each limit is one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.planning.parts import without_none
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Requirements, Survives


def requirements_document(
    requires: model.Requirements, survives: list[Survives] | None = None
) -> Requirements:
    """The requirements that are given; shares in parts per million, ascending.

    Args:
        requires: as the scenario has them.
        survives: the failures that lose no frame, in the Plan's form.
    """
    if not requires.model_fields_set:
        # Thousands of streams require nothing.
        return {}
    shares = sorted(requires.percentiles.items())
    document: Requirements = without_none(
        {
            "delay_ns": requires.delay,
            "release_delay_ns": requires.release_delay,
            "delay_percentiles": [{"share_ppm": share, "delay_ns": ns} for share, ns in shares] or None,
            "jitter": [{"kind": one.kind, "limit_ns": one.limit} for one in requires.jitter] or None,
            "loss_ppm": requires.loss_ppm,
            "rate_bps": requires.rate,
            "age_ns": requires.age,
            "time_out_ns": requires.time_out,
            "round_trip_ns": requires.round_trip,
            "survives": survives or None,
        }
    )
    if document and requires.worst_case:
        document["worst_case"] = True
    return document
