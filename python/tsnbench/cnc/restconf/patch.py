"""A plain patch: data that are merged with those in place.

RFC 8040, 4.6.1; RFC 7950, 7.5.7, 7.7.8, 7.8.6 and 7.9.5 (merge).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tsnbench.libraries import yangson

if TYPE_CHECKING:
    from yangson.schemanode import DataNode

    from tsnbench.foreign import Json


def merged(node: DataNode, old: Json, new: Json) -> Json:
    """Data of a container or of one list entry with others merged into them; neither is changed.

    What the model does not know replaces what is there: whoever judges the result names it.

    Args:
        node: of the schema. old, new: as JSON (RFC 7951) without names of modules.
    """
    found = dict(old)
    for name, value in new.items():
        child = node.get_data_child(name)
        for other in _other_cases(node, child, found):
            del found[other]
        found[name] = _value(child, found[name], value) if name in found else value
    return found


def _value(node: DataNode | None, old: Any, new: Any) -> Any:
    kinds = yangson.schemanode
    if isinstance(node, kinds.ListNode) and isinstance(old, list) and isinstance(new, list):
        return _entries(node, old, new)
    if isinstance(node, kinds.LeafListNode) and isinstance(old, list) and isinstance(new, list):
        return [*old, *(one for one in new if one not in old)]
    if isinstance(node, kinds.ContainerNode) and isinstance(old, Mapping) and isinstance(new, Mapping):
        return merged(node, dict(old), dict(new))
    return new


def _entries(node: Any, old: list[Any], new: list[Any]) -> list[Any]:
    """A list in which entries with the keys of others are merged with these, and the rest is appended."""
    names = [name for name, _ in node.keys]

    def keys(entry: Any) -> list[Any] | None:
        return [entry.get(name) for name in names] if isinstance(entry, Mapping) else None

    found = list(old)
    for entry in new:
        place = next((n for n, one in enumerate(found) if names and keys(one) == keys(entry)), None)
        if place is None or not isinstance(entry, Mapping):
            found.append(entry)
        else:
            found[place] = merged(node, found[place], dict(entry))
    return found


def _other_cases(node: DataNode, child: DataNode | None, there: Json) -> list[str]:
    """The names of data in other cases of the choices that a node is in: they go (RFC 7950, 7.9)."""
    own = _cases(child)
    return [
        name
        for name in there
        if any(
            case is not own[choice]
            for choice, case in _cases(node.get_data_child(name)).items()
            if choice in own
        )
    ]


def _cases(node: Any) -> dict[Any, Any]:
    """By choice above a node within its data parent, its case there."""
    found, below = {}, node
    above = getattr(node, "parent", None)
    while above is not None and not isinstance(above, yangson.schemanode.DataNode):
        if isinstance(above, yangson.schemanode.ChoiceNode):
            found[above] = below
        below, above = above, above.parent
    return found
