"""Frames of a run that refute a proof: later than the proved worst case, earlier than the least, or lost.

In a simulation that is a defect of tsnbench, or the clocks broke the promise on which the proof relies. On a
kernel and on hosts the Plan does not describe the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.libraries import polars as pl
from tsnbench.measure.guarantee import Guarantee, guarantee
from tsnbench.plan.bounds import CLOCKS_APART
from tsnbench.runs.manifest import KERNELS

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import FlowBounds
    from tsnbench.plan.types import PlanDocument
    from tsnbench.runs.measures import ClocksApart, Measures, PathReport, Refuted, Stat, VerdictRow

DEFECT, NETWORK, CLOCKS = "defect", "network", "clocks"
"""Why a run refutes a proof."""
BADGES = {
    DEFECT: "DEFECT OF TSNBENCH",
    CLOCKS: "CLOCKS BEYOND THE SCHEDULE'S MARGIN",
    NETWORK: "THE PLAN DOES NOT DESCRIBE THIS NETWORK",
}
"""The words for a whole run, the worst cause first."""
ADVICE = {
    DEFECT: "a proof or the simulator is wrong; please report it with this run folder",
    CLOCKS: "the proof assumes that clocks stay within the margin",
    NETWORK: "nothing that is proved of the Plan holds for it",
}


@dataclass(frozen=True)
class Seen:
    """What is known of a run beside its measures."""

    backend: str = "simulation"
    complete: bool = True
    """Whether the run ended as planned: otherwise frames under way may count as lost."""
    frames: Callable[[], pl.DataFrame] | None = None
    """Reads the table of frames: :meth:`tsnbench.runs.Run.frames`."""
    clocks: ClocksApart | None = None
    """How far the clocks of two nodes differed at most; None if it is not known."""


def refutations(
    document: PlanDocument, measures: Measures, bounded: Mapping[tuple[str, str], FlowBounds], seen: Seen
) -> list[Refuted]:
    """Every proved bound that frames of the run refute, those with the most frames first.

    On a kernel a frame may have left earlier than its timestamp says: there the least delay is not judged,
    and a delay counts less its uncertainty.

    Args:
        document: the Plan's document.
        measures: of the run.
        bounded: by stream and listener, the entries of :func:`tsnbench.plan.bounds.bounds`.
        seen: what else is known of the run.
    """
    found: list[Refuted] = []
    for number, path in enumerate(measures["paths"]):
        own = bounded.get((path["stream"], path["listener"]))
        if own is not None:
            found += _of_path(document, number, path, own, seen)
    return sorted(found, key=lambda one: -(one["frames"] or 0))


def of_row(row: VerdictRow, document: PlanDocument, seen: Seen) -> Refuted | None:
    """The refutation by a requirement of what :func:`refutations` does not look at: jitter, age."""
    kind = row["requirement"].partition(" ")[0]
    if row["proof"] != "exceeded" or kind in ("delay", "loss") or row["found"] is None:
        return None
    worst = Guarantee(row["worst_case"], condition=row["proof_condition"] or "")
    found = _refuted(document, row, row["requirement"], row["found"], worst, seen)
    return {**found, "unit": row["limit_unit"]}


def badge_of(refuted: Sequence[Refuted]) -> str:
    """The words for a run with refuted proofs, by the worst cause."""
    causes = {one["cause"] for one in refuted}
    return next(words for cause, words in BADGES.items() if cause in causes)


def in_words(one: Refuted) -> str:
    """``6,000 of 6,000 frames of video at sink beyond 168.64 us (up to 191.4 us), first frame 0 at 1 ms``."""
    who, bound = f"{one['stream']} at {one['listener']}", quantities.quantity(one["bound"], one["unit"])
    if one["quantity"] == "loss":
        return f"{one['frames']:,} of {one['of']:,} frames of {who} lost, and it is proved that none is"
    side = f"below {bound}" if one["below"] else f"beyond {bound}"
    worst = quantities.quantity(one["worst"], one["unit"])
    if one["frames"] is None:
        return f"{one['quantity']} of {who} {side}: {worst}"
    first = ""
    if one["first_ns"] is not None:
        first = f", first frame {one['first_seq']:,} at {quantities.time(one['first_ns'])}"
    how_far = f"{'down' if one['below'] else 'up'} to {worst}"
    return f"{one['frames']:,} of {one['of']:,} frames of {who} {side} ({how_far}){first}"


def clocks_in_words(clocks: ClocksApart) -> str:
    """``clocks differed by 15.8 us at 310 ms, the schedule allows 1 us``."""
    most, allowed = (quantities.time(Fraction(ps, 1_000)) for ps in (clocks["most_ps"], clocks["allowed_ps"]))
    at = quantities.time(clocks["at_ns"])
    return f"clocks differed by {most} at {at}, the schedule allows {allowed}"


def lines(refuted: Sequence[Refuted]) -> list[str]:
    """One sentence for each cause, the worst first."""
    by_cause = {cause: [one for one in refuted if one["cause"] == cause] for cause in BADGES}
    return [f"{BADGES[cause]}: {line(own)}." for cause, own in by_cause.items() if own]


def line(refuted: Sequence[Refuted]) -> str:
    """All refutations in one line: the greatest of the worst cause, and how many more there are."""
    causes = {one["cause"] for one in refuted}
    cause = next(one for one in BADGES if one in causes)
    own = [one for one in refuted if one["cause"] == cause]
    more = f" and {len(refuted) - 1:,} more" if len(refuted) > 1 else ""
    return f"{in_words(own[0])}{more}; {ADVICE[cause]}"


def _of_path(
    document: PlanDocument, number: int, path: PathReport, own: FlowBounds, seen: Seen
) -> Iterator[Refuted]:
    """The refutations by one flow at one listener; ``number``: its place in the table of frames."""
    kernel = seen.backend in KERNELS
    drain, counted = document["drain_ns"], path["count"]
    unsure = path.get("uncertainty") if kernel else None
    delay, worst = path.get("delay"), guarantee("delay", own, drain, seen.backend)
    if delay and _beyond(delay, worst, unsure and unsure["delay_ns"]):
        one = _refuted(document, path, "delay", delay["max"], worst, seen)
        yield _with_frames(one, number, counted["received"], seen)
    # Where clocks have no bound, the least delay is that of true time, which no timestamp shows.
    shown = worst.worst_case is not None or "clocks" not in document
    if delay and shown and not kernel and delay["min"] < own["lower_ns"]:
        least = Guarantee(own["lower_ns"], condition=worst.condition)
        one = _refuted(document, path, "delay", delay["min"], least, seen, below=True)
        yield _with_frames(one, number, counted["received"], seen)
    released = path.get("release_delay")
    worst = guarantee("delay from release", own, drain, seen.backend)
    if released and _beyond(released, worst, unsure and unsure.get("release_delay_ns")):
        yield _refuted(document, path, "delay from release", released["max"], worst, seen)
    worst = guarantee("loss", own, drain, seen.backend)
    if seen.complete and counted["lost"] and worst.worst_case is not None:
        one = _refuted(document, path, "loss", counted["lost"], worst, seen)
        yield {**one, "unit": "frames", "frames": counted["lost"], "of": counted["sent"]}


def _beyond(stat: Stat, worst: Guarantee, uncertainty: int | None) -> bool:
    """Whether the greatest value is certainly beyond the worst case."""
    return worst.worst_case is not None and stat["max"] - (uncertainty or 0) > worst.worst_case


def _refuted(
    document: PlanDocument,
    whose: PathReport | VerdictRow,
    quantity: str,
    worst: float,
    proved: Guarantee,
    seen: Seen,
    below: bool = False,
) -> Refuted:
    """A refutation whose frames are not counted yet."""
    assert proved.worst_case is not None
    return {
        "stream": whose["stream"],
        "listener": whose["listener"],
        "quantity": quantity,
        "below": below,
        "bound": proved.worst_case,
        "unit": "ns",
        "worst": worst,
        "frames": None,
        "of": None,
        "first_seq": None,
        "first_ns": None,
        "cause": _cause(document, whose["stream"], proved, seen),
    }


def _cause(document: PlanDocument, stream: str, proved: Guarantee, seen: Seen) -> str:
    if seen.backend in KERNELS:
        return NETWORK
    if proved.condition != CLOCKS_APART:
        return DEFECT
    # The promise is judged by what the run recorded; if the clocks kept it, the proof is wrong.
    own = next(one["scheduled"] for one in document["streams"] if one["name"] == stream)
    margin = own.get("margin_ps", 0)
    # A frame that was late once may delay later ones, so the clocks count from the begin of the run on.
    return CLOCKS if seen.clocks is None or seen.clocks["most_ps"] > margin else DEFECT


def _with_frames(one: Refuted, number: int, received: int, seen: Seen) -> Refuted:
    """A refutation of a delay with the number of its frames, and the first of them."""
    if seen.frames is None:
        return one
    table = seen.frames().filter(pl.col("path") == number)
    unsure = seen.backend in KERNELS and "uncertainty_ns" in table.columns
    slack = pl.col("uncertainty_ns").fill_null(0) if unsure else pl.lit(0)
    delay, bound = pl.col("delay_ns"), one["bound"]
    table = table.filter(delay < bound if one["below"] else delay - slack > bound).sort("t_tx_ns", "seq")
    first = table.row(0, named=True) if len(table) else {"seq": None, "t_tx_ns": None}
    counted: Refuted = {
        **one, "frames": len(table), "of": received, "first_seq": first["seq"], "first_ns": first["t_tx_ns"]
    }  # fmt: skip
    return counted
