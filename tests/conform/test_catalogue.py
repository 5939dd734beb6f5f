"""The catalogue of tests, and its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.golden import matches
from tsnbench.conform.catalogue import CLOCKS, TESTS, chosen, suites
from tsnbench.conform.judge import REASONS
from tsnbench.conform.run import SUITES
from tsnbench.quantities import UNKNOWN

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/conformance.md"
HEAD = """\
# Tests of a device

The tests of [`tsnbench conform`](../guides/conform.md). This page is generated from
`python/tsnbench/conform/catalogue.py`. U is the greatest error of a time, T the tolerance
([what the testers can decide](../guides/conform.md#what-the-testers-can-decide)). A test is not run
if a test before it has failed; the column *after* names these tests.

| test | clause | stimulus | clock | what is computed | limit | after |
|---|---|---|---|---|---|---|
"""
CODES = """
Reason codes of tests that are not decided:

| code | meaning |
|---|---|
"""


def page() -> str:
    rows = [
        f"| `{one.id}` | {one.clause or UNKNOWN} | {one.stimulus} | {CLOCKS[one.clock]} | {one.formula} "
        f"| {one.limit} | {', '.join(f'`{name}`' for name in one.after) or UNKNOWN} |\n"
        for one in TESTS.values()
    ]
    codes = [f"| `{code}` | {words} |\n" for code, words in REASONS.items()]
    return "".join([HEAD, *rows, CODES, *codes])


def test_the_page_is_that_of_the_catalogue() -> None:
    matches(PAGE, page())


def test_every_suite_of_the_catalogue_can_be_run() -> None:
    assert list(dict.fromkeys(one.stimulated for one in TESTS.values())) == list(SUITES)
    assert {one.partition("-")[0] for one in SUITES} == set(suites())


def test_a_test_comes_behind_those_that_it_depends_on() -> None:
    places = list(TESTS)
    for place, one in enumerate(TESTS.values()):
        assert all(places.index(name) < place for name in one.after)
        assert one.clause.startswith(("IEEE ", "RFC ")) or not one.clause


def test_words_choose_suites_and_tests() -> None:
    assert [one.id for one in chosen(["gates.edge", "gates.active"])] == ["gates.active", "gates.edge"]
    assert chosen([]) == list(TESTS.values())
    with pytest.raises(KeyError):
        chosen(["gate"])
