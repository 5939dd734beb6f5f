"""The reference of keys: every key has every fact; examples and ranges are those of the language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from support.examples_of_keys import path_of, scenario_with
from support.grammar import records
from tsnbench.planning import plan
from tsnbench.scenario import ScenarioErrors, read_scenario, units
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.kinds.values import Thousandths
from tsnbench.scenario.reference.keys import OWN, Key, find, hint, path_text, sections
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.source import parse
from tsnbench.scenario.units import Dimension
from tsnbench.version import __version__

SECTIONS = sections(SCENARIO)
KEYS = [key for section in SECTIONS for key in section.keys]
keys = pytest.mark.parametrize("keys", [one.keys for one in SECTIONS], ids=lambda keys: named(keys[0]))
DIMENSIONS = {one.name: one for one in vars(units).values() if isinstance(one, Dimension)}
OF_THE_FIRST_VERSION = 458
"""Keys without a version of their own. A new key says its version: ``since="0.2"``."""


def named(key: Key) -> str:
    return path_text(path_of(key))


def test_every_key_of_the_grammar_is_there() -> None:
    of_grammar = {(id(record), name) for record in records(SCENARIO) for name in record.fields}
    told = {(id(section.record), key.name) for section in SECTIONS for key in section.keys}
    assert of_grammar <= told
    assert len(KEYS) > 450


@keys
def test_every_fact_is_there(keys: Sequence[Key]) -> None:
    clause = re.compile(rf"{OWN}|tc-\w+\(8\)|((IEEE|IEC|RFC) \d[\w.-]*(, [\w. ]+)?(; )?)+")
    for key in keys:
        assert all((key.field.doc, key.type, key.unit, key.default, key.range)), named(key)
        assert clause.fullmatch(key.clause), named(key)
        assert _number(key.since) <= _number(__version__), named(key)


def _number(version: str) -> list[int]:
    return [int(part) for part in re.findall("[0-9]+", version)]


def test_a_new_key_says_its_version() -> None:
    assert sum(not key.field.since for key in KEYS) <= OF_THE_FIRST_VERSION


@pytest.fixture(autouse=True)
def files_of_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that examples name."""
    monkeypatch.chdir(tmp_path)
    Path("drift.csv").write_text("t_s,drift_ppm\n0,1\n")
    Path("host.txt").write_text("# Histogram\n000001 000003\n000002 000005\n")


@keys
def test_the_example_is_accepted_in_a_scenario(keys: Sequence[Key]) -> None:
    assert {named(key): _refused(scenario_with(key, key.example)) for key in keys} == dict.fromkeys(
        map(named, keys), ""
    )


def numbers(key: Key) -> list[tuple[str, bool]]:
    """Values at the ends of a key's range, and just outside, as written; whether each is in the range."""
    found: list[tuple[str, bool]] = []
    for piece in re.split("[;,] or ", key.range):
        ends = re.fullmatch(r"(?:a .* from )?(-?[0-9.]+)(?: (\S+))? to (-?[0-9.]+)(?: (\S+))?", piece)
        least = re.fullmatch(r"at least ([0-9]+) (\S+)", piece)
        if ends and ends[2]:
            dimension = next(
                (DIMENSIONS[one] for one in re.split(r"\W+", key.type) if one in DIMENSIONS), None
            )
            if dimension is None:
                continue  # A text of its own, such as a time for each octet, in parts of the least unit.
            low, high = (int(float(ends[n]) * dimension.units[ends[n + 1]]) for n in (1, 3))
            base = dimension.base
            found += [(f"{low - 1} {base}", False), (f"{low} {base}", True)]
            found += [(f"{high} {base}", True), (f"{high + 1} {base}", False)]
        elif ends:
            step = Decimal("0.001" if isinstance(key.field.kind, Thousandths) or "." in piece else 1)
            low, high = (Decimal(ends[n]) for n in (1, 3))
            found += [(str(low - step), False), (ends[1], True), (ends[3], True), (str(high + step), False)]
        elif least:
            found += [(f"{int(least[1]) - 1} {least[2]}", False), (f"{least[1]} {least[2]}", True)]
    return found


BY_OTHER_KEYS = (
    r"network\.bridges\.\*\.processing\.least|network\.grid\.(rows|columns|stations)|network\.tree\.(fanout|stations)|faults\.at"
    r"|streams\.\*\.(arrivals\.burst|units\.deviation|trdp\.data-set|release\.(earliest|latest))"
    r"|(shapers\.\*\.gates(\.changes)?|faults\.schedule|policing\.gate)\.cycle|faults\.delay\.from"
)
"""Keys of which an end of the range contradicts another key of the scenario."""


@keys
def test_the_range_is_that_of_the_language(keys: Sequence[Key]) -> None:
    ends = [(key, *one) for key in keys for one in numbers(key)]
    for key, text, inside in ends:
        refused = _refused(scenario_with(key, text))
        contradicts = inside and re.fullmatch(BY_OTHER_KEYS, named(key))
        assert bool(refused) != inside or contradicts, f"{named(key)}: {text} {refused}"


def _refused(scenario: str) -> str:
    try:
        read_scenario(scenario)
    except ScenarioErrors as error:
        return str(error)
    return ""


IN_WORDS = (
    r"none|required.*|all( frames)?|links and nodes|.* in PTP|.*for message data.*|254 \(unknown\)"
    r"|the first .*|0 bit/s|0 B"
)
"""Defaults that are no value that could be written."""


@keys
def test_the_default_is_that_of_the_model(keys: Sequence[Key]) -> None:
    """A default in the words of a description is the value that a part has without the key."""
    for key in keys:
        if key.field.default in (None, (), {}, "") or re.fullmatch(IN_WORDS, key.default):
            continue
        reading = Reading("default", {})
        value = parse(f"value: {key.default}", "default").entries[0][1]
        assert key.field.kind.read(reading, value, "value") == key.field.default, named(key)
        assert reading.problems == [], named(key)


BESIDE_OTHERS = (
    r"network\.bridges\.\*\.forwarding\.(mode|learning\.ageing)|streams\.\*\.saturating|.*\.fit-entries"
)
"""Keys whose scenario has others beside them that need another value, or whose mapping means something."""


@keys
def test_the_default_is_what_counts_without_the_key(keys: Sequence[Key]) -> None:
    """With the default written, and without the key, a scenario is the same, or its Plan is."""
    for key in keys:
        in_words = re.fullmatch(rf"{IN_WORDS}|the .*|a .*|all", key.default)
        value = parse(f"value: {key.default}", "default").entries[0][1] if not in_words else None
        reading = Reading("default", {})
        if value is None or re.fullmatch(BESIDE_OTHERS, named(key)):
            continue
        key.field.kind.read(reading, value, "value")
        if reading.problems:
            continue
        (written,), (without,) = (read_scenario(scenario_with(key, one)) for one in (key.default, None))
        assert written == without or plan(written).document == plan(without).document, named(key)


def test_a_key_is_found_by_its_path_or_its_end() -> None:
    def paths(asked: str) -> list[str]:
        return [path_text(key.paths[0]) for key in find(SCENARIO, asked)]

    assert paths("streams.*.period") == paths("streams.cam.period") == ["streams.*.period"]
    assert paths("streams.cam.front.period") == ["streams.*.period"]
    assert paths("streams.period") == ["streams.*.period"]
    assert paths("cbs") == ["shapers.*.cbs", "shapers.*.qdisc.cbs", "policing.meter.cbs"]
    assert paths("faults[2].loss") == ["faults.loss"]
    assert paths("requires.delay p99") == ["streams.*.requires.delay p99.9"]
    assert paths("shapers.a -> b.gates.entries[0].open") == ["shapers.*.gates.entries.open"]
    assert paths("perio") == []
    assert hint(SCENARIO, "perio") == "did you mean period?"
    assert hint(SCENARIO, "streams.*.latency") == "write requires: {delay: …}"
