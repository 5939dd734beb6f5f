"""Every message about a scenario has a code, and each code has a page with an example that gives it.

``TSNBENCH_UPDATE=1 pytest tests/scenario/test_messages.py`` writes docs/reference/messages.md anew.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.golden import matches
from support.package_imports import nodes, trees
from tsnbench.editing.problems import checked_scenarios
from tsnbench.hosts.inventory.grammar import INVENTORY
from tsnbench.messages import OTHER, Kind, code_of, code_of_warning, kinds, whole
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.studies.study_file import _STUDY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/messages.md"
HEAD = """# Messages

Every message has a code that stays: a command that ends with exit code 2 or 3 names the codes of
its messages, and `tsnbench explain CODE` prints a part of this page, which is written from the
same list. `tsnbench check --json` has the codes of messages about scenarios as `code`, editors
show them, and `check --as sarif` gives them to services for code review.
"""


def found_in(example: str) -> set[str]:
    """The codes of all messages about an example."""
    answer, _ = checked_scenarios(whole(example), "example.yaml")
    return {str(one["code"]) for one in (*answer["problems"], *answer["warnings"])}


@pytest.mark.parametrize("kind", [one for one in kinds().values() if one.example], ids=lambda one: one.code)
def test_the_example_gives_its_message(kind: Kind) -> None:
    assert kind.code in found_in(kind.example)


def test_the_base_of_all_examples_has_no_message() -> None:
    assert found_in("") == set()


def test_every_section_has_a_code() -> None:
    """So each problem has one, whatever it expects."""
    sections = [section for one in kinds().values() for section in one.sections]
    assert sorted(sections) == sorted({*SCENARIO.fields, "parameters", *INVENTORY.fields, *_STUDY.fields})


def test_every_kind_of_warning_has_a_code() -> None:
    known = [kind for one in kinds().values() for kind in one.kinds]
    assert sorted(known) == sorted(set(warned()))
    assert all(code_of_warning(kind) in kinds() for kind in known)


def warned() -> Iterator[str]:
    """The kinds in all calls that make a warning."""
    for file in trees():
        for node in nodes(file):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                first = node.args[0]
                if name in ("Doubt", "doubt") and isinstance(first, ast.Constant):
                    yield str(first.value)
                if name == "Doubt" and ast.unparse(first) == "f'given-{kind}'":
                    yield from ("given-send-slope", "given-hi-credit", "given-lo-credit")


def written() -> Iterator[tuple[str, str]]:
    """The path and the expected value of every message of tests/errors."""
    for file in (ROOT / "tests/errors").rglob("*.txt"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if parts := re.match(r"\S+?:\d+:\d+: (?:([^:]*?(?: -> [^:]*)?): )?expected (.*), found ", line):
                yield parts[1] or "", parts[2]


def test_forms_are_told_apart_from_rules() -> None:
    """Of the messages of all tests, the common forms have codes of their own."""
    codes = [code_of(path, expected) for path, expected in written()]
    assert len(codes) > 400
    assert set(codes) <= set(kinds())
    assert sum(code < "TSN0500" for code in codes) > 150
    assert codes.count(OTHER) < 10


@pytest.mark.parametrize(
    ("path", "expected", "code"),
    [
        ("streams.x.period", "a duration with a unit", "TSN0301"),
        ("streams.x.frame", "a size of at least 64 B", "TSN0302"),
        ("streams.x.to", "a node of the network", "TSN0401"),
        ("sead", "a key of a scenario", "TSN0201"),
        ("", "the same indentation as above", "TSN0101"),
        ("", "each key once", "TSN0203"),
        ("shapers.a -> b.gates.cycle", "the sum of the entries", "TSN0503"),
        ("faults[0].at", "a time within the run", "TSN0504"),
        ("nowhere", "something", OTHER),
    ],
)
def test_a_code_follows_from_the_form_or_the_section(path: str, expected: str, code: str) -> None:
    assert code_of(path, expected) == code


def test_the_page_is_written_from_the_list() -> None:
    parts = [HEAD]
    for code, one in kinds().items():
        cause, remedy = (textwrap.fill(text, 100) for text in (one.cause, f"Remedy: {one.remedy}"))
        parts.append(f"## {code}: {one.title}\n\n{cause}\n\n```text\n{one.shown}\n```\n\n{remedy}\n")
    matches(PAGE, "\n".join(parts))


def test_commands_tell_codes(tmp_path: Path) -> None:
    file = tmp_path / "a b.yaml"
    file.write_text(whole("streams: {x: {from: a, to: b, payload: 100 B, period: 250, pcp: 9}}"))
    done = tsnbench("check", file.name, cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == "more about these mistakes: tsnbench explain TSN0301 TSN0302"
    found = json.loads(tsnbench("check", file.name, "--json", cwd=tmp_path).stdout)
    assert [one["code"] for one in found["problems"]] == ["TSN0301", "TSN0302"]
    log = json.loads(tsnbench("check", file.name, "--as", "sarif", cwd=tmp_path).stdout)
    assert set(log) == {"$schema", "version", "runs"}
    (run,) = log["runs"]
    assert {one["id"] for one in run["tool"]["driver"]["rules"]} == set(kinds())
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("TSN0301", "error")
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "a%20b.yaml"}
    assert where["region"] == {"startLine": 5, "startColumn": 55}
    file.write_text(whole("streams: {x: {from: a, to: b, payload: 100 B, period: 1 us, pcp: 6}}"))
    log = json.loads(tsnbench("check", file.name, "--as", "sarif", cwd=tmp_path).stdout)
    assert [(one["ruleId"], one["level"]) for one in log["runs"][0]["results"]] == [("TSN0601", "warning")]
    assert tsnbench("check", file.name, "--as", "xml", cwd=tmp_path).returncode == 2


def test_explain() -> None:
    told = tsnbench("explain", "TSN0301")
    assert told.returncode == 0
    assert told.stdout.startswith("TSN0301: A quantity without a usable unit\n\nA number has no unit")
    assert "period: 250" in told.stdout
    assert tsnbench("explain").stdout.count("TSN") == len(kinds())
    assert set(json.loads(tsnbench("explain", "--json").stdout)["messages"]) == set(kinds())
    lines = tsnbench("explain", "TSN0301", "TSN0602", columns=60).stdout.splitlines()
    assert "Remedy: Write the number with its unit: 250 us, 1 Gbit/s," in lines
    assert [line for line in lines if len(line) > 60 and not line.startswith("    ")] == []
    assert [tsnbench("explain", word).stdout for word in ("tsn0301", "301")] == [told.stdout] * 2
    wrong = tsnbench("explain", "TSN9999")
    assert (wrong.returncode, "TSN9999: expected a code" in wrong.stderr) == (2, True)
