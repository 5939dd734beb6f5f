"""Uncertainty of hosts' stamps, from readings with chosen values, and in a run."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.hosts.clocks.stamps import ASYMMETRIC, LATE, Stamping, nodes
from tsnbench.hosts.clocks.sync import Reading
from tsnbench.hosts.inventory.types import Clock, SyncBounds

EPOCH = 1_000_000
BOUNDS = SyncBounds(drift_ppt=1_000_000, asymmetry_ns=0)
SOFT, CARD = frozenset({"software"}), frozenset({"hardware"})


def reading(offset: int | None, phc: dict[str, tuple[int, int]] | None = None, **more: Any) -> Reading:
    told = {"master_offset_ns": offset, "gm_identity": "gm", "clock_identity": "own"} | more
    told["phc"] = {name: {"offset_ns": own[0], "uncertainty_ns": own[1]} for name, own in (phc or {}).items()}
    return Reading("a", EPOCH + 500, told)


def errors(one: Stamping, *readings: Reading, bounds: SyncBounds = BOUNDS) -> list[tuple[int, int, int]]:
    found, _ = nodes({"a": one}, readings, {"a"}, EPOCH, bounds)
    return [(at, ahead, unsure) for at, ahead, unsure in found["n"]["readings"]]


@pytest.mark.parametrize(
    ("by", "clock", "told", "expected"),
    [
        # The card is 40 ns ahead of the master and 300 ns ahead of the system clock, with an uncertainty of
        # 20 ns.
        (SOFT, Clock.HARDWARE, reading(40, {"/dev/ptp0": (300, 20)}), (500, -260_000, 20_000)),
        (CARD, Clock.HARDWARE, reading(40, {"/dev/ptp0": (300, 20)}), (500, 40_000, 0)),
        (SOFT | CARD, Clock.HARDWARE, reading(40, {"/dev/ptp0": (300, 20)}), (500, -120_000, 160_000)),
        # With two cards it is unknown which of them ptp4l steers.
        (SOFT, Clock.HARDWARE, reading(0, {"0": (0, 10), "1": (100, 10)}), (500, -50_000, 60_000)),
        # With ``clock: software`` the card does not count: ptp4l steers the system clock, which stamps.
        (SOFT, Clock.SOFTWARE, reading(-70, {"/dev/ptp0": (9_000, 20)}), (500, -70_000, 0)),
        # The grandmaster's card is the reference, whatever offset ptp4l reports.
        (SOFT, Clock.HARDWARE, reading(99, {"/dev/ptp0": (-5, 1)}, clock_identity="gm"), (500, 5_000, 1_000)),
        # A reading that is 0.2 s old has 200 ns of uncertainty, at 1 ppm.
        (CARD, Clock.HARDWARE, reading(40, age_ns=200_000_000), (500, 40_000, 200_000)),
    ],
)  # fmt: skip
def test_a_reading_is_the_error_of_the_clock_that_stamps(
    by: frozenset[str], clock: Clock, told: Reading, expected: tuple[int, int, int]
) -> None:
    assert errors(Stamping("n", "a", by, clock), told) == [expected]


def test_in_a_plan_that_runs_slower_errors_are_as_much_smaller() -> None:
    """A card that is 40 ns ahead, with readings that are 0.2 s old, beside a Plan that is 7 times faster."""
    one = Stamping("n", "a", CARD, Clock.HARDWARE, unseen_ns=15)
    found, _ = nodes({"a": one}, [reading(40, age_ns=200_000_000)], {"a"}, EPOCH, BOUNDS, 7)
    assert found["n"]["readings"] == [(71, 5_714, 28_573)]
    assert (found["n"]["unseen_ns"], found["n"]["drift_ppb"]) == (3, 1_000)


def test_errors_that_no_reading_shows_are_added_and_named() -> None:
    one = Stamping("n", "a", SOFT, Clock.SOFTWARE, unseen_ns=20_000)
    assert errors(one, reading(40), bounds=SyncBounds(asymmetry_ns=50)) == [(500, 40_000, 50_000)]
    found, said = nodes({"a": one}, [reading(40)], {"a"}, EPOCH, BOUNDS)
    assert (found["n"]["unseen_ns"], found["n"]["drift_ppb"]) == (20_000, 1_000)
    assert said == [LATE, ASYMMETRIC]
    assert errors(one, reading(None)) == []


def test_hosts_of_one_kernel_share_its_clock() -> None:
    stamping = {host: Stamping(host.upper(), "a", SOFT, Clock.HARDWARE) for host in ("a", "b")}
    found, said = nodes(stamping, [], (), EPOCH, BOUNDS)
    assert found["A"]["clock"] == found["B"]["clock"] == "the kernel of a"
    assert (found["A"]["readings"], found["A"]["drift_ppb"], said) == ([], 100_000, [LATE])
