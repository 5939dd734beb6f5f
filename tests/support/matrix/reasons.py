"""The reasons for no bound: which one a text names, by the sentences of ``crates/bounds``."""

from __future__ import annotations

import re
from functools import cache

from support.mechanisms import ROOT

SOURCE = ROOT / "crates/bounds/src/reason.rs"
ARM = re.compile(r"^            Self::(\w+)(.*?)(?=^            Self::|^        \}$)", re.M | re.S)
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)


@cache
def sentences() -> dict[str, re.Pattern[str]]:
    """By the name of the reason, what its sentence looks like."""
    text = SOURCE.read_text(encoding="utf-8")
    _, _, body = text.partition("impl fmt::Display for Reason")
    found = {}
    for name, written in ARM.findall(body):
        *_, last = TEXT.findall(written)
        sentence = re.sub(r"\\\n\s*", "", last)
        found[name] = re.compile(re.sub(r"\\\{.*?\\\}", "(.*?)", re.escape(sentence)) + r"\Z", re.S)
    return found


def names_of(text: str) -> list[str]:
    """The names of a reason and of the reasons in it; empty if no sentence of the code is like it."""
    if len(paths := text.split("; and ")) > 1:
        return [name for path in paths for name in names_of(path)]
    if at := sentences()["At"].match(text):
        return names_of(at.groups()[-1])
    for name, pattern in sentences().items():
        if name != "EveryPath" and (found := pattern.match(text)):
            # A reason behind it follows a colon.
            inner = found.groups() if name in ("Behind", "HigherClass", "Answers") else ()
            return [name, *(more for one in inner if one for more in names_of(one.removeprefix(": ")))]
    return []
