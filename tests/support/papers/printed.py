"""Printed numbers of papers, from the files beside their scenarios, for the tables of the READMEs."""

from __future__ import annotations

import sys
from functools import cache

from support.shipped import ROOT

sys.path.insert(0, str(ROOT / "scenarios" / "papers"))

from paper_figures.printed import PAPERS, Entry, Paper, read


@cache
def paper(folder: str) -> Paper:
    return read(PAPERS / folder / "printed.yml")


@cache
def _entries(folder: str) -> dict[str, Entry]:
    """Entries by figure and quantity (``Table V: slots of 500 us: min``), tables by quantity."""
    found: dict[str, Entry] = {}
    for figure in paper(folder).figures:
        for entry in figure.entries:
            found[f"{figure.name}: {entry.what}"] = entry
            if entry.expression == "ours":
                found.setdefault(str(entry.values["ours"].members[0]), entry)
    return found


def text(folder: str, name: str) -> str:
    """A number as printed, with its unit."""
    return _entries(folder)[name].printed


def texts(folder: str, *names: str) -> str:
    """Several numbers with one unit: ``12.0, 12.4, 14.2 us``."""
    parts = [text(folder, name).rpartition(" ") for name in names]
    (unit,) = {part[2] for part in parts}
    return f"{', '.join(part[0] for part in parts)} {unit}"


def value(folder: str, name: str, unit: str) -> float:
    """A number in its printed unit, which must be ``unit``."""
    *_, number, found = text(folder, name).split(" ")
    assert found == unit, (name, found)
    return float(number)
