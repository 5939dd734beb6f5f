"""The size of a run is estimated before it starts, rather too high, and compared with the free space."""

from __future__ import annotations

import resource
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from support.planned import plan_of, run_of
from tsnbench.backends.netns import Namespaces
from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm.backend import VirtualMachine
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import BackendError
from tsnbench.plan.document import Plan
from tsnbench.runs import Run, room

LINE = """
name: line
duration: {duration}
seed: 2
network:
  stations: [a, b, c]
  bridges: [s]
  links: {{rate: 100 Mbit/s, between: [a -- s, b -- s, s -- c]}}
streams:
{streams}
"""
ONE_PERIOD = """\
  x: {from: a, to: c, period: 50 us, payload: 100 B}
  y: {from: b, to: c, period: 50 us, payload: 46 B}"""
PERIODS = """\
  x: {from: a, to: c, period: 50 us, payload: 100 B}
  y: {from: b, to: c, period: 170 us, payload: 999 B}"""
QUEUED = """\
  x: {from: a, to: c, period: 100 us, payload: 100 B, pcp: 6}
  y: {from: b, to: c, frame: 1250 B, saturating: true}"""
DRAWN = """\
  x: {from: a, to: c, poisson: 10 Mbit/s, payload: 100 B}
  y: {from: b, to: c, period: 50 us, jitter: 40 us, payload: 46 B}"""
UNITS = "  x: {from: a, to: [b, c], period: 1 ms, units: [200 B, 9000 B]}"


def _plan(streams: str, duration: str = "1 s") -> Plan:
    return plan_of(LINE.format(streams=streams, duration=duration))


@pytest.mark.parametrize(
    ("streams", "within"),
    [(ONE_PERIOD, 60), (PERIODS, 25), (QUEUED, 25), (DRAWN, 3), (UNITS, 20)],
    ids=["one-period", "periods", "queued", "drawn", "units"],
)
def test_the_estimate_is_more_than_the_run_and_not_much_more(
    tmp_path: Path, streams: str, within: int
) -> None:
    plan = _plan(streams)
    wanted = room.need(plan.document, "simulation", pcap=True)
    run_one(plan, tmp_path / "run", Options(pcap=True, report=False))
    size = {path.name: path.stat().st_size for path in (tmp_path / "run").iterdir()}
    captures = sum(path.stat().st_size for path in (tmp_path / "run" / "captures").iterdir())
    for what, asked, found in (
        ("observations", wanted.observations, size["observations.parquet"]),
        ("frames", wanted.frames, size["frames.parquet"]),
    ):
        assert found <= asked <= within * found, (what, asked, found)
    assert captures <= wanted.captures <= 1.3 * captures + 10_000
    known = ("observations.parquet", "frames.parquet", "captures")
    assert sum(octets for name, octets in size.items() if name not in known) < wanted.rest


def test_a_link_carries_no_more_than_its_rate() -> None:
    """Two talkers offer 198 Mbit/s to a link of 100 Mbit/s: behind it only the frames that fit count."""
    full = "\n".join(f"  {n}: {{from: {n}, to: c, frame: 1230 B, period: 101 us}}" for n in "ab")
    part = "\n".join(f"  {n}: {{from: {n}, to: c, frame: 1230 B, period: 202 us}}" for n in "ab")
    wanted, half = (room.need(_plan(text).document, "simulation", pcap=False) for text in (full, part))
    # The talkers' taps have twice the frames; taps at the bridge and the listener have the same number.
    assert wanted.observations < 2 * half.observations * 0.8


def test_frames_are_counted_as_talkers_send_them(tmp_path: Path) -> None:
    for streams in (ONE_PERIOD, PERIODS, DRAWN, UNITS):
        plan = _plan(streams, "200 ms")
        run = Simulation().execute(plan, tmp_path / "run")
        for stream, counted in zip(plan.document["streams"], run.counters["streams"], strict=True):
            released = counted["released"]
            assert released <= room.frames(plan.document, stream) * 1.15
            assert room.frames(plan.document, stream) <= released * 1.15 + 2


def _free(monkeypatch: pytest.MonkeyPatch, octets: int) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(octets, 0, octets))


@pytest.mark.parametrize("backend", [Simulation(), VirtualMachine(), Namespaces()])
def test_a_run_that_does_not_fit_is_refused_with_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend
) -> None:
    plan = _plan(DRAWN, "2 h")
    _free(monkeypatch, 123_000_000)
    with pytest.raises(BackendError) as caught:
        plan.run(on=backend, into=tmp_path / "deep" / "run")
    said = str(caught.value)
    assert "this run writes about " in said
    assert "has 123 MB left\nhint: a shorter --duration, fewer taps need less; --into names" in said
    assert not (tmp_path / "deep").exists()


def test_the_old_run_stays_where_the_new_one_does_not_fit(tmp_path: Path, monkeypatch) -> None:
    run_one(_plan(DRAWN, "10 ms"), tmp_path / "run", Options(report=False))
    _free(monkeypatch, 123_000_000)
    with pytest.raises(BackendError, match="this run writes about"):
        run_one(_plan(DRAWN, "2 h"), tmp_path / "run", Options(force=True))
    assert Run.open(tmp_path / "run").state == "complete"


def test_the_run_that_is_replaced_counts_as_room(tmp_path: Path, monkeypatch) -> None:
    plan = _plan(DRAWN, "2 h")
    wanted = room.need(plan.document, "simulation", False).folder
    Simulation().execute(_plan(DRAWN, "10 ms"), tmp_path / "run")
    _free(monkeypatch, wanted - 1000)
    with (tmp_path / "run" / "observations.parquet").open("r+b") as file:
        file.truncate(2000)
    room.refuse_too_large(plan.document, tmp_path / "run", tmp_path, "simulation", False)
    with pytest.raises(BackendError, match="this run writes about"):
        room.refuse_too_large(plan.document, tmp_path / "other", tmp_path, "simulation", False)


def test_files_may_be_limited(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1_000_000, 1_000_000))
    with pytest.raises(BackendError, match=r"files may have 1 MB\nhint: ulimit -f"):
        run_of(_plan(DRAWN, "10 min"), tmp_path)


def test_short_runs_are_not_compared_with_the_free_space(tmp_path: Path, monkeypatch) -> None:
    _free(monkeypatch, 0)
    assert run_of(_plan(DRAWN, "10 ms"), tmp_path).state == "complete"
