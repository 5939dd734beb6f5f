"""Spans of values: the native reader and ruamel.yaml give the same tree, with the offsets of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.editing import spans as module
from tsnbench.editing.edits import remove
from tsnbench.editing.spans import EditError, Span, spans
from tsnbench.scenario.text.braces import marked

ROOT = Path(__file__).parents[2]
SHIPPED = sorted([*(ROOT / "scenarios").glob("**/*.yaml"), *(ROOT / "tests").glob("**/*.yaml")])


def slowly(text: str, monkeypatch: pytest.MonkeyPatch) -> Span:
    """The tree as ruamel.yaml gives it."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "_quickly", lambda _: None)
        return spans(text)


def test_both_readers_give_the_same_spans_of_all_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = 0
    for path in SHIPPED:
        text = path.read_text(encoding="utf-8", errors="replace")
        if module._quickly(marked(text)) is None:
            continue
        try:
            assert spans(text) == slowly(text, monkeypatch), path
        except EditError:
            continue
        quick += 1
    assert quick > 150, "the native reader gives most of them"


@pytest.mark.parametrize(
    "text",
    [
        "a: 'it''s'\n",
        'a: "say \\"so\\" \\\\"\nb: 1\n',
        'a: "two\n  lines"\nb: {c: 1}\n',
        "a: {b: [1, 2 ,  3 ], c: {}}   # end\n\n# more\nd: []\n",
        "a:\n  - b: 1\n    c: 2\n  # a note\n\n  - x\n# the end\n",
        "a: {b: [c,\n   d], # not the end: }\n   e: f\n  }\n",
        "näme: {\U0001f600: ü, b: 'ü '}   \nlast: ${x} and ${y}\n",
        "a: {from: x, to: y}\nb: {from: x, to: z}\n",
        "a: b # c\n",
        "a: b#c\nd: e: f\n",
        "a: - b\n",
        "a: http://x\nb: -1\nc: '- x'\n",
        "a:\nb: 1\n",
        "a: &n {b: 1}\nc: *n\n",
        "a: |\n  text\n  more\nb: 1\n",
        "a: >-\n  text\n",
        "a: 1\r\nb: {c: 2}\r\n",
        "? a\n: b\n",
        "{a: 1, b: [2]}\n",
        "- a\n",
        "a: [b: 1]\n",
        "a: one\n  two\nb: 3\n",
        "",
        "a: {",
        "a: 'b",
        "---\na: 1\n",
        "a: 1\n---\nb: 2\n",
    ],
)
def test_both_readers_give_the_same_spans_or_refuse(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome(slow: bool) -> Span | str:
        try:
            return slowly(text, monkeypatch) if slow else spans(text)
        except EditError as error:
            return str(error)

    assert outcome(slow=False) == outcome(slow=True)


def test_a_span_is_the_place_of_its_value() -> None:
    text = "a: {b: 'c d', e: [f, 2 us]}  # note\ng:\n  - ${h}\n\n# end\n"
    top = spans(text)
    words = {path: text[one.start : one.end] for path, one, key in top.walk() if not key}
    assert words == {("a", "b"): "'c d'", ("a", "e"): "2 us", ("g",): "${h}"}
    inner, listed = top.get("a"), top.get("g")
    assert inner is not None
    assert text[inner.start : inner.end] == "{b: 'c d', e: [f, 2 us]}"
    assert listed is not None
    assert text[listed.start : listed.end] == "- ${h}"


def test_an_alias_has_the_place_of_its_anchor_and_a_billion_of_them_take_no_time() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    with pytest.raises(EditError, match="aliases"):
        spans(bomb)
    top = spans("a: &n {b: 1}\nc: *n\n")
    assert top.get("a") == top.get("c")


def test_an_alias_cannot_be_removed_by_the_place_of_its_anchor() -> None:
    text = "name: x\nstreams:\n  one: &s {from: a, to: b}\n  two: *s\n"
    with pytest.raises(EditError, match="alias"):
        remove(text, text.index("two:"))
