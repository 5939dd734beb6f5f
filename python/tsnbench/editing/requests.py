"""Edits as the page requests them: an object with the kind of the edit and its words."""

from __future__ import annotations

from collections.abc import Mapping

from tsnbench.editing.edits import Edit, add_link, add_node, add_stream, move_edge, remove, rename
from tsnbench.editing.requiring import no_longer_require, require
from tsnbench.editing.spans import EditError, spans
from tsnbench.editing.writing_out import write_out_gates, write_out_network, write_out_pattern


def made(text: str, file: str, wanted: Mapping[str, object]) -> Edit:
    """The edit that the page requests.

    Raises:
        EditError: it cannot be made as one small edit.
    """
    kind = wanted.get("edit")

    def word(key: str) -> str:
        found = wanted.get(key)
        if not isinstance(found, str):
            raise EditError(f"{key} is missing")
        return found

    def number(key: str) -> int:
        found = wanted.get(key)
        if not isinstance(found, int) or isinstance(found, bool) or abs(found) > 1 << 53:
            raise EditError(f"{key} is missing")
        return found

    if kind == "add-node":
        edit = add_node(text, word("kind"), word("name"))
    elif kind == "add-link":
        edit = add_link(text, word("a"), word("b"))
    elif kind == "add-stream":
        edit = add_stream(text, word("name"), word("from"), word("to"))
    elif kind == "rename":
        return rename(text, file, word("from"), word("to"))
    elif kind == "remove":
        edit = remove(text, number("at"))
    elif kind == "move-edge":
        edit = move_edge(text, number("at"), number("by_ns"))
    elif kind == "require":
        return require(text, file, word("stream"), word("key"), word("value"))
    elif kind == "no-longer-require":
        return no_longer_require(text, word("stream"), word("key"))
    elif kind == "write-out-network":
        return write_out_network(text, file)
    elif kind == "write-out-pattern":
        return write_out_pattern(text, file, word("stream"))
    elif kind == "write-out-gates":
        return write_out_gates(text, file, word("port"))
    else:
        raise EditError("an unknown edit")
    # Whatever was edited, the text is still YAML.
    spans(edit.applied(text))
    return edit
