"""The requirements of every flow in the Plan's form: each limit is one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Requirements


def requirements_document(requires: model.Requirements) -> Requirements:
    """The requirements that are given; shares in parts per million, ascending."""
    document: Requirements = {}
    if requires.delay is not None:
        document["delay_ns"] = requires.delay
    if requires.release_delay is not None:
        document["release_delay_ns"] = requires.release_delay
    if requires.percentiles:
        document["delay_percentiles"] = [
            {"share_ppm": share, "delay_ns": delay} for share, delay in sorted(requires.percentiles.items())
        ]
    if requires.jitter:
        document["jitter"] = [{"kind": limit.kind, "limit_ns": limit.limit} for limit in requires.jitter]
    if requires.loss_ppm is not None:
        document["loss_ppm"] = requires.loss_ppm
    if requires.rate is not None:
        document["rate_bps"] = requires.rate
    if requires.age is not None:
        document["age_ns"] = requires.age
    if requires.time_out is not None:
        document["time_out_ns"] = requires.time_out
    if requires.round_trip is not None:
        document["round_trip_ns"] = requires.round_trip
    if document and requires.worst_case:
        document["worst_case"] = True
    return document
