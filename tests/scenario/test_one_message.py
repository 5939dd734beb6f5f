"""One mistake gives one message without messages about its consequences; near misses keep their meaning."""

from __future__ import annotations

import pytest

from support.planned import refusal_text
from tsnbench.planning import plan
from tsnbench.scenario import ScenarioErrors, load_variants, read_scenario
from tsnbench.scenario.text.sweep import same
from tsnbench.scenario.units import DURATION, RATE, UnitError

TEXT = """\
name: cell
duration: 10 ms
network:
  rate: 1 Gbit/s
  stations: [cam, plc, drv]
  bridges: [sw]
  links: [cam -- sw, drv -- sw, sw -- plc]
streams:
  video: {from: cam, to: plc, class: sr/A, payload: 1000 B, period: 250 us}
  drive: {from: drv, to: plc, pcp: 6, payload: 100 B, period: 1 ms}
shapers:
  sw -> plc: {cbs: from-streams}
faults:
  - {babble: drive, every: 1 ms}
policing:
  - {at: drv -> sw, streams: [drive], max-sdu: 1500 B}
"""


def said(text: str) -> list[str]:
    """Every message about a text, without its hint's line break."""
    with pytest.raises(ScenarioErrors) as raised:
        read_scenario(text, "cell.yaml")
    return [str(problem).replace("\n  hint", " hint") for problem in raised.value.problems]


def test_the_text_is_correct() -> None:
    (scenario,) = read_scenario(TEXT, "cell.yaml")
    assert plan(scenario).warnings == ()


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        # A name that is used elsewhere is not missing, only misspelled.
        ("drive: {from: drv", "drive: {from: dvr", "10:17: streams.drive.from: "),
        ("period: 1 ms}", "period: 1}", "10:63: streams.drive.period: "),
        ("period: 250 us}", "period: 250}", "9:69: streams.video.period: "),
        ("class: sr/A", "class: sr/a", "9:38: streams.video.class: "),
        ("sw -> plc: {cbs", "sw -> cpl: {cbs", "12:3: shapers.sw -> cpl: "),
        ("to: plc, class", "to: plc drv, class", "hint: write [plc, drv]"),
        ("[cam, plc, drv]", "cam, plc, drv", "hint: write [cam, plc, drv]"),
        ("babble: drive", "babble: drove", "hint: did you mean drive?"),
        ("duration: 10 ms", "duration: 0,01 s", "hint: write 0.01 s"),
        ("[cam -- sw, drv -- sw, ", "[cam -- sw, ", "expected a talker with a link, found drv"),
    ],
)
def test_one_mistake_one_message(wrong: str, right: str, message: str) -> None:
    assert wrong in TEXT
    if right == "cam, plc, drv":  # names in a row, without brackets
        right = "cam plc drv"
    (found,) = said(TEXT.replace(wrong, right, 1))
    assert message in found


def test_no_streams_of_an_sr_class_are_a_mistake_of_their_own() -> None:
    (found,) = said(TEXT.replace("class: sr/A", "pcp: 3"))
    assert "12:20: shapers.sw -> plc.cbs: expected streams with an SR class, found none" in found
    # An unreadable stream may have been the one with the SR class, so only its own mistake is reported.
    (found,) = said(TEXT.replace("class: sr/A", "clas: sr/A"))
    assert "did you mean class?" in found


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0,5 ms", "write 0.5 ms"),
        ("1,25us", "write 1.25 us"),
        ("1,5", "write 1.5 us"),
        ("2,5 msec", "write 2.5 ms"),
        ("1,000 us", "write 1.000 us, or 1000 us"),
        ("0,250 ms", "write 0.250 ms"),
    ],
)
def test_decimal_commas(text: str, hint: str) -> None:
    with pytest.raises(UnitError) as raised:
        DURATION.parse(text)
    assert raised.value.hint == hint
    # In a flow mapping, YAML ends the value at the comma.
    (found,) = said(TEXT.replace("period: 250 us}", f"period: {text}, jitter: 1 us}}"))
    assert found.endswith(f"hint: {hint}")


def test_a_comma_between_two_keys_stays_one() -> None:
    (scenario,) = read_scenario(TEXT.replace("pcp: 6, payload", "pcp: 6,payload"), "cell.yaml")
    assert scenario.streams["drive"].pcp == 6


def test_a_comma_in_a_rate_keeps_its_unit() -> None:
    with pytest.raises(UnitError) as raised:
        RATE.parse("2,5 gbit/s")
    assert raised.value.hint == "write 2.5 Gbit/s"


@pytest.mark.parametrize("section", ["shapers", "faults", "policing"])
def test_an_indented_section_is_read_as_what_it_is(section: str) -> None:
    begin = TEXT.index(f"{section}:")
    rest = TEXT[begin:]
    end = next(
        (rest.index(f"\n{other}") for other in ("faults:", "policing:") if f"\n{other}" in rest), len(rest)
    )
    part = rest[:end].rstrip("\n").splitlines()
    indented = "".join(f"  {line}\n" for line in part)
    others = TEXT[:begin] + rest[end:].lstrip("\n")
    place = others.index("  drive: {from")
    text = others[:place] + indented + others[place:]
    (found,) = said(text)
    assert f"cell.yaml:10:3: {section}: expected {section} beside streams, found it inside streams" in found
    assert f"hint: write {section}: without the spaces before it, in column 1" in found


def test_mistakes_in_an_indented_section_are_reported_too() -> None:
    text = TEXT.replace(
        "shapers:\n  sw -> plc: {cbs: from-streams}", "  shapers:\n    sw -> cpl: {cbs: from-streams}"
    )
    first, second = said(text)
    assert "expected shapers beside streams" in first
    assert "12:5: shapers.sw -> cpl: " in second


def test_a_stream_may_be_called_as_a_section_is() -> None:
    (scenario,) = read_scenario(
        TEXT.replace("drive: {from", "taps: {from")
        .replace("[drive]", "[taps]")
        .replace("babble: drive", "babble: taps"),
        "cell.yaml",
    )
    assert "taps" in scenario.streams


def test_a_link_that_is_written_twice_is_a_mistake() -> None:
    (scenario,) = read_scenario(TEXT.replace("sw -- plc]", "sw -- plc, sw -- cam]"), "cell.yaml")
    (warning,) = plan(scenario).warnings
    assert str(warning).startswith("cell.yaml:7:")
    assert warning.kind == "link-again"
    assert "cam -- sw" in str(warning) or "sw -- cam" in str(warning)
    assert "parallel: 2" in warning.hint
    meant = TEXT.replace("cam -- sw, ", "{between: [cam -- sw], parallel: 2}, ")
    (asked,) = read_scenario(meant, "cell.yaml")
    assert plan(asked).warnings == ()
    assert sum({link.a, link.b} == {"cam", "sw"} for link in asked.network.links) == 2


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("45us", "45 us", True),
        ("0.045 ms", "45 us", True),
        ("45 us", "45 ms", False),
        ("1 Gbit/s", "1000Mbit/s", True),
        ("7", "7.0", True),
        ("7", "7 us", False),
        ("gates", "gates", True),
        ("gates", "Gates", False),
    ],
)
def test_values_not_texts_are_compared(one: str, other: str, equal: bool) -> None:
    assert same(one, other) is equal


def test_a_sweep_that_holds_an_impossible_value_names_it(tmp_path) -> None:  # type: ignore[no-untyped-def]

    file = tmp_path / "cell.yaml"
    text = TEXT.replace("period: 1 ms}", "period: 1 ms, requires: {delay: [1 us, 1 ms]}}")
    file.write_text(text, encoding="utf-8")
    first, second = load_variants(file)
    assert plan(second).warnings == ()
    assert "or leave delay 1 us out of the sweep" in refusal_text(first)
