"""A transparent clock: whether the correction field grows by the time for which messages stay in the device.

Captures at both ends show when a Sync passed, and by how much its correction grew. Where delays are measured
end to end, so does a Delay_Req in the other direction. All testers have one clock: an instrument with several
ports. IEEE 1588-2019, 10.2 and 10.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tsnbench.conform.bench import ALONE, STILL_PPT, Unsent
from tsnbench.conform.judge import FREE_PPM, Number, Result, undecided, verdict_of
from tsnbench.measure.errors import MeasureError
from tsnbench.measure.inspection import inspect_capture
from tsnbench.quantities import exact
from tsnbench.runs.errors import FolderError
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.measure.protocols.measured import PtpStream
    from tsnbench.plan.types import Gptp, Port

MESSAGES, LEAST_MESSAGES = 60, 20
BOTH_SIDES = 4
"""Captures: into the device and out of it, in both directions."""
OCTETS = 64
LONGEST_NS = 600 * 10**9


@dataclass(frozen=True)
class Across:
    """The grandmaster beside the device, and another neighbour."""

    towards: int
    """The grandmaster's port."""
    away: int
    """The device's port towards the neighbour."""
    end_to_end: bool
    gptp: Gptp


def _across(bench: Bench, port: Port) -> Across | None:
    """None unless the device is a transparent clock beside the grandmaster, and the port leads to another
    node."""
    gptp = bench.expected.document.get("clocks", {}).get("gptp")
    own = None if gptp is None else gptp.get("ieee_1588")
    if gptp is None or own is None or bench.node not in own.get("transparent", ()):
        return None
    network, away = bench.network, bench.number(port["name"])
    near = [network.ports[other]["peer"] for other in network.ports_of(bench.node)]
    from_master = [one for one in near if network.ports[one]["node"] == gptp["grandmaster"]]
    if not from_master or network.far(away) == gptp["grandmaster"]:
        return None
    return Across(from_master[0], away, own["delay"] == "end-to-end", gptp)


def ports(bench: Bench) -> list[Port]:
    """Ports by which Sync leaves a transparent clock."""
    return [port for port in bench.ports if _across(bench, port) is not None]


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """The messages of the clocks themselves, and small frames that nothing waits for."""
    for port in ports(bench):
        across, testers = _across(bench, port), bench.testers(port["name"])
        if across is None or testers is None:
            yield Unsent(port["name"], ALONE)
            continue
        interval = max(across.gptp["sync_interval_ns"], across.gptp["pdelay_interval_ns"])
        duration = MESSAGES * interval
        if duration > LONGEST_NS:
            yield Unsent(port["name"], f"{MESSAGES} intervals take longer than {exact(LONGEST_NS)}")
            continue
        stream = testers.stream(
            bench.usual_pcp(port), bench.vid(port["name"]), Periodic(period=interval), OCTETS
        )
        about = "PTP's own messages, for 60 intervals"
        both = (across.towards, across.away)
        there_and_back = [*both, *(bench.network.ports[one]["peer"] for one in both)]
        names = [bench.network.ports[one]["name"] for one in there_and_back]
        yield bench.stimulus(
            "ptp", port["name"], {"beside": stream}, duration, interval, about, messages_at=names
        )


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """The correction that messages got, against the time for which they were in the device."""
    test = "ptp.correction"
    across = _across(bench, bench.expected.document["ports"][bench.number(stimulus.port)])
    if across is None:
        yield undecided(test, stimulus.port, "no-stimulus")
        return
    parts = [part for part in _captures(seen, across) if part is not None]
    if len(parts) < BOTH_SIDES:
        yield undecided(test, stimulus.port, "unsupported-tester", "PTP's messages were not captured here")
        return
    found = [_sync(parts, across)]
    if across.end_to_end:
        found.append(_request(parts))
    if None in found:
        yield undecided(test, stimulus.port, "too-few")
        return
    cables = [seen.plan["ports"][one]["propagation_ps"] / 1000 for one in (across.towards, across.away)]
    # Peer to peer, the correction has the delay of the link over which the Sync arrived.
    cable = sum(cables) if across.end_to_end else cables[1]
    off = [(one.added_ns - (one.again_ns - cable), one) for one in found if one is not None]
    steered = STILL_PPT * seen.plan["duration_ns"] / 1e12
    yield _result(stimulus.port, *max(off, key=lambda one: abs(one[0])), error.apart_ns + steered, error)


@dataclass(frozen=True)
class Message:
    """Messages of a kind that passed the device; means in ns."""

    kind: str
    count: int
    again_ns: float
    """From one side to the other, cables included."""
    added_ns: float
    """What their correction, or that of the message that belongs to them, grew by."""


def _sync(parts: Sequence[Path], across: Across) -> Message | None:
    """The correction of a Sync is in its Follow_Up if there is one."""
    rows = {row["message"]: row for row in _messages(parts[:2])}
    sync = rows.get("Sync")
    carrier = sync if across.gptp.get("one_step") else rows.get("Follow_Up")
    if sync is None or carrier is None or carrier["correction_added"] is None:
        return None
    return _message(sync, carrier["correction_added"]["mean"])


def _request(parts: Sequence[Path]) -> Message | None:
    """The correction of a Delay_Req is in the Delay_Resp that the neighbour gets: the grandmaster's own is
    0."""
    request = next(
        (row for row in _messages(parts[2:]) if row["message"] == "Delay_Req" and row["again"]), None
    )
    if request is None:
        return None
    told = f"to {request['port']}"
    answers = [row["correction"] for row in _messages(parts[1:2]) if row["stream"].endswith(told)]
    return _message(request, answers[0]["mean"]) if answers and answers[0] is not None else None


def _message(row: PtpStream, added_ns: float) -> Message | None:
    again = row["again"]
    if again is None or again["count"] < LEAST_MESSAGES:
        return None
    return Message(row["message"], again["count"], again["mean"], added_ns)


def _captures(seen: Seen, across: Across) -> list[Path | None]:
    """From the grandmaster into the device and out of it, and the other way round."""
    peers = [seen.plan["ports"][one]["peer"] for one in (across.towards, across.away)]
    taps = [("tx", across.towards), ("rx", peers[1]), ("tx", peers[1]), ("rx", across.towards)]
    return [seen.capture(seen.taps[tap]["name"]) if tap in seen.taps else None for tap in taps]


def _messages(parts: Sequence[Path]) -> list[PtpStream]:
    """PTP's messages in captures, as sections of one file: a message at both sides is seen again.

    Raises:
        FolderError: a capture cannot be read.
    """
    try:
        with TemporaryDirectory(prefix="tsnbench-") as scratch:
            file = Path(scratch) / "both.pcapng"
            file.write_bytes(b"".join(part.read_bytes() for part in parts))
            return inspect_capture(file)["protocols"]["ptp"]
    except (OSError, MeasureError) as problem:
        raise FolderError(parts[0].parent, f"the captures cannot be used: {problem}") from problem


def _result(port: str, off: float, of: Message, stamps_ns: float, error: Error) -> Result:
    own = stamps_ns + of.again_ns * FREE_PPM / 1e6
    tolerance = error.tolerance_ns(own)
    verdict = verdict_of(off, off, tolerance, own)
    words = f"the correction of {of.kind} is {exact(round(abs(off)))} too {'large' if off > 0 else 'small'}"
    return Result(
        "ptp.correction",
        port,
        verdict,
        "" if verdict == "pass" else words,
        "stamps" if verdict == "not-decidable" else None,
        found=Number(off, "ns", off - own, off + own),
        limit=Number(0, "ns", -tolerance, tolerance),
        shown=f"{off:+.0f} ns",
        wanted=f"0 +-{exact(round(tolerance))}",
        estimates=of.count,
    )
