"""Entries of the catalogue and generated parts of a network, written out as text, so that they can be edited.

The new text must be the scenario that it was; nodes and links may have another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from tsnbench.editing.edits import KINDS, Edit, added, is_swept, parent_of
from tsnbench.editing.spans import EditError, spans
from tsnbench.editing.written import ends_of_line, written_links, written_nodes
from tsnbench.foreign import Json
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.build.generators import SHAPES
from tsnbench.scenario.loader import read_scenario
from tsnbench.scenario.model import Gates
from tsnbench.scenario.units import DURATION, LENGTH, RATE

if TYPE_CHECKING:
    from tsnbench.scenario import Scenario
    from tsnbench.scenario.model import GateEntry, Link, Node

PATTERNS = ("engine.yaml", "flextest.yaml")
"""The files of the catalogue with patterns of streams."""
NODES = ("a node of the network", "two nodes of the network")
"""What a message expects in place of an unknown node."""
WITH_A_COMMENT = "a comment stands inside of it: write it out in the text"


def write_out_network(text: str, file: str) -> Edit:
    """Replaces the generators of a network by the nodes and links that they make.

    Raises:
        EditError: there is no generator, or it depends on a parameter, or this text cannot have the parts.
    """
    network = parent_of(spans(text), "network")
    shapes = [(key.text, value) for key, value in network.items if key and key.text in SHAPES]
    if not shapes:
        raise EditError("no generator makes this part")
    before, *others = _read(text, file)
    if any(one.network != before.network for one in others):
        raise EditError("a parameter of a sweep decides what is generated: write it out in the text")
    rest = written_nodes(network)
    made = {str(name): node for name, node in before.network.nodes.items() if str(name) not in rest}
    new = text
    for name, _ in shapes:
        new = _without(new, name, KINDS[next(iter(made.values())).kind])
    new = _with_nodes(new, made)
    nodes = [str(name) for name in before.network.nodes]
    written = written_links(network, nodes)
    links = [one for one in before.network.links if frozenset((str(one.a), str(one.b))) not in written]
    if links:
        new = _with_links(new, links)
    new = _with_ends(new, file, ends_of_line(network, nodes))
    _check(text, new, file)
    # Whole lines, from the first one that differs to the last one.
    start = text.rfind("\n", 0, _same(text, new)) + 1
    same = min(_same(text[::-1], new[::-1]), len(text) - start, len(new) - start)
    end = text.find("\n", len(text) - same)
    end = len(text) if end < 0 else end
    return Edit(start, end, new[start : len(new) - (len(text) - end)])


def write_out_pattern(text: str, file: str, stream: str) -> Edit:
    """Replaces ``pattern: NAME`` of a stream by the keys of the catalogue's entry, except for its own keys.

    Raises:
        EditError: the stream has no pattern of the catalogue, or the text would say something else.
    """
    entry = parent_of(spans(text), "streams").get(stream)
    found = entry.entry("pattern") if entry else None
    if entry is None or found is None or is_swept(found[1]):
        raise EditError(f"{stream} has no pattern of the catalogue")
    key, value = found
    own = {one.text for one, _ in entry.items if one}
    pairs = [f"{name}: {words}" for name, words in pattern_keys(value.text) if name not in own]
    line = text.rfind("\n", 0, key.start) + 1
    between = ", " if entry.flow else "\n" + " " * (key.start - line)
    edit = Edit(key.start, value.end, between.join(pairs))
    _check(text, edit.applied(text), file)
    return edit


def pattern_keys(name: str) -> list[tuple[str, str]]:
    """Keys and values of a pattern, as the catalogue writes them.

    Raises:
        EditError: the catalogue has no such pattern.
    """
    for one in PATTERNS:
        text = files("tsnbench.catalogue").joinpath(one).read_text(encoding="utf-8")
        patterns = spans(text).get("patterns")
        entry = patterns.get(name) if patterns else None
        stream = entry.get("stream") if entry else None
        if stream is not None:
            return [(key.text, text[value.start : value.end]) for key, value in stream.items if key]
    raise EditError(f"the catalogue has no pattern {name}")


def write_out_gates(text: str, file: str, port: str) -> Edit:
    """Replaces a gate control list of the catalogue by its entries.

    Args:
        port: the key of ``shapers`` under which the list is named.

    Raises:
        EditError: no list of the catalogue is there, or the text would say something else.
    """
    top = spans(text)
    for place, (key, shaper) in enumerate(parent_of(top, "shapers").items):
        gates = shaper.get("gates") if shaper.kind == "mapping" else None
        if gates is None or key is None or key.text != port:
            continue
        pattern = gates if gates.kind == "scalar" else gates.get("pattern")
        if pattern is None or is_swept(gates):
            break
        before = _read(text, file)[0]
        kept = [
            f"{name.text}: {text[value.start : value.end]}"
            for name, value in gates.items
            if name and name.text not in ("pattern", "slot", "guard-band")
        ]
        written = list(before.shapers.values())[place].gates
        if not isinstance(written, Gates):
            break
        entries = ", ".join(map(_entry, written.entries))
        words = ", ".join([f"entries: [{entries}]", *kept])
        edit = Edit(gates.start, gates.last, f"{{{words}}}")
        _check(text, edit.applied(text), file)
        return edit
    raise EditError("no gate control list of the catalogue is there")


def _with_ends(text: str, file: str, ends: Mapping[str, str]) -> str:
    """The text with names of nodes in place of ``first`` and ``last``, which only a line has."""
    while True:
        try:
            read_scenario(text, file)
        except ScenarioErrors as errors:
            unknown = [one for one in errors.problems if one.expected in NODES]
            wanted = next((one for one in unknown if one.found in ends), None)
            if wanted is None:
                return text
            lines = text.split("\n")
            line = lines[wanted.line - 1]
            at = line.find(wanted.found, wanted.column - 1)
            if at < 0:
                return text
            rest = line[at + len(wanted.found) :]
            lines[wanted.line - 1] = f"{line[:at]}{ends[wanted.found]}{rest}"
            text = "\n".join(lines)
        else:
            return text


def _entry(one: GateEntry) -> str:
    opened = f"[{', '.join(map(str, one.open))}]" if one.open else "none"
    return f"{{open: {opened}, for: {DURATION.text(one.duration)}}}"


def _read(text: str, file: str) -> Sequence[Scenario]:
    try:
        return read_scenario(text, file)
    except ScenarioErrors:
        raise EditError("correct the mistakes of the text first") from None


def _without(text: str, shape: str, plural: str) -> str:
    """The text without one key of the network; ``plural``: the key in the place of the only one."""
    network = parent_of(spans(text), "network")
    place = next(n for n, (key, _) in enumerate(network.items) if key and key.text == shape)
    key, value = network.items[place]
    assert key is not None
    if "#" in text[key.start : value.last]:
        raise EditError(WITH_A_COMMENT)
    if network.flow:
        if place + 1 < len(network.items):
            following = network.items[place + 1][0]
            assert following is not None
            return text[: key.start] + text[following.start :]
        begin = network.items[place - 1][1].last if place else key.start
        return text[:begin] + text[value.last :]
    line, after = text.rfind("\n", 0, key.start) + 1, text.find("\n", value.last)
    if len(network.items) == 1:
        # Something has to stand there until nodes are added.
        return text[: key.start] + f"{plural}: []" + text[value.last :]
    return text[:line] + (text[after + 1 :] if after >= 0 else "")


def _with_nodes(text: str, nodes: dict[str, Node]) -> str:
    for kind, plural in KINDS.items():
        own = {name: _options(node) for name, node in nodes.items() if node.kind == kind}
        network = parent_of(spans(text), "network")
        listed = network.get(plural)
        plain = [name for name, options in own.items() if not options]
        if not own:
            continue
        if listed is None:
            words = ", ".join(f"{name}: {{{options}}}" for name, options in own.items())
            words = f"{{{words}}}" if len(plain) < len(own) else f"[{', '.join(plain)}]"
            text = added(text, network, f"{plural}: {words}").applied(text)
        elif listed.kind == "sequence" and not listed.items:
            text = text[: listed.start] + f"[{', '.join(plain)}]" + text[listed.end :]
            own = {name: options for name, options in own.items() if options}
            text = _one_by_one(text, kind, own)
        elif listed.kind == "sequence" and len(plain) == len(own):
            for name in plain:
                listed = parent_of(spans(text), "network").get(plural)
                assert listed is not None
                text = added(text, listed, name).applied(text)
        else:
            text = _one_by_one(text, kind, own)
    return text


def _one_by_one(text: str, kind: str, nodes: dict[str, str]) -> str:
    for name, options in nodes.items():
        network = parent_of(spans(text), "network")
        text = added(text, network, f"{kind} {name}: {{{options}}}").applied(text)
    return text


def _options(node: Node) -> str:
    least = node.processing
    more = node.processing_jitter
    if more is not None:
        raise EditError("its processing time differs from frame to frame: write it out in the text")
    return f"processing: {DURATION.text(least)}" if least else ""


def _with_links(text: str, links: Sequence[Link]) -> str:
    groups: dict[str, list[str]] = {}
    for one in links:
        cable = f", cable: {LENGTH.text(one.cable)}" if one.cable else ""
        groups.setdefault(f"rate: {RATE.text(one.rate)}{cable}", []).append(f"{one.a} -- {one.b}")
    words = [f"{{{wire}, between: [{', '.join(pairs)}]}}" for wire, pairs in groups.items()]
    network = parent_of(spans(text), "network")
    there = network.get("links")
    if there is None:
        every = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
        return added(text, network, f"links: {every}").applied(text)
    if there.kind == "sequence":
        for group in words:
            there = parent_of(spans(text), "network").get("links")
            assert there is not None
            text = added(text, there, group).applied(text)
        return text
    if there.kind == "mapping" and not there.flow:
        raise EditError("the links are a mapping over several lines: write them as a list, - {rate: …} first")
    return text[: there.start] + f"[{text[there.start : there.end]}, {', '.join(words)}]" + text[there.end :]


def _check(text: str, new: str, file: str) -> None:
    """Refuses a new text whose scenario is another one."""
    try:
        after = read_scenario(new, file)
    except ScenarioErrors as errors:
        raise EditError(f"it cannot be expanded here: {errors.problems[0]}") from None
    if [_unordered(one) for one in read_scenario(text, file)] != [_unordered(one) for one in after]:
        raise EditError("it cannot be expanded here: other parts of the scenario would change")


def _same(a: Iterable[str], b: Iterable[str]) -> int:
    """The number of characters at the begin that are the same."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count


def _unordered(scenario: Scenario) -> Json:
    found = scenario.model_dump()
    found["network"]["links"] = sorted(map(repr, found["network"]["links"]))
    return found
