"""Braces of ``${…}``: stand-ins for them while a YAML text is parsed."""

from __future__ import annotations

import re

_PARAMETER = re.compile(r"\$\{([^{}\n]*)\}")
OPEN, CLOSE = "\ue000", "\ue001"
"""Stand-ins for the braces of ``${…}``, which would end a plain scalar inside ``{…}``; of the same width."""


def marked(text: str) -> str:
    """The text with stand-ins for the braces of ``${…}``; every other character keeps its place."""
    return _PARAMETER.sub(lambda found: f"${OPEN}{found[1]}{CLOSE}", text)


def unmarked(text: str) -> str:
    """The text of a scalar, without stand-ins."""
    return text.replace(OPEN, "{").replace(CLOSE, "}")
