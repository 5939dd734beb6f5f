"""The same small Plans in the simulator and on a guest's kernel, against each other and closed forms.

A hop through the guest takes some 10 us of its processor. What its own device does (wires, gates, launch
times, stamps) is exact; what the kernel's timers do is some us late, and now and then some 40 us.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest

from tsnbench import Simulation, load
from tsnbench.backends.kernel import ports
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
WINDOWS = GATES.replace("40 ms", "700 ms").replace("300 Mbit/s", "60 Mbit/s")
POLICED = (
    STAR.replace("RATE", "100 Mbit/s")
    .replace("SHAPER", "")
    .replace(
        "STREAMS",
        "loop: {from: controller, to: robot, pcp: 6, period: 1 ms, offset: 500 us, payload: 100 B}, "
        "files: {from: disk, to: robot, pcp: 0, period: 300 us, payload: 1000 B}, "
        "bulk: {from: disk, to: robot, pcp: 1, period: 400 us, payload: 900 B}",
    )
    + """
policing:
  - at: controller -> switch
    streams: [loop]
    gate: {cycle: 2 ms, entries: [{for: 1 ms}, {open: false, for: 1 ms}]}
  - {at: disk -> switch, streams: [bulk], max-sdu: 500 B}
"""
)
HOST = """
name: host
duration: 100 ms
network:
  hosts: [zgw1, zgw2]
  links: {rate: 1 Gbit/s, between: [zgw1 -- zgw2]}
  queues: {classes: {3: 3, 2: 2, 1: 1, 0: 0}}
hosts: {default: low-latency}
streams:
  class-a: {from: zgw1, to: zgw2, class: sr/A, payload: 256 B, period: 110 us}
  other: {from: zgw1, to: zgw2, pcp: 0, payload: 1000 B, period: 130 us}
shapers:
  zgw1 -> zgw2:
    qdisc: QDISC
    gates: {entries: [{open: [3], for: 300 us}, {open: [2], for: 300 us}, {open: [1, 0], for: 400 us}]}
"""
ETF = "{A: {delta: 175 us, offload: true, skip-sock-check: true}}"
ASSISTED = f"{{taprio: txtime-assist, txtime-delay: 300 us, etf: {ETF}}}"
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
    """Frames arrive as far apart, last bit to last bit, as the later one takes on the wire, to the ns."""
    _, real = _runs(PRIORITY)
    seen = real.observations().filter(pl.col("tap") == "switch -> robot rx").sort("t_ns")
    stamps, octets = seen["t_ns"].to_list(), seen["octets"].to_list()
    # With its preamble and the gap before it.
    spare = [b - a - (size + 20) * 80 for a, b, size in zip(stamps, stamps[1:], octets[1:], strict=False)]
    assert min(spare) >= -1
    assert sum(gap <= 1 for gap in spare) > 15


def _outside(run: Run) -> tuple[int, int]:
    """Of so many frames that left the bridge how many were not wholly in their window."""
    count = outside = 0
    for stream, opens, closes in (("loop", 0, 40_000), ("files", 40_000, 250_000)):
        left = _left(run, stream).select(at=pl.col("t_ns") % 250_000, octets="octets")
        # Stamps are behind the preamble of 64 ns.
        begins, ends = left["at"] - 64, left["at"] + left["octets"] * 8
        outside += ((begins < opens) | (ends > closes)).sum()
        count += left.height
    return count, outside


def test_no_frame_leaves_outside_its_window():
    _, real = _runs(WINDOWS)
    count, outside = _outside(real)
    assert count > 6_000
    assert outside == 0
    # A gate opens when it should: whatever had waited begins at that very ns.
    first = (_left(real, "files")["t_ns"] % 250_000 - 64).min()
    assert first == 40_000


def test_a_list_with_a_wrong_base_time_is_seen(monkeypatch):
    began = ports._began
    monkeypatch.setattr(
        ports, "_began", lambda gates: {**began(gates), "base_time_ns": began(gates)["base_time_ns"] + 45_000}
    )
    # Another name: not the run of the test before.
    _, real = _runs(WINDOWS.replace("name: star", "name: wrong").replace("700 ms", "40 ms"))
    count, outside = _outside(real)
    assert outside > count / 4


def test_filters_and_stream_gates_drop_what_the_simulators_drop():
    simulated, real = _runs(POLICED)
    for stream in ("loop", "files", "bulk"):
        passed = [sorted(_left(run, stream)["seq"].to_list()) for run in (simulated, real)]
        assert passed[0] == passed[1], stream
    assert len(_left(real, "loop")) == 20
    assert len(_left(real, "bulk")) == 0


def _windows(run: Run, stream: str) -> pl.Series:
    seen = run.observations().filter((pl.col("tap") == "zgw1 -> zgw2 tx") & (pl.col("stream") == stream))
    return seen["t_ns"] % 1_000_000 - 64


def test_taprio_in_software_opens_its_gates_some_microseconds_late():
    _, real = _runs(HOST.replace("QDISC", "{taprio: software}"))
    for stream, opens, closes in (("class-a", 0, 300_000), ("other", 600_000, 1_000_000)):
        begins = _windows(real, stream)
        assert len(begins) > 700
        assert opens + 1_000 < begins.min() < opens + 12_000
        # The kernel hands frames over while their gate is open; one or two may wait for the wire.
        assert ((opens <= begins) & (begins < closes)).all()


def test_launch_times_are_kept_to_the_nanosecond():
    simulated, real = _runs(HOST.replace("QDISC", ASSISTED))
    begins = _windows(real, "class-a")
    assert len(begins) == len(_windows(simulated, "class-a"))
    assert begins.min() == 0
    assert (begins < 300_000).all()
    # One behind the other from the opening on.
    assert (begins == (302 + 4 + 20) * 8).sum() > 10


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
