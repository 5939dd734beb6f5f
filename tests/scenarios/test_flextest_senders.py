"""FlexTest's senders with gates of their own: Fig. 14, Table V, and the order of Fig. 16."""

from __future__ import annotations

import pytest

from support.papers.flextest import deviations, open_rate, run
from support.shipped import MS
from support.statistics import mean

RESIDENCE = 12_240
SETS = {name: [f"{name}-{level}" for level in ("high", "med", "low")] for name in ("theta", "psi", "omega")}
BACK_TO_BACK = 8 * (132 + 20)
"""Table V: frames of 132 B with preamble and gap, in ns."""


def test_frames_of_synchronised_senders_do_not_wait() -> None:
    """Fig. 14 is like Fig. 9a: no frame of Theta waits in the bridge, under any cross traffic."""
    result = run("synchronised-senders", "1 theta")
    for stream in SETS["theta"]:
        delays = result.group(stream)
        assert len(delays) >= 2000
        assert set(delays) == {RESIDENCE}


@pytest.mark.parametrize("name", ["psi", "omega"])
def test_frames_of_any_size_pass_as_alone(name: str) -> None:
    """Behind a larger frame of its own burst a small frame waits, as it does without other traffic."""
    result = run("synchronised-senders", f"1 {name}")
    for stream in SETS[name]:
        alone = run("baseline", stream).frames["delay_ns"]
        assert len(result.group(stream)) == len(alone)
        assert result.group(stream).max() == alone.max()


@pytest.mark.parametrize("gcl", ["2", "3", "4"])
def test_in_shared_slots_frames_wait(gcl: str) -> None:
    """If a gate is open for two streams, their frames meet: the high stream waits for one frame at most."""
    result = run("synchronised-senders", f"{gcl} theta")
    assert result.group("theta-high").max() > RESIDENCE
    if gcl != "4":
        assert result.group("theta-high").max() <= RESIDENCE + 8 * (1522 + 20)


def test_frames_wait_at_synchronised_senders_instead_of_the_bridge() -> None:
    """A frame released at a random time waits (1 - share)^2 / 2 of a cycle on average, or more."""
    result = run("synchronised-senders", "1 theta")
    cycle, share = 4 * 150_000, 0.25
    least = 0.5 * (1 - share) ** 2 * cycle
    waits = [mean(result.waits(stream)) for stream in SETS["theta"]]
    assert 0.8 * least < sum(waits) / 3 < 2 * least
    assert max(result.waits(stream).max() or 0 for stream in SETS["theta"]) <= cycle


def test_a_cycle_longer_than_the_period_pairs_frames() -> None:
    """Table V, slots of 500 us: two frames back to back every 2 ms."""
    found = deviations("500us")
    assert set(found) == {BACK_TO_BACK - MS, MS - BACK_TO_BACK}
    assert BACK_TO_BACK - MS == -998_784  # as printed
    assert abs(float(found.std(ddof=0) or 0) - 1_023_658) < 0.03 * 1_023_658


def test_slots_that_do_not_divide_the_period_make_it_uneven() -> None:
    """Table V, slots of 15 us: a cycle of 60 us moves a frame by less than that; printed are tens of us."""
    found = deviations("15us")
    assert found.abs().max() < 60_000
    assert 19_205 / 2 < float(found.std(ddof=0) or 0) < 19_205 * 2


def test_replay_deviates_as_stated() -> None:
    """A release jitter of 27 us gives a deviation of 27 / sqrt(6) us: Table V prints 11.0."""
    found = deviations("tcpreplay")
    assert float(found.std(ddof=0) or 0) == pytest.approx(27_000 / 6**0.5, rel=0.06)


@pytest.mark.parametrize(
    ("name", "variant", "printed"),
    [
        ("tas", "1 15 us alone", 250),
        ("tas-guard-band", "1 15 us alone", 200),
        ("tas-guard-band", "1 45 us alone", 230),
    ],
)
def test_the_bandwidth_of_a_stream_under_list_1(name: str, variant: str, printed: int) -> None:
    """Section VI-D9, in Mbit/s."""
    assert open_rate(name, variant) == pytest.approx(printed * 1e6, rel=0.004)


def test_where_list_4_keeps_the_order_of_priorities() -> None:
    """Section VI-D5: list 4 keeps the order, except for Omega with short slots (Fig. 16h)."""
    order = {}
    for name in ("psi", "omega"):
        for slot in (15, 45):
            result = run("psi-omega", f"{name}-crossed tas flextest/gcl-4 {slot} us")
            means = [mean(result.group(stream)) for stream in SETS[name]]
            order[name, slot] = means == sorted(means)
    assert order == {("psi", 15): True, ("psi", 45): True, ("omega", 15): False, ("omega", 45): True}


@pytest.mark.parametrize(("name", "sporadic", "bursty"), [("psi", "med", "low"), ("omega", "med", "low")])
def test_equal_slots_delay_bursts_more(name: str, sporadic: str, bursty: str) -> None:
    """Section VI-D2, Fig. 15e and 16e: less delay for sporadic streams, more for bursty ones."""
    result = run("psi-omega", f"{name}-crossed tas flextest/gcl-1 15 us")
    assert mean(result.group(f"{name}-{bursty}")) > 10 * mean(result.group(f"{name}-{sporadic}"))
