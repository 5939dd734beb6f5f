"""All data of a network times a power of ten, so that its packets are frames of Ethernet.

Bursts, packets and rates grow together, so all times stay as they are. What is not whole then is rounded to
the side on which bounds stay bounds: bursts, packets, latencies, rates of flows and of links up, rates of
servers down.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from tsnbench.errors import ContentError
from tsnbench.exports.saihu.model import Flow, Model, Server
from tsnbench.plan.sizes import PHY_OVERHEAD, SMALLEST_FRAME, largest

SMALLEST, LARGEST = SMALLEST_FRAME + PHY_OVERHEAD, largest(tagged=True) + PHY_OVERHEAD
"""Octets that a frame takes on the wire."""
FASTEST = 10**12
"""bit/s."""
_SLOWEST_LINK, _SLOWEST_SERVER = 10**6, 10**3
_LARGEST_BURST = 1 << 32
_LONGEST_NS = 10**9
_FLOAT_NS = Fraction(1, 1000)
"""What times may have too much as they were written from floating-point numbers."""
_SCALES = sorted(range(-6, 10), key=lambda power: (abs(power), -power))


@dataclass(frozen=True)
class Scaled:
    """A network in whole octets, ns and bit/s of its scenario."""

    model: Model
    power: int
    padded: bool = False
    """Whether packets that are smaller than the smallest frame become such frames, and bursts hold them."""

    def packet(self, flow: Flow) -> int:
        """Octets of the largest packet; in fluid networks of the largest frame that fits the burst."""
        if self.model.packetizer:
            return self._octets(flow.burst if flow.largest is None else flow.largest)
        return SMALLEST if flow.largest is None else min(self._octets(min(flow.largest, flow.burst)), LARGEST)

    def frame(self, flow: Flow) -> int:
        """Octets of the frames on the wire."""
        return max(SMALLEST, self.packet(flow)) if self.padded else self.packet(flow)

    def burst(self, flow: Flow) -> int:
        """Octets; a packet is released as a whole, so a burst holds one."""
        octets = self._octets(flow.burst)
        return max(self.frame(flow), octets) if self.padded or self.model.packetizer else octets

    def flow_rate(self, flow: Flow) -> int:
        return max(1, ceil(self._scaled(flow.rate)))

    def service(self, server: Server) -> tuple[int, int] | None:
        """bit/s and ns of a server that is more than its link; None: the link alone."""
        if server.rate is None:
            return None
        rate, latency = floor(self._scaled(server.rate)), max(0, ceil(server.latency * 10**9 - _FLOAT_NS))
        link = self.link(server)
        return None if rate >= link and not latency else (min(rate, link), latency)

    def link(self, server: Server) -> int:
        return FASTEST if server.capacity is None else ceil(self._scaled(server.capacity))

    def misfit(self) -> str | None:
        """The first value that no scenario can have: where, what is expected, and what is found."""
        for flow in self.model.flows:
            if not SMALLEST <= self.frame(flow) <= LARGEST:
                return (
                    f"{flow.where}packets: expected {SMALLEST} to {LARGEST} octets, found {self.frame(flow)}"
                )
            if not self.frame(flow) <= self.burst(flow) <= _LARGEST_BURST:
                return (
                    f"{flow.where}burst: expected {self.frame(flow)} to {_LARGEST_BURST} octets, "
                    f"found {self.burst(flow)}"
                )
            if self.flow_rate(flow) > FASTEST:
                return f"{flow.where}rate: expected at most 1 Tbit/s, found {self.flow_rate(flow)} bit/s"
        for server in self.model.servers:
            if not _SLOWEST_LINK <= self.link(server) <= FASTEST:
                return (
                    f"{server.where}capacity: expected {_SLOWEST_LINK} bit/s to 1 Tbit/s, "
                    f"found {self.link(server)}"
                )
            served = self.service(server)
            if served is None:
                continue
            if served[0] < _SLOWEST_SERVER:
                return f"{server.where}rate: expected at least {_SLOWEST_SERVER} bit/s, found {served[0]}"
            if served[1] > _LONGEST_NS:
                return f"{server.where}latency: expected at most 1 s, found {served[1]} ns"
        return None

    def _scaled(self, value: Fraction) -> Fraction:
        return value * Fraction(10) ** self.power

    def _octets(self, bits: Fraction) -> int:
        return ceil(self._scaled(bits) / 8)


def scaled(model: Model) -> Scaled:
    """The network with the power of ten that changes least.

    Raises:
        ContentError: no power makes a scenario of it; the message says what is wrong without one.
    """
    for padded in (False, True):
        for power in _SCALES:
            found = Scaled(model, power, padded)
            if found.misfit() is None:
                return found
    raise ContentError(
        f"{Scaled(model, 0, padded=True).misfit()}\n  hint: no power of ten for all data of the file makes "
        "frames of Ethernet and rates of links of them"
    )
