"""YAML of other tools, read without tags and without trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tsnbench.errors import ContentError
from tsnbench.libraries import ruamel_yaml

Part = Mapping[str, Any]
"""A part of another tool's YAML: no type is fixed, so every value is checked where it is used."""
MOST_SHOWN = 80


def read_yaml(file: str, text: str) -> Part:
    """A YAML document that is a mapping. ``yes`` and ``no`` stay texts, as YAML 1.2 has them.

    Raises:
        ContentError: it is no YAML, or no mapping.
    """
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


def mapping_of(value: Any) -> Part:
    """The mapping, or an empty one where something else stands."""
    return value if isinstance(value, dict) else {}


def shown(value: Any) -> str:
    """A value of another tool in a message; of lists and mappings the kind: aliases make them endless."""
    kinds = {dict: "a mapping", list: "a list", type(None): "none"}
    text = kinds.get(type(value)) or str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}\u2026"
