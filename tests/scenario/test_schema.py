"""The JSON Schema accepts every shipped scenario, and rejects the wrong shapes that the loader rejects."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.examples_of_keys import path_of, scenario_with
from tsnbench.scenario import ScenarioErrors, read_scenario
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.reference.keys import path_text, sections
from tsnbench.scenario.reference.schema import json_schema, without_names
from tsnbench.scenario.text.source import parse
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, Value

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(path for path in (ROOT / "scenarios").rglob("*.yaml") if path.name != "lab.yaml")


def plain(value: Value) -> Any:
    """The JSON that an editor's YAML reader makes of a value."""
    if isinstance(value, Mapping):
        return {key.text: plain(part) for key, part in value.entries}
    if isinstance(value, Sequence):
        return [plain(item) for item in value.items]
    assert isinstance(value, Scalar)
    if not value.plain:
        return value.text
    if re.fullmatch(r"-?[0-9]+", value.text):
        return int(value.text)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", value.text):
        return float(value.text)
    return {"true": True, "false": False, "": None}.get(value.text, value.text)


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_it_is_json() -> None:
    assert json.loads(json.dumps(json_schema()))["title"] == "tsnbench scenario"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_are_valid(path: Path, validator: Any) -> None:
    document = plain(parse(path.read_text(encoding="utf-8"), path.name))
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)] == []


def test_the_example_of_every_key_is_valid(validator: Any) -> None:
    keys = [key for section in sections(SCENARIO) for key in section.keys]
    documents = {path_text(path_of(key)): scenario_with(key, key.example) for key in keys}
    assert [
        path for path, text in documents.items() if not validator.is_valid(plain(parse(text, path)))
    ] == []


def test_null_is_a_word(validator: Any) -> None:
    """An editor reads ``null`` as no value."""
    text = GOOD.replace("frame: 500 B", "frame: 500 B, frer: {disjoint: 2, identification: null}")
    document = plain(parse(text, "null"))
    document["streams"]["s"]["frer"]["identification"] = None
    assert validator.is_valid(document)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_are_strict_yaml(path: Path) -> None:
    """tsnbench reads unquoted ``${…}`` inside braces, but editors read strict YAML."""
    from ruamel.yaml import YAML

    assert YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def test_the_schema_is_small_and_complete_without_references(validator: Any) -> None:
    """Repeated parts are shared: with all references resolved, the schema is that of the grammar."""
    schema = json_schema()
    assert len(json.dumps(schema, separators=(",", ":"))) <= 86_300

    def whole(node: Any) -> Any:
        if isinstance(node, list):
            return [whole(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            part = whole(schema["$defs"][node["$ref"].removeprefix("#/$defs/")])
            return part | {key: value for key, value in node.items() if key != "$ref"}
        return {key: whole(value) for key, value in node.items() if key != "$defs"}

    full = without_names(SCENARIO.schema())["properties"]
    for key in ("schedule", "faults", "shapers", "clocks"):
        assert whole(schema)["properties"][key] == full[key]


GOOD = """
name: small
duration: 10 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}
streams: {s: {from: a, to: b, period: 1 ms, frame: 500 B}}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("period: 1 ms", "period: 1"),
        ("period: 1 ms", "periode: 1 ms"),
        ("duration: 10 ms", "duration: 10 bananas"),
        ("frame: 500 B", "frame: big"),
        ("name: small", "title: small"),
        ("from: a", "pcp: 9, from: a"),
        ("from: a", "saturating: maybe, from: a"),
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(old: str, new: str, validator: Any) -> None:
    assert validator.is_valid(plain(parse(GOOD, "good")))
    bad = GOOD.replace(old, new)
    assert not validator.is_valid(plain(parse(bad, "bad")))
    with pytest.raises(ScenarioErrors):
        read_scenario(bad)
