"""The traffic of a port, as far as its queueing disciplines depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.plan.frames import sizes
from tsnbench.plan.sizes import SMALLEST_FRAME

if TYPE_CHECKING:
    from tsnbench.plan.types import Class, PlanDocument

TAG = 4
"""Octets of a VLAN tag. IEEE 802.1Q-2022, 9.3."""
ENDLESS = 100_000
"""Frames: the limit of a queue without a limit in the Plan."""
_HEADERS = 18
"""Octets of an untagged frame that an MTU does not include: addresses, type, FCS."""


@dataclass
class PortTraffic:
    """The frames that leave by one port.

    The kernel takes the tag off received frames and stores it beside the frame, whose length is then 4 less
    (Linux 6.12). Only a talker's own frames, which have not been received yet, still contain it.
    """

    longest: list[int]
    """By class: octets of the longest frame from destination address to FCS; 0 for a class without frames."""
    tagged: bool = False
    """Whether some frames have a tag."""
    tagged_beside: bool = False
    """Whether some frames that were received before have a tag."""

    @property
    def hidden_on_wire(self) -> int:
        """Octets of tagged frames that are outside of the frame once it has crossed a link."""
        return TAG * self.tagged

    @property
    def hidden_at_port(self) -> int:
        """Octets of tagged frames that the qdiscs of the port do not see."""
        return TAG * self.tagged_beside


def port_traffic(plan: PlanDocument) -> list[PortTraffic]:
    """By port."""
    found = [PortTraffic([0] * len(port["classes"])) for port in plan["ports"]]
    for stream in plan["streams"]:
        largest = sizes(stream["size"]).largest
        tagged = stream.get("vid") is not None
        for hop in stream["route"]:
            own = found[hop["port"]]
            place = plan["ports"][hop["port"]]["pcp_to_class"][stream["pcp"]]
            own.longest[place] = max(own.longest[place], largest)
            own.tagged |= tagged
            own.tagged_beside |= tagged and hop.get("parent") is not None
    return found


def longest_payload(plan: PlanDocument) -> int:
    """The MTU that an interface needs."""
    return max(
        (
            sizes(stream["size"]).largest - _HEADERS - TAG * (stream.get("vid") is not None)
            for stream in plan["streams"]
        ),
        default=0,
    )


def octets_count(one: Class) -> bool:
    """Whether a limit in octets is reached before the limit in frames, however short the frames are."""
    return bool(one.get("limit_octets")) and one["limit_octets"] <= SMALLEST_FRAME * one.get(
        "limit_frames", ENDLESS
    )


def with_one_limit(one: Class) -> Class:
    """A class with only the limit that is reached first, as a queue of the kernel has one limit."""
    own = one.copy()
    if octets_count(one):
        own.pop("limit_frames", None)
    return own
