"""YAML and XML of other tools, read without trust: no tags, no document types, no entities, bounded."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from tsnbench.errors import ContentError
from tsnbench.libraries import ruamel_yaml

Part = Mapping[str, Any]
"""A part of another tool's YAML: no type is fixed, so every value is checked where it is used."""
MOST_SHOWN = 80
MOST_ELEMENTS = 500_000
MOST_NESTED = 200
_BRACKET = re.compile(r"[\[\]{}]")
_DEEP = re.compile(rf"(?:[-?:] +){{{MOST_NESTED}}}")


def read_yaml(file: str, text: str) -> Part:
    """A YAML document that is a mapping. ``yes`` and ``no`` stay texts, as YAML 1.2 has them.

    Raises:
        ContentError: it is no YAML, or no mapping.
    """
    if _DEEP.search(text) or _depth(text) > MOST_NESTED:
        raise ContentError(f"{file}: expected YAML, found more than {MOST_NESTED} levels")
    reader = ruamel_yaml.YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        found = reader.load(text)
    except (ruamel_yaml.error.YAMLError, ValueError, RecursionError, TypeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ContentError(f"{file}: expected YAML, found {shown(first)}") from None
    if not isinstance(found, dict):
        raise ContentError(f"{file}: expected a mapping, found {shown(found)}")
    return found


def _depth(text: str) -> int:
    """The most brackets that are open at once; the parser's time grows with the square of it."""
    depth = most = 0
    for one in _BRACKET.findall(text):
        depth = max(depth + (1 if one in "[{" else -1), 0)
        most = max(most, depth)
    return most


def mapping_of(value: Any) -> Part:
    """The mapping, or an empty one where something else stands."""
    return value if isinstance(value, dict) else {}


def shown(value: Any) -> str:
    """A value of another tool in a message; of lists and mappings the kind: aliases make them endless."""
    kinds = {dict: "a mapping", list: "a list", type(None): "none"}
    text = kinds.get(type(value)) or str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}\u2026"


def read_xml(file: str, content: bytes | str) -> ET.Element:
    """The root of an XML document.

    Raises:
        ContentError: it is no XML, has a document type, or is too large or too deep.
    """
    parser = ET.XMLParser(target=_Bounded(file))
    try:
        parser.feed(content)
        root: ET.Element = parser.close()
    except (ET.ParseError, ValueError, LookupError) as error:
        raise ContentError(f"{file}: expected XML, found {shown(error)}") from None
    return root


def local(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition("}")[2]


class _Bounded(ET.TreeBuilder):
    """A tree of a limited number of elements, in a limited number of levels."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file
        self._count = self._depth = 0

    def start(self, tag: str, attrs: dict[Any, Any], /) -> ET.Element:
        self._count += 1
        self._depth += 1
        if self._count > MOST_ELEMENTS or self._depth > MOST_NESTED:
            most = f"{MOST_ELEMENTS} elements in {MOST_NESTED} levels"
            raise ContentError(f"{self._file}: expected at most {most}, found more")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ET.Element:
        self._depth -= 1
        return super().end(tag)

    def doctype(self, name: str, public: str | None, system: str | None, /) -> None:
        """Refuses entities before one is declared."""
        raise ContentError(f"{self._file}: expected XML without a document type, found <!DOCTYPE {name}>")
