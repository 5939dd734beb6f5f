"""JSON with line breaks, for people, written by a fast encoder."""

from __future__ import annotations

import json
from collections.abc import Callable

from tsnbench import _native


def for_people(value: object) -> str:
    """A value as JSON with line breaks, as ``json.dumps(value, indent=2, ensure_ascii=False)`` writes it."""
    try:
        return _native.json_indented(_native.compact(value))
    except (TypeError, ValueError):
        # Keys that are no texts, infinity, NaN: Python has a form for them, JSON has none.
        return json.dumps(value, indent=2, ensure_ascii=False)


def write_indented(text: str, write: Callable[[str], object]) -> None:
    """Writes a JSON text with line breaks and two spaces for each level, as ``json.dumps`` does, in parts."""
    if not _native.write_json_indented(text, write):
        # Infinity and NaN, which Python writes although JSON has neither.
        write(json.dumps(json.loads(text), indent=2))
