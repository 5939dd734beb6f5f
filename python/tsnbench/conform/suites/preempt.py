"""Pre-emption: how long an express frame waits while a preemptable class loads the port.

Fragments are not seen: a tester's card puts them together. The wait of express frames shows whether they
interrupt, and the time that frames of a full port take shows what each cut adds.

IEEE 802.1Q-2022, 6.7.2; IEEE 802.3-2022, 99.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided, verdict_of
from tsnbench.conform.suites.priority import LOAD_OCTETS, LOADS, PHY, PROBE_OCTETS, overload
from tsnbench.libraries import numpy as np
from tsnbench.quantities import exact
from tsnbench.scenario.model import FixedSize, Periodic, Poisson

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

UNCUT = 143
"""Octets of the part of a frame that cannot be cut, with the gap behind it."""
PROBES = 60
EVERY = 7
"""Time between express frames, in large frames, and a part of one so that they meet each phase of a frame."""
CUT = 24
"""Octets that a cut adds: preamble, mCRC and gap of one fragment. IEEE 802.3-2022, 99."""
FIRST = 20
"""Large frames until a queue has formed."""


def ports(bench: Bench) -> list[Port]:
    """Ports that pre-empt, without gates."""
    return [port for port in bench.ports if "preemption" in port and "gates" not in port]


def _pcps(port: Port) -> tuple[int, int] | None:
    """The PCP of the highest express class, and that of the lowest preemptable one."""
    express, classes = port["preemption"]["express"], port["pcp_to_class"]
    fast = [pcp for pcp in range(8) if express >> classes[pcp] & 1]
    slow = [pcp for pcp in range(8) if not express >> classes[pcp] & 1]
    if not fast or not slow:
        return None
    return max(fast, key=lambda pcp: classes[pcp]), min(slow, key=lambda pcp: classes[pcp])


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """Two testers load a preemptable class, and one of them sends express frames."""
    for port in ports(bench):
        both, pcps = overload(bench, port), _pcps(port)
        if isinstance(both, Unsent):
            yield both
            continue
        if pcps is None:
            yield Unsent(port["name"], "all priorities are express, or all are preemptable")
            continue
        frame_ns = round((LOAD_OCTETS + PHY) * 8e9 / port["rate_bps"])
        begin, gap = FIRST * frame_ns, EVERY * frame_ns + frame_ns * 3 // 61
        end = begin + PROBES * gap
        streams = {}
        for place, (testers, part) in enumerate(zip(both, LOADS, strict=True)):
            rate = int(part * port["rate_bps"] * LOAD_OCTETS / (LOAD_OCTETS + PHY))
            streams[f"load-{place + 1}"] = testers.stream(
                pcps[1], bench.vid(port["name"]), Poisson(rate=rate), LOAD_OCTETS, stop=end
            )
        streams["express"] = streams["load-2"].model_copy(
            update={
                "pcp": pcps[0],
                "pattern": Periodic(period=gap),
                "size": FixedSize(octets=PROBE_OCTETS),
                "start": begin,
            }
        )
        about = "express frames while a preemptable class loads the port"
        yield bench.stimulus("preempt", port["name"], streams, end, end, about)


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """The greatest wait of an express frame beyond that of the quickest one."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    waited = seen.residence(seen.ingress("express", number), number, "express")
    if len(waited) < PROBES // 2:
        yield from (undecided(name, stimulus.port, "too-few") for name in ("preempt.express", "preempt.cuts"))
        return
    most, own = float(waited.max() - waited.min()), float(error.apart_ns)
    limit = UNCUT * 8e9 / port["rate_bps"]
    over = max(most - limit, 0.0)
    verdict = verdict_of(over, over, 2 * own, own)
    yield Result(
        "preempt.express",
        stimulus.port,
        verdict,
        "" if verdict == "pass" else f"express frames wait {exact(round(most))} beside preemptable ones",
        "stamps" if verdict == "not-decidable" else None,
        found=Number(most, "ns", most - own, most + own),
        limit=Number(limit, "ns", 0, limit),
        shown=exact(round(most)),
        wanted=f"<= {exact(round(limit))}",
        frames=len(waited),
        estimates=len(waited),
    )
    yield _cuts(stimulus, seen, number, port, error)


def _cuts(stimulus: Stimulus, seen: Seen, number: int, port: Port, error: Error) -> Result:
    """What express frames add to the time of the frames that they interrupt, beyond their own time."""
    octet_ns = 8e9 / port["rate_bps"]
    ends = seen.taps["rx", port["peer"]]["point"] == "end"

    def times(*names: str) -> np.ndarray:
        every = [seen.left(number, name) for name in names]
        return np.sort(np.concatenate([(one["begin"] + one["wire"] * ends).to_numpy() for one in every]))

    loads, express = times("load-1", "load-2"), times("express")
    # While testers send, the port is full, and each frame follows the one before.
    frame_ns = (LOAD_OCTETS + PHY) * octet_ns
    between = np.searchsorted(express, loads)
    whole = (loads[:-1] >= express[0] - frame_ns) & (loads[1:] <= express[-1] + frame_ns)
    passed = np.diff(between)[whole]
    added = np.diff(loads)[whole] - frame_ns - passed * (PROBE_OCTETS + PHY) * octet_ns
    cuts = np.clip(np.round(added / (CUT * octet_ns)), 0, passed)
    off = np.abs(added - cuts * CUT * octet_ns)
    most, own, many = float(off.max(initial=0)), float(error.apart_ns), int(cuts.sum())
    verdict = verdict_of(most, most, error.tolerance_ns(own), own)
    if not many:
        return undecided("preempt.cuts", stimulus.port, "too-few", "no express frame interrupted another one")
    return Result(
        "preempt.cuts",
        stimulus.port,
        verdict,
        ""
        if verdict == "pass"
        else f"frames take {exact(round(most))} more or less than their cuts of {CUT} octets add",
        "stamps" if verdict == "not-decidable" else None,
        found=Number(most, "ns", most - own, most + own),
        limit=Number(0, "ns", 0, error.tolerance_ns(own)),
        shown=f"{exact(round(most))} off in {many} cuts",
        wanted=f"<= {exact(round(error.tolerance_ns(own)))}",
        frames=len(loads),
        estimates=many,
    )
