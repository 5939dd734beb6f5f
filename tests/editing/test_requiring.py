"""Requirements of streams, edited one by one: one small change of the text, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.editing.edits import Edit
from tsnbench.editing.problems import checked
from tsnbench.editing.requests import made
from tsnbench.editing.requiring import EXAMPLES, offered, written
from tsnbench.editing.spans import EditError, spans
from tsnbench.scenario.grammar.streams import JITTER_KINDS, LIMITS
from tsnbench.scenario.loader import read_scenario

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
ALL = sorted(path for path in SCENARIOS.rglob("*.yaml") if path.name not in ("lab.yaml", "thousand.yaml"))
TEXT = """\
name: two
duration: 5 ms
network: {bridges: [b], stations: [one, two], links: {rate: 1 Gbit/s, between: [one-b, two-b]}}
streams:
  plain: {from: one, to: two, period: 1 ms, payload: 100 B}  # without any
  named: {from: one, to: two, period: 1 ms, payload: 100 B, requires: sr/A}
  flow: {from: one, to: two, period: 1 ms, payload: 100 B, requires: {delay: 1 ms, loss: 0}}
  alone: {from: one, to: two, period: 1 ms, payload: 100 B, requires: {delay: 1 ms, worst-case: true}}
  block:
    from: one
    to: two
    period: 1 ms
    payload: 100 B
    requires:
      delay: 1 ms    # the first
      # between them
      loss: 0
  last:
    from: two
    to: one
    period: 1 ms
    payload: 100 B
    requires: {jitter: "10 us"}
"""


def require(text: str, stream: str, key: str, value: str) -> Edit:
    return made(text, "x.yaml", {"edit": "require", "stream": stream, "key": key, "value": value})


def remove(text: str, stream: str, key: str) -> Edit:
    return made(text, "x.yaml", {"edit": "no-longer-require", "stream": stream, "key": key})


@pytest.mark.parametrize(
    ("stream", "key", "value", "old", "new"),
    [
        ("plain", "delay", "500 us", "payload: 100 B}  #", "payload: 100 B, requires: {delay: 500 us}}  #"),
        ("named", "loss", "0.1 %", "requires: sr/A", "requires: {class: sr/A, loss: 0.1 %}"),
        ("named", "class", "sr/B", "requires: sr/A", "requires: {class: sr/B}"),
        ("flow", "delay", "2 ms", "{delay: 1 ms, loss", "{delay: 2 ms, loss"),
        ("flow", "delay p99.9", "900 us", "loss: 0}", "loss: 0, delay p99.9: 900 us}"),
        ("flow", "rate", "0.5 Mbit/s", "loss: 0}", "loss: 0, rate: 0.5 Mbit/s}"),
        ("block", "delay", "2 ms", "delay: 1 ms    #", "delay: 2 ms    #"),
        ("block", "jitter", "1us", "      loss: 0\n", "      loss: 0\n      jitter: 1us\n"),
        ("last", "jitter", "20 us", '"10 us"', "20 us"),
        ("last", "worst-case", "true", '"10 us"}', '"10 us", worst-case: true}'),
    ],
)
def test_a_requirement_is_added_or_changed(stream: str, key: str, value: str, old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    after = require(TEXT, stream, key, value).applied(TEXT)
    assert after == TEXT.replace(old, new)
    assert checked(after, "x.yaml")["ok"]


@pytest.mark.parametrize(
    ("stream", "key", "old", "new"),
    [
        ("named", "class", ", requires: sr/A", ""),
        ("flow", "delay", "delay: 1 ms, loss", "loss"),
        ("flow", "loss", ", loss: 0}", "}"),
        ("alone", "worst-case", ", worst-case: true", ""),
        # Without a limit, there is nothing that the worst case could keep.
        ("alone", "delay", ", requires: {delay: 1 ms, worst-case: true}", ""),
        ("block", "delay", "      delay: 1 ms    # the first\n", ""),
        ("block", "loss", "      loss: 0\n", ""),
        ("last", "jitter", '    requires: {jitter: "10 us"}\n', ""),
    ],
)
def test_a_requirement_is_removed(stream: str, key: str, old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    after = remove(TEXT, stream, key).applied(TEXT)
    assert after == TEXT.replace(old, new)
    assert checked(after, "x.yaml")["ok"]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("delay", "500", "expected a duration with a unit, found 500; write 500us"),
        ("loss", "5 x", "expected a share with a unit, found 5 x"),
        ("class", "sr/Z", "expected an SR class, found sr/Z"),
        ("delay", "0 us", "found 0 us"),
        ("delay", "1 ms, from: two", "expected a value such as 500 us"),
        ("delay", "1 ms}", "expected a value such as 500 us"),
        ("delay", "1 ms\n  x: 1", "expected a value such as 500 us"),
        ("delay", "1 ms # later", "expected a value such as 500 us"),
        ("delay", "*other", "expected a value such as 500 us"),
        ("delay", "${limit}", "expected a value such as 500 us"),
        ("delay", "", "expected a value such as 500 us"),
        ("latency", "1 ms", "there is no requirement latency"),
        ("delay p101", "1 ms", "there is no requirement delay p101"),
        ("delay: 1 ms, loss", "0", "there is no requirement"),
    ],
)
@pytest.mark.parametrize("stream", ["plain", "flow", "block"])
def test_a_wrong_requirement_is_refused_with_its_reason(
    stream: str, key: str, value: str, reason: str
) -> None:
    with pytest.raises(EditError, match=reason.replace("$", r"\$")):
        require(TEXT, stream, key, value)


def test_a_limit_is_needed_beside_the_worst_case() -> None:
    with pytest.raises(EditError, match="expected a limit beside it, found none"):
        require(TEXT, "plain", "worst-case", "true")


ALIASES = """\
name: two
duration: 5 ms
network: {bridges: [b], stations: [one, two], links: {rate: 1 Gbit/s, between: [one-b, two-b]}}
streams:
  first: {from: one, to: two, period: 1 ms, payload: 100 B, requires: &limits {delay: &most 1 ms, loss: 0}}
  second: {from: one, to: two, period: 1 ms, payload: 100 B, requires: *limits}
  third: {from: one, to: two, period: 1 ms, payload: 100 B, requires: {delay: *most}}
"""


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        ("first", "other parts of the text would change"),
        ("second", "alias"),
        ("third", "alias"),
    ],
)
def test_no_requirement_of_another_stream_changes_by_an_alias(stream: str, reason: str) -> None:
    with pytest.raises(EditError, match=reason):
        require(ALIASES, stream, "delay", "2 ms")
    if stream == "third":
        # The entry goes, with its alias; what the alias stands for stays.
        after = remove(ALIASES, stream, "delay").applied(ALIASES)
        assert after == ALIASES.replace(", requires: {delay: *most}", "")
        return
    with pytest.raises(EditError, match=reason):
        remove(ALIASES, stream, "delay")


def test_what_a_sweep_decides_is_changed_in_the_text() -> None:
    swept = TEXT.replace("{delay: 1 ms, loss", "{delay: [1 ms, 2 ms], loss").replace("sr/A", "${class}")
    swept = swept.replace("duration: 5 ms", "duration: 5 ms\nparameters: {class: [sr/A, sr/B]}")
    for stream, key in (("flow", "delay"), ("named", "loss"), ("named", "class")):
        with pytest.raises(EditError, match="a sweep decides"):
            require(swept, stream, key, "1 ms" if key != "class" else "sr/B")
    streams = spans(swept).get("streams")
    assert streams is not None
    flow, named = streams.get("flow"), streams.get("named")
    assert flow is not None
    assert named is not None
    assert written(swept, named) is None
    assert written(swept, flow) == [
        {"key": "delay", "value": "[1 ms, 2 ms]", "swept": True},
        {"key": "loss", "value": "0", "swept": False},
    ]


def test_streams_without_an_entry_of_their_own_are_refused() -> None:
    listed = TEXT.split("streams:")[0] + "streams: [{a: {from: one, to: two, period: 1 ms, frame: 100 B}}]\n"
    for text, stream in ((listed, "a"), (TEXT, "none"), (TEXT.split("streams:")[0], "plain")):
        with pytest.raises(EditError, match="no entry of its own"):
            require(text, stream, "delay", "1 ms")
    for stream, key in (("plain", "delay"), ("flow", "jitter"), ("named", "delay")):
        with pytest.raises(EditError, match=r"has no requirements|does not require"):
            remove(TEXT, stream, key)


def test_every_requirement_of_the_grammar_is_offered_with_a_value_that_it_takes() -> None:
    assert set(LIMITS.fields) <= set(EXAMPLES)
    assert {f"jitter {kind}" for kind in JITTER_KINDS} - set(EXAMPLES) == {"jitter delay-step-abs"}
    assert all(one["about"] for one in offered())
    for key, value in EXAMPLES.items():
        edit = require(TEXT, "flow", key, value)
        # The round trip needs a stream with answers; every other example can be planned.
        problems = checked(edit.applied(TEXT), "x.yaml")["problems"]
        assert [one for one in problems if "requires" in str(one["path"])] == [] or key == "round-trip"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_shipped_streams_get_a_limit_and_lose_it_again(path: Path) -> None:
    first = text = path.read_text(encoding="utf-8")
    streams, edited = spans(text).get("streams"), set()
    # From the last one on: the places of those before stay where they are.
    for key, entry in reversed(streams.items) if streams and streams.kind == "mapping" else ():
        assert key is not None
        limits = written(text, entry)
        if limits is None or any(one["key"] == "delay from release" for one in limits):
            continue
        edit = made(
            text,
            str(path),
            {"edit": "require", "stream": key.text, "key": "delay from release", "value": "1 s"},
        )
        after = edit.applied(text)
        assert len(after) - len(text) < 60
        again = remove(after, key.text, "delay from release").applied(after)
        # The name of an SR class has become a key.
        replaced = text[edit.start : edit.end]
        rest = f"{{class: {replaced}}}" if replaced else ""
        assert again == text[: edit.start] + rest + text[edit.end :]
        text = after
        edited.add(key.text)
    before, now = read_scenario(first, str(path)), read_scenario(text, str(path))
    for one in now:
        own = {one.streams[name].requires.release_delay for name in one.streams if str(name) in edited}
        assert own <= {1_000_000_000}
    assert [one.network for one in before] == [one.network for one in now]
