"""25 common mistakes, the message for each, and a check that each hint removes the mistake.

``tests/errors/mistakes/NN-name.yaml`` is ``00-correct.yaml`` with one mistake; ``.txt`` has the messages.
``TSNBENCH_UPDATE=1`` writes the messages anew; check them then.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.golden import matches
from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import ScenarioErrors, load_variants

FOLDER = Path(__file__).parent.parent / "errors" / "mistakes"
CASES = sorted(path for path in FOLDER.glob("*.yaml") if not path.name.startswith("00"))

CURES: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    # Words that the message must contain, and the replacement that the hint suggests.
    "01": (["period?"], [("perod", "period")]),
    "02": (["250us"], [("250 MB", "250us")]),
    "03": (["write 250us"], [("period: 250,", "period: 250us,")]),
    "04": (["write 1Gbit/s"], [("1 gbit/s", "1Gbit/s")]),
    "05": (["add cam -- sw1"], [("between: [", "between: [cam -- sw1, ")]),
    "06": (["did you mean cam?"], [("cam1", "cam")]),
    "07": (["a tab", "YAML is indented with spaces only"], [("\t", "  ")]),
    "08": (["video is already in line 9"], [("  video: {from: drv", "  drive: {from: drv")]),
    "09": (["write [cam, plc, drv]"], [("cam plc drv", "[cam, plc, drv]")]),
    "10": (["leave the minus sign out"], [("-1 ms", "1 ms")]),
    "11": (["sw1 is linked to cam, drv, sw2"], [("sw1 -> plc", "sw1 -> sw2")]),
    "12": (["write cycle: 650 us"], [("cycle: 500 us", "cycle: 650 us")]),
    "13": (["write open: [3, 0] in this entry"], [("open: [0]", "open: [3, 0]")]),
    "14": (["from 0 to 7"], [("pcp: 8", "pcp: 7")]),
    "15": (["from 1 to 4094"], [("vlan: 5000", "vlan: 4094")]),
    "16": (["write units: [9000 B] in place of payload"], [("payload: 9000 B", "units: [9000 B]")]),
    "17": (
        ["write for: 39 us in this entry and for: 461 us in entries[0]"],
        [("for: 485 us", "for: 461 us"), ("for: 15 us", "for: 39 us")],
    ),
    "18": (["write vlan: 101 in stream drive"], [("drive: {", "drive: {vlan: 101, ")]),
    "19": (["write delay: 7803 ns"], [("delay: 3 us", "delay: 7803 ns")]),
    "20": (["keep one of period, poisson"], [(", poisson: 1 Mbit/s", "")]),
    "21": (["name the listener: to: "], [("drive: {", "drive: {to: plc, ")]),
    "22": (["did you mean delay?"], [("{latency", "{delay")]),
    "23": ([r'expected "," or "}"'], [("requires: {delay: 2 ms}", "requires: {delay: 2 ms}}")]),
    "24": (["write shapers: without the spaces before it, in column 1"], [("  shapers:", "shapers:")]),
    "25": (["write 0.25 ms"], [("0,25 ms", "0.25 ms")]),
}


def said(file: Path) -> str:
    """All messages about a file."""
    try:
        (scenario,) = load_variants(file.name)
        return "".join(f"{warning}\n" for warning in plan(scenario).warnings)
    except (ScenarioErrors, PlanningErrors) as errors:
        return f"{errors}\n"


def test_there_are_25() -> None:
    assert [case.name[:2] for case in CASES] == [f"{number:02}" for number in range(1, 26)]
    assert set(CURES) == {case.name[:2] for case in CASES}


def test_the_correct_scenario_has_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    assert said(FOLDER / "00-correct.yaml") == ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_words(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    words = said(case)
    matches(case.with_suffix(".txt"), words)
    # One mistake gives one message, with its place and a hint.
    places = re.findall(rf"^{re.escape(case.name)}:\d+:\d+: ", words, flags=re.MULTILINE)
    assert len(places) == 1
    assert words.startswith(places[0])
    assert "\n  hint: " in words or case.name[:2] in ("14", "15")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_hint_removes_the_mistake(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number, text = case.name[:2], case.read_text(encoding="utf-8")
    message = case.with_suffix(".txt").read_text(encoding="utf-8")
    words, replaced = CURES[number]
    for part in words:
        assert part in message
    for wrong, right in replaced:
        assert wrong in text
        text = text.replace(wrong, right, 1)
    monkeypatch.chdir(tmp_path)
    cured = tmp_path / case.name
    cured.write_text(text, encoding="utf-8")
    assert said(cured) == ""
