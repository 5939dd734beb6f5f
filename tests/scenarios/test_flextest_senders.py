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


def test_synchronised_senders_are_alone_on_the_link() -> None:
    """Fig. 14 is Fig. 9a: not one of Theta's frames waits in the bridge, for all the cross traffic."""
    result = run("synchronised-senders", "1 theta")
    for stream in SETS["theta"]:
        delays = result.group(stream)
        assert len(delays) >= 2000
        assert set(delays) == {RESIDENCE}


@pytest.mark.parametrize("name", ["psi", "omega"])
def test_frames_of_any_size_pass_as_alone(name: str) -> None:
    """Behind a larger frame of its own burst a small one waits, as it does without any other traffic."""
    result = run("synchronised-senders", f"1 {name}")
    for stream in SETS[name]:
        alone = run("baseline", stream).frames["delay_ns"]
        assert len(result.group(stream)) == len(alone)
        assert result.group(stream).max() == alone.max()


@pytest.mark.parametrize("gcl", ["2", "3", "4"])
def test_slots_that_streams_share_are_not_free_of_waiting(gcl: str) -> None:
    """A gate that is open for two streams lets them meet: a frame's time for the high one."""
    result = run("synchronised-senders", f"{gcl} theta")
    assert result.group("theta-high").max() > RESIDENCE
    if gcl != "4":
        assert result.group("theta-high").max() <= RESIDENCE + 8 * (1522 + 20)


def test_what_the_bridge_saves_the_senders_spend() -> None:
    """A frame that comes at any time waits for its gate: (1 - share)^2 / 2 of a cycle on average, or more."""
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
    """Table V, slots of 15 us: a cycle of 60 us moves a frame by less than that, tens of us as printed."""
    found = deviations("15us")
    assert found.abs().max() < 60_000
    assert 19_205 / 2 < float(found.std(ddof=0) or 0) < 19_205 * 2


def test_replay_deviates_as_stated() -> None:
    """27 us of release jitter are 27 / sqrt(6) us of deviation: Table V prints 11.0."""
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
def test_what_list_1_leaves_a_stream(name: str, variant: str, printed: int) -> None:
    """Section VI-D9, Mbit/s."""
    assert open_rate(name, variant) == pytest.approx(printed * 1e6, rel=0.004)


def test_where_list_4_keeps_the_order_of_priorities() -> None:
    """Section VI-D5: it does, except for Omega with short slots (Fig. 16h)."""
    order = {}
    for name in ("psi", "omega"):
        for slot in (15, 45):
            result = run("psi-omega", f"{name}-crossed tas flextest/gcl-4 {slot} us")
            means = [mean(result.group(stream)) for stream in SETS[name]]
            order[name, slot] = means == sorted(means)
    assert order == {("psi", 15): True, ("psi", 45): True, ("omega", 15): False, ("omega", 45): True}


@pytest.mark.parametrize(("name", "sporadic", "bursty"), [("psi", "med", "low"), ("omega", "med", "low")])
def test_equal_slots_are_hard_on_bursts(name: str, sporadic: str, bursty: str) -> None:
    """Section VI-D2, Fig. 15e and 16e: less delay for sporadic streams, more for bursty ones."""
    result = run("psi-omega", f"{name}-crossed tas flextest/gcl-1 15 us")
    assert mean(result.group(f"{name}-{bursty}")) > 10 * mean(result.group(f"{name}-{sporadic}"))
