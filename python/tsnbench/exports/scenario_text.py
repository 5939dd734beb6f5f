"""The text of a scenario that an import writes, and notes of parts that have no equivalent in a scenario."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

LONGEST_NAME = 58
"""Characters of a name, so that a number behind it has room."""
LONGEST_LINE = 8
"""Entries of a list on one line."""
RESERVED = {
    *("all", "bridges", "default", "record", "within", "gptp", "ptp", "none", "table"),
    *("true", "false", "null"),
}
"""Words that a scenario or YAML reads in another way."""
_LETTERS = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue", "\u00df": "ss"})
_LETTERS |= str.maketrans({"\u00c4": "Ae", "\u00d6": "Oe", "\u00dc": "Ue"})
"""Letters of German that have another form without umlauts."""


@dataclass
class Notes:
    """Parts without an equivalent, each once, with those that have them."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, who: str) -> None:
        having = self.found.setdefault(what, [])
        if who not in having:
            having.append(who)

    def lines(self) -> Iterator[str]:
        for what, having in self.found.items():
            more = f" and {len(having) - 4} more" if len(having) > 4 else ""
            yield f"  {what}: {', '.join(having[:4])}{more}"


def valid_name(text: str, taken: set[str], instead: str) -> str:
    """A name of a scenario from a text of another tool; names that are taken get a number."""
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    latin = "".join(one for one in plain if not unicodedata.combining(one))
    word = re.sub(r"[^A-Za-z0-9_.+-]+", "-", latin.replace("[", "").replace("]", "")).strip("-.")
    if not re.match(r"[A-Za-z]", word):
        word = f"{instead}-{word}".strip("-")
    word = re.sub("--+", "-", word)[:LONGEST_NAME].rstrip("-.")
    if word.lower() in RESERVED:
        word += "-1"
    found = word if word not in taken else f"{word}-{_free_number(word, taken)}"
    taken.add(found)
    return found


def _free_number(word: str, taken: set[str]) -> int:
    """A number behind a word that no name has; the smallest one where names were numbered in order."""
    above = 2
    while f"{word}-{above}" in taken:
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (middle, above) if f"{word}-{middle}" in taken else (below, middle)
    return above


def duration(seconds: Fraction) -> str:
    """A time in the largest unit in which it is a whole number; rounded to ns."""
    ns = round(seconds * 10**9)
    for unit, factor in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns % factor == 0:
            return f"{ns // factor} {unit}"
    return f"{ns} ns"


def rate(bps: Fraction | int) -> str:
    """A rate in the largest unit in which it is short and exact; rounded to bit/s."""
    whole = round(bps)
    for unit, factor in (("Tbit/s", 10**12), ("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if whole >= factor and whole % (factor // 100) == 0:
            return f"{float(Fraction(whole, factor)):.12g} {unit}"
    return f"{whole} bit/s"


def one_line(text: str) -> str:
    """A text on one line without characters that no terminal shows."""
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", " ", text)
    return " ".join(plain.split())


def folded(begin: str, texts: Sequence[str], end: str = "") -> list[str]:
    """A list of YAML on lines of eight entries, in a part of a network."""
    if len(texts) <= LONGEST_LINE:
        return [f"{begin}{', '.join(texts)}]{end}"]
    lines = [
        f"      {', '.join(texts[at : at + LONGEST_LINE])}," for at in range(0, len(texts), LONGEST_LINE)
    ]
    return [begin, *lines[:-1], f"{lines[-1].rstrip(',')}]{end}"]


def flow(keys: Mapping[str, object]) -> str:
    """A mapping of YAML on one line, without keys whose value is None."""
    return f"{{{', '.join(f'{key}: {value}' for key, value in keys.items() if value is not None)}}}"


def listed(values: Iterable[object]) -> str:
    """A list of YAML on one line."""
    return f"[{', '.join(map(str, values))}]"


def text(
    source: Sequence[str], head: Mapping[str, str], network: Sequence[str], rest: Sequence[str], notes: Notes
) -> str:
    """The text of a scenario.

    Args:
        source: comments about the origin.
        head: the keys before the network.
        network: the lines of the network, without their indent.
        rest: the lines below the network.
        notes: parts that the scenario does not describe.
    """
    comments = [*source, *(["Not said here:", *notes.lines()] if notes.found else [])]
    keys = [f"{key}: {value}" for key, value in head.items()]
    parts = (*(f"  {line}" for line in network), "", *rest, "")
    return "\n".join([*(f"# {one}" for one in comments), *keys, "", "network:", *parts])
