"""Port selectors: ``a -> b``, ``a -> *``, ``* -> b``, ``*``, and ``a -> b #2`` for one of parallel links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.planning.draft import Draft, Port
    from tsnbench.scenario.model import Scenario

_SELECTOR = re.compile(r"\s*(?P<node>\S+?)\s*->\s*(?P<to>[^\s#]+)\s*(?:#\s*(?P<copy>[1-9][0-9]{0,5}))?\s*")
FORMS = "`a -> b`, `a -> *`, `* -> b`, `*` or `a -> b #2`"


@dataclass(frozen=True)
class Selector:
    """The ports of a selector; None stands for any."""

    node: str | None
    to: str | None
    copy: int | None

    def matches(self, node: str, to: str, copy: int) -> bool:
        return self.node in (None, node) and self.to in (None, to) and self.copy in (None, copy)


def parse(text: str) -> Selector | None:
    """Parses a selector; None if the text is none."""
    if text.strip() == "*":
        return Selector(None, None, None)
    match = _SELECTOR.fullmatch(text)
    if match is None:
        return None
    node, to = (None if name == "*" else name for name in match.group("node", "to"))
    copy = match["copy"]
    return Selector(node, to, int(copy) if copy else None)


def select(draft: Draft, text: str, path: str) -> Sequence[Port]:
    """The ports that a selector names, in order; a selector without ports is a problem."""
    selector = parse(text)
    if selector is None:
        draft.problem(path, f"a port selector: {FORMS}", repr(text))
        return ()
    numbers = draft.node_numbers
    # Large networks have a selector for each port: only the ports of its node are looked at.
    own = (
        draft.ports if selector.node is None else draft.ports_of_nodes.get(numbers.get(selector.node, -1), ())
    )
    to = None if selector.to is None else numbers.get(selector.to, -1)
    ports = [port for port in own if to in (None, port.to) and selector.copy in (None, port.copy)]
    if not ports:
        unknown = [name for name in (selector.node, selector.to) if name is not None and name not in numbers]
        found = f"no node {unknown[0]!r}" if unknown else f"no link for {text!r}"
        draft.problem(path, "the name of a port", found, _neighbours(draft, selector))
    return ports


def as_written(draft: Draft, path: str) -> str:
    """A path such as ``shapers.a -> b.gates`` in the file's form: with the selector that set it."""
    for port in draft.ports:
        head = f"shapers.{port.name}."
        if path.startswith(head):
            return shaper_path(draft.scenario, port.name, path.removeprefix(head))
    return path


def shaper_path(scenario: Scenario, port: str, rest: str) -> str:
    """``shapers.a -> all.gates`` for a port and ``gates``: with the selector that set it."""
    own = _SELECTOR.fullmatch(port)
    setting = re.split(r"[.\[]", rest)[0].replace("-", "_")
    for text, shaper in reversed(scenario.shapers.items()):
        selector = parse(text) if setting in shaper.model_fields_set else None
        if own and selector and selector.matches(own["node"], own["to"], int(own["copy"] or 1)):
            written = text.replace("*", "all").replace(" #", "#")
            return f"shapers.{written}.{rest}"
    return f"shapers.{port}.{rest}"


def _neighbours(draft: Draft, selector: Selector) -> str | None:
    number = None if selector.node is None else draft.node_numbers.get(selector.node)
    if number is None:
        return None
    own = [port.name for port in draft.ports_of_nodes.get(number, ())]
    return f"its ports are {', '.join(own[:8])}" if own else "it has no links"
