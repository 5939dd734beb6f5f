"""A network as Saihu describes it: servers that flows pass, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tsnbench.exports.scenario_text import Notes

MOST = 10_000
"""The most servers, and the most flows."""
MOST_STEPS = 4_000_000
"""The most pairs of nodes on the paths of all flows."""


@dataclass(frozen=True)
class Server:
    """An output port: a rate-latency server before a link."""

    name: str
    where: str
    rate: Fraction | None
    """bit/s; None: a link without a server."""
    latency: Fraction
    """Seconds."""
    capacity: Fraction | None
    """bit/s of the link; None: the file names none."""


@dataclass(frozen=True)
class Flow:
    """A flow with its token bucket, and the servers that it passes to each of its ends."""

    name: str
    where: str
    burst: Fraction
    """Bits."""
    rate: Fraction
    """bit/s."""
    largest: Fraction | None
    """Bits of the largest packet, if the file names it."""
    paths: tuple[tuple[int, ...], ...]


@dataclass
class Model:
    """The content of a file."""

    name: str
    file: str
    packetizer: bool
    servers: list[Server] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    ends: list[tuple[str, str]] | None = None
    """The nodes before and behind each server, if the file names them."""
    decided: Notes = field(default_factory=Notes)
    lost: Notes = field(default_factory=Notes)
