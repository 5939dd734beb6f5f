"""The kinds of messages: each has a code that stays, and a page.

The list is ``messages.toml`` of the catalogue. :func:`code_of` finds the code of a problem of a scenario in
it, :func:`code_of_warning` that of a warning, and :func:`codes_of` those of any error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

OTHER = "TSN0509"
"""The kind of a problem outside of every section."""


@dataclass(frozen=True)
class Kind:
    """One kind of message."""

    code: str
    title: str
    cause: str
    remedy: str
    example: str = ""
    """Parts of a scenario that give such a message; the other parts are those of :func:`whole`."""
    commands: Sequence[str] = ()
    """Lines of a shell, the last of which gives such a message; ``example.yaml`` is the scenario of the
    example."""
    without: str = ""
    """The package without which the commands give it."""
    expected: str = ""
    """A pattern of the expected value."""
    path: str | None = None
    """The whole path, for problems without a pattern."""
    sections: Sequence[str] = ()
    """Sections of a scenario, an inventory or a study whose other problems are of this kind."""
    kinds: Sequence[str] = ()
    """Kinds of warnings."""
    errors: Sequence[str] = ()
    """Names of classes of errors."""
    text: str = ""
    """A pattern of the text of such errors; none for all that no earlier kind has."""

    @property
    def shown(self) -> str:
        """The example as a page shows it, without a line feed at the end."""
        scenario = whole(self.example).rstrip()
        lines = [f"$ {line}" for line in self.commands]
        if any("example.yaml" in line for line in lines):
            lines = ["$ cat example.yaml", scenario, *lines]
        return "\n".join(lines) if self.commands else scenario if self.example else "(no file and no command)"

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """The pattern of the expected value, if the kind has one."""
        return re.compile(self.expected) if self.expected else None


@cache
def kinds() -> Mapping[str, Kind]:
    """All kinds by their codes."""
    text = files("tsnbench.catalogue").joinpath("messages.toml").read_text(encoding="utf-8")
    return {code: Kind(code, **entry) for code, entry in tomllib.loads(text).items()}


@cache
def _patterns() -> Sequence[tuple[str, re.Pattern[str]]]:
    return [(one.code, one.pattern) for one in kinds().values() if one.pattern]


@cache
def _sections() -> Mapping[str, str]:
    return {section: one.code for one in kinds().values() for section in one.sections}


@cache
def _warnings() -> Mapping[str, str]:
    return {kind: one.code for one in kinds().values() for kind in one.kinds}


def code_of(path: str, expected: str) -> str:
    """The code of a problem.

    Args:
        path: its path in the scenario, empty for the file.
        expected: the expected value.
    """
    for code, pattern in _patterns():
        if pattern.search(expected):
            return code
    for one in kinds().values():
        if one.path == path:
            return one.code
    return _sections().get(re.split(r"[.\[]", path, maxsplit=1)[0], OTHER)


def code_of_warning(kind: str) -> str:
    """The code of a warning of this kind."""
    return _warnings()[kind]


def codes_of(error: BaseException) -> Sequence[str]:
    """The codes of an error: those of its problems, or that of the first class of it that the list names."""
    if codes := {one.code for one in getattr(error, "problems", ()) if hasattr(one, "code")}:
        return sorted(codes)
    said = str(error)
    for name in (one.__name__ for one in type(error).__mro__):
        for one in kinds().values():
            if name in one.errors and re.search(one.text, said):
                return [one.code]
    return []


_BASE = {
    "network": "network: {stations: [a, b], bridges: [sw1, sw2],\n  "
    "links: {rate: 1 Gbit/s, between: [a - sw1, sw1 - sw2, sw2 - b]}}",
    "streams": "streams: {x: {from: a, to: b, payload: 100 B, period: 1 ms, pcp: 6}}",
}


def whole(example: str) -> str:
    """The scenario of an example: with a network and a stream unless the example has its own."""
    written = {line.partition(":")[0] for line in example.splitlines()}
    others = (text for section, text in _BASE.items() if section not in written)
    return "\n".join(("name: example", "duration: 10 ms", *others, *example.rstrip().splitlines(), ""))
