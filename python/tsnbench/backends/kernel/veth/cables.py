"""The links of a Plan as veth pairs, with all wires in one namespace.

A veth pair has no rate, so each direction of a link passes a netem that serialises its frames. Where the
kernel has no netem, a frame arrives when its transmission begins. tc-netem(8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import space
from tsnbench.linux.qdiscs import Options, Qdisc

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities
    from tsnbench.backends.kernel.port_traffic import PortTraffic
    from tsnbench.plan.types import PlanDocument, Port

WIRES = "wires"
"""The namespace of all wires."""
QUEUES = 8
"""Hardware queues that every interface has: as many as there are traffic classes."""
PREAMBLE_AND_FCS = 12
"""Octets that netem adds to a frame: preamble, start delimiter and FCS. It ends with the frame's last bit."""
USUAL_MTU = 1500


@dataclass(frozen=True)
class Wire:
    """One direction of a cable: its rate, its delay, and its impairments."""

    device: str
    """The interface at its end."""
    rate_bps: int
    delay_ps: int
    overhead: int
    """Octets that netem counts for each frame in addition to the frame's own."""
    impairments: Options = ()

    def qdisc(self) -> Qdisc:
        """The netem qdisc of the wire."""
        delay = -(-self.delay_ps // 1000)
        options = [("limit", "100000")]
        if delay:
            options.append(("delay", f"{delay / 1000}us"))
        options.append(("rate", f"{self.rate_bps}bit {self.overhead}"))
        return Qdisc("root", "netem", (*options, *self.impairments))


def wire(port: Port, traffic: PortTraffic) -> Wire:
    """The wire behind a port; it ends at the peer's end of a pair."""
    overhead = PREAMBLE_AND_FCS + traffic.hidden_on_wire
    return Wire(f"w{port['peer']}", port["rate_bps"], port["propagation_ps"], overhead)


def links(plan: PlanDocument, longest_payload: int) -> list[str]:
    """Lines for ``ip``: a pair per port, of which the other end is the port's interface."""
    mtu = max(USUAL_MTU, longest_payload)
    big = f"mtu {mtu} " if mtu > USUAL_MTU else ""
    queues = f"{big}numtxqueues {QUEUES} numrxqueues {QUEUES}"
    found = []
    for number, port in enumerate(plan["ports"]):
        found += [
            f"link add w{number} {queues} type veth peer name p{number} address {port['mac']} {queues}"
            f" netns {space(port['node'])}",
            f"link set w{number} up",
        ]
    return found


def crossings(wires: list[Wire], can: Capabilities) -> list[str]:
    """Lines for ``tc`` that connect the outer ends of pairs: frames from one pair pass its wire into the
    peer's. Returns the wires by port, too."""
    found = []
    for number, one in enumerate(wires):
        if can.wires:
            found.append(one.qdisc().line(one.device, "add"))
        found += [f"qdisc add dev w{number} clsact", redirect(number, one.device, can)]
    return found


def redirect(number: int, device: str, can: Capabilities) -> str:
    """Redirects the frames of a port to the interface of its peer."""
    every = "matchall" if "matchall" in can.filters else "protocol all u32 match u32 0 0"
    return f"filter add dev w{number} ingress {every} action mirred egress redirect dev {device}"
