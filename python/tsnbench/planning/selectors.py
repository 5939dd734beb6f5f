"""Port selectors: ``a -> b``, ``a -> *``, ``* -> b``, ``*``, and ``a -> b #2`` for one of parallel links.

``bridges`` selects the ports of all nodes that are bridges.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.scenario.model import Scenario, Shaper

_SELECTOR = re.compile(r"\s*(?P<node>\S+?)\s*->\s*(?P<to>[^\s#]+)\s*(?:#\s*(?P<copy>[1-9][0-9]{0,5}))?\s*")
FORMS = "`a -> b`, `a -> *`, `* -> b`, `*`, `bridges` or `a -> b #2`"
BRIDGES = "bridges"


@dataclass(frozen=True)
class Selector:
    """The ports of a selector; None stands for any."""

    node: str | None
    to: str | None
    copy: int | None
    bridges: bool = False
    """Whether only ports of bridges are meant."""

    @property
    def nearness(self) -> int:
        """How few ports the selector names: nearer settings override others. All, bridges, a node, a port."""
        return 1 if self.bridges else 2 * (self.node is not None) + 2 * (self.to is not None)

    def matches(self, node: str, to: str, copy: int) -> bool:
        return self.node in (None, node) and self.to in (None, to) and self.copy in (None, copy)


def by_nearness(shapers: Mapping[str, Shaper]) -> list[tuple[str, Shaper]]:
    """Selectors with their settings, each before those that override it; equally near ones in their order."""
    parsed = {text: parse(text) for text in shapers}
    return sorted(shapers.items(), key=lambda one: own.nearness if (own := parsed[one[0]]) else 0)


def parse(text: str) -> Selector | None:
    """Parses a selector; None if the text is none."""
    if text.strip() in ("*", BRIDGES):
        return Selector(None, None, None, text.strip() == BRIDGES)
    match = _SELECTOR.fullmatch(text)
    if match is None:
        return None
    node, to = (None if name == "*" else name for name in match.group("node", "to"))
    copy = match["copy"]
    return Selector(node, to, int(copy) if copy else None)


def as_written(scenario: Scenario, ports: Iterable[str], path: str) -> str:
    """A path such as ``shapers.a -> b.gates`` in the file's form: with the selector that set it."""
    for port in ports:
        head = f"shapers.{port}."
        if path.startswith(head):
            return shaper_path(scenario, port, path.removeprefix(head))
    return path


def shaper_path(scenario: Scenario, port: str, rest: str) -> str:
    """``shapers.a -> all.gates`` for a port and ``gates``: with the selector that set it."""
    own = _SELECTOR.fullmatch(port)
    setting = re.split(r"[.\[]", rest)[0].replace("-", "_")
    for text, shaper in reversed(by_nearness(scenario.shapers)):
        selector = parse(text) if setting in shaper.model_fields_set else None
        if selector and selector.bridges and own and not _is_bridge(scenario, own["node"]):
            continue
        if own and selector and selector.matches(own["node"], own["to"], int(own["copy"] or 1)):
            written = text.replace("*", "all").replace(" #", "#")
            return f"shapers.{written}.{rest}"
    return f"shapers.{port}.{rest}"


def _is_bridge(scenario: Scenario, name: str) -> bool:
    return name in scenario.network.nodes and scenario.network.nodes[name].kind == "bridge"
