"""The reference's examples are correct: the grammar reads every YAML example without a mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.grammar import records
from tsnbench.scenario import catalogue, read_scenario
from tsnbench.scenario.catalogue.listing import device_entries, entries
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.grammar.network import NETWORK
from tsnbench.scenario.grammar.streams import STREAM
from tsnbench.scenario.kinds.combinators import Record
from tsnbench.scenario.kinds.parameters import read_parameters
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.source import parse

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
PIECES = [
    (block, piece)
    for block in BLOCKS
    for piece in re.findall(r"^\S.*\n(?:[ #\n].*\n|\n)*", block, flags=re.MULTILINE)
    if not piece.startswith("#")
]
FIELDS = {**STREAM.fields, **NETWORK.fields, **SCENARIO.fields}


def test_the_first_example_is_a_whole_scenario() -> None:
    (scenario,) = read_scenario(BLOCKS[0])
    assert scenario.name == "first-link"


@pytest.mark.parametrize(("block", "piece"), PIECES, ids=lambda text: text[:24])
def test_every_example_is_read(block: str, piece: str) -> None:
    reading = Reading("scenario.md", {})
    if piece is not block and "parameters:" in block:
        read_parameters(reading, parse(block, "scenario.md"))
    for key, value in parse(piece, "scenario.md").entries:
        if key.text != "parameters":
            FIELDS[key.text].kind.read(reading, value, key.text)
    assert [str(problem) for problem in reading.problems] == []


def test_the_examples_are_many() -> None:
    assert len(PIECES) >= 30


def test_every_name_of_the_catalogue_is_in_the_reference() -> None:
    own = {name for name, _ in device_entries()}
    # Devices have a page of their own, which tests/planning/test_devices.py writes.
    for name in (name for name, _ in entries() if name not in own):
        family, _, last = name.rpartition("-")
        assert f"`{name}`" in TEXT or (f"`{family}-" in TEXT and (f"`-{last}`" in TEXT or "gcl" in name)), (
            name
        )
    assert len(catalogue.patterns()) == 26


def all_records() -> list[Record]:
    return records(SCENARIO)


@pytest.mark.parametrize("record", all_records(), ids=lambda record: record.what)
def test_every_key_is_in_the_reference(record: Record) -> None:
    servo = record.what == "a servo with linuxptp's options"
    for key in record.fields:
        # The reference names keys with a common prefix together: pi_proportional_scale, …_exponent.
        word = re.sub("^pi_(proportional|integral)_", "_", key) if servo else rf"(?<![a-z]){re.escape(key)}"
        assert re.search(rf"{word}(?![a-z])", TEXT), key


def test_the_grammar_has_many_records() -> None:
    assert len(all_records()) > 50
