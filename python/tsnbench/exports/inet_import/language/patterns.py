"""OMNeT++'s patterns of paths: ``*`` within a name, ``**`` over dots, ``{a..b}``, ``[a..b]`` for numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Generic, TypeVar

from tsnbench.errors import ContentError

Kept = TypeVar("Kept")
MOST_WILDCARDS = 16
MOST_DEEP = 4
"""Most ``**``: the time to match grows with each."""
_PART = re.compile(r"\*\*|\*|\?|\{[^{}]*\}|\[\d*\.\.\d*\]|[^*?{\[]+|\[|\{")
_NUMBERS = re.compile(r"(\d*)\.\.(\d*)")


class Pattern:
    """A pattern that tells whether it matches a path."""

    def __init__(self, text: str) -> None:
        parts = _PART.findall(text)
        if sum(one in ("*", "?") for one in parts) > MOST_WILDCARDS or parts.count("**") > MOST_DEEP:
            raise ContentError(
                f"{text[:60]}: expected at most {MOST_DEEP} `**` and {MOST_WILDCARDS} `*`, found more"
            )
        self._ranges: list[tuple[int, int]] = []
        self._plain = None if any(_is_special(one) for one in parts) else text
        try:
            self._compiled = re.compile("".join(map(self._part, parts)), re.DOTALL)
        except re.error:
            raise ContentError(f"{text[:60]}: expected a pattern, found brackets without a meaning") from None

    def _part(self, part: str) -> str:
        if part in ("**", "*", "?"):
            return {"**": ".*", "*": "[^.]*", "?": "[^.]"}[part]
        numbers = _NUMBERS.fullmatch(part[1:-1]) if part[:1] in "{[" and len(part) > 1 else None
        if numbers is not None:
            self._ranges.append((int(numbers[1] or 0), int(numbers[2] or 10**9)))
            return r"(\d+)" if part[0] == "{" else r"\[(\d+)\]"
        if part[0] == "{" and len(part) > 1:
            # A set of characters, or of numbers that are written one by one.
            inner = part[1:-1]
            if "," in inner:
                return f"(?:{'|'.join(re.escape(one.strip()) for one in inner.split(','))})"
            sign, inner = ("^", inner[1:]) if inner[:1] == "^" else ("", inner)
            plain = "".join(one if one.isalnum() or one == "-" else f"\\{one}" for one in inner)
            return f"[{sign}{plain}]" if inner else ""
        return re.escape(part)

    def matches(self, path: str) -> bool:
        if self._plain is not None:
            return self._plain == path
        found = self._compiled.fullmatch(path)
        if found is None:
            return False
        return all(
            low <= int(number) <= high
            for number, (low, high) in zip(found.groups(), self._ranges, strict=True)
        )


def _is_special(part: str) -> bool:
    return part in ("**", "*", "?") or (len(part) > 1 and part[0] in "{[")


@lru_cache(maxsize=20_000)
def pattern(text: str) -> Pattern:
    """A pattern; each is compiled once."""
    return Pattern(text)


def _ending(text: str) -> str:
    """The names at the end of a pattern that have no wildcards; empty if the last one has some."""
    parts = _PART.findall(text)
    special = [number for number, one in enumerate(parts) if _is_special(one)]
    return "".join(parts[special[-1] + 1 :]).partition(".")[2] if special else text


class Patterns(Generic[Kept]):
    """What stands behind patterns of paths: thousands of patterns, of which few have the end of one path."""

    def __init__(self) -> None:
        self._by_ending: dict[str, list[tuple[int, Pattern, Kept]]] = {}
        self._count = 0

    def add(self, text: str, kept: Kept) -> None:
        """Keeps something behind a pattern.

        Raises:
            ContentError: the text is no pattern.
        """
        self._by_ending.setdefault(_ending(text), []).append((self._count, pattern(text), kept))
        self._count += 1

    def matching(self, path: str) -> list[Kept]:
        """What stands behind the patterns that match, in the order in which they were added."""
        rows = list(self._by_ending.get("", ()))
        begin = len(path)
        while begin > 0:
            begin = path.rfind(".", 0, begin - 1) + 1
            rows += self._by_ending.get(path[begin:], ())
        rows.sort(key=lambda row: row[0])
        return [kept for _, one, kept in rows if one.matches(path)]
