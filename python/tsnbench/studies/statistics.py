"""Statistics over replications: runs of one Plan that differ only in their seed.

The unit of independence is the replication (one run), never the frame: frames of one run wait behind each
other. ``crates/measure/src/replications`` computes; ``docs/concepts/statistics.md`` explains. All estimates
have the unit of what is given: ns for delays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from tsnbench import _native

CONFIDENCE = 0.95
LEAST = 10
"""Replications before a stopping rule looks."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float
    confidence: float
    """Of a distribution-free interval: the confidence that is reached, at least the one requested."""
    replications: int

    @property
    def relative_half_width(self) -> float | None:
        """Half of the width, relative to the estimate; none if the estimate is 0 and the width is not."""
        half = (self.high - self.low) / 2
        if half == 0:
            return 0.0
        return None if self.estimate == 0 else half / abs(self.estimate)


def _interval(row: _native.Row | None) -> Interval | None:
    return None if row is None else Interval(*row)


def mean(replications: Sequence[tuple[float, int]], confidence: float = CONFIDENCE) -> Interval | None:
    """The mean over all samples with its t interval, from mean and number of samples of each replication.

    None with fewer than two replications that have samples.
    """
    return _interval(_native.interval_of_mean(list(replications), confidence))


def around(estimates: Sequence[float], pooled: float, confidence: float = CONFIDENCE) -> Interval | None:
    """The t interval around ``pooled``, the estimate from all samples, by the replications' own estimates."""
    return _interval(_native.interval_around(list(estimates), pooled, confidence))


def free(estimates: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The interval of the median of the replications' estimates, whatever their distribution.

    None if there are too few replications: 95 % needs six.
    """
    return _interval(_native.interval_free(list(estimates), confidence))


def difference(a: Sequence[float], b: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The mean difference ``b - a`` of two variants, pair by pair: the n-th replications had the same seed.

    Raises:
        ValueError: they have not equally many replications.
    """
    if len(a) != len(b):
        raise ValueError(f"pairs need equally many replications, found {len(a)} and {len(b)}")
    return _interval(_native.interval_of_difference(list(a), list(b), confidence))


@dataclass(frozen=True)
class TooFewFrames:
    """The reason why a quantile has no interval: too few frames."""

    frames: int
    """The least number of frames of a replication."""
    needed: int
    duration_ns: int | None
    """The measured duration that would do; none if it cannot be told because a replication had no frame."""


def enough_frames(p: Fraction, frames: Sequence[int], duration_ns: int) -> TooFewFrames | None:
    """Whether each replication, with so many ``frames`` in ``duration_ns``, has enough for quantile ``p``.

    A quantile needs ``10 / (1 - p)``, 1000 frames for the 99th percentile. None: there are enough.

    Raises:
        ValueError: ``p`` is not between 0 and 1.
    """
    needed = _native.frames_needed(p.numerator, p.denominator)
    least = min(frames, default=0)
    if least >= needed:
        return None
    duration = _native.duration_needed(p.numerator, p.denominator, least, duration_ns)
    return TooFewFrames(least, needed, duration)


def quantile(
    replications: Sequence[Sequence[int]], p: Fraction, duration_ns: int, confidence: float = CONFIDENCE
) -> Interval | TooFewFrames | None:
    """The quantile ``p`` (nearest rank) of all samples, with the t interval by each replication's own one.

    ``duration_ns``: the measured duration of a replication. None with fewer than two replications.

    Raises:
        ValueError: ``p`` is not between 0 and 1.
    """
    if few := enough_frames(p, [len(samples) for samples in replications], duration_ns):
        return few
    samples = [list(one) for one in replications]
    return _interval(_native.interval_of_quantile(samples, p.numerator, p.denominator, confidence))


def exceeded_at_most(replications: int, confidence: float = CONFIDENCE) -> float | None:
    """The greatest probability that the next run exceeds the greatest value of ``replications`` runs.

    ``1 - 0.05^(1/R)`` at 95 %. The same limit holds for the share of runs that have an event that no run had.
    None without a run.
    """
    return _native.probability_at_most(replications, confidence)


def clopper_pearson(hits: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """The interval of the probability of ``hits`` of ``trials`` independent trials, such as runs that met."""
    return _native.clopper_pearson(hits, trials, confidence)


class LossMethod(StrEnum):
    """The method for the interval of a share of lost frames, or the reason why there is none."""

    CLOPPER_PEARSON = "clopper-pearson"
    """Losses look independent."""
    T = "t"
    """Replications differ more than with independent losses: t over their shares."""
    NONE_LOST = "none-lost"
    """Only :attr:`Losses.replications_at_most`."""
    ONE_REPLICATION = "one-replication"
    """One run cannot tell whether its losses are independent."""
    NONE_SENT = "none-sent"


@dataclass(frozen=True)
class Losses:
    """Lost frames over replications."""

    lost: int
    sent: int
    share: Interval | None
    method: LossMethod
    replications_at_most: float | None
    """Without a loss: the greatest share of runs that lose any frame."""


def losses(replications: Sequence[tuple[int, int]], confidence: float = CONFIDENCE) -> Losses:
    """The share of lost frames, from ``(lost, sent)`` of each replication."""
    lost, sent, share, method, at_most = _native.loss_interval(list(replications), confidence)
    return Losses(lost, sent, _interval(share), LossMethod(method), at_most)


@dataclass(frozen=True)
class WarmUp:
    """The warm-up: the part that is deleted at the beginning of each run before it is measured."""

    duration_ns: int
    stream: str | None
    """The stream whose warm-up is the longest; none without warm-up."""
    unsettled: tuple[str, ...]
    """Streams that have not settled within half of the run: it may be too short."""


def warm_up(streams: Mapping[str, Sequence[tuple[int, int]]], duration_ns: int) -> WarmUp:
    """The warm-up of a run by MSER-5, from ``(time, delay)`` of each stream's frames in their order.

    Times count from the begin of the run. The longest warm-up of all streams is taken, at most
    half of the run.
    """
    longest, stream, unsettled = 0, None, []
    for name, frames in streams.items():
        samples, settled = _native.mser5([delay for _, delay in frames])
        if not settled:
            unsettled.append(name)
        if samples and frames[min(samples, len(frames) - 1)][0] > longest:
            longest, stream = frames[min(samples, len(frames) - 1)][0], name
    return WarmUp(min(longest, duration_ns // 2), stream, tuple(unsettled))


class State(StrEnum):
    """The state of a sequence of replications."""

    CONTINUE = "continue"
    REACHED = "reached"
    """All intervals were narrow enough at two looks in a row."""
    NOT_REACHED = "not-reached"
    """The most replications were made, and not all intervals are narrow enough."""


@dataclass(frozen=True)
class Target:
    """A quantity and the greatest allowed half width of its interval, relative to its estimate."""

    relative: float
    estimates: Sequence[tuple[float, int] | None]
    """Estimate and weight of each replication, in the order of the replications. A mean's weight is its
    number of samples, a quantile's is 1. None where a replication has no estimate."""


@dataclass(frozen=True)
class Decision:
    """The decision of a stopping rule."""

    state: State
    replications: int
    """Replications that count; with :attr:`State.CONTINUE`, how many there shall be for the next look."""
    each: float
    """Confidence of each interval, so that all hold together with the rule's confidence (Bonferroni)."""
    intervals: list[Interval | None]
    """The interval of each target at the last look."""


@dataclass(frozen=True)
class StoppingRule:
    """The rule for the number of replications: looks after ``least``, every ``batch``, and at ``most``.

    Looks are at fixed numbers of replications in a fixed order, so the decision does not depend on the number
    of workers; replications that were made ahead of it do not count.
    """

    most: int
    least: int = LEAST
    batch: int = LEAST
    confidence: float = CONFIDENCE

    def decide(self, targets: Sequence[Target]) -> Decision:
        """The decision after the replications that all targets have.

        Raises:
            ValueError: ``least`` is below 10, ``most`` below ``least``, ``batch`` below 1, or
                ``confidence`` is no probability.
        """
        given = [(target.relative, list(target.estimates)) for target in targets]
        state, replications, each, intervals = _native.stopping(
            self.least, self.batch, self.most, self.confidence, given
        )
        return Decision(State(state), replications, each, [_interval(one) for one in intervals])
