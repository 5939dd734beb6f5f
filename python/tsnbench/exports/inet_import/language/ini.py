"""OMNeT++'s ini files: sections that extend others, included files, patterns, iteration variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tsnbench.errors import ContentError

LARGEST_FILE = 16 << 20
MOST_LINES = 1_000_000
MOST_VALUES = 100_000
"""Values of all iteration variables."""
DEEPEST = 20
"""Levels of included files and of sections that extend others."""
_SECTION = re.compile(r"\[\s*(?:Config\s+)?([A-Za-z_][A-Za-z0-9_-]*)\s*\]")
_VARIABLE = re.compile(r"\$\{([^{}$]*)\}")
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:=(.*))?", re.DOTALL)
_NUMBER = r"-?\d{1,15}(?:\.\d{1,15})?"
_RANGE = re.compile(rf"\s*({_NUMBER})(\w*)\s*\.\.\s*({_NUMBER})(\w*)\s*(?:step\s+({_NUMBER})\w*)?\s*")
_GIVEN = {"resultdir": "results", "runnumber": "0", "repetition": "0", "iterationvars": "", "processid": "0"}


@dataclass
class Entry:
    """A key with its value; ``used`` says what became of it."""

    key: str
    value: str
    file: str
    line: int
    section: str = "General"
    used: bool = False

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass
class Ini:
    """The sections of a file and of the files that it includes."""

    sections: dict[str, list[Entry]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def option(self, section: str, key: str) -> str | None:
        """An option of OMNeT++, which has no dot, in this section alone."""
        return next((one.value for one in self.sections.get(section, []) if one.key == key), None)


def read(name: str, load: Callable[[str], str]) -> Ini:
    """All sections.

    Args:
        name: of the first file.
        load: the text of a file, by its name relative to the first one.

    Raises:
        ContentError: a line that is no key, or too many of them; the message has the line.
    """
    ini = Ini()
    _file(ini, name, load, (), ["General"])
    return ini


def _file(ini: Ini, name: str, load: Callable[[str], str], above: tuple[str, ...], at: list[str]) -> None:
    if name in above or len(above) >= DEEPEST:
        raise ContentError(f"{above[-1]}: include: expected each file once, found {name} again")
    for line, text in _lines(load(name), name):
        found = _SECTION.fullmatch(text)
        if found is not None:
            at[0] = found[1]
            ini.sections.setdefault(at[0], [])
            ini.places.setdefault(at[0], f"{name}:{line}")
        elif text.startswith("include") and text[7:8].isspace():
            folder = name.rpartition("/")[0]
            wanted = text[7:].strip().strip('"')
            _file(ini, f"{folder}/{wanted}" if folder else wanted, load, (*above, name), at)
        else:
            key, sign, value = text.partition("=")
            if not sign or not key.strip():
                raise ContentError(f"{name}:{line}: expected a key and its value, found {text[:60]}")
            ini.sections.setdefault(at[0], []).append(
                Entry(key.strip(), value.strip(), name, line, section=at[0])
            )


def _lines(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, each with those that continue it."""
    begin, whole, is_open, quoted, depth = 0, "", False, False, 0
    for number, raw in enumerate(text.split("\n"), start=1):
        if number > MOST_LINES:
            raise ContentError(f"{name}:{number}: expected at most {MOST_LINES} lines, found more")
        # An indented line continues the one above if that cannot be all of its value.
        is_open = is_open or (raw[:1].isspace() and whole.rstrip().endswith(("=", ",", "+", "?")))
        line, quoted, depth = _scanned(raw.rstrip("\r"), quoted and is_open, depth if is_open else 0, is_open)
        continues = line.endswith("\\")
        line = line[:-1] if continues else line
        if is_open:
            whole += "\n" + line
        else:
            if whole.strip():
                yield begin, whole.strip()
            begin, whole = number, line
        is_open = continues or quoted or depth > 0
    if whole.strip():
        yield begin, whole.strip()


def _scanned(line: str, quoted: bool, depth: int, in_value: bool) -> tuple[str, bool, int]:
    """A line without its comment, whether a text is open at its end, and how many brackets of its value."""
    at = 0
    while at < len(line):
        sign = line[at]
        if quoted:
            at += sign == "\\" and at + 1 < len(line)
            quoted = sign != '"'
        elif sign == '"':
            quoted = True
        elif sign == "#":
            return line[:at].rstrip(), False, depth
        elif sign == "=":
            in_value = True
        elif in_value:
            depth += (sign in "([{") - (sign in ")]}")
        at += 1
    line = line.rstrip()
    # A text that is open at the end of a line without a backslash is a mistake, or a comment's apostrophe.
    return line, quoted and line.endswith("\\"), max(depth, 0)


def chain(ini: Ini, name: str) -> list[str]:
    """The sections in which a configuration looks for keys, nearest first.

    Raises:
        ContentError: it extends a section that is missing, or itself.
    """
    found = _linear(ini, name, ())
    return found if "General" in found else [*found, "General"]


def _linear(ini: Ini, name: str, above: tuple[str, ...]) -> list[str]:
    place = ini.places.get(name, name)
    if name not in ini.sections:
        who = ini.places.get(above[-1], above[-1]) if above else name
        raise ContentError(f"{who}: extends: expected a section that is there, found {name}")
    if name in above or len(above) >= DEEPEST:
        raise ContentError(f"{place}: extends: expected a section other than itself, found {name} again")
    bases = [one.strip() for one in (ini.option(name, "extends") or "").split(",") if one.strip()]
    orders = [_linear(ini, base, (*above, name)) for base in bases]
    return [name, *_merged([*orders, bases], place)]


def _merged(orders: list[list[str]], place: str) -> list[str]:
    """The order that keeps all orders, as Python's classes and OMNeT++'s sections have it."""
    rest = [list(one) for one in orders if one]
    found: list[str] = []
    while rest:
        head = next(
            (one[0] for one in rest if not any(one[0] in other[1:] for other in rest)),
            None,
        )
        if head is None:
            raise ContentError(f"{place}: extends: expected sections in one order, found a contradiction")
        found.append(head)
        rest = [kept for one in rest if (kept := [word for word in one if word != head])]
    return found


def configurations(ini: Ini) -> list[str]:
    """The names of configurations that can run."""
    names = [name for name in ini.sections if name != "General"]
    names = names if names else ["General"] if "General" in ini.sections else []
    return [one for one in names if ini.option(one, "abstract") != "true"]


class Variables:
    """Iteration variables: every value of each, and the value of one run."""

    def __init__(self, config: str, run: int) -> None:
        self.config = config
        self.run = run
        self.values: dict[str, list[str]] = {}
        self.places: dict[str, str] = {}

    def declare(self, entries: list[Entry]) -> None:
        """Finds every ``${name=a,b}``; the first one varies slowest."""
        for one in entries:
            for match in _VARIABLE.finditer(one.value):
                self._declare(match[1], one)

    def _declare(self, text: str, entry: Entry) -> None:
        named = _NAMED.fullmatch(text)
        if named is not None and named[2] is None:
            return
        name = named[1] if named is not None else f"${len(self.values)}:{text}"
        values = listed(text if named is None else named[2].partition("!")[0], entry.place)
        if name not in self.values:
            if sum(map(len, self.values.values())) + len(values) > MOST_VALUES:
                raise ContentError(f"{entry.place}: expected at most {MOST_VALUES} values, found more")
            self.values[name] = values
            self.places[name] = entry.place

    @property
    def runs(self) -> int:
        """How many runs the configuration has."""
        product = 1
        for values in self.values.values():
            product *= len(values)
        return product

    def chosen(self) -> dict[str, str]:
        """The value of each variable in this run."""
        rest, found = self.run, {}
        for name, values in reversed(self.values.items()):
            found[name] = values[rest % len(values)]
            rest //= len(values)
        return dict(reversed(found.items()))

    def filled(self, text: str) -> str:
        """A value with the variables of this run in it."""
        if "${" not in text:
            return text
        chosen = self.chosen()

        def one(match: re.Match[str]) -> str:
            named = _NAMED.fullmatch(match[1])
            if named is None:
                return next((v for n, v in chosen.items() if n.partition(":")[2] == match[1]), match[1])
            if named[1] in chosen:
                return chosen[named[1]]
            return {**_GIVEN, "configname": self.config}.get(named[1], match[0])

        return _VARIABLE.sub(one, text)


def listed(text: str, place: str) -> list[str]:
    """The values of an iteration variable; the place is for messages."""
    found = []
    for part in _parts(text):
        match = _RANGE.fullmatch(part)
        if match is None:
            found.append(part.strip())
            continue
        low, high, step = float(match[1]), float(match[3]), float(match[5] or 1)
        count = int((high - low) / step + 1e-9) + 1 if step else 0
        if not 0 < count <= MOST_VALUES:
            raise ContentError(
                f"{place}: ${{{text[:40]}}}: expected at most {MOST_VALUES} values, found {count}"
            )
        found += [f"{low + step * number:.12g}{match[4] or match[2]}" for number in range(count)]
    return found


def _parts(text: str) -> list[str]:
    """Parts between commas that are in no brackets and no texts."""
    found, depth, quoted = [""], 0, False
    for sign in text:
        quoted ^= sign == '"'
        depth += 0 if quoted else (sign in "([{") - (sign in ")]}")
        if sign == "," and not quoted and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return found
