"""Residence of frames between taps, against processing times that the scenario states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.planned import plan_of, run_of
from tsnbench.calibration.calibrate import measured
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.sections import Left, Section

LINE = """\
name: line
duration: 20 ms
network:
  stations: [a, c, b]
  bridges: {{sw1: {{processing: 3 us}}, sw2: {{processing: {second}}}}}
  links: {{rate: 1 Gbit/s, cable: 20 m, between: [a -- sw1, c -- sw1, sw1 -- sw2, sw2 -- b]}}
{more}streams:
  x: {{from: a, to: b, pcp: 6, period: 100 us, frame: 400 B}}
"""
OTHER = "  y: {from: c, to: b, pcp: 5, period: 90 us, frame: 1500 B}\n"


def sections(
    folder: Path, names: list[str], second: str = "5 us", more: str = "", streams: str = ""
) -> tuple[tuple[Section, ...], Left]:
    left = Left()
    run = run_of(plan_of(LINE.format(second=second, more=more) + streams), folder)
    return measured(run, names, left).sections, left


def test_between_the_ends_are_both_bridges(tmp_path: Path) -> None:
    ((one,), left) = sections(tmp_path, ["sw1", "sw2"])
    assert (one.crossed, len(one.octets), left.reasons) == (2, 200, {})
    assert np.abs(one.residence - 8_000).max() <= one.error_ns == 1


def test_the_time_of_a_bridge_that_is_not_asked_for_is_known(tmp_path: Path) -> None:
    ((one,), _) = sections(tmp_path, ["sw1"])
    assert one.crossed == 1
    assert np.abs(one.residence - 3_000).max() <= 1


def test_a_tap_between_separates_the_bridges(tmp_path: Path) -> None:
    (found, _) = sections(tmp_path, ["sw1", "sw2"], more="taps: [sw1 -> sw2]\n")
    assert [(one.crossed, round(float(one.residence.mean()), -1)) for one in found] == [
        (1, 3_000),
        (1, 5_000),
    ]


def test_cut_through_is_no_shorter_residence(tmp_path: Path) -> None:
    second = "5 us, forwarding: {mode: cut-through, after: 64 B}"
    ((one,), _) = sections(tmp_path, ["sw2"], second)
    assert np.abs(one.residence - 5_000).max() <= 1


def test_frames_that_met_others_are_left_out(tmp_path: Path) -> None:
    """With another stream some frames wait, up to 12 us; those that are used have not."""
    (found, left) = sections(tmp_path, ["sw1", "sw2"], more="taps: [sw1 -> sw2]\n", streams=OTHER)
    assert len(found) == 4
    for one in found:
        expected = 3_000 if "-> sw1 tx" in one.label else 5_000
        assert np.abs(one.residence - expected).max() <= 1, one.label
    used = sum(len(one.octets) for one in found)
    assert 200 < used == 2 * (200 + 222) + 2 - sum(left.reasons.values())


@pytest.mark.parametrize(
    ("more", "second", "streams", "reason"),
    [
        (
            "shapers: {sw1 -> sw2: {gates: {entries: [{open: [6], for: 50 us}]}}}\n",
            "5 us",
            "",
            "gates at sw1",
        ),
        ("shapers: {sw1 -> sw2: {cbs: {6: {idle-slope: 50 Mbit/s}}}}\n", "5 us", "", "a shaper delays"),
        ("", "{least: 1 us, most: 2 us}", "", "the time of sw2 varies, too"),
        ("", "5 us", OTHER, "others use sw1 -> sw2, which has no tap: write taps"),
    ],
)
def test_times_that_are_no_processing_are_left_out_with_a_reason(
    tmp_path: Path, more: str, second: str, streams: str, reason: str
) -> None:
    (found, left) = sections(tmp_path, ["sw1"], second, more, streams)
    assert not found
    assert any(reason in one for one in left.reasons), left.reasons


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["sw3"], "found sw3\nhint: it has a, c, b, sw1, sw2"), (["a"], "nodes that forward, found a")],
)
def test_nodes_that_cannot_be_calibrated(tmp_path: Path, names: list[str], expected: str) -> None:
    with pytest.raises(CalibrationError) as error:
        sections(tmp_path, names)
    assert expected in str(error.value)
