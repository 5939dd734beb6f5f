"""Streams that are written alike are read from the first of them: same streams, messages and places."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tsnbench.planning import plan
from tsnbench.scenario import ScenarioErrors, read_scenario
from tsnbench.scenario.build import streams as build
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.kinds import alike
from tsnbench.scenario.kinds.combinators import Record
from tsnbench.scenario.text import varied
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.source import parse
from tsnbench.scenario.text.tree import Mapping, Repeated, Scalar, Value

HEAD = """\
name: alike
duration: 10 ms
network:
  {stations: [a, b, c, d], bridges: [sw], links: {rate: 1 Gbit/s, between: [a -- sw, b -- sw, c -- sw]}}
streams:
"""
CHOICES = {
    "from": ("a", "b", "c", "a", "b", "c", "d", "sw", "x", "${pace}", "'a'"),
    "to": ("a", "b", "c", "a", "b", "c", "d", "[b, c]", "x", "a b"),
    "period": ("1 ms", "1 ms", "250 us", "1", "${pace}"),
    "frame": ("100 B", "100 B", "200 B", "9000 B", "'100 B'"),
    "pcp": ("3", "3", "9"),
    "vlan": ("none", "7"),
    "via": ("[sw]",),
    "class": ("sr/A",),
    "scheduled": ("true", "yes"),
    "requires": (
        "{delay: 1 ms}",
        "{delay: 1 ms}",
        "{delay: 2 ms, jitter: 1 us}",
        "{dely: 1 ms}",
        "sr/A",
        "{}",
    ),
}
"""Texts of keys; some of them are mistakes, and some streams have no link."""
OFTEN = {"from": 1.0, "to": 1.0, "period": 0.98, "frame": 0.98, "requires": 0.5, "pcp": 0.4}


def written(seed: int) -> str:
    """Fifteen streams with few different texts, so that many are alike."""
    draws = random.Random(seed)
    own = {key: draws.sample(texts, min(2, len(texts))) for key, texts in CHOICES.items()}
    if seed % 2:
        # Every second text has few mistakes or none.
        own = {key: [texts[0]] for key, texts in CHOICES.items()}
        own |= {"to": ["c", "[b, c]", "b"], "vlan": ["7"], "requires": ["{delay: 1 ms}", "{loss: 0}"]}
        own |= {"from": ["a", "a", "sw"]} if seed % 5 == 0 else {}
        own |= {"requires": ["{delay p0: 1 ms}"]} if seed % 7 == 0 else {}
        own |= {"period": ["1 ms", "${pace}"] if seed % 3 == 0 else ["1 ms"]}
    lines = []
    for number in range(15):
        keys = [key for key in CHOICES if draws.random() < OFTEN.get(key, 0.08)]
        keys = [key for key in keys if seed % 2 == 0 or key not in ("via", "class")]
        pairs = ", ".join(f"{key}: {draws.choice(own[key])}" for key in keys)
        lines.append(f"  s{number}: {{{pairs}}}\n")
    return "parameters: {pace: [1 ms, 2 ms]}\n" * (seed % 3 == 0) + HEAD + "".join(lines)


def outcome(text: str) -> list[Any]:
    """The streams of each run, or the messages."""
    try:
        return [run.streams for run in read_scenario(text, "alike.yaml")]
    except ScenarioErrors as error:
        return [str(problem) for problem in error.problems]


def test_the_outcome_is_that_of_streams_that_are_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [written(seed) for seed in range(200)]
    together = [outcome(text) for text in texts]
    monkeypatch.setattr(alike, "written_as", lambda _: None)
    alone = [outcome(text) for text in texts]
    assert together == alone
    mistaken = sum(isinstance(found[0], str) for found in alone)
    assert 20 < mistaken < 180


def test_equal_streams_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"  s{n}: {{from: a, to: {'bc'[n % 2]}, period: 1 ms, frame: 100 B}}\n" for n in range(50)]
    reads, builds = [], []
    read, made = Record.read, build._stream

    def counted_read(self: Record, reading: Any, value: Any, path: str) -> Any:
        reads.append(path)
        return read(self, reading, value, path)

    def counted_build(*arguments: Any) -> Any:
        builds.append(arguments)
        return made(*arguments)

    monkeypatch.setattr(Record, "read", counted_read)
    monkeypatch.setattr(build, "_stream", counted_build)
    (scenario,) = read_scenario(HEAD + "".join(lines), "alike.yaml")
    assert [path for path in reads if path.startswith("streams.")] == ["streams.s0"]
    assert len(builds) == 1
    assert [stream.listeners for stream in scenario.streams.values()] == [("b",), ("c",)] * 25
    assert len(plan(scenario).document["streams"]) == 50


def test_every_value_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"  s{n}: {{from: a, to: b, period: 1 ms, requires: {{delay: 1 ms}}}}\n" for n in range(50)]
    tree = parse("streams:\n" + "".join(lines), "alike.yaml")

    def values() -> int:
        reading = Reading("alike.yaml", {})
        SCENARIO.fields["streams"].kind.read(reading, tree.entries[0][1], "streams")
        return reading.values

    together = values()
    monkeypatch.setattr(alike, "written_as", lambda _: None)
    assert together == values() > 400


def test_a_changed_stream_is_no_longer_like_the_others() -> None:
    """As a study varies one of thousands of streams that are written alike."""
    lines = "".join(f"  s{n}: {{from: a, to: b, period: 1 ms, frame: 100 B}}\n" for n in range(4))
    tree = parse(f"streams:\n{lines}", "s.yaml")
    changed = varied.replaced(tree, ("streams", "s2", "period"), Scalar(Place(1, 1), "2 ms"))

    def streams(top: Mapping) -> list[Value]:
        (entry,) = top.entries
        assert isinstance(entry[1], Mapping)
        return [value for _, value in entry[1].entries]

    before, after = streams(tree), streams(changed)
    assert type(before[2]) is Repeated
    assert type(after[2]) is Mapping
    assert [value.text for _, value in after[2].entries] == ["a", "b", "2 ms", "100 B"]  # type: ignore[union-attr]
    assert [after[n] == before[n] for n in range(4)] == [True, True, False, True]
