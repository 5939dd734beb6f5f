"""The words that a problem is about, and hints that can be applied with one click."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.loader import read_scenario

_DID_YOU_MEAN = re.compile(r"did you mean (\S+?)\?")
_QUANTITY = r"-?[0-9][0-9.]*(?:/[0-9]+)? ?[A-Za-zµ%][A-Za-zµ/%]*"
_WRITE = re.compile(rf"write ({_QUANTITY})(?:,? or ({_QUANTITY})| for \S.*)?$")
_NAME = re.compile(r"write (\S+): a name starts with a letter")
_WHOLE_KEY = re.compile(r"[^\s,{}\[\]#:][^,{}\[\]#:]*(?=:(?:\s|$))")
_WHOLE_VALUE = re.compile(r"\$\{[^}]*\}|[^\s,{}\[\]#][^,{}\[\]#\n]*")


@dataclass(frozen=True)
class Words:
    """A part of one line: line and columns, which count from 0; ``end`` is behind the last character."""

    line: int
    column: int
    end: int


def words_at(lines: list[str], line: int, column: int) -> Words:
    """The key or the value that begins at a place; place and result count from 0."""
    number = max(0, min(line, len(lines) - 1))
    own = lines[number]
    match = _WHOLE_KEY.match(own, column) or _WHOLE_VALUE.match(own, column)
    end = column + len(match[0].rstrip()) if match else len(own)
    return Words(number, column, max(end, column))


def offered(hint: str) -> list[str]:
    """The words that a hint offers in place of those that are written; empty if it only explains."""
    if meant := _DID_YOU_MEAN.search(hint) or _NAME.match(hint):
        return [meant[1]]
    write = _WRITE.search(hint)
    return [word for word in write.groups() if word] if write else []


def fixes(text: str, file: str, words: Words, hint: str) -> list[str]:
    """Those of the offered words with which no mistake is reported at this place any more."""
    lines = text.split("\n")
    own = lines[words.line]
    kept = []
    for word in offered(hint):
        lines[words.line] = own[: words.column] + word + own[words.end :]
        try:
            read_scenario("\n".join(lines), file)
        except ScenarioErrors as errors:
            if any((one.line, one.column) == (words.line + 1, words.column + 1) for one in errors.problems):
                continue
        kept.append(word)
    return kept
