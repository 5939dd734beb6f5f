"""The bytes of a Plan, its hash in Python and Rust, and files that are no Plans."""

from __future__ import annotations

import doctest
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.networks import connected, line
from support.shipped import variants
from tsnbench import _native
from tsnbench.errors import InputError
from tsnbench.plan.document import canonical, content_hash
from tsnbench.planning import Plan, PlanningErrors, PlanReadError, plan
from tsnbench.planning.shaping import cbs
from tsnbench.scenario import model

USE_CASE = variants("papers/engine/ex-ucc")[""]


def test_the_same_scenario_gives_the_same_bytes() -> None:
    assert plan(USE_CASE).to_json() == plan(USE_CASE).to_json()


def test_another_seed_is_another_experiment() -> None:
    assert plan(line()).hash != plan(line(seed=2)).hash


def test_a_document_that_contains_itself_is_an_error() -> None:
    made = plan(line())
    made.document["self"] = made.document
    with pytest.raises(ValueError, match="more than 128 levels are nested"):
        made.to_json()
    with pytest.raises(ValueError, match="more than 128 levels are nested"):
        canonical(made.document)


def test_keys_are_quoted_as_texts_are() -> None:
    made = plan(line())
    made.document['a "name"'] = 1
    assert json.loads(made.to_json())['a "name"'] == 1


def test_a_document_that_is_changed_is_another_experiment() -> None:
    """A notebook may change a value and run again: nothing of the earlier Plan is kept."""
    made = plan(line())
    before = made.hash
    text = made.to_json()
    made.document["seed"] += 1
    assert made.hash != before
    assert json.loads(made.to_json()) == {
        **json.loads(text),
        "seed": made.document["seed"],
        "hash": made.hash,
    }


def test_the_json_is_canonical_and_carries_its_hash() -> None:
    made = plan(line())
    document = json.loads(made.to_json())
    assert document.pop("hash") == made.hash == content_hash(made.document)
    assert document == made.document
    assert canonical(json.loads(made.to_json())) + "\n" == made.to_json()


@pytest.mark.parametrize("made", [line(1), line(7), USE_CASE], ids=["1 hop", "7 hops", "use case"])
def test_the_native_module_accepts_a_plan_and_gives_the_same_hash(made: Any) -> None:
    planned = plan(made)
    _native.check_plan(planned.to_json())
    assert _native.plan_hash(planned.to_json()) == planned.hash


@given(connected())
def test_every_plan_is_accepted_by_the_native_module(made: tuple[model.Scenario, int]) -> None:
    shaped = {"*": model.Shaper(cbs=(model.CbsClass(pcp=3),))}
    _native.check_plan(plan(made[0].model_copy(update={"shapers": shaped})).to_json())


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_both_sides_hash_any_text_alike(variant: dict[str, str]) -> None:
    document = {"variant": variant, "numbers": [0, -1, 2**63 - 1], "none": {}}
    assert _native.plan_hash(json.dumps(document, indent=1)) == content_hash(document)


def test_a_written_plan_is_read_back(tmp_path: Path) -> None:
    small = model.Shaper(cbs=(model.CbsClass(pcp=3, bandwidth=10**7),))
    made = plan(line(variant={"hops": "2 µ\u2028"}, shapers={"b1 -> *": small}))
    assert made.warnings
    (tmp_path / "plan.json").write_text(made.to_json(), encoding="utf-8")
    again = Plan.read(tmp_path / "plan.json")
    assert again == made
    assert again.hash == made.hash
    assert again.warnings == made.warnings


def broken(made: dict[str, Any], **changes: Any) -> str:
    return json.dumps(made | changes)


GOOD = json.loads(plan(line()).to_json())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"plan"',
        "[" * 100_000,
        "\ufeff{}",
        broken(GOOD, seed=8),
        broken(GOOD, format="tsnbench-plan/0"),
        broken(GOOD, hash="0"),
        '{"format": "tsnbench-plan/1", "hash": "\\ud800"}',
    ],
    ids=str,
)
def test_what_is_no_plan_is_refused_with_its_name(text: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PlanReadError) as raised:
        Plan.read(file)
    assert str(raised.value).startswith(f"{file}: ")
    assert isinstance(raised.value, InputError)


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("missing", "bytes", "."):
        with pytest.raises(PlanReadError, match="cannot be read"):
            Plan.read(tmp_path / name)


def test_a_folder_of_several_runs_names_one_of_them(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.json").write_text("{}")
    with pytest.raises(PlanReadError, match=rf"has 2 runs: name one, for example {tmp_path}/a$"):
        Plan.read(tmp_path / "plan.json")


def test_what_no_backend_supports_is_not_planned() -> None:
    with pytest.raises(PlanningErrors, match=r"duration_ns: .* more than ten days"):
        plan(line(duration=10**18))


def test_documentation_examples_hold() -> None:
    concepts = Path(__file__).parents[2] / "docs" / "concepts" / "cbs.md"
    for results in (doctest.testfile(str(concepts), module_relative=False), doctest.testmod(cbs)):
        assert results.attempted > 1
        assert not results.failed


def test_a_contradiction_names_its_place(tmp_path: Path) -> None:
    document = json.loads(plan(line()).to_json())
    del document["hash"]
    document["ports"][3]["peer"] = 3
    (tmp_path / "plan.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(PlanReadError, match=r"ports\[2\]\.peer|ports\[3\]\.peer"):
        Plan.read(tmp_path / "plan.json")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"hash": "old"},
        {"a": [1, {"z": None, "b": True}], "name": "é\n"},
        {"a": 1, "hash": "old"},
        {"zz": {"y": 2, "x": -3}, "hasi": 1.5, "has": "h", "hashes": [], "b": {}},
    ],
)
def test_a_text_is_sorted_and_has_the_hash_of_all_other_members(document: dict[str, Any]) -> None:
    def dumped(content: dict[str, Any]) -> str:
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    rest = {key: value for key, value in document.items() if key != "hash"}
    expected = hashlib.sha256(dumped(rest).encode()).hexdigest()
    text, found = _native.plan_text(document)
    assert found == expected == _native.plan_hash(text)
    assert text == dumped({**rest, "hash": expected}) + "\n"
