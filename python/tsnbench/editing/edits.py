"""Edits of a scenario in the drawing, each as one small change of its text.

The text is the model: comments and formatting stay, and the editor's undo reverts an edit. Every change is
checked before it is offered: the new text must have exactly the wanted tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tsnbench.editing.spans import EditError, Span, spans
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.loader import read_scenario
from tsnbench.scenario.text.reading import NAME
from tsnbench.scenario.units import DURATION, UnitError

KINDS = {"station": "stations", "bridge": "bridges", "host": "hosts"}
NEW_STREAM = "{{from: {}, to: {}, period: 1 ms, payload: 100 B}}"
_NOT_NODES = {"name", "title", "source"}
_INSIDE = "A-Za-z0-9_.+"
ALIAS = "write the value where its alias (*) stands"
"""The span of an alias is that of its anchor, which is before it."""


@dataclass(frozen=True)
class Edit:
    """The characters from ``start`` to ``end`` are replaced by ``insert``."""

    start: int
    end: int
    insert: str

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise EditError(ALIAS)

    def applied(self, text: str) -> str:
        """The text after the edit."""
        return text[: self.start] + self.insert + text[self.end :]


def add_node(text: str, kind: str, name: str) -> Edit:
    """Adds a station, a bridge or a host: to the list of its kind, else as a key of its own."""
    _name(name)
    if kind not in KINDS:
        raise EditError(f"expected station, bridge or host, found {kind}")
    network = parent_of(spans(text), "network")
    listed = network.get(KINDS[kind])
    if listed is not None and listed.kind == "sequence" and not is_swept(listed):
        return added(text, listed, name)
    if listed is not None and listed.kind == "mapping" and (listed.flow or listed.items):
        return added(text, listed, f"{name}: {{}}")
    return added(text, network, f"{kind} {name}: {{}}")


def add_link(text: str, a: str, b: str) -> Edit:
    """Adds a link to the last group of links."""
    if a == b:
        raise EditError("a link connects two nodes")
    network = parent_of(spans(text), "network")
    links = network.get("links")
    pair = f"{a} -- {b}"
    if links is None:
        rate = "" if network.get("rate") is not None else "rate: 1 Gbit/s, "
        return added(text, network, f"links: {{{rate}between: [{pair}]}}" if rate else f"links: [{pair}]")
    group = links
    if links.kind == "sequence" and links.items and all(one.kind == "mapping" for _, one in links.items):
        group = links.items[-1][1]
    if group.kind == "mapping":
        between = group.get("between")
        if between is None:
            raise EditError("the links have no list named between: write the link into the text")
        group = between
    if group.kind == "scalar":
        return Edit(group.start, group.end, f"[{text[group.start : group.end]}, {pair}]")
    return added(text, group, pair)


def add_stream(text: str, name: str, talker: str, listener: str) -> Edit:
    """Adds a stream with a period of 1 ms and 100 octets of payload."""
    _name(name)
    top = spans(text)
    streams = top.get("streams")
    if streams is not None and streams.kind == "sequence" and streams.items:
        streams = streams.items[-1][1]
    if streams is None or streams.kind != "mapping":
        raise EditError("the text has no mapping of streams: write the stream into the text")
    if streams.get(name) is not None:
        raise EditError(f"there is a stream {name} already")
    return added(text, streams, f"{name}: {NEW_STREAM.format(talker, listener)}")


def remove(text: str, start: int) -> Edit:
    """Removes the entry whose key or item begins at a place."""
    top = spans(text)
    found = next(
        ((parent, number) for parent, number in _entries(top) if _begins(parent, number) == start), None
    )
    if found is None:
        raise EditError("the text has no entry of its own for it: change its generator")
    parent, number = found
    begin, end = _begins(parent, number), parent.items[number][1].last
    if end < begin:
        raise EditError(ALIAS)
    if not parent.flow:
        if len(parent.items) == 1:
            raise EditError("it is the only entry: remove it in the text")
        line = text.rfind("\n", 0, begin) + 1
        if text[line:begin].strip(" -") or (parent.kind == "mapping" and text[line:begin].strip()):
            raise EditError("other values are on its line: remove it in the text")
        after = text.find("\n", end)
        return Edit(line, len(text) if after < 0 else after + 1, "")
    if number + 1 < len(parent.items):
        return Edit(begin, _begins(parent, number + 1), "")
    return Edit(parent.items[number - 1][1].last if number else begin, end, "")


def rename(text: str, file: str, old: str, new: str) -> Edit:
    """Renames a node: its definition and all references, in one edit.

    The renamed text must be the scenario that it was, but for the name.
    """
    _name(new)
    top = spans(text)
    try:
        before = read_scenario(text, file)
    except ScenarioErrors:
        raise EditError("correct the mistakes of the text first") from None
    nodes = {str(name) for one in before for name in one.network.nodes}
    if old not in nodes:
        raise EditError(f"there is no node {old}")
    if new in nodes:
        raise EditError(f"there is a node {new} already")
    places = sorted(_named_at(text, file, top, old, new, nodes))
    if not places:
        raise EditError(f"a generator makes {old}: its names follow from prefix and number")
    edit = _replaced(text, places, old, new)
    try:
        after = read_scenario(edit.applied(text), file)
    except ScenarioErrors as errors:
        raise EditError(f"{old} cannot be renamed here: {errors.problems[0]}") from None
    word = _word(old)
    was, now = ([_renamed(one.model_dump(), word, new) for one in them] for them in (before, after))
    if was != now:
        raise EditError(f"{old} cannot be renamed here: other parts of the scenario would change")
    return edit


def move_edge(text: str, start: int, by_ns: int) -> Edit:
    """Moves the edge between a gate entry and the next one; the cycle keeps its length.

    Args:
        start: where the duration (``for``) of the entry before the edge begins.
        by_ns: how far the edge moves; earlier if negative.
    """
    for entries in gate_lists(spans(text)):
        times = [one.get("for") for _, one in entries.items]
        for own, following in pairwise(times):
            if own is None or following is None or own.start != start:
                continue
            lengths = [DURATION.parse(own.text), DURATION.parse(following.text)]
            if not -lengths[0] < by_ns < lengths[1]:
                raise EditError("a gate entry needs a length")
            words = [
                written(length + moved, one.text)
                for length, moved, one in zip(lengths, (by_ns, -by_ns), (own, following), strict=True)
            ]
            return Edit(own.start, following.end, words[0] + text[own.end : following.start] + words[1])
    raise EditError("only the edge between two entries of one gate list can be moved")


def gate_lists(top: Span) -> Iterator[Span]:
    """All lists of gate entries whose durations are plain: a number and a unit."""
    for _, value in top.items:
        if value.kind == "sequence" and value.items and all(_is_entry(one) for _, one in value.items):
            yield value
        elif value.kind != "scalar":
            yield from gate_lists(value)


def written(ns: int, like: str) -> str:
    """A duration in the unit of another one where that is exact with three digits, else in ns."""
    _, unit = DURATION.read(like)
    worth = DURATION.units[unit]
    thousandths = ns * 1000 / worth
    if thousandths.denominator != 1:
        return f"{ns} ns"
    whole, part = divmod(int(thousandths), 1000)
    space = " " if " " in like.strip() else ""
    return f"{whole}{f'.{part:03}'.rstrip('0') if part else ''}{space}{unit}"


def _is_entry(one: Span) -> bool:
    own = one.get("for") if one.kind == "mapping" else None
    if own is None or own.kind != "scalar" or own.style:
        return False
    try:
        return DURATION.parse(own.text) >= 0
    except UnitError:
        return False


def _name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise EditError(f"a name has letters, digits and _ . + -, and begins with a letter: {name!r}")


def parent_of(top: Span, key: str) -> Span:
    """The mapping of a key at the top.

    Raises:
        EditError: there is none.
    """
    found = top.get(key)
    if found is None or found.kind != "mapping":
        raise EditError(f"the text has no mapping {key}")
    return found


def is_swept(value: Span) -> bool:
    """Whether a parameter of a sweep stands in a value."""
    return any("${" in one.text for _, one, _ in value.walk())


def added(text: str, parent: Span, words: str) -> Edit:
    """A further entry at the end of a collection, in its style."""
    if parent.flow:
        if not parent.items:
            return Edit(parent.start + 1, parent.start + 1, words)
        last = parent.items[-1][1].last
        return Edit(last, last, f", {words}")
    last = parent.items[-1][1].last
    end = text.find("\n", last)
    end = len(text) if end < 0 else end
    begin = _begins(parent, len(parent.items) - 1)
    indent = begin - (text.rfind("\n", 0, begin) + 1)
    if parent.kind == "sequence":
        indent = text.rfind("-", 0, begin) - (text.rfind("\n", 0, begin) + 1)
        words = f"- {words}"
    return Edit(end, end, f"\n{' ' * indent}{words}")


def _begins(parent: Span, number: int) -> int:
    key, value = parent.items[number]
    return value.start if key is None else key.start


def _entries(top: Span) -> Iterator[tuple[Span, int]]:
    for number, (_, value) in enumerate(top.items):
        yield top, number
        yield from _entries(value)


def _word(name: str) -> re.Pattern[str]:
    """A name of a node as a word of its own: in a list, a port or a selector."""
    return re.compile(rf"(?<![{_INSIDE}])(?<![{_INSIDE}]-){re.escape(name)}(?![{_INSIDE}])(?!-[{_INSIDE}])")


def _replaced(text: str, places: Sequence[int], old: str, new: str) -> Edit:
    """One edit from the first place to the last one."""
    parts, at = [], places[0]
    for place in places:
        parts += [text[at:place], new]
        at = place + len(old)
    return Edit(places[0], at, "".join(parts))


def _named_at(text: str, file: str, top: Span, old: str, new: str, nodes: set[str]) -> set[int]:
    """Where a node is defined and named; empty if no place of the text defines it.

    Whether a word outside of ``network`` names the node is found by trying: with another name there, reading
    reports an unknown node.
    """
    found: set[int] = set()
    defined = False
    word = _word(old)
    for path, one, is_key in top.walk():
        if one.style in ("|", ">") or old not in one.text or (path or (one.text,))[0] in _NOT_NODES:
            continue
        raw = text[one.start : one.end]
        places = [one.start + match.start() for match in word.finditer(raw)]
        if path[:2] == ("network", "links"):
            found.update(places if "--" in raw else _in_pair(raw, one.start, old, nodes))
        elif path[:1] == ("network",):
            own = path[1:] in [(plural,) for plural in KINDS.values()] or (is_key and len(path) == 1)
            found.update(places if own else ())
            defined = defined or (own and bool(places))
        elif path:
            found.update(at for at in places if _is_reference(text, file, at, old, new))
    return found if defined else set()


def _in_pair(raw: str, start: int, name: str, nodes: set[str]) -> Iterator[int]:
    """The name in a link that is written with one hyphen: ``zgw1-zgw2``."""
    for n in (n for n, letter in enumerate(raw) if letter == "-"):
        left, right = raw[:n].strip("\"' "), raw[n + 1 :].strip("\"' ")
        if {left, right} <= nodes and name in (left, right):
            yield start + (raw.index(name) if left == name else raw.rindex(name))


def _is_reference(text: str, file: str, at: int, old: str, new: str) -> bool:
    try:
        read_scenario(_replaced(text, [at], old, new).applied(text), file)
    except ScenarioErrors as errors:
        return any("node" in problem.expected and new in problem.found for problem in errors.problems)
    return False


def _renamed(value: Any, word: re.Pattern[str], new: str) -> Any:
    """A dumped scenario with another name of one node."""
    if isinstance(value, dict):
        return {_renamed(key, word, new): _renamed(one, word, new) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_renamed(one, word, new) for one in value)
    return word.sub(new, value) if isinstance(value, str) else value
