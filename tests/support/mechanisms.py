"""The table of mechanisms: its rows, and the tables for readers that follow from it."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs/reference/mechanisms.toml"
FORMATS = ("tc", "yang", "inet", "tsnkit", "trdp")
DASH = "\N{EN DASH}"
KERNELS = ("vm", "netns", "hosts")
RUNS = ("simulator", "bounds", "proof", "vm", "netns", "hosts", "replay")
"""Columns of the table in LIMITATIONS.md, besides the exports."""
TITLES = {"proof": "schedule's proof", "plan": "Plan", "also": "further files"}
"""Names of columns for readers, where they differ."""
PAGE = """# Mechanisms

For each mechanism: its keys in a scenario, its parts of the Plan, the pass that plans it, and the
places in the code that simulate it, bound it, prove it, run it on kernels and write it for other
tools. A path begins at `python/tsnbench`, or at a crate without its `src`. *No* and *partly* say
what is missing. This page is written from `docs/reference/mechanisms.toml`, which tests hold
against the code ([decision 0043](../decisions/0043-one-table-of-mechanisms.md)).
"""
WORDS = {"no", "partly", "not needed"}
"""A cell is a place in the code, or begins with one of these words and a colon."""


@dataclass(frozen=True)
class Cell:
    """One entry of a row: a place in the code, or a word with a sentence for users."""

    text: str

    @property
    def word(self) -> str:
        """``no``, ``partly`` or ``not needed``; empty for a place in the code."""
        word, colon, _ = self.text.partition(": ")
        return word if colon and word in WORDS else ""

    @property
    def tags(self) -> list[str]:
        """The names of reasons in the code, written in brackets before the sentence."""
        found = re.match(r"[a-z ]+: \[([^]]*)\]", self.text)
        return found[1].split(", ") if found and self.word else []

    @property
    def sentence(self) -> str:
        return re.sub(r"^[a-z ]+: (\[[^]]*\] )?", "", self.text)


@dataclass(frozen=True)
class Mechanism:
    """A row: every value of the table is a list of texts."""

    name: str
    title: str
    example: dict[str, Any]
    """A part of a scenario with the mechanism."""
    values: dict[str, list[str]]

    def cells(self, column: str) -> list[Cell]:
        return [Cell(text) for text in self.values.get(column, ())]

    def places(self) -> Iterator[str]:
        """All places in the code, of all columns."""
        for column in self.values:
            if column not in ("keys", "plan", "words", "refused"):
                yield from (one.text for one in self.cells(column) if not one.word)

    def answer(self, column: str) -> str:
        """``yes``, ``partly``, ``no`` or a dash where nothing is needed."""
        words = {one.word for one in self.cells(column)}
        if "partly" in words or words == {"", "no"}:
            return "partly"
        return "no" if "no" in words or not words else DASH if words == {"not needed"} else "yes"


@cache
def mechanisms() -> tuple[Mechanism, ...]:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return tuple(
        Mechanism(name, row.pop("title"), row.pop("example"), values_of(row)) for name, row in table.items()
    )


def values_of(row: dict[str, str | list[str]]) -> dict[str, list[str]]:
    """The values of a row; ``kernels`` stands for each of the kernels' columns."""
    kernels = row.pop("kernels", None)
    if kernels is not None:
        row = dict.fromkeys(KERNELS, kernels) | row
    return {key: listed(value) for key, value in row.items()}


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def path_of(place: str) -> Path:
    """The file or folder of a place: of the package, of a crate without its ``src``, or of the repository."""
    name = place.partition(":")[0]
    crate, _, rest = name.partition("/")
    found = [ROOT / "python/tsnbench" / name, ROOT / "crates" / crate / "src" / rest, ROOT / name]
    return next((path for path in found if path.exists()), ROOT / name)


def covers(part: str, whole: str) -> bool:
    """Whether a path of keys or of the Plan is another one, or below it."""
    return whole == part or whole.startswith(f"{part}.")


def limitations() -> str:
    """The head of LIMITATIONS.md: what has each mechanism, then the reasons row by row."""
    head = ["mechanism", *(TITLES.get(column, column) for column in RUNS), "exports"]
    lines = [line_of(head), "|---" * len(head) + "|"]
    for row in mechanisms():
        answers = [row.answer(column) for column in RUNS]
        lines.append(line_of([row.title, *answers, ", ".join(written_by(row)) or "no"]))
    notes = [note for row in mechanisms() for note in [note_of(row)] if note]
    return "\n".join([*lines, "", *notes]) + "\n"


def line_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def written_by(row: Mechanism) -> list[str]:
    """The formats of exports that have the mechanism, at least partly."""
    return [one for one in FORMATS if row.answer(one) in ("yes", "partly")]


def missing(row: Mechanism) -> dict[str, list[str]]:
    """What does not have a mechanism, or not all of it: each sentence with the columns that share it."""
    told: dict[str, list[str]] = {}
    for column in RUNS:
        for one in row.cells(column):
            if one.word in ("no", "partly"):
                told.setdefault(one.sentence, []).append(TITLES.get(column, column))
    return told


def note_of(row: Mechanism) -> str:
    """The sentences of a row as one item of a list; columns with the same sentence share it."""
    told = missing(row)
    if not told:
        return ""
    parts = [f"*{', '.join(columns)}:* {sentence}" for sentence, columns in told.items()]
    return wrapped(f"- **{row.title}.** {'; '.join(parts)}.")


def wrapped(text: str) -> str:
    """An item of a list in lines of Markdown."""
    return textwrap.fill(text, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The page of mechanisms: for each the keys, the parts of the Plan, and the places in the code."""
    return PAGE + "".join(section_of(row) for row in mechanisms())


def section_of(row: Mechanism) -> str:
    lines = [f"\n## {row.title}\n", "| | |", "|---|---|"]
    for column in ("keys", "plan", "planning", *RUNS, *FORMATS, "docs", "also"):
        values = row.values.get(column, [])
        if column == "docs":
            told = [f"[{Path(one).stem}](../{one.removeprefix('docs/')})" for one in values]
        else:
            told = [one.text if one.word else f"`{one.text}`" for one in map(Cell, values)]
        if told:
            lines.append(line_of([TITLES.get(column, column), "<br>".join(told)]))
    return "\n".join(lines) + "\n"
