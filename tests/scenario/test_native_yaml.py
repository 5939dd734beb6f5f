"""The native YAML parser gives the same tree as the slow parser, or an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from tsnbench import _native
from tsnbench.scenario import ScenarioErrors, read_scenario
from tsnbench.scenario.text import braces, source
from tsnbench.scenario.text.builder import Builder
from tsnbench.scenario.text.tree import Scalar, Sequence, Value

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "scenarios").rglob("*.yaml"))
TRIED = sorted((ROOT / "tests").rglob("*.yaml"))


def outcome(builder: Builder) -> tuple[object, list[object]]:
    """The tree and its problems; absent values have no place, so their places are not compared."""
    return (None if builder.top is None else without_empty_places(builder.top)), list(builder.problems)


def without_empty_places(value: Value) -> object:
    if isinstance(value, Scalar):
        return value if value.text or not value.plain else ""
    if isinstance(value, Sequence):
        return value.place, [without_empty_places(item) for item in value.items]
    return value.place, [(without_empty_places(key), without_empty_places(one)) for key, one in value.entries]


def slow(text: str) -> tuple[object, list[object]] | None:
    """The result of the slow parser; none for an error."""
    try:
        return outcome(source._slow_tree(text, "a.yaml"))
    except ScenarioErrors:
        return None


def native(text: str) -> tuple[object, list[object]] | None:
    """The result of the native parser; none for an error."""
    try:
        built = source._native_tree(text, "a.yaml")
    except ScenarioErrors:
        return None
    return None if built is None else outcome(built)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: str(file.relative_to(ROOT)))
def test_shipped_scenarios_are_read_by_the_native_parser(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    found = native(braces._PARAMETER.sub(lambda one: f"${braces.OPEN}{one[1]}{braces.CLOSE}", text))
    assert found is not None
    assert found == slow(braces._PARAMETER.sub(lambda one: f"${braces.OPEN}{one[1]}{braces.CLOSE}", text))


def test_both_parsers_agree_on_every_file_of_the_tests() -> None:
    accepted = 0
    for file in TRIED:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if len(text) > 20_000 or not text.strip():
            continue
        found = native(text)
        accepted += found is not None
        assert found is None or found == slow(text), file
    assert accepted > 50


PIECES = [
    'a: ', 'b: ', '- ', '\n', '\n  ', '\n    ', '{', '}', '[', ']', ', ', ',', ':', ': ', '#', ' # x',
    '"', "'", 'x', '1 ms', '0,5 ms', '*', '*a ', '&a ', '|', '|\n', '>', '>-\n', '?', '? ', '!',
    '!!str ', '---\n', '...\n', '%', '@', '`', '~', 'null', '<<: ', '\\', '\\n', '\t', 'é', '\u2028',
    '\x85', '- - ', 'a:b', '-', '--', ' ', '  ', '${p}', '"x"', "'y'", '"\\u263a"', '"\\ud800"',
    'a: 1\n', '  b: 2\n', '- c\n', '\r\n',
]  # fmt: skip


@examples(5)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join))
def test_both_parsers_agree_on_what_the_native_one_accepts(text: str) -> None:
    found = native(text)
    assert found is None or found == slow(text)


@examples(2)
@given(st.data())
def test_both_parsers_agree_on_edited_scenarios(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SHIPPED[:12])).read_text(encoding="utf-8")[:3000]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 6))
        text = text[:at] + data.draw(st.sampled_from(["", *PIECES])) + text[at + gone :]
    found = native(text)
    assert found is None or found == slow(text)


def test_thousands_of_streams_beyond_a_mebibyte_are_read() -> None:
    line = (
        "  number-{}: {{from: a, to: b, pcp: 3, period: 10 ms, frame: 100 B, offset: 5 us}}"
        + f" # {'x' * 300}"
    )
    head = [
        "name: many",
        "duration: 10 ms",
        "network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}",
        "streams:",
    ]
    text = "\n".join([*head, *(line.format(number) for number in range(3_000))]) + "\n"
    assert len(text) > 1 << 20
    (scenario,) = read_scenario(text)
    assert len(scenario.streams) == 3_000


def test_the_limit_of_values_can_be_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: [" + "x, " * 100 + "]\n"
    monkeypatch.setenv("TSNBENCH_MOST_VALUES", "90")
    with pytest.raises(ScenarioErrors, match=r"at most 90 values.*\n.*TSNBENCH_MOST_VALUES raises the limit"):
        source.parse(text, "a.yaml")
    monkeypatch.setenv("TSNBENCH_MOST_VALUES", "110")
    source.parse(text, "a.yaml")


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("a: [1, 2\nb: ]}\n", "2:", ""),
        ("a: 1\nb:\t2\n", "2:3", "a tab"),
        ("a: 1\nb: |\n  text\n", "3:3", "a block of text"),
        ("a: 1\nb: x\x01\n", "2:5", "the character U+0001"),
        ("a: {b:\n  c}\n", "2:3", "a value in another line than its key"),
    ],
)
def test_what_a_large_text_may_not_have_is_named_at_its_place(
    text: str, place: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LARGEST_SLOW", 10)
    with pytest.raises(ScenarioErrors) as raised:
        source.parse(text, "a.yaml")
    assert str(raised.value).startswith(f"a.yaml:{place}")
    assert found in str(raised.value)


def test_lines_may_end_as_on_windows() -> None:
    text = SHIPPED[0].read_text(encoding="utf-8")
    assert native(text.replace("\n", "\r\n")) == native(text)
    assert slow(text.replace("\n", "\r\n")) == native(text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(values)
def test_indented_json_is_that_of_pythons_writer(value: object) -> None:
    text = json.dumps(value, ensure_ascii=True)
    assert _native.json_indented(text) == json.dumps(value, indent=2, ensure_ascii=True)


def test_what_is_no_json_is_not_indented() -> None:
    with pytest.raises(ValueError, match="line 1"):
        _native.json_indented("{'a': 1}")
