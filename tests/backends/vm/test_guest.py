"""Small Plans on a guest's kernel, against the simulator and closed forms.

A hop through the guest takes some 10 us of its processor's time. Functions of the guest's own device (wires,
gates, launch times, stamps) are exact; the kernel's timers are some us late, and sometimes some 40 us.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.guest_runs import Guest, Wanted, wanted
from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.kernel.tsnport import TSNPORT
from tsnbench.backends.vm import VirtualMachine
from tsnbench.errors import UnmeasuredError
from tsnbench.plan.document import Plan
from tsnbench.runs import Run

HOP_US = 12
"""The limit of a hop's delay beyond the delay in the simulator."""
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
WINDOWS = GATES.replace("40 ms", "100 ms").replace("300 Mbit/s", "60 Mbit/s")
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
GIVEN = (
    STAR.replace("RATE", "100 Mbit/s")
    .replace(
        "SHAPER",
        "cbs: {6: {idle-slope: 10 Mbit/s, send-slope: -90 Mbit/s, hi-credit: 153 octets, "
        "lo-credit: -100 octets}}",
    )
    .replace("STREAMS", "loop: {from: controller, to: robot, pcp: 6, period: 150 us, frame: 1050 B}")
)
TOO_FAST = """
name: too-fast
duration: 40 ms
network:
  line: {hops: 1, kind: host, prefix: zgw, rate: 10 Gbit/s, cable: 2 m}
  queues: {classes: 802.1Q/4}
streams:
  burst: {from: first, to: last, pcp: 0, period: 5 us, payload: 100 B}
"""


class WrongTime(VirtualMachine):
    """A backend that configures gate control lists with a start that is 45 us late."""

    def job(self, plan: Plan, environment: Environment | None = None) -> dict[str, bytes]:
        told = super().job(plan, environment)
        late = re.compile(rb"(?<=base-time \$\(\(EPOCH)-?\d+")
        return {
            name: late.sub(lambda found: b"%+d" % (int(found[0]) + 45_000), content)
            for name, content in told.items()
        }

    def collect_results(self, plan: Plan, folder: Path, back: dict[str, bytes], pcap: bool) -> dict[str, Any]:
        """The read-back is switched off: it would report the wrong lists before any frame is looked at."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(TSNPORT), "read_back", lambda *_: None)
            return super().collect_results(plan, folder, back, pcap)


for name, what in {
    "priority": PRIORITY,
    "windows": WINDOWS,
    "wrong-windows": Wanted(WINDOWS, WrongTime()),
    "policed": POLICED,
    "given": GIVEN,
    "dilated": Wanted(GATES, VirtualMachine(10)),
    "too-fast": TOO_FAST,
}.items():
    wanted(name, what)


def _us(run: Run, stream: str, what: str) -> float:
    delays = run.delay(stream).frames["delay_ns"]
    return {
        "min": delays.min,
        "max": delays.max,
        "median": delays.median,
        "most": lambda: delays.quantile(0.95),
    }[what]() / 1e3


def _left(run: Run, stream: str) -> pl.DataFrame:
    """The frames that leave the bridge."""
    seen = run.observations()
    return seen.filter((pl.col("tap") == "switch -> robot tx") & (pl.col("stream") == stream))


def test_strict_priority_waits_for_one_frame_at_most(guest: Guest):
    simulated, real = guest.both("priority")
    assert (
        _us(simulated, "loop", "min") < _us(real, "loop", "min") < _us(simulated, "loop", "min") + 2 * HOP_US
    )
    # One frame of 1534 octets on the wire before it (1542 with preamble), and the delay on idle links.
    assert _us(real, "loop", "most") < 1542 * 0.08 + _us(simulated, "loop", "min") + 2 * HOP_US
    # In a first come first served queue the frame would wait longer: there was a queue to overtake.
    assert _us(real, "loop", "max") > _us(real, "loop", "min") + 50


def test_the_talkers_are_the_simulators(guest: Guest):
    simulated, real = guest.both("priority")
    for stream in ("loop", "files"):
        assert len(real.delay(stream)) == len(simulated.delay(stream))
        assert real.delay(stream).missing == 0
        released = [_left(run, stream)["seq"].to_list() for run in (simulated, real)]
        assert released[0] == released[1]
    assert real.counters["streams"][1]["released"] == simulated.counters["streams"][1]["released"]


def test_frames_on_a_wire_do_not_overlap(guest: Guest):
    """Between the last bits of two frames is at least the time of the later one on the wire, to the ns."""
    real = guest.run("priority")
    seen = real.observations().filter(pl.col("tap") == "switch -> robot rx").sort("t_ns")
    stamps, octets = seen["t_ns"].to_list(), seen["octets"].to_list()
    # With the preamble and the gap before the frame.
    spare = [b - a - (size + 20) * 80 for a, b, size in zip(stamps, stamps[1:], octets[1:], strict=False)]
    assert min(spare) >= -1
    assert sum(gap <= 1 for gap in spare) > 15


def test_a_given_lowest_credit_forgets_what_frames_owe(guest: Guest):
    """1070 octets take 85.6 us. They owe 963 octets; 100 are regained in 80 us, 963 would be in 770.4 us.

    The read-back compares all four numbers with those of the Plan.
    """
    simulated, real = guest.both("given")
    for run, most in ((simulated, 165_600), (real, 165_600 * 1.05)):
        apart = _left(run, "loop")["t_ns"].diff().drop_nulls()
        assert len(apart) > 100
        assert 165_600 <= apart.median() <= most


def _outside(run: Run) -> tuple[int, int]:
    """The number of frames that left the bridge, and how many of them were not wholly in their window."""
    count = outside = 0
    for stream, opens, closes in (("loop", 0, 40_000), ("files", 40_000, 250_000)):
        left = _left(run, stream).select(at=pl.col("t_ns") % 250_000, octets="octets")
        # Stamps are taken behind the preamble of 64 ns.
        begins, ends = left["at"] - 64, left["at"] + left["octets"] * 8
        outside += ((begins < opens) | (ends > closes)).sum()
        count += left.height
    return count, outside


def test_no_frame_leaves_outside_its_window(guest: Guest):
    real = guest.run("windows")
    count, outside = _outside(real)
    assert count > 800
    assert outside == 0
    # The gate opens in time: the frame that waits begins at exactly that ns.
    first = (_left(real, "files")["t_ns"] % 250_000 - 64).min()
    assert first == 40_000


def test_a_list_with_a_wrong_base_time_is_seen(guest: Guest):
    real = guest.run("wrong-windows")
    count, outside = _outside(real)
    assert outside > count / 4


def test_filters_and_stream_gates_drop_what_the_simulators_drop(guest: Guest):
    simulated, real = guest.both("policed")
    for stream in ("loop", "files", "bulk"):
        passed = [sorted(_left(run, stream)["seq"].to_list()) for run in (simulated, real)]
        assert passed[0] == passed[1], stream
    assert len(_left(real, "loop")) == 20
    assert len(_left(real, "bulk")) == 0


def test_a_dilated_run_reports_the_scenarios_time(guest: Guest):
    simulated, real = guest.both("dilated")
    assert real.manifest["dilate"] == 10
    assert real.manifest["backend"] == "vm"
    assert len(real.manifest["guest"]["image_sha256"]) == 64
    for stream in ("loop", "files"):
        later = _us(real, stream, "median") - _us(simulated, stream, "median")
        assert 0 < later < 2 * HOP_US / 10 + 0.5


def test_a_load_that_a_guest_cannot_carry_gives_no_result(guest: Guest):
    ended = guest.ended("too-fast")
    assert isinstance(ended, UnmeasuredError)
    assert re.search(r"busy|late|dropped", str(ended))
    assert Run.open(guest.folder / "too-fast/vm").state == "failed"
