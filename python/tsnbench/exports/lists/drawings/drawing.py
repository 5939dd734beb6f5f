"""A drawn network: nodes and links with their labels, and what the labels say of rates, cables and roles."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from tsnbench.errors import ContentError

MOST_NODES = 20_000
MOST_LINKS = 100_000
BRIDGES = re.compile(
    r"switch|bridge|router|\bsw\d*\b|\bbr\d+\b|\bhub\b|\bfirewall\b|\bspine\d*\b|\bleaf\d*\b|koppler|verteiler"
)
STATIONS = re.compile(
    r"server|laptop|workstation|camera|kamera|sensor|aktor|actuator|robot|printer|phone|display|desktop"
    r"|computer|\b(ecu|plc|sps|pc|cam|host|client|station|end ?(station|device|system)|talker|listener"
    r"|controller|drive"
    r"|lidar|radar|nas|hmi|io|rsu|steuerger\u00e4t)\d*\b"
)
_BASE = re.compile(r"(\d+(?:\.\d+)?)(G?)BASE-?\w*", re.IGNORECASE)
_RATE = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:([TGMk])(?:E|bE|be|b|bit)?\b(?!/)|([tgmk])(?i:bit/?s?(?:ec)?|bits/s|b/s|bps)\b)",
)
_BITS = re.compile(r"([tgmk])(?=(?:bit|b/s|bps))", re.IGNORECASE)
_GROUPED = re.compile(r"(?!0[.,])\d{1,3}[.,]\d{3}")
"""A number that could be a thousand and one."""
_LENGTH = re.compile(r"(\d+(?:[.,]\d+)?)\s*(km|m|cm|mm)\b")
_FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_MM = {"km": 10**6, "m": 1000, "cm": 10, "mm": 1}
LEAST_BPS, MOST_BPS = 10**6, 10**12
"""Rates that a scenario can have."""
MOST_MM = 10**9


@dataclass
class Node:
    """A node of a drawing."""

    label: str
    told: str = ""
    """What an attribute says it is, as a text."""
    shape: str = ""
    """What its shape is called."""


@dataclass
class Link:
    """A link, with what is written at it."""

    ends: tuple[str, str]
    texts: list[str] = field(default_factory=list)
    rate_bps: int | None = None
    cable_mm: int | None = None


@dataclass
class Drawing:
    """A network as it is drawn."""

    source: str
    """Where it is from, for the head of the scenario."""
    file: str
    nodes: dict[str, Node] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """What is not taken."""
    decided: list[str] = field(default_factory=list)

    def add_node(self, key: str, node: Node) -> None:
        """Adds a node.

        Raises:
            ContentError: there are too many.
        """
        if len(self.nodes) == MOST_NODES:
            raise ContentError(f"{self.file}: expected at most {MOST_NODES} nodes, found more")
        self.nodes[key] = node

    def add_link(self, link: Link) -> None:
        """Adds a link, and reads what is written at it.

        Raises:
            ContentError: there are too many.
        """
        if len(self.links) == MOST_LINKS:
            raise ContentError(f"{self.file}: expected at most {MOST_LINKS} links, found more")
        names = [self.nodes[one].label for one in link.ends]
        if link.ends[0] == link.ends[1]:
            self.lost.append(f"a link from {names[0]} to itself")
            return
        for text in link.texts:
            rest = self._read(link, text)
            if rest:
                self.lost.append(f"the label of the link {names[0]} -- {names[1]}: {rest}")
        self.links.append(link)

    def _read(self, link: Link, text: str) -> str:
        """Takes a rate and a length out of a label; returns what is left."""
        rate, rest = rate_of(text)
        if rate is not None and link.rate_bps not in (None, rate):
            return f"{text[:80]}, another rate"
        link.rate_bps = link.rate_bps or rate
        found = _LENGTH.search(rest)
        if found is not None and not _GROUPED.fullmatch(found[1]):
            mm = round(_fraction(found[1]) * _MM[found[2]])
            if 0 <= mm <= MOST_MM and link.cable_mm is None:
                link.cable_mm = mm
                rest = rest.replace(found[0], " ", 1)
        return " ".join(rest.split()).strip(" ,;/()-")[:80]

    def linked(self) -> dict[str, int]:
        """How many links each node has."""
        return Counter(end for link in self.links for end in link.ends)


def rate_of(text: str) -> tuple[int | None, str]:
    """The rate in bit/s that a text has, and the rest of the text."""
    found = _BASE.search(text)
    if found is not None:
        bps = int(_fraction(found[1]) * (10**9 if found[2] else 10**6))
    else:
        found = _RATE.search(_BITS.sub(lambda one: one[1].lower(), text))
        octets = found is not None and "B/s" in text[found.end(1) : found.end()]
        if found is None or octets or _GROUPED.fullmatch(found[1]):
            return None, text
        bps = int(_fraction(found[1]) * _FACTORS[(found[2] or found[3]).lower()])
    if not LEAST_BPS <= bps <= MOST_BPS:
        return None, text
    rest = re.sub(r"^(?:it)?(?:/?s(?:ec)?)?\b", "", text[found.end() :])
    return bps, f"{text[: found.start()]} {rest}"


def _fraction(text: str) -> Fraction:
    return Fraction(text.replace(",", ".")[:20])
