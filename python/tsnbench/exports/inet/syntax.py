"""Names and texts in the syntax of NED and ini files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.types import Stream

# fmt: off
NED = frozenset({
    "import", "package", "property", "module", "simple", "network", "channel", "moduleinterface",
    "channelinterface", "extends", "like", "parameters", "submodules", "connections", "gates",
    "types", "allowunconnected", "for", "if", "double", "int", "string", "bool", "object", "xml",
    "volatile", "const", "sizeof", "default", "ask", "this", "parent", "index", "exists",
    "typename", "input", "output", "inout", "true", "false", "null", "nullptr", "inf", "nan",
    "undefined", "xmldoc"
})
# fmt: on
"""Words of the language; no name can be one of them."""


def identifier(text: str) -> str:
    """A name that is valid in NED."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", text)
    word = word if re.match(r"[A-Za-z_]", word) else f"_{word}"
    return f"{word}_" if word in NED else word


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def filtered(stream: Stream) -> str:
    """An expression that matches a stream's packets."""
    return f"expr(udp.destPort == {stream['udp_port']})"


def mapping(parameter: str, rows: Sequence[str]) -> list[str]:
    """A parameter that is a list, a row per line."""
    if len(rows) == 1:
        return [f"{parameter} = [{rows[0]}]"]
    return [f"{parameter} = [{rows[0]},", *(f"    {row}," for row in rows[1:-1]), f"    {rows[-1]}]"]
