"""What stamps of hosts are worth, by readings with values made by hand, and in a run."""

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
        # The card is 40 ns ahead of the master and 300 ahead of the system, give or take 20.
        (SOFT, Clock.HARDWARE, reading(40, {"/dev/ptp0": (300, 20)}), (500, -260_000, 20_000)),
        (CARD, Clock.HARDWARE, reading(40, {"/dev/ptp0": (300, 20)}), (500, 40_000, 0)),
        (SOFT | CARD, Clock.HARDWARE, reading(40, {"/dev/ptp0": (300, 20)}), (500, -120_000, 160_000)),
        # Of two cards nobody knows which of them ptp4l steers.
        (SOFT, Clock.HARDWARE, reading(0, {"0": (0, 10), "1": (100, 10)}), (500, -50_000, 60_000)),
        # A card that cannot be read tells nothing; software stamps are of the clock that ptp4l steers.
        (SOFT, Clock.SOFTWARE, reading(-70, {"/dev/ptp0": (9_000, 20)}), (500, -70_000, 0)),
        # The grandmaster's card is the time, whatever it says of itself.
        (SOFT, Clock.HARDWARE, reading(99, {"/dev/ptp0": (-5, 1)}, clock_identity="gm"), (500, 5_000, 1_000)),
        # 0.2 s ago at 1 ppm are 200 ns.
        (CARD, Clock.HARDWARE, reading(40, age_ns=200_000_000), (500, 40_000, 200_000)),
    ],
)  # fmt: skip
def test_a_reading_is_the_error_of_the_clock_that_stamps(
    by: frozenset[str], clock: Clock, told: Reading, expected: tuple[int, int, int]
) -> None:
    assert errors(Stamping("n", "a", by, clock), told) == [expected]


def test_what_no_reading_shows_is_stated_and_said() -> None:
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
