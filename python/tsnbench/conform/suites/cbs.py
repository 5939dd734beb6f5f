"""Credit-based shapers: idle slope, credit that is gained behind a lower frame, none that is kept while idle.

In a burst of n frames the last one leaves when credit has come back to 0. So the credit at its begin was
R (n - 1) w - idleSlope (t_n - t_1), with w the time of a frame with its gap: differences at one port show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import Number, Result, undecided, verdict_of
from tsnbench.libraries import numpy as np
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.quantities import rate, trimmed
from tsnbench.scenario.model import FixedSize, Periodic, Poisson, Stream, UnitSizes

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus, Testers
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Cbs, Class, Port

LARGEST, SMALLEST = 1522, 100
BURST_OCTETS = 300
HEADERS = 50
"""Octets of a frame with a tag that are no payload."""
FRAMES = 400
"""For the slope."""
LEAST_FRAMES = 100
BURSTS = 20
SLOPE_SHARE = 0.003
"""Error of a slope that is measured over 200 frames, and of the octets that a device counts."""
CREDIT_SHARE = 0.001
"""Error of a credit, as a share of the burst."""


@dataclass(frozen=True)
class Shaped:
    """One class of a port with a shaper."""

    port: Port
    own: int
    cbs: Cbs

    @property
    def pcp(self) -> int:
        return self.port["pcp_to_class"].index(self.own)

    @property
    def share(self) -> float:
        """Of the port's rate."""
        return self.cbs["idle_slope_bps"] / self.port["rate_bps"]

    @property
    def octets(self) -> int:
        """The largest frame that the lowest credit is made for."""
        bits = self.cbs["lo_credit_bits"] * self.port["rate_bps"] / self.cbs["send_slope_bps"]
        return min(LARGEST, max(SMALLEST, int(bits / 8) - PHY_OVERHEAD))

    @property
    def small(self) -> int:
        return min(BURST_OCTETS, self.octets)

    def ns(self, octets: int) -> float:
        """Time of a frame with its gap."""
        return (octets + PHY_OVERHEAD) * 8e9 / self.port["rate_bps"]

    @property
    def burst(self) -> int:
        """Frames until credit of one largest lower frame is certainly used up."""
        gained = self.share * self.ns(LARGEST)
        return int(gained / (self.ns(self.small) * (1 - self.share))) + 3


def ports(bench: Bench) -> list[Port]:
    """Ports with shapers and without gates."""
    return [
        port for port in bench.ports if any("cbs" in one for one in port["classes"]) and "gates" not in port
    ]


def classes(port: Port) -> list[Shaped]:
    """The classes with a shaper that frames can be in."""
    return [
        Shaped(port, own, one["cbs"])
        for own, one in enumerate(port["classes"])
        if "cbs" in one and own in port["pcp_to_class"]
    ]


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """For each class: a backlog, bursts into an idle port, and bursts behind a large lower frame."""
    for port in ports(bench):
        testers = bench.testers(port["name"])
        low = next((pcp for pcp in (0, *range(8)) if "cbs" not in _class(port, pcp)), None)
        if testers is None or low is None or testers.rate_bps < port["rate_bps"]:
            slow = "the tester's link is slower than the port"
            why = ALONE if testers is None else "all classes have a shaper" if low is None else slow
            yield Unsent(port["name"], why)
            continue
        streams: dict[str, Stream] = {}
        at = 0
        for one in classes(port):
            made, at = _streams(one, testers, low, bench.vid(port["name"]), at)
            streams |= made
        about = (
            "each shaped class: a backlog, bursts into an idle port, and bursts behind a large lower frame"
        )
        yield bench.stimulus("cbs", port["name"], streams, at, at // 4, about)


def _class(port: Port, pcp: int) -> Class:
    return port["classes"][port["pcp_to_class"][pcp]]


def _streams(
    one: Shaped, testers: Testers, low: int, vid: int | None, at: int
) -> tuple[dict[str, Stream], int]:
    """The streams of one class, and when they are done."""

    def stream(
        pcp: int, pattern: Periodic | Poisson, size: FixedSize | UnitSizes, start: int, stop: int
    ) -> Stream:
        return Stream(
            talker=testers.talker,
            listeners=(testers.listener,),
            pcp=pcp,
            vid=vid,
            pattern=pattern,
            size=size,
            start=start,
            stop=stop,
        )

    found = {}
    # Twice the slope, so that frames always wait.
    wire = min(2 * one.cbs["idle_slope_bps"], 0.95 * testers.rate_bps)
    backlog = round(FRAMES * one.ns(one.octets) / one.share / 2)
    bits = int(wire * one.octets / (one.octets + PHY_OVERHEAD))
    found[f"class-{one.own}-backlog"] = stream(
        one.pcp, Poisson(rate=bits), FixedSize(octets=one.octets), at, at + backlog
    )
    at += round(backlog * (1 + wire / one.cbs["idle_slope_bps"]))
    payload = one.small - HEADERS
    units = UnitSizes(octets=(one.burst * payload,), most_per_frame=payload)
    period = round(3 * (one.burst * one.ns(one.small) / one.share + one.ns(LARGEST)))
    for name in ("idle", "behind"):
        end = at + BURSTS * period
        found[f"class-{one.own}-{name}"] = stream(
            one.pcp, Periodic(period=period, offset=1_000), units, at, end
        )
        if name == "behind":
            found[f"class-{one.own}-low"] = stream(
                low, Periodic(period=period), FixedSize(octets=LARGEST), at, end
            )
        at = end
    return found, at


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """The worst class of each test."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    for judge in (_slope, _return, _burst):
        found = [judge(one, stimulus, seen, number, error) for one in classes(port)]
        yield min(found, key=lambda one: ["fail", "not-decidable", "pass"].index(one.verdict))


def _slope(one: Shaped, stimulus: Stimulus, seen: Seen, number: int, error: Error) -> Result:
    table = seen.left(number, f"class-{one.own}-backlog")
    begin = table["begin"].to_numpy()[len(table) // 2 :]
    if len(begin) < LEAST_FRAMES // 2:
        return undecided("cbs.slope", stimulus.port, "too-few")
    found = (len(begin) - 1) * (one.octets + PHY_OVERHEAD) * 8e9 / float(begin[-1] - begin[0])
    cbs = one.cbs
    wanted = cbs["idle_slope_bps"] * one.port["rate_bps"] / (cbs["idle_slope_bps"] - cbs["send_slope_bps"])
    own = wanted * (SLOPE_SHARE / 2 + error.apart_ns / float(begin[-1] - begin[0]))
    verdict = verdict_of(found - wanted, found - wanted, 2 * own, own)
    return Result(
        "cbs.slope",
        stimulus.port,
        verdict,
        "" if verdict == "pass" else f"class {one.own} passes {rate(found)} of its {rate(wanted)}",
        "stamps" if verdict == "not-decidable" else None,
        one.own,
        found=Number(found, "bit/s", found - own, found + own),
        limit=Number(wanted, "bit/s", wanted - 2 * own, wanted + 2 * own),
        shown=rate(found),
        wanted=f"{rate(wanted)} +-{trimmed(f'{200 * own / wanted:.2f}')} %",
        frames=len(table),
        estimates=len(begin),
    )


def credits(one: Shaped, begin: np.ndarray, seq: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The credit in bits at the begin of each complete burst, and the time of this begin in ns."""
    rows = begin[: len(begin) // one.burst * one.burst].reshape(-1, one.burst)
    whole = seq[: rows.size].reshape(-1, one.burst)
    rows = rows[(whole[:, 0] % one.burst == 0) & (np.diff(whole, axis=1) == 1).all(axis=1)]
    spent = (one.burst - 1) * (one.small + PHY_OVERHEAD) * 8
    return spent - one.cbs["idle_slope_bps"] * (rows[:, -1] - rows[:, 0]) / 1e9, rows[:, 0]


def _return(one: Shaped, stimulus: Stimulus, seen: Seen, number: int, error: Error) -> Result:
    table = seen.left(number, f"class-{one.own}-idle")
    found, _ = credits(one, table["begin"].to_numpy(), table["seq"].to_numpy())
    return _credit("cbs.return", one, stimulus, found, 0.0, error, "before a burst into an idle port")


def _burst(one: Shaped, stimulus: Stimulus, seen: Seen, number: int, error: Error) -> Result:
    name = f"class-{one.own}-behind"
    table, low = seen.left(number, name), seen.left(number, f"class-{one.own}-low")
    found, first = credits(one, table["begin"].to_numpy(), table["seq"].to_numpy())
    ingress = seen.ingress(name, number)
    sent, before = seen.entered(ingress, name), seen.entered(ingress, f"class-{one.own}-low")
    heads = sent.filter(sent["seq"] % one.burst == 0)
    count = min(len(found), len(low), len(heads), len(before))
    if not count:
        return undecided("cbs.burst", stimulus.port, "too-few")
    # The wait of a burst's first frame, by differences at each of the two ports.
    ends = [(one_["begin"] + one_["wire"]).to_numpy()[:count] for one_ in (heads, before)]
    wait = (first[:count] - low["begin"].to_numpy()[:count]) - (ends[0] - ends[1])
    gained = one.cbs["idle_slope_bps"] * float(np.median(wait)) / 1e9
    wanted = min(one.cbs["hi_credit_bits"], gained)
    return _credit("cbs.burst", one, stimulus, found, wanted, error, "behind a large lower frame")


def _credit(
    test: str, one: Shaped, stimulus: Stimulus, found: np.ndarray, wanted: float, error: Error, where: str
) -> Result:
    if len(found) < BURSTS // 2:
        return undecided(test, stimulus.port, "too-few")
    bits = float(np.median(found))
    spent = (one.burst - 1) * (one.small + PHY_OVERHEAD) * 8
    own = 2 * error.apart_ns * one.port["rate_bps"] / 1e9 + CREDIT_SHARE * spent
    verdict = verdict_of(bits - wanted, bits - wanted, 2 * own, own)
    return Result(
        test,
        stimulus.port,
        verdict,
        ""
        if verdict == "pass"
        else f"class {one.own} has {bits:.0f} bit of credit {where}, not {wanted:.0f}",
        "stamps" if verdict == "not-decidable" else None,
        one.own,
        found=Number(bits, "bit", bits - own, bits + own),
        limit=Number(wanted, "bit", wanted - 2 * own, wanted + 2 * own),
        shown=f"{bits:.0f} bit",
        wanted=f"{wanted:.0f} +-{2 * own:.0f} bit",
        frames=len(found) * one.burst,
        estimates=len(found),
    )
