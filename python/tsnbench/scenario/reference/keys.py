"""Every key of a language with its facts, and the search for keys by their paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as value

from tsnbench.scenario.kinds.alike import Alike
from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import YES_NO, Kind
from tsnbench.scenario.reference.values import example_of, range_of, text_of, type_of, unit_of
from tsnbench.scenario.text.reading import NAME, meant

FIRST_VERSION = "0.1"
"""The version of all keys that name no other one."""
OWN = "tsnbench"
"""In place of a clause, for keys that no standard defines."""


@dataclass(frozen=True)
class Step:
    """One part of a path: its text, and a pattern that accepts what people write there."""

    text: str
    pattern: str


_ANY = Step("*", r"[^.]+")


_SAYS_DEFAULT = (r"(?:^|; )([^;]*?),? by default", r"(\S+) \(default", r"; (required[^;]*)$")
"""What a description says about the default."""


@dataclass
class Key:
    """A key of a mapping, with its facts."""

    name: str
    field: Field
    clause: str
    """The clause that defines it, or :data:`OWN`."""
    since: str
    """The first version that has it."""
    paths: list[tuple[Step, ...]] = value(default_factory=list)
    """The places where it can be written."""

    @property
    def required(self) -> bool:
        """Whether its mapping cannot be without it."""
        return bool(self.field.example)

    @property
    def type(self) -> str:
        """The type in words."""
        return type_of(self.field.kind)

    @property
    def unit(self) -> str:
        """The units, or ``none``."""
        return unit_of(self.field.kind)

    @property
    def range(self) -> str:
        """The permitted values."""
        return self.field.range or range_of(self.field.kind)

    @property
    def example(self) -> str:
        """A value as it is written."""
        return self.field.example or self.field.sample or example_of(self.field.kind)

    @property
    def default(self) -> str:
        """What counts where the key is not written: a value, words, ``none`` or ``required``."""
        if self.required:
            return "required"
        said = next(filter(None, (re.search(one, self.field.doc) for one in _SAYS_DEFAULT)), None)
        if said and said[1] != "0":
            return said[1]
        if self.field.kind is YES_NO:
            return "true" if self.field.default else "false"
        return text_of(self.field.kind, self.field.default) or (said[1] if said else "none")


def path_text(path: tuple[Step, ...]) -> str:
    """A path as it is printed: ``streams.*.period``."""
    return ".".join(step.text for step in path)


@dataclass
class Section:
    """The keys of one mapping, and the paths where the mapping is written."""

    record: Record
    keys: list[Key]
    paths: list[tuple[Step, ...]]


def sections(record: Record) -> list[Section]:
    """The mappings of a language with their keys, each mapping once, in the order of the language."""
    found: dict[int, Section] = {}
    _record(record, (), OWN, FIRST_VERSION, found, frozenset())
    return list(found.values())


def _record(
    record: Record,
    path: tuple[Step, ...],
    clause: str,
    since: str,
    found: dict[int, Section],
    above: frozenset[int],
) -> None:
    if id(record) in above:
        return
    fields = [(Step(name, re.escape(name)), one) for name, one in record.fields.items()]
    fields += [
        (_ANY if NAME.fullmatch(one.example) else Step(one.example, one.pattern), one.field)
        for one in record.patterns
    ]
    section = found.get(id(record))
    if section is None:
        own = [Key(step.text, one, one.clause or clause, one.since or since) for step, one in fields]
        section = found[id(record)] = Section(record, own, [])
    section.paths.append(path)
    for key, (step, one) in zip(section.keys, fields, strict=True):
        key.paths.append((*path, step))
        for inner, below in _records(one.kind, (*path, step)):
            _record(inner, below, key.clause, key.since, found, above | {id(record)})


def _records(kind: Kind, path: tuple[Step, ...]) -> Iterator[tuple[Record, tuple[Step, ...]]]:
    """The mappings with known keys within a value, each with its path."""
    if isinstance(kind, Record):
        yield kind, path
    elif isinstance(kind, Alike):
        yield kind.record, path
    elif isinstance(kind, ListOf):
        yield from _records(kind.item, path)
    elif isinstance(kind, MapOf):
        yield from _records(kind.value, (*path, _ANY))
    elif isinstance(kind, Either):
        for one in (kind.text, kind.listing, kind.mapping):
            if one is not None:
                yield from _records(one, path)


def find(record: Record, asked: str) -> list[Key]:
    """The keys with a path, without its names, or with the end of one: ``streams.*.period``,
    ``streams.cam.period``, ``streams.period``, ``cbs``."""
    keys = [key for section in sections(record) for key in section.keys]
    text = re.sub(r"\[[0-9]+\]", "", asked.strip())
    # A name may have dots, too: they count as a part of the name if no path fits otherwise.
    for name in (r"[^.]+", r".+"):
        whole = [key for key in keys if any(_fits(path, text, name) for path in key.paths)]
        if whole:
            return whole
    nameless = [key for key in keys if any(_fits(_without_names(path), text, "") for path in key.paths)]
    return nameless or [
        key for key in keys if any(_fits(end, text, r"[^.]+") for path in key.paths for end in _ends(path))
    ]


def _without_names(path: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(step for step in path if step is not _ANY)


def _ends(path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """The ends of a path that do not begin with a name."""
    return (path[start:] for start in range(1, len(path)) if path[start] is not _ANY)


def _fits(path: tuple[Step, ...], text: str, name: str) -> bool:
    patterns = (name if step is _ANY else step.pattern for step in path)
    return re.fullmatch(r"\.".join(f"(?:{pattern})" for pattern in patterns), text) is not None


def hint(record: Record, asked: str) -> str:
    """A hint for an unknown key: the key that was probably meant."""
    before, _, last = asked.strip().rpartition(".")
    known = sections(record)
    near = [one for one in known if any(_fits(path, before, r"[^.]+") for path in one.paths)]
    mistakes = (one.record.common_mistakes.get(last, "") for one in (*near, *known))
    return next(filter(None, mistakes), "") or meant(last, dict.fromkeys(_names(known)))


def _names(known: list[Section]) -> Iterator[str]:
    return (key.name for section in known for key in section.keys if key.name != "*")
