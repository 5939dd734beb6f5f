"""The ports that a selector names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.planning.selectors import FORMS, Selector, parse

if TYPE_CHECKING:
    from tsnbench.planning.draft import Draft, Port


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
    if selector.bridges:
        ports = [port for port in ports if draft.nodes[port.node].kind == "bridge"]
    if not ports:
        unknown = [name for name in (selector.node, selector.to) if name is not None and name not in numbers]
        found = f"no node {unknown[0]!r}" if unknown else f"no link for {text!r}"
        draft.problem(path, "the name of a port", found, _neighbours(draft, selector))
    return ports


def _neighbours(draft: Draft, selector: Selector) -> str | None:
    number = None if selector.node is None else draft.node_numbers.get(selector.node)
    if number is None:
        return None
    own = [port.name for port in draft.ports_of_nodes.get(number, ())]
    return f"its ports are {', '.join(own[:8])}" if own else "it has no links"
