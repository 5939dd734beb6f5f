"""What the stamps of hosts are worth: readings of their clocks to the error of the clock that stamps.

ptp4l says how far the clock that it steers is from its master; the static program says how far each PTP
hardware clock is from the system's. A capture's stamps are the system's, or the card's. No stamp changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tsnbench.hosts.clocks.sync import Reading
from tsnbench.hosts.inventory.types import Clock, SyncBounds
from tsnbench.runs.stamps import NodeStamps

PS = 1_000
FREE_PPB = 100_000
"""How far an oscillator is from its nominal frequency at most. IEEE 802.1AS-2020, B.1.1."""
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
    """How one host stamps."""

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
) -> tuple[dict[str, NodeStamps], list[str]]:
    """By node of the Plan, what its stamps are worth; and in words, what no reading shows.

    Args:
        stamping: by host.
        readings: of all hosts, during the run.
        synchronised: hosts whose clocks are kept together.
        epoch_ns: the Plan's zero, on TAI.
        bounds: what the inventory states of synchronisation.
    """
    found: dict[str, NodeStamps] = {}
    for host, one in stamping.items():
        kept = host in synchronised
        own = sorted(_errors(one, [each for each in readings if each.host == host], epoch_ns, bounds))
        found[one.node] = {
            "clock": f"the cards of {host}" if HARDWARE in one.by else f"the kernel of {one.kernel}",
            "drift_ppb": -(-bounds.drift_ppt // 1_000) if kept else FREE_PPB,
            "granularity_ns": 1,
            "unseen_ns": one.unseen_ns,
            "readings": own if kept else [],
        }
    software = any(SOFTWARE in one.by for one in stamping.values())
    return found, [*([LATE] if software else []), *([ASYMMETRIC] if synchronised else [])]


def _errors(
    one: Stamping, readings: Sequence[Reading], epoch_ns: int, bounds: SyncBounds
) -> Iterator[tuple[int, int, int]]:
    """Every reading that tells of the clock that stamps: when, how far it was ahead, how unsure that is."""
    for reading in readings:
        offset = 0 if reading.leads else reading.offset_ns
        if offset is None:
            continue
        ends = [offset] if HARDWARE in one.by else []
        if SOFTWARE in one.by:
            ends += _of_the_system(reading, offset, one.clock)
        # What ptp4l says is of the last Sync: the clock has run on since then.
        age_ns = 0 if reading.leads else reading.told.get("age_ns") or 0
        since = -(-age_ns * bounds.drift_ppt // 10**9)
        low, high = min(ends) * PS, max(ends) * PS
        half = -(-(high - low) // 2) + since + bounds.asymmetry_ns * PS
        yield reading.tai_ns - epoch_ns, (low + high) // 2, half


def _of_the_system(reading: Reading, offset_ns: int, clock: Clock) -> list[int]:
    """From the least to the greatest error of the system's clock: it is as far from the card's as was read.

    Where ptp4l stamps in software, it is the system's clock that ptp4l steers.
    """
    read = [one for one in reading.told.get("phc", {}).values() if "error" not in one]
    if clock is Clock.SOFTWARE or not read:
        return [offset_ns]
    spans = [(one["offset_ns"], one["uncertainty_ns"]) for one in read]
    return [offset_ns - phc + sign * unsure for phc, unsure in spans for sign in (-1, 1)]


__all__ = ["ASYMMETRIC", "LATE", "Stamping", "nodes"]
