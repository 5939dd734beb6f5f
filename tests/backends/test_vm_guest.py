"""The same small Plans in the simulator and on a guest's kernel, against each other and closed forms.

A hop through the guest takes some 10 us of its processor; a gate opens up to 4 us late. Now and then the
guest does something else for some 40 us: what is said of all frames here is said of all but a few.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest

from tsnbench import Simulation, load
from tsnbench.backends.vm import VirtualMachine, unavailable
from tsnbench.errors import BackendError
from tsnbench.runs import Run

FOLDER = TemporaryDirectory(prefix="tsnbench-test-")
"""Runs that several tests look at; gone with the process."""
HOP_US = 12
"""What a hop may take beyond the simulator's."""
STAR = """
name: star
duration: 40 ms
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: RATE, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
streams: {STREAMS}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
    SHAPER
taps: [switch -> robot]
"""
PRIORITY = (
    STAR.replace("RATE", "100 Mbit/s")
    .replace("SHAPER", "")
    .replace(
        "STREAMS",
        "loop: {from: controller, to: robot, pcp: 6, period: 1 ms, offset: 100 us, payload: 100 B}, "
        "files: {from: disk, to: robot, pcp: 0, poisson: 80 Mbit/s, payload: 1472 B}",
    )
)
GATES = (
    STAR.replace("RATE", "1 Gbit/s")
    .replace("SHAPER", "gates: {cycle: 250 us, entries: [{open: [6], for: 40 us}, {open: [0], for: 210 us}]}")
    .replace(
        "STREAMS",
        "loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B}, "
        "files: {from: disk, to: robot, pcp: 0, poisson: 300 Mbit/s, payload: 1472 B}",
    )
)
SHAPED = """
name: shaped
duration: 40 ms
network:
  line: {hops: 1, kind: host, prefix: zgw, rate: 100 Mbit/s, cable: 2 m}
  queues: {classes: 802.1Q/4}
streams:
  burst: {from: first, to: last, class: sr/A, period: 8 ms, units: [12000 B]}
shapers:
  all: {cbs: [A]}
"""


@pytest.fixture(scope="module", autouse=True)
def _guests() -> None:
    if why := unavailable():
        pytest.skip(f"no guests here: {why}")


@cache
def _runs(text: str, dilate: int = 1) -> tuple[Run, Run]:
    """In the simulator and in the guest."""
    folder = Path(FOLDER.name) / str(len(list(Path(FOLDER.name).iterdir())))
    folder.mkdir()
    path = folder / "scenario.yaml"
    path.write_text(text)
    plan = load(path).plan()
    return plan.run(on=Simulation(), into=folder / "sim"), plan.run(
        on=VirtualMachine(dilate), into=folder / "vm"
    )


def _us(run: Run, stream: str, what: str) -> float:
    delays = run.delay(stream).frames["delay_ns"]
    return {
        "min": delays.min,
        "max": delays.max,
        "median": delays.median,
        "most": lambda: delays.quantile(0.95),
    }[what]() / 1e3


def _left(run: Run, stream: str) -> pl.DataFrame:
    """When frames leave the bridge."""
    seen = run.observations()
    return seen.filter((pl.col("tap") == "switch -> robot tx") & (pl.col("stream") == stream))


def test_strict_priority_waits_for_one_frame_at_most():
    simulated, real = _runs(PRIORITY)
    assert (
        _us(simulated, "loop", "min") < _us(real, "loop", "min") < _us(simulated, "loop", "min") + 2 * HOP_US
    )
    # 1534 octets on the wire before it, and its own way.
    assert _us(real, "loop", "most") < 1542 * 0.08 + _us(simulated, "loop", "min") + 2 * HOP_US
    # A first come first served queue would be longer: there was something to go past.
    assert _us(real, "loop", "max") > _us(real, "loop", "min") + 50


def test_the_talkers_are_the_simulators():
    simulated, real = _runs(PRIORITY)
    for stream in ("loop", "files"):
        assert len(real.delay(stream)) == len(simulated.delay(stream))
        assert real.delay(stream).missing == 0
        released = [_left(run, stream)["seq"].to_list() for run in (simulated, real)]
        assert released[0] == released[1]
    assert real.counters["streams"][1]["released"] == simulated.counters["streams"][1]["released"]


def test_nothing_overtakes_the_wire():
    """Frames arrive as far apart, last bit to last bit, as the later one takes on the wire.

    A stamp can be late, when the guest does something else, but never early: so a frame had arrived when the
    one behind it, with its time on the wire taken off, says so.
    """
    _, real = _runs(PRIORITY)
    seen = real.observations().filter(pl.col("tap") == "switch -> robot rx").sort("t_ns")
    stamps, octets = seen["t_ns"].to_list(), seen["octets"].to_list()
    wires = [(size + 8) * 80 for size in octets]  # With its preamble.
    arrived = stamps.copy()
    for place in reversed(range(len(stamps) - 1)):
        arrived[place] = min(stamps[place], arrived[place + 1] - wires[place + 1])
    late = sorted(stamp - real for stamp, real in zip(stamps, arrived, strict=True))
    # Without a wire every burst would be stamped closer together than it can be.
    assert late[len(late) // 2] < 1_000
    assert late[len(late) * 95 // 100] < 10_000
    behind = [b - a - wire for a, b, wire in zip(arrived, arrived[1:], wires[1:], strict=False)]
    assert sum(gap < 10_000 for gap in behind) > 15


def test_no_frame_leaves_outside_its_window():
    _, real = _runs(GATES, 10)
    for stream, opens, closes in (("loop", 0, 40_000), ("files", 40_000, 250_000)):
        left = _left(real, stream).select(at=pl.col("t_ns") % 250_000, octets="octets")
        assert left.height > 40
        # Stamps are behind the preamble of 64 ns. Time was stretched by ten: 0.4 us are 4 us of the guest.
        begins = left["at"] - 64
        ends = left["at"] + left["octets"] * 8
        assert begins.min() >= opens
        assert begins.min() < opens + 5000 + (0 if stream == "files" else 5000)
        assert (ends <= closes + 400).mean() > 0.97


def test_a_stretched_run_reports_the_scenarios_time():
    simulated, real = _runs(GATES, 10)
    assert real.manifest["dilate"] == 10
    assert real.manifest["backend"] == "vm"
    assert len(real.manifest["guest"]["image_sha256"]) == 64
    for stream in ("loop", "files"):
        later = _us(real, stream, "median") - _us(simulated, stream, "median")
        assert 0 < later < 2 * HOP_US / 10 + 0.5


def test_shaped_frames_are_spaced_by_the_idle_slope():
    _, real = _runs(SHAPED)
    port = next(port for port in real.plan.document["ports"] if port["name"] == "zgw1 -> zgw2")
    slope = next(own["cbs"]["idle_slope_bps"] for own in port["classes"] if own.get("cbs"))
    seen = real.observations().filter(pl.col("tap") == "zgw1 -> zgw2 tx").sort("seq")
    rows = list(seen.select("t_ns", "octets", "seq").iter_rows())
    whole = max(octets for _, octets, _ in rows)
    # Within a burst: each frame waits until the one before it has paid.
    gaps = [
        after[0] - before[0]
        for before, after in pairwise(rows)
        if before[1] == whole and after[0] - before[0] < 2 * (whole + 20) * 8e9 / slope
    ]
    assert len(gaps) > 15
    ideal = (whole + 20) * 8e9 / slope
    assert sum(gaps) / len(gaps) == pytest.approx(ideal, rel=0.02)


def test_what_a_guest_cannot_keep_up_with_is_no_result(tmp_path):
    text = SHAPED.replace("100 Mbit/s", "10 Gbit/s").replace("all: {cbs: [A]}", "{}")
    path = tmp_path / "scenario.yaml"
    path.write_text(
        text.replace("class: sr/A, period: 8 ms, units: [12000 B]", "period: 5 us, payload: 100 B")
    )
    plan = load(path).plan()
    with pytest.raises(BackendError, match=r"busy|late|dropped"):
        plan.run(on=VirtualMachine(), into=tmp_path / "vm")
    assert Run.open(tmp_path / "vm").state == "failed"
