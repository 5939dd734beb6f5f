"""Whether a port of a Linux host obeys its gate control list, layer by layer; the first that lost it is told.

A host says what its kernel holds; only frames say what the port does. tc-taprio(8), tc-mqprio(8).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tsnbench import _native
from tsnbench.conform import estimate, probes
from tsnbench.conform.estimate import Frames
from tsnbench.discover.beside import Beside
from tsnbench.discover.differences import TAI_AHEAD_NS
from tsnbench.libraries import numpy as np
from tsnbench.measure.captures.interfaces import Capture, native
from tsnbench.measure.errors import MeasureError
from tsnbench.quantities import count, exact, rate, share

if TYPE_CHECKING:
    from tsnbench.discover.beside import Clocks
    from tsnbench.discover.differences import Difference
    from tsnbench.discover.running import RunningHost, RunningPort, Shaping

Answer = Literal["yes", "no", "unknown"]
NEAR_NS = 2 * 10**9
SHOWS_NS = 10**9
"""A clock that is so near to UTC shows UTC."""
LEAST_SHARE, LEAST_FRAMES = 0.75, 20
TAG_OCTETS = 4
LEAST_FILLED, MOST_FILLED = 0.5, 1.1
"""How much of its windows a class must fill, so that its frames wait; more than all of it is no gate."""
FOLLOWERS = ("phc2sys", "timemaster")
"""Programs that set the host's clock from the card's."""
SOFTWARE_LATE_NS = 100_000
"""A gate in software may open and close so much later."""
SOFTWARE, ASSISTED, OFFLOADED = 0, 1, 2
HOLDERS = {
    SOFTWARE: "the kernel's taprio, in software",
    ASSISTED: "taprio, by launch times (txtime-assist)",
    OFFLOADED: "the card (flags 0x2)",
}


@dataclass(frozen=True)
class Layer:
    """One layer between a configuration and the frames."""

    name: str
    answer: Answer
    sentence: str


@dataclass(frozen=True)
class Wanted:
    """What the user knows of the port; None: nothing."""

    now_tai_ns: int
    rate_bps: int | None = None
    granularity_ns: int | None = None
    offload: bool = False
    stamps_ns: int = 1_000
    """Greatest error of a stamp of the capture."""
    beside: Beside = field(default_factory=Beside)
    """What the host says beside its queueing disciplines."""
    differences: Sequence[Difference] | None = None
    """Of the port from the Plan; None: there is no Plan."""


def layers(
    host: RunningHost, port: RunningPort, wanted: Wanted, capture: Capture | None = None
) -> list[Layer]:
    """The layers in the order in which a configuration passes them.

    Args:
        host: as it runs.
        port: the interface.
        wanted: what the user knows.
        capture: frames of many priorities that left the port, stamped where they leave.

    Raises:
        MeasureError: the capture cannot be read.
    """
    found = [_link(port, wanted)]
    shaping = port.shaping
    if shaping is None or shaping.gates is None:
        words = "the queueing disciplines could not be read" if port.root is None else _rootless(port)
        return [*found, Layer("list", "unknown" if port.root is None else "no", words)]
    found += [
        _accepted(shaping, wanted),
        _in_force(shaping, wanted),
        _clock(shaping, wanted.beside),
        _closes(shaping),
        _fits(shaping, wanted),
        _map(shaping),
        _queues(shaping, wanted),
    ]
    found += [*_launch(shaping), *_preemption(shaping, wanted.beside)]
    found += _tags(host, port)
    if wanted.differences is not None:
        found.append(_planned(wanted.differences))
    found.append(_frames(shaping, capture, wanted.rate_bps or port.rate_bps, wanted.stamps_ns))
    return found


def _rootless(port: RunningPort) -> str:
    root = port.root or "the kernel's default"
    return f"no gate control list: the root of {port.name} is {root}, which has no gates"


def _link(port: RunningPort, wanted: Wanted) -> Layer:
    if not port.up or not port.carrier:
        return Layer("link", "no", f"{port.name} is {'without a link' if port.up else 'down'}")
    if port.rate_bps is None:
        return Layer("link", "yes", "up; it tells no rate")
    if wanted.rate_bps not in (None, port.rate_bps):
        expected = rate(wanted.rate_bps or 0)
        return Layer(
            "link", "no", f"{rate(port.rate_bps)}, and not {expected}: a list for {expected} overruns"
        )
    return Layer("link", "yes", f"up, {rate(port.rate_bps)}")


def _accepted(shaping: Shaping, wanted: Wanted) -> Layer:
    holder = HOLDERS.get(shaping.flags, f"flags {shaping.flags:#x}")
    words = f"{count(len(shaping.entries))} entries, cycle {exact(shaping.cycle_ns)}, held by {holder}"
    if wanted.offload and not shaping.flags & OFFLOADED:
        return Layer("list", "no", f"{words}: the driver did not take it (flags 0x2 refused?)")
    return Layer("list", "yes", words)


def _in_force(shaping: Shaping, wanted: Wanted) -> Layer:
    clocks = wanted.beside.clocks
    of_list = None if clocks is None else _of_list(shaping, clocks)
    now_ns = wanted.now_tai_ns if clocks is None or of_list is None else clocks.tai_ns + of_list
    ahead = shaping.base_ns - now_ns
    # The kernel shows a list that a card has as the one in force, also before its base time.
    if not shaping.pending and (of_list is None or ahead <= 0):
        return Layer("in force", "yes", f"since its base time {exact(shaping.base_ns)}")
    if ahead <= 0:
        return Layer("in force", "no", f"pending, although its base time is {exact(-ahead)} past")
    words = f"it waits for its base time, in {exact(ahead // 10**6 * 10**6)}"
    if clocks is None or of_list is None:
        if abs(ahead - TAI_AHEAD_NS) <= NEAR_NS:
            words = "TAI and UTC mixed? The base time is 37 s ahead"
    elif ahead <= TAI_AHEAD_NS + NEAR_NS and abs(clocks.ahead_ns + of_list) < SHOWS_NS:
        words += ". TAI and UTC mixed? The clock of the list shows UTC, 37 s less than TAI"
    return Layer("in force", "no", words)


def _of_list(shaping: Shaping, clocks: Clocks) -> int | None:
    """The clock of a list less the kernel's TAI."""
    return clocks.card_ns if shaping.flags & OFFLOADED else 0


def _clock(shaping: Shaping, beside: Beside) -> Layer:
    follows = [name for name in FOLLOWERS if name in beside.programs]
    by_card = beside.clock is not None and "ptp4l" in beside.programs and not beside.in_software
    away_ns = None if beside.clocks is None else beside.clocks.card_ns
    apart = "" if away_ns is None else f", {exact(away_ns)} from the kernel's TAI"
    if not shaping.flags & OFFLOADED and shaping.clock.removeprefix("CLOCK_") != "TAI":
        return Layer("clock", "no", f"the list runs on {shaping.clock or 'no clock'}, and not on TAI")
    if by_card and not follows:
        words = (
            f"ptp4l sets the card's clock (ptp{beside.clock}{apart}), and no phc2sys sets the host's from it"
        )
        bound = _bound_to(shaping)
        return Layer(
            "clock", "no" if bound else "unknown", f"{words}: {bound or 'programs have another time'}"
        )
    if shaping.flags & OFFLOADED:
        delta = min((int(one.options.get("delta", 0)) for _, one in shaping.etfs()), default=None)
        if away_ns is not None and delta is not None and abs(away_ns) > delta:
            words = f"the card's clock is {exact(away_ns)} from the kernel's TAI, more than etf's delta"
            return Layer("clock", "no", f"{words} ({exact(delta)}): launch times are not those of the list")
        if by_card:
            return Layer("clock", "yes", f"ptp4l sets the card's clock{apart}, and {follows[0]} the host's")
        return Layer(
            "clock", "unknown", f"the card's own clock{apart}: no program is seen that sets it to TAI"
        )
    if shaping.clock.removeprefix("CLOCK_") != "TAI":
        return Layer("clock", "no", f"the list runs on {shaping.clock or 'no clock'}, and not on TAI")
    for _, one in shaping.etfs():
        named = str(one.options.get("clockid", "TAI"))
        if named.removeprefix("CLOCK_") != "TAI":
            return Layer("clock", "no", f"etf runs on {named}, and drops frames with launch times of TAI")
    return Layer("clock", "yes", "TAI")


def _bound_to(shaping: Shaping) -> str:
    """What of a port runs on the host's clock; empty: nothing."""
    if not shaping.flags & OFFLOADED:
        return "the list runs on a clock that nothing sets"
    return "launch times (etf) are not those of the list" if shaping.etfs() else ""


def _queues(shaping: Shaping, wanted: Wanted) -> Layer:
    """Whether the classes have queues of the card."""
    there, used = wanted.beside.queues, shaping.last_queue + 1
    if there and used > there:
        return Layer("queues", "no", f"classes use {used} queues, and the interface has {there}")
    soft = [
        f"class {number}: {own.own.kind}"
        for number, own in enumerate(shaping.queues)
        if own
        and own.own.kind in ("etf", "cbs")
        and own.own.options.get("offload") in (None, False, "off", 0)
    ]
    if wanted.offload and soft:
        return Layer("queues", "no", f"{', '.join(soft)} in software, and not in the card's queue (offload)")
    return Layer(
        "queues", "yes" if there else "unknown", f"{used} of {there or 'an unknown number of'} queues"
    )


def _launch(shaping: Shaping) -> Iterator[Layer]:
    """Whether etf dropped frames: while they waited (its overlimits), or when they came. sch_etf.c."""
    for number, one in shaping.etfs():
        delta = exact(int(one.options.get("delta", 0)))
        missed = one.counters.get("overlimits", 0)
        refused = one.counters.get("drops", 0) - missed
        lost = []
        if missed > 0:
            lost.append(
                f"{count(missed)} frames that it woke up for too late: its delta of {delta} is too short"
            )
        if refused > 0:
            lost.append(
                f"{count(refused)} frames that came with a past launch time, with none, or of another clock"
            )
        words = f"etf of class {number} dropped {' and '.join(lost)}" if lost else ""
        yield Layer(
            "launch", "no" if lost else "yes", words or f"etf of class {number}, delta {delta}, dropped none"
        )


def _preemption(shaping: Shaping, beside: Beside) -> Iterator[Layer]:
    """Whether the peer has verified pre-emption, if a class is preemptable. IEEE 802.3-2022, 99.4."""
    asked = any(shaping.preemptable or ()) or beside.merge.get("tx enabled") == "on"
    if not asked:
        return
    merge = beside.merge
    if not merge:
        yield Layer(
            "pre-emption", "unknown", "the card's MAC merge layer could not be read (ethtool --show-mm)"
        )
        return
    status = merge.get("verification status", "UNKNOWN")
    if merge.get("tx active") == "on":
        yield Layer("pre-emption", "yes", f"active; verification: {status}")
    elif merge.get("tx enabled") != "on":
        yield Layer(
            "pre-emption", "no", "classes are preemptable, and the card's pre-emption is off (tx-enabled)"
        )
    else:
        yield Layer("pre-emption", "no", f"not active: the peer has not verified it ({status})")


def _closes(shaping: Shaping) -> Layer:
    classes = set(shaping.class_of)
    always = sorted(own for own in classes if all(mask >> own & 1 for mask, _ in shaping.entries))
    never = sorted(own for own in classes if not any(mask >> own & 1 for mask, _ in shaping.entries))
    if set(always) == classes:
        return Layer(
            "entries", "no", "no gate ever closes: every entry opens every class that priorities are in"
        )
    if never:
        return Layer("entries", "no", f"the gate of class {never[0]} never opens")
    return Layer("entries", "yes", f"{len(classes) - len(always)} of {len(classes)} classes open and close")


def _fits(shaping: Shaping, wanted: Wanted) -> Layer:
    if wanted.granularity_ns is None:
        return Layer("granularity", "unknown", "the card's granularity is not known (--granularity)")
    times = [shaping.cycle_ns, *(length for _, length in shaping.entries)]
    wrong = next((one for one in times if one % wanted.granularity_ns), None)
    if wrong is None:
        return Layer("granularity", "yes", f"all times are multiples of {exact(wanted.granularity_ns)}")
    return Layer("granularity", "no", f"{exact(wrong)} is no multiple of {exact(wanted.granularity_ns)}")


def _map(shaping: Shaping) -> Layer:
    groups: dict[int, list[int]] = {}
    for priority, own in enumerate(shaping.class_of):
        groups.setdefault(own, []).append(priority)
    words = "; ".join(
        f"class {own}: priority {', '.join(map(str, of))}" for own, of in sorted(groups.items())
    )
    return Layer(
        "map",
        "no" if len(groups) == 1 else "yes",
        f"all in one class, {words}" if len(groups) == 1 else words,
    )


def _tags(host: RunningHost, port: RunningPort) -> Iterator[Layer]:
    for (name, vid), pcps in host.devices.items():
        if name == port.name:
            lost = not any(pcps.values())
            words = "sends every priority as PCP 0 (egress-qos-map)" if lost else "has a map of PCPs"
            yield Layer("tags", "no" if lost else "yes", f"the VLAN device of {vid} {words}")


def _planned(found: Sequence[Difference]) -> Layer:
    words = [str(one).removeprefix(f"{one.host} {one.port}".strip() + ": ") for one in found]
    unknown = all(one.found is None for one in found)
    return Layer(
        "plan", ("unknown" if unknown else "no") if words else "yes", "; ".join(words) or "as planned"
    )


def _frames(shaping: Shaping, capture: Capture | None, rate_bps: int | None, stamps_ns: int) -> Layer:
    """Whether frames of the classes that close repeat with the cycle. PCP and priority are taken as equal."""
    if capture is None:
        return Layer("frames", "unknown", "no frame was looked at (--probe, --capture)")
    if rate_bps is None:
        return Layer("frames", "unknown", "the rate of the link is not known (--rate)")
    answers: list[tuple[float, int, str]] = []
    for own in sorted(set(shaping.class_of)):
        masks = [mask >> own & 1 for mask, _ in shaping.entries]
        if all(masks) or not any(masks):
            continue
        frames = captured(capture, [pcp for pcp in range(8) if shaping.class_of[pcp] == own], rate_bps)
        gap_ns = estimate.GAP_OCTETS * 8e9 / rate_bps
        part = sum(length for mask, length in shaping.entries if mask >> own & 1) / shaping.cycle_ns
        filled = _busy(frames, gap_ns) / part
        if filled > MOST_FILLED:
            answers.append((0.0, own, f"its frames take {filled:.1f} times the time of its windows"))
        if filled < LEAST_FILLED:
            # Frames that do not wait can repeat with the cycle by themselves.
            continue
        waited = estimate.after_idle(frames, gap_ns, 2 * stamps_ns)
        found = estimate.cycle_of(waited, shaping.cycle_ns, 4 * stamps_ns)
        if found is None or found.times < LEAST_FRAMES:
            continue
        words = f"{share(found.share)} of {found.times} waiting frames, cycle {exact(round(found.ns, 1))}"
        answers.append((found.share, own, words))
    if not answers:
        return Layer(
            "frames",
            "unknown",
            "too few frames of a class that closes waited: send more than its windows take",
        )
    least, own, words = min(answers)
    good = least >= LEAST_SHARE
    told = f"class {own}: {words}"
    return Layer(
        "frames",
        "yes" if good else "no",
        told if good else f"{told}: frames do not obey a list of this cycle",
    )


def probed(shaping: Shaping, capture: Capture, rate_bps: int, stamps_ns: int) -> Layer:
    """What probes of all PCPs show, in place of the layer of frames.

    Raises:
        MeasureError: the capture cannot be read.
    """
    late = stamps_ns + (0 if shaping.flags & OFFLOADED else SOFTWARE_LATE_NS)
    times = {pcp: captured(capture, [pcp], rate_bps).begin for pcp in range(probes.PCPS)}
    found = probes.answer(times, shaping, late)
    answers: dict[bool | None, Answer] = {True: "yes", False: "no", None: "unknown"}
    words = "; ".join(found.sentences()) or "no class of a probe opens and closes"
    return Layer("frames", answers[found.active], words)


def _busy(frames: Frames, gap_ns: float) -> float:
    """The share of time in which frames or their gaps are on the wire."""
    if len(frames) < LEAST_FRAMES:
        return 0.0
    span = float(frames.begin[-1] - frames.begin[0])
    return (float(frames.wire[:-1].sum()) + gap_ns * (len(frames) - 1)) / max(span, 1.0)


def captured(capture: Capture, pcps: Sequence[int], rate_bps: int) -> Frames:
    """The frames of a capture with these PCPs; frames without a tag count as PCP 0.

    Raises:
        MeasureError: it cannot be read.
    """
    rows: list[tuple[int, int]] = []
    file, interface = native(capture)
    filters = [(json.dumps({"pcp": pcp}), TAG_OCTETS) for pcp in pcps]
    if 0 in pcps:
        filters.append((json.dumps({"untagged": True}), 0))
    for wanted, tag in filters:
        try:
            _, found = _native.capture_trace(file, wanted, interface)
        except ValueError as error:
            raise MeasureError(f"{capture}: {error}") from error
        rows += [(at, octets + tag) for at, octets in found]
    rows.sort()
    begin = np.array([at for at, _ in rows], dtype=np.int64)
    wire = np.array([(octets + 8) * 8 * 10**9 // rate_bps for _, octets in rows], dtype=np.int64)
    return Frames(begin, wire)


def first_lost(found: Sequence[Layer]) -> Layer | None:
    """The first layer that lost the list."""
    return next((one for one in found if one.answer == "no"), None)
