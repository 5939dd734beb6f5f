"""The time that a boundary clock, or a bridge of gPTP, tells: how wrong it is, and from when on it is right.

The grandmaster and the testers have one clock. A tester behind the device captures each Sync and compares the
time that it tells with its own. IEEE 1588-2019, 9.5; IEEE 802.1AS-2020, 11.1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import Number, Result, undecided, verdict_of
from tsnbench.libraries import numpy as np
from tsnbench.quantities import exact
from tsnbench.runs.errors import FolderError
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

SYNCS, LEAST_SYNCS = 60, 20
"""After the first release of the scenario; the error is that of their second half."""
OCTETS = 64
LONGEST_NS = 600 * 10**9
TESTS = ("ptp.time", "ptp.lock")


def ports(bench: Bench) -> list[Port]:
    """Ports by which Sync leaves a device that tells a time of its own, or that of a grandmaster."""
    clocks = bench.expected.document.get("clocks", {})
    gptp = clocks.get("gptp")
    own = {} if gptp is None else gptp.get("ieee_1588", {})
    if gptp is None or bench.node == gptp["grandmaster"] or bench.node in own.get("transparent", ()):
        return []
    return [
        port
        for port in bench.ports
        if bench.network.ports[bench.number(port["name"])]["peer"] in gptp["slaves"]
    ]


def first_ns(bench: Bench) -> int:
    """When the first stream of the scenario begins: until then, clocks may differ."""
    return min((one["start_ns"] for one in bench.expected.document["streams"]), default=0)


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """The messages of the clocks themselves, from the begin of the run on, and small frames."""
    for port in ports(bench):
        testers, gptp = bench.testers(port["name"]), bench.expected.document["clocks"]["gptp"]
        interval = gptp["sync_interval_ns"]
        duration = first_ns(bench) + SYNCS * interval
        if testers is None or "bmca" in gptp or duration > LONGEST_NS:
            long = f"{SYNCS} intervals and the first release take longer than {exact(LONGEST_NS)}"
            yield Unsent(
                port["name"],
                ALONE if testers is None else "the roles are elected" if "bmca" in gptp else long,
            )
            continue
        stream = testers.stream(
            bench.usual_pcp(port), bench.vid(port["name"]), Periodic(period=interval), OCTETS
        )
        number = bench.number(port["name"])
        at = [bench.network.ports[one]["name"] for one in (number, bench.network.ports[number]["peer"])]
        about = f"PTP's own messages, until {SYNCS} intervals after the first release"
        yield bench.stimulus(
            "ptp-time", port["name"], {"beside": stream}, duration, interval, about,
            messages_at=at, follows=True,
        )  # fmt: skip


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """How wrong the told time is at the end, and when it was wrong for the last time."""
    number = bench.number(stimulus.port)
    sender = bench.network.ports[number]
    tap = seen.taps.get(("rx", sender["peer"]))
    file = None if tap is None else seen.capture(tap["name"])
    if file is None:
        words = "PTP's messages were not captured here"
        yield from (undecided(test, stimulus.port, "unsupported-tester", words) for test in TESTS)
        return
    at_ns, off = _errors(file, sender)
    first = first_ns(bench)
    interval = seen.plan["clocks"]["gptp"]["sync_interval_ns"]
    late = off[at_ns >= first + SYNCS // 2 * interval]
    if len(late) < LEAST_SYNCS:
        yield from (undecided(test, stimulus.port, "too-few") for test in TESTS)
        return
    promised = bench.expected.document["clocks"].get("within_ns")
    own = float(error.stamps_ns + error.resolution_ns)
    most = float(late[np.abs(late).argmax()])
    time = within("ptp.time", stimulus.port, most, promised, own, "the time that Sync tells")
    yield replace(time, estimates=len(late))
    words = "a Sync still told a time that is"
    lock = locked("ptp.lock", stimulus.port, (at_ns, off), promised, own, first, words)
    yield replace(lock, estimates=len(off))


def _errors(file: Path, sender: Port) -> tuple[np.ndarray, np.ndarray]:
    """When each Sync was captured, and by how much the time that it tells is ahead, in ns."""
    try:
        told = _native.times_told(str(file))
    except (OSError, ValueError) as problem:
        raise FolderError(file.parent, f"the capture cannot be used: {problem}") from problem
    at = np.array([one for one, _ in told], dtype=np.int64)
    ahead = np.array([one for _, one in told], dtype=float)
    return at, ahead + sender["propagation_ps"] / 1000


def within(test: str, port: str, off: float, promised: int | None, own: float, what: str) -> Result:
    """The result of a greatest error of a time, in ns, with the error ``own`` of the testers."""
    found = Number(off, "ns", off - own, off + own)
    result = Result(test, port, "pass", found=found, shown=f"{off:+.0f} ns")
    if promised is None:
        words = f"the scenario states no within: {what} is off by so much"
        return replace(result, verdict="not-decidable", reason="no-limit", sentence=words)
    verdict = verdict_of(off, off, float(promised), own)
    words = f"{what} is {exact(round(abs(off)))} {'ahead' if off > 0 else 'behind'}"
    return replace(
        result,
        verdict=verdict,
        sentence="" if verdict == "pass" else words,
        reason="stamps" if verdict == "not-decidable" else None,
        limit=Number(promised, "ns", -promised, promised),
        wanted=f"0 +-{exact(promised)}",
    )


def locked(
    test: str,
    port: str,
    told: tuple[np.ndarray, np.ndarray],
    promised: int | None,
    own: float,
    first_ns: int,
    words: str,
) -> Result:
    """The last time, of ``told`` with its error, that is certainly wrong, against the first release of the
    scenario."""
    at_ns, off = told
    if promised is None:
        return undecided(test, port, "no-limit", "the scenario states no within")
    wrong = at_ns[np.abs(off) >= promised + own]
    last = int(wrong.max()) if len(wrong) else 0
    good = last <= first_ns
    return Result(
        test,
        port,
        "pass" if good else "fail",
        "" if good else f"at {exact(last)} {words} wrong by more than {exact(promised)}",
        found=Number(last, "ns", last, last),
        limit=Number(first_ns, "ns", 0, first_ns),
        shown=exact(last),
        wanted=f"<= {exact(first_ns)}",
    )
