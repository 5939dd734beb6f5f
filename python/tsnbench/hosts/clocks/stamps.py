"""The error of hosts' timestamps, from readings of their clocks.

ptp4l reports the offset of the clock that it adjusts from its master; the static program reports the offset
of each PTP hardware clock from the system's clock. A capture's timestamps are on the system's clock, or the
card's. No timestamp is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tsnbench.hosts.clocks.sync import Reading
from tsnbench.hosts.inventory.types import Clock, SyncBounds
from tsnbench.runs.stamps import KERNEL, NodeStamps

PS = 1_000
FREE_PPB = 100_000
"""Greatest deviation of an oscillator from its nominal frequency. IEEE 802.1AS-2020, B.1.1."""
HARDWARE, SOFTWARE = "hardware", "software"
LATE = (
    "stamps are the kernel's: what passes between the wire and the kernel is a part of every delay, and "
    "counts in its uncertainty as far as `unseen` of a host states it"
)
ASYMMETRIC = (
    "no reading shows how much the paths of PTP differ in their two directions; it counts in the uncertainty "
    "as far as `sync: {asymmetry: …}` states it"
)


@dataclass(frozen=True)
class Stamping:
    """The clocks of one host's timestamps."""

    node: str
    kernel: str
    """Hosts that share a kernel share its clock."""
    by: frozenset[str]
    """``hardware``, ``software``, or both."""
    clock: Clock
    unseen_ns: int = 0


def nodes(
    stamping: Mapping[str, Stamping],
    readings: Sequence[Reading],
    synchronised: Collection[str],
    epoch_ns: int,
    bounds: SyncBounds,
    dilate: int = 1,
) -> tuple[dict[str, NodeStamps], list[str]]:
    """By node of the Plan, the readings of the clock of its timestamps; and in words, the clocks without a
    reading.

    Args:
        stamping: the clocks by host.
        readings: of all hosts, during the run.
        synchronised: hosts with synchronised clocks.
        epoch_ns: the Plan's zero, on TAI.
        bounds: the inventory's bounds of synchronisation.
        dilate: how many times slower the hosts' time is than the Plan's, in which the result is.
    """
    found: dict[str, NodeStamps] = {}
    for host, one in stamping.items():
        kept = host in synchronised
        mine = _errors(one, [each for each in readings if each.host == host], epoch_ns, bounds)
        # Both are rounded, the uncertainty upwards.
        own = sorted(
            (at // dilate, offset // dilate, -(-unsure // dilate) + (dilate > 1))
            for at, offset, unsure in mine
        )
        found[one.node] = {
            "clock": f"the cards of {host}" if HARDWARE in one.by else f"{KERNEL}{one.kernel}",
            "drift_ppb": -(-bounds.drift_ppt // 1_000) if kept else FREE_PPB,
            "granularity_ns": 1,
            "unseen_ns": -(-one.unseen_ns // dilate),
            "readings": own if kept else [],
        }
    software = any(SOFTWARE in one.by for one in stamping.values())
    return found, [*([LATE] if software else []), *([ASYMMETRIC] if synchronised else [])]


def _errors(
    one: Stamping, readings: Sequence[Reading], epoch_ns: int, bounds: SyncBounds
) -> Iterator[tuple[int, int, int]]:
    """Every reading of the clock of the timestamps: when, its offset, and the uncertainty of that."""
    for reading in readings:
        offset = 0 if reading.leads else reading.offset_ns
        if offset is None:
            continue
        ends = [offset] if HARDWARE in one.by else []
        if SOFTWARE in one.by:
            ends += _of_the_system(reading, offset, one.clock)
        # ptp4l reports the offset at the last Sync: the clock has run since then.
        age_ns = 0 if reading.leads else reading.told.get("age_ns") or 0
        since = -(-age_ns * bounds.drift_ppt // 10**9)
        low, high = min(ends) * PS, max(ends) * PS
        half = -(-(high - low) // 2) + since + bounds.asymmetry_ns * PS
        yield reading.tai_ns - epoch_ns, (low + high) // 2, half


def _of_the_system(reading: Reading, offset_ns: int, clock: Clock) -> list[int]:
    """The least and the greatest error of the system's clock, from its offset to the card's.

    If ptp4l uses software timestamps, it adjusts the system's clock itself.
    """
    read = [one for one in reading.told.get("phc", {}).values() if "error" not in one]
    if clock is Clock.SOFTWARE or not read:
        return [offset_ns]
    spans = [(one["offset_ns"], one["uncertainty_ns"]) for one in read]
    return [offset_ns - phc + sign * unsure for phc, unsure in spans for sign in (-1, 1)]


__all__ = ["ASYMMETRIC", "LATE", "Stamping", "nodes"]
