"""Clocks of nodes in the guest: errors that were set are read back; ptp4l and the simulator; lesson L1.

The error of a free-running clock is linear in time: guest and simulator agree to a few ps.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from support.guest_runs import Guest, wanted
from support.planned import document_of
from tsnbench.backends.kernel.tsnport import TSNPORT, clocks, shaping
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.plan.network import Network
from tsnbench.runs import Run

NETWORK = """
name: {name}
duration: {duration}
network:
  stations: [gm, st]
  bridges: [sw]
  links: {{rate: 100 Mbit/s, cable: 10 m, between: [gm -- sw, sw -- st]}}
streams:
  beat: {{from: gm, to: st, pcp: 3, period: 10 ms, offset: 1 ms, payload: 100 B}}
"""
FREE = """
clocks:
  default: {granularity: 8 ns}
  gm: {drift: 112.345678 ppm, offset: 3 us}
  sw: {drift: 20 ppm, granularity: 8 ns}
  st: {drift: 40 ppm, offset: -5 us, changes: [{at: 500 ms, drift: -80 ppm}]}
faults:
  - {clock-step: st, by: -100 us, at: 800 ms}
  - {frequency-jump: sw, by: 5 ppm, at: 300 ms, for: 200 ms}
"""
GPTP = """
clocks:
  default: {granularity: 8 ns, jitter: 4 ns}
  sw: {drift: 20 ppm, granularity: 8 ns, jitter: 4 ns}
  st: {drift: -35 ppm, granularity: 8 ns, jitter: 4 ns}
  gptp: {grandmaster: sw, sync-interval: 1/16 s, pdelay-interval: 1/4 s, pcp: 0}
"""
E2E = """
clocks:
  default: {granularity: 8 ns}
  sw: {drift: 20 ppm, granularity: 8 ns}
  st: {drift: -35 ppm, granularity: 8 ns}
  ptp: {grandmaster: gm, delay: e2e, delay-interval: 1/4 s, sync-interval: 1/8 s}
"""
TRAP = """
shapers:
  sw -> st:
    queues: {classes: {3: 1, 0: 0}}
    gates: {cycle: 500 us, entries: [{open: [3], for: 500 us}]}
"""


def _text(name: str, more: str, duration: str) -> str:
    return NETWORK.format(name=name, duration=duration) + more


for name, more, duration in (("free", FREE, "1 s"), ("trap", GPTP + TRAP, "7 s"), ("e2e", E2E, "7 s")):
    wanted(name, _text(name, more, duration))


def _errors(run: Run) -> pl.DataFrame:
    return run.clock_errors().sort("t_true_ns", "node")


def test_clocks_that_run_free_are_the_simulators_to_the_ps(guest: Guest) -> None:
    simulated, kernel = map(_errors, guest.both("free"))
    for column in ("node", "t_true_ns", "offset_ps"):
        assert simulated[column].to_list() == kernel[column].to_list(), column
    assert kernel["offset_ps"].is_null().all()
    apart = (simulated["error_ps"] - kernel["error_ps"]).abs()
    assert apart.max() <= 5, simulated.with_columns(apart.alias("apart")).filter(apart > 5)
    # By hand: 40 ppm for 0.5 s, then -80 ppm for 0.5 s, an offset of -5 us, and a step of -100 us.
    last = kernel.filter((pl.col("node") == "st") & (pl.col("t_true_ns") == 1_000_000_000))
    assert last["error_ps"].item() == pytest.approx((-5 + 20 - 40 - 100) * 1_000_000, abs=40)


def test_talkers_and_taps_use_their_nodes_clocks(guest: Guest) -> None:
    simulated, kernel = (run.observations() for run in guest.both("free"))
    sent = {}
    for name, table in (("simulated", simulated), ("kernel", kernel)):
        at = table.filter(pl.col("stage") == "tx").sort("seq")
        assert len(at) == 100
        # Frames leave by the talker's own clock; the stamp is taken behind the preamble.
        late = (at["t_ns"] - 1_000_000 - 10_000_000 * at["seq"]).to_list()
        sent[name] = sorted(late)
        assert min(late) >= -8, (name, min(late))
    assert sent["simulated"][-1] < 1_000
    assert sent["kernel"][50] < 20_000
    # The listener's clock is up to 150 us behind: by the stamps, frames arrive before they are sent.
    for run, table in zip(guest.both("free"), (simulated, kernel), strict=True):
        both = table.pivot(on="stage", index="seq", values="t_ns").sort("seq")
        delay = both["rx"] - both["tx"]
        ends = _errors(run).filter(pl.col("t_true_ns") == 990_000_000)
        error = {node: ps / 1000 for node, ps in ends.select("node", "error_ps").iter_rows()}
        assert delay[98] == pytest.approx(error["st"] - error["gm"] + 35_000, abs=20_000)
        assert delay[98] < -100_000


def test_ptp4l_follows_as_the_simulators_servo_does_but_not_without_a_window(guest: Guest) -> None:
    """COTS lessons, L1, in the simulator and with ptp4l: only one port of the bridge has gates."""
    for run in guest.both("trap"):
        table = _errors(run)
        assert table.filter(pl.col("node") == "sw")["offset_ps"].abs().max() == 0
        end = table.filter(pl.col("t_true_ns") == 7_000_000_000)
        error = dict(end.select("node", "offset_ps").iter_rows())
        # st runs free: 55 ppm for 7 s. gm follows the bridge; stamps have a resolution of 8 ns and 4 ns of
        # jitter.
        assert error["st"] == pytest.approx(-385_000_000, abs=1_000)
        assert abs(error["gm"]) < 60_000
        # At the beginning the clock of gm has the error that was set, which the servo has to remove.
        first = table.filter((pl.col("node") == "gm") & (pl.col("t_true_ns") == 100_000_000))
        assert first["offset_ps"].item() == pytest.approx(-2_000_000, abs=1_500_000)
        led = dict(end.select("node", "error_ps").iter_rows())
        assert led["gm"] == pytest.approx(140_000_000, abs=60_000)
    assert "MASTER on INIT_COMPLETE" in (run.folder / "ptp4l-sw.log").read_text(encoding="utf-8")


def test_boundary_clocks_end_to_end(guest: Guest) -> None:
    """Two servos in series: the second one starts anew after the step of the first and has not settled."""
    for run in guest.both("e2e"):
        end = _errors(run).filter(pl.col("t_true_ns") == 7_000_000_000)
        error = dict(end.select("node", "offset_ps").iter_rows())
        assert error["gm"] == 0
        assert abs(error["sw"]) < 500_000
        assert abs(error["st"]) < 3_000_000


def test_what_a_guest_cannot_do_with_clocks_is_named() -> None:
    document = document_of(_text("named", GPTP, "1 s"))
    assert unsupported(document, TSNPORT) == []
    assert unsupported(document, VETH) == ["the plan: clocks"]
    assert "--dilate" in unsupported(document, TSNPORT, dilation=10)[0]

    def told(change: dict[str, Any], gptp: dict[str, Any]) -> str:
        own = {**document["clocks"], **change}
        own["gptp"] = {**own["gptp"], **gptp}
        return "\n".join(clocks.unsupported({**document, "clocks": own}))

    assert "one step" in told({}, {"one_step": True})
    assert "taps" in told({}, {"visible": True})
    assert "elections" in told({}, {"bmca": {"ports": []}})
    assert "transparent" in told({}, {"ieee_1588": {"delay": "end-to-end", "transparent": [2]}})
    assert told({}, {"ieee_1588": {"delay": "end-to-end"}}) == ""
    assert "powers of two" in told({}, {"sync_interval_ns": 100_000_000})
    assert "fails" in told({"faults": [{"kind": "ptp-down", "node": 0, "from_ns": 1, "until_ns": 2}]}, {})
    wandering = [{**one, "wander": {"most_ppt": 1, "every_ns": 1}} for one in document["clocks"]["nodes"]]
    assert told({"nodes": wandering}, {}).count("wander") == 3
    assert "a step" in told(
        {"faults": [{"kind": "clock-step", "node": 0, "at_ns": 1, "by_ns": -1_000_001}]}, {}
    )
    far = [{**one, "offset_ns": 1_000_001} for one in document["clocks"]["nodes"]]
    assert told({"nodes": far}, {}).count("an offset") == 3
    assert "moments" in told({"record_ns": 100}, {})


def test_jumps_of_frequency_add_to_what_an_oscillator_does() -> None:
    document = document_of(_text("paced", FREE, "1 s"))
    told = clocks.files(Network(document), document["clocks"], shaping.profile(document))
    lines = [line for line in told["clock-steps"].decode().splitlines() if "ptp4l" not in line]
    control = "/sys/kernel/debug/tsnport"
    assert lines == [
        f'300000000\techo "error $((EPOCH + 300000000)) 25000100" >{control}/clock-2/commands',
        f'500000000\techo "error $((EPOCH + 500000000)) -80000000" >{control}/clock-1/commands',
        f'500000000\techo "error $((EPOCH + 500000000)) 20000000" >{control}/clock-2/commands',
        f'800000000\techo "step $((EPOCH + 800000000)) -100000" >{control}/clock-1/commands',
    ]
