"""VLANs of which a port is no member: whether their frames are kept out, or kept in.

Testers behind every other port send small frames to a node behind the tested one, in VLANs that the scenario
does not have on both ports. Frames to an address that the device has in no table leave by all members of
their VLAN. Beside them, other frames pass the ports that are members, so that a backend that imitates the
device knows them. IEEE 802.1Q-2022, 8.6.2 and 8.6.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.conform.suites.vlan import member
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port
    from tsnbench.scenario.model import Stream

INGRESS, EGRESS = "vlan.ingress", "vlan.egress"
UNTAGGED, UNUSED = 1, range(2, 4095)
"""The VLAN of untagged frames on most devices; the first other one that no stream has is tried, too."""
MEMBERS = "member-"
"""How names of streams begin that pass between two members of a VLAN."""


@dataclass(frozen=True)
class Foreign:
    """Frames of one VLAN from behind one port, which should not leave by another one."""

    test: str
    talker: str
    vid: int
    passes: bool
    """Whether the imitated device is a member of the VLAN at both ports."""

    @property
    def stream(self) -> str:
        return f"{self.test.partition('.')[2]}-{self.vid}-{self.talker}"


def ports(bench: Bench) -> list[Port]:
    """All ports of a device that forwards."""
    return member.ports(bench)


def foreign(bench: Bench, port: Port) -> list[Foreign]:
    """What should not leave by a port: frames of VLANs that it does not have, or that the port by which they
    enter does not have."""
    number = bench.number(port["name"])
    there, device = bench.network, bench.imitated
    every = {one["vid"] for one in bench.expected.document["streams"] if "vid" in one}
    unused = next(vid for vid in UNUSED if vid not in every)
    found = []
    for talker, _ in bench.sources(number):
        entry = next(one for one in there.ports_of(bench.node) if talker in bench.behind(one))
        both = set(there.vids(entry)) & set(there.vids(number))
        for vid in sorted({*every, unused} - both - {UNTAGGED}):
            test = INGRESS if vid in there.vids(number) else EGRESS
            passes = vid in device.vids(entry) and vid in device.vids(number)
            found.append(Foreign(test, talker, vid, passes))
    return found


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """Small frames of each of these VLANs, one after the other."""
    for port in ports(bench):
        own, testers = foreign(bench, port), bench.testers(port["name"])
        if testers is None or not own:
            yield Unsent(port["name"], ALONE)
            continue
        pcp = bench.usual_pcp(port)
        sent = {one.stream: member.small_frames(one.talker, testers.listener, pcp, one.vid) for one in own}
        # A device that ignores VLANs sends frames to the port that its table has for their address.
        through = {f"{MEMBERS}{name}": one for name, one in member.members(bench, port).items()}
        beside = through | _members(bench, {one.vid for one in own}, pcp)
        every = beside | sent
        slowest = min(one["rate_bps"] for one in bench.expected.document["ports"])
        cycle = port["gates"]["cycle_ns"] if "gates" in port else 0
        gap = max(member.SPACING * round((member.OCTETS + PHY_OVERHEAD) * 8e9 / slowest), cycle)
        period = len(every) * gap
        streams = {
            name: one.model_copy(
                update={
                    "pattern": Periodic(period=period, offset=place * gap),
                    "stop": member.EACH * period,
                }
            )
            for place, (name, one) in enumerate(every.items())
        }
        yield bench.stimulus(
            "vlan-foreign",
            port["name"],
            streams,
            member.EACH * period,
            period,
            "small frames of VLANs that should not leave by this port",
            kept_out=[one.stream for one in own if not one.passes],
            beside=beside,
        )


def _members(bench: Bench, vids: set[int], pcp: int) -> dict[str, Stream]:
    """By name, streams between the ports of the imitated device that are members of these VLANs."""
    found = {}
    for vid in sorted(vids):
        own = [one for one in bench.network.ports_of(bench.node) if vid in bench.imitated.vids(one)]
        ends = [behind[0] for one in own if (behind := bench.behind(one))]
        for talker, listener in pairwise(ends):
            found[f"{MEMBERS}{vid}-{talker}"] = member.small_frames(talker, listener, pcp, vid)
    return found


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """VLANs whose frames leave by the port."""
    own = foreign(bench, bench.expected.document["ports"][bench.number(stimulus.port)])
    for test in (EGRESS, INGRESS):
        if those := [one for one in own if one.test == test]:
            yield _kept(bench, stimulus, seen, error, those)
        else:
            words = "no other port lacks a VLAN of this port"
            yield Result(test, stimulus.port, "not-offered", words)


def _kept(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error, own: list[Foreign]) -> Result:
    test, number = own[0].test, bench.number(stimulus.port)
    sent = {one.stream: len(seen.entered(seen.arrives(one.stream, bench.node), one.stream)) for one in own}
    # Where no frame is seen that has to leave, it says nothing that no other one is seen.
    through = [f"{MEMBERS}{name}" for name in member.members(bench, bench.expected.document["ports"][number])]
    blind = through and not any(len(seen.left(number, name)) for name in through)
    if blind or not all(sent.values()):
        return undecided(test, stimulus.port, "too-few")
    leaves = [one for one in own if len(seen.left(number, one.stream))]
    if error.kernel and leaves and not any(one.passes for one in leaves):
        return undecided(test, stimulus.port, "kernel", "bridges of this kernel do not keep VLANs apart")
    words = ""
    if leaves:
        first = leaves[0]
        words = f"frames of VLAN {first.vid} from {first.talker} leave by this port"
        if test == INGRESS:
            words += ", and enter by one that is a member or has no ingress filtering"
    return Result(
        test,
        stimulus.port,
        "fail" if leaves else "pass",
        words,
        found=Number(len(leaves), "VLANs", len(leaves), len(leaves)),
        limit=Number(0, "VLANs", 0, 0),
        shown=f"{len(leaves)} of {len(own)} leave",
        wanted="0",
        frames=sum(sent.values()),
        estimates=len(own),
    )
