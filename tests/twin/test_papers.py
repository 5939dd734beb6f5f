"""Experiments of papers on a kernel: all are supported, and a short one agrees with the simulator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.guest_runs import Guest, parts_wanted
from twin.papers import EXPERIMENTS, MS, OWN, Experiment, compared, overloaded, part_of, planned, refused

SHORT = replace(next(one for one in EXPERIMENTS if one.scenario == "engine/ex-ts"), duration_ns=20 * MS)
parts_wanted("paper", lambda folder: {"paper": part_of(SHORT, folder / "paper/vm")})


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.called)
def test_every_experiment_is_supported(experiment: Experiment) -> None:
    assert refused(experiment) == []


@pytest.mark.parametrize("experiment", [one for one in EXPERIMENTS if one.hosts], ids=lambda one: one.called)
def test_the_guests_software_times_replace_the_papers(experiment: Experiment) -> None:
    paper, guest = planned(experiment).document, planned(experiment, guests_hosts=True).document
    assert paper["ports"] == guest["ports"]
    for one, other in zip(paper["nodes"], guest["nodes"], strict=True):
        assert ("host" in one) == ("host" in other)
        if "host" in other:
            assert other["host"]["wakeup"] == {"kind": "constant", "ns": 3600 // experiment.dilate}


def test_a_stream_is_in_a_full_queue_where_it_loses_frames_in_both_runs() -> None:
    def row(stream: str, side: int, lost: int) -> SimpleNamespace:
        return SimpleNamespace(stream=stream, listener="x", side=side, sent=100, lost=lost)

    rows = [row("a", 0, 50), row("a", 1, 49), row("b", 0, 50), row("b", 1, 0), row("c", 0, 0), row("c", 1, 0)]
    assert overloaded(SimpleNamespace(rows=rows)) == {("a", "x")}  # type: ignore[arg-type]


def test_taprio_and_etf_agree_with_the_kernel_for_equal_software_times(guest: Guest, tmp_path: Path) -> None:
    found = dict(compared(SHORT, tmp_path, guest.run("paper")))[OWN]
    assert [(one.quantity, one.difference) for one in found.agreements if not one.agrees] == []
