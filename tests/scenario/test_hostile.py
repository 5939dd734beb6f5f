"""Any text gives scenarios or ScenarioErrors within a short time, and no other exception."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from support.examples import examples
from tsnbench.scenario import Scenario, ScenarioErrors, load_variants, read_scenario
from tsnbench.scenario.text.source import LARGEST_FILE

ROOT = Path(__file__).parents[2]
CORPUS = [
    *sorted((ROOT / "scenarios" / "tutorial").glob("*.yaml")),
    *sorted((ROOT / "tests" / "errors").glob("*.yaml")),
]
TEXTS = [path.read_bytes().decode("utf-8", errors="replace") for path in CORPUS]
WORDS = sorted({word for text in TEXTS for word in text.split()})
SPICE = [
    *"*}[]{},:-#|>?~'",
    '"',
    "\\\\",
    "&x",
    "*x",
    "${",
    "${x}",
    "${1//0}",
    "!!str",
    "%YAML",
    "---",
    "...",
    "<<",
]
SPICE += [
    "0",
    "-1",
    "1e9",
    "null",
    "first",
    "all",
    "dut#2",
    "a->b",
    "250us",
    "1/3ms",
    r'"\UFFFFFFFF"',
    f"{'9' * 44}s",
]
SPICE += ["\n", "\t", " ", ": ", "- ", "\x00", "\ufeff", "\ue000", "\u2028", "... 7", "a -> b", "dut #2"]


def read(text: str) -> list[Scenario]:
    """The runs of a text; none if there are ScenarioErrors. Any other exception fails the test."""
    try:
        return read_scenario(text, "fuzz.yaml")
    except ScenarioErrors as errors:
        refused = errors
    assert refused.problems
    assert all(problem.line >= 1 and problem.column >= 1 for problem in refused.problems)
    for problem in refused.problems:
        texts = (problem.path, problem.expected, problem.found, problem.hint)
        assert all(text.isprintable() and len(text) <= 240 for text in texts)
    return []


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A scenario of the corpus in which pieces are cut, doubled, swapped or inserted."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        until = min(len(text), at + draw(st.integers(0, 40)))
        piece = draw(
            st.one_of(st.sampled_from(SPICE), st.sampled_from(WORDS), st.text(max_size=5), st.just(""))
        )
        how = draw(st.integers(0, 2))
        text = (
            text[:at] + piece + text[until:],
            text[:until] + text[at:],
            text[:at] + piece + text[at:],
        )[how]
    return text


def test_a_hint_quotes_no_character_that_cannot_be_shown() -> None:
    """U+D7FC is no letter yet."""
    assert read("streams: {x: {from: a, for: \ud7fcfit: true}}\n") == []


@given(mutated())
@examples(2, suppress_health_check=[HealthCheck.too_slow])
def test_mutated_scenarios(text: str) -> None:
    read(text)


@given(st.text())
@example("\ud800")
@example('name: "\\ud800"')
@example('a: "\\UFFFFFFFF"')
@example("%YAML 1.1\n---\nname: x")
@example("%TAG ! !x\n---\n!y z")
@example("? [a]\n: b")
@example("? {a: b}\n: c")
@example("a: &a [*a]")
@example("&a a: *a")
@example("parameters: {a: ${a}}\nname: ${a}")
@example("parameters: {1: 2}\nname: ${1}")
@examples(1.5)
def test_any_text(text: str) -> None:
    read(text)


@given(st.binary(max_size=200))
@examples(0.7, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bytes.yaml"
    path.write_bytes(content)
    with pytest.raises(ScenarioErrors):
        load_variants(path)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{" * 100_000,
        "- " * 100_000,
        "? " * 50_000,
        "a: " * 50_000,
        "name: " + "x" * 900_000,
        "name: [" + "x, " * 210_000 + "]",
        "parameters: {n: [" + ", ".join(str(n) for n in range(20_000)) + "]}\nname: ${n}",
        "name: ${" + "(" * 50_000 + ")" * 50_000 + "}",
        "name: ${" + "-" * 90 + "1}",
        "network: {mesh: {nodes: 200, stations: 1000}}",
        "network: {line: [" + "{nodes: 10000}, " * 20_000 + "]}",
        "network: {rate: 1 Gbit/s, mesh: [" + "{nodes: 200}, " * 20_000 + "]}",
        "x" * (LARGEST_FILE + 1),
        "\n".join(f"&a{n} k{n}: *a{n - 1}" for n in range(1, 5000)),
    ],
    ids=lambda text: text[:12],
)
def test_large_texts_end_soon(text: str) -> None:
    """The limit of a minute is generous: defects that this test must find take hours, or all memory."""
    started = time.process_time()
    assert read(text) == []
    assert time.process_time() - started < 60


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.yaml", tmp_path / "a\x00b", "/dev/null"):
        with pytest.raises(ScenarioErrors):
            load_variants(path)
