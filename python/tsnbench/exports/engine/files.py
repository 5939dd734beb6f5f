"""The files of EnGINE, and how their parts are read."""

from __future__ import annotations

import re
from typing import Any

from tsnbench.errors import ContentError
from tsnbench.foreign import Part, mapping_of, shown

NETWORK, STACKS, EXPERIMENTS = FILES = ("01-network.yml", "02-stacks.yml", "04-experiments.yml")
LARGEST_FILE = 1 << 20
"""Octets; the largest file that was published with EnGINE has 63 kB."""
TRUE = (True, "yes", "true", "on")


def part_of(file: str, parts: Any, name: Any, what: str) -> Part:
    found = mapping_of(parts).get(name) if isinstance(name, str | int) else None
    if not isinstance(found, dict):
        known = ", ".join(map(str, list(mapping_of(parts))[:8])) or "none"
        raise ContentError(f"{file}: expected the {what} {shown(name)} of the experiment, found {known}")
    return found


def whole_number(file: str, written: Any, what: str, least: int = 0) -> int:
    """A whole number, which EnGINE also writes as a text."""
    text = str(written)
    if isinstance(written, bool) or not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise ContentError(f"{file}: {what}: expected a whole number, found {shown(written)}")
    if int(text) < least:
        raise ContentError(f"{file}: {what}: expected at least {least}, found {shown(written)}")
    return int(text)


def name_of(text: str) -> str:
    """A name that a scenario takes."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")
    return (name if name[:1].isalpha() else f"engine-{name}")[:64].rstrip("-.")
