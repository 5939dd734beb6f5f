"""Statistics over replications, from Python: values by hand, and errors with their reasons."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tsnbench.studies import statistics
from tsnbench.studies.statistics import LossMethod, State, StoppingRule, Target, TooFewFrames

P99 = Fraction(99, 100)


def test_a_mean_has_a_t_interval_around_all_samples() -> None:
    # Five means from 10 to 14 of equally many samples: 12 +- 2.776 * sqrt(2.5 / 5).
    found = statistics.mean([(value, 100) for value in (10, 11, 12, 13, 14)])
    assert found is not None
    assert found.estimate == pytest.approx(12)
    assert found.high == pytest.approx(12 + 2.7764 * math.sqrt(0.5), abs=1e-4)
    assert found.relative_half_width == pytest.approx(2.7764 * math.sqrt(0.5) / 12, abs=1e-5)
    assert found.replications == 5


def test_one_replication_has_no_interval() -> None:
    assert statistics.mean([(10.0, 100)]) is None
    assert statistics.around([10.0], 10.0) is None


def test_five_replications_have_no_distribution_free_interval_and_six_do() -> None:
    assert statistics.free([1, 2, 3, 4, 5]) is None
    found = statistics.free([1, 2, 3, 4, 5, 60])
    assert found is not None
    assert (found.low, found.high) == (1, 60)
    assert found.confidence == pytest.approx(1 - 2 / 2**6)


def test_a_quantile_of_too_few_frames_names_the_duration_that_would_do() -> None:
    few = statistics.quantile([list(range(1000)), list(range(400))], P99, duration_ns=100_000_000)
    assert few == TooFewFrames(frames=400, needed=1000, duration_ns=250_000_000)
    assert statistics.enough_frames(P99, [1000, 1000], 1) is None
    assert statistics.enough_frames(P99, [1000, 0], 1) == TooFewFrames(0, 1000, None)


def test_a_quantile_is_that_of_all_samples() -> None:
    found = statistics.quantile([list(range(1000)), list(range(1000))], P99, duration_ns=1)
    assert isinstance(found, statistics.Interval)
    assert (found.estimate, found.low, found.high) == (989, 989, 989)


def test_a_quantile_lies_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        statistics.enough_frames(Fraction(1), [10], 1)


def test_the_greatest_value_has_no_interval_but_a_limit() -> None:
    assert statistics.exceeded_at_most(20) == pytest.approx(1 - 0.05 ** (1 / 20))
    assert statistics.exceeded_at_most(0) is None


def test_losses_say_how_their_interval_was_found() -> None:
    none = statistics.losses([(0, 500)] * 30)
    assert (none.method, none.share) == (LossMethod.NONE_LOST, None)
    assert none.replications_at_most == pytest.approx(1 - 0.05 ** (1 / 30))
    burst = statistics.losses([(40, 500)] + [(0, 500)] * 29)
    assert burst.method == LossMethod.T
    even = statistics.losses([(1, 500), (2, 500), (1, 500), (0, 500)])
    assert even.method == LossMethod.CLOPPER_PEARSON
    assert even.share is not None
    assert (even.share.low, even.share.high) == statistics.clopper_pearson(4, 2000)


def test_the_longest_warm_up_of_all_streams_wins_and_is_at_most_half() -> None:
    quick = [(1000 * n, 5000 if n >= 20 else 100 * n) for n in range(400)]
    slow = [(1000 * n, 5000 + n % 3 if n >= 100 else 50 * n) for n in range(400)]
    found = statistics.warm_up({"quick": quick, "slow": slow}, 400_000)
    assert found.stream == "slow"
    assert found.duration_ns == 100_000
    assert found.unsettled == ()
    growing = [(1000 * n, n) for n in range(400)]
    found = statistics.warm_up({"quick": quick, "growing": growing}, 400_000)
    assert (found.duration_ns, found.unsettled) == (200_000, ("growing",))


def test_a_stream_without_randomness_has_no_warm_up() -> None:
    found = statistics.warm_up({"fixed": [(n, 7000) for n in range(100)]}, 100)
    assert (found.duration_ns, found.stream, found.unsettled) == (0, None, ())


def test_the_stopping_rule_does_not_depend_on_what_was_made_ahead() -> None:
    rule = StoppingRule(most=60, least=10, batch=10)
    estimates = [(100.0 + (-1) ** n, 1) for n in range(60)]
    decisions = [rule.decide([Target(0.02, estimates[:count])]) for count in range(61)]
    assert [one.replications for one in decisions[:20]] == [10] * 10 + [20] * 10
    assert {one.state for one in decisions[:20]} == {State.CONTINUE}
    assert all(one == decisions[20] for one in decisions[20:])
    assert decisions[20].state == State.REACHED


def test_a_width_that_is_not_reached_is_a_result() -> None:
    found = StoppingRule(most=20).decide([Target(0.001, [(100.0 + 10 * (-1) ** n, 1) for n in range(20)])])
    assert (found.state, found.replications) == (State.NOT_REACHED, 20)
    assert found.intervals[0] is not None


def test_a_stopping_rule_needs_ten_replications() -> None:
    with pytest.raises(ValueError, match="least: expected at least 10"):
        StoppingRule(most=20, least=5).decide([])


def test_pairs_need_equally_many_replications() -> None:
    found = statistics.difference([10, 20, 30], [11, 22, 33])
    assert found is not None
    # Differences 1, 2, 3: 2 +- 4.3027 / sqrt(3).
    assert found.low == pytest.approx(2 - 4.3027 / math.sqrt(3), abs=1e-4)
    with pytest.raises(ValueError, match="3 and 2"):
        statistics.difference([1, 2, 3], [1, 2])
