"""`delta` of etf and `txtime-delay` of taprio by hand. tc-etf(8), tc-taprio(8)."""

from __future__ import annotations

from typing import Any

import pytest

from support.planned import document_of, port_of
from tsnbench.planning.topology.host_delays import chosen, quantile
from tsnbench.scenario import model

BINS = model.Histogram(values=(1_000, 2_000, 5_000), counts=(90, 9, 1), width=500)


@pytest.mark.parametrize(
    ("latency", "above", "ns"),
    [
        (None, 0, 0),
        (model.Constant(ns=700), 999_999, 700),
        (model.Uniform(low=1_000, high=3_000), 0, 3_000),
        (model.Uniform(low=1_000, high=3_000), 250_000, 2_500),
        (model.Uniform(low=1_000, high=3_000), 1_000_000, 1_000),
        # One of 100 values is in the last bin, nine are in the one before it.
        (BINS, 0, 5_500), (BINS, 9_999, 5_500), (BINS, 10_000, 2_500), (BINS, 99_999, 2_500),
        (BINS, 100_000, 1_500), (BINS, 999_999, 1_500), (BINS, 1_000_000, 1_000),
    ],
)  # fmt: skip
def test_a_quantile_leaves_no_larger_share_above_it(latency: Any, above: int, ns: int) -> None:
    assert quantile(latency, above) == ns


def test_delta_is_the_timer_and_what_is_behind_it() -> None:
    latencies = {
        "wakeup": model.Constant(ns=90_000), "timer": model.Uniform(low=0, high=4_000),
        "driver": model.Uniform(low=0, high=1_200), "tx": model.Constant(ns=301),
    }  # fmt: skip
    assert (chosen(latencies, 0).timer, chosen(latencies, 0).behind) == (4_000, 1_501)
    assert chosen(latencies, 0).delta == 6_000
    # Half of the frames may be lost: they are late by their timer, not by the driver.
    assert (chosen(latencies, 500_000).timer, chosen(latencies, 500_000).behind) == (2_000, 1_501)
    assert chosen(latencies, 500_000).delta == 4_000
    del latencies["timer"]
    assert chosen(latencies, 0).timer == 90_000
    assert chosen({}, 0).delta == 0
    assert chosen({"timer": model.Constant(ns=5_000)}, 0).delta == 5_000
    # Behind the timer no frame may be too late: of 2 ms, one part in a million were 2 ns.
    assert chosen({"driver": model.Uniform(low=0, high=2_000_000)}, 500_000).behind == 2_000_000


HOST = """\
name: delta
duration: 1 ms
network:
  hosts: [h]
  stations: [b]
  bridges: {sw: {}}
  links: {rate: 1 Gbit/s, between: [h -- sw, sw -- b]}
hosts: {h: {timer: {from: 0 us, to: 10 us}, driver: 700 ns}}
streams:
  one: {from: h, to: b, pcp: 3, period: 1 ms, frame: 100 B, send: {txtime: true}, requires: {loss: 20 %}}
  two: {from: h, to: b, pcp: 3, period: 1 ms, frame: 100 B, send: {txtime: true}, requires: {loss: SECOND}}
  other: {from: h, to: b, pcp: 2, period: 1 ms, frame: 100 B, requires: {loss: 0}}
  back: {from: b, to: h, pcp: 3, period: 1 ms, frame: 100 B, requires: {loss: 0}}
shapers:
  h -> sw: {qdisc: {QDISC}}
"""


def qdisc(second: str, settings: str) -> Any:
    text = HOST.replace("SECOND", second).replace("QDISC", settings)
    return port_of(document_of(text), "h -> sw")["qdisc"]


@pytest.mark.parametrize(("second", "delta"), [("30 %", 9_000), ("10 %", 10_000), ("0", 11_000)])
def test_the_least_loss_that_a_class_may_have_counts(second: str, delta: int) -> None:
    """8 us, 9 us and 10 us of the timer, and 0.7 us of the driver; streams of others do not count."""
    (child,) = (one for one in qdisc(second, "etf: {3: {delta: plan}}")["children"] if one["kind"] == "etf")
    assert child["delta_ns"] == delta


def test_a_class_without_streams_may_lose_nothing() -> None:
    (child,) = (one for one in qdisc("0", "etf: {5: {delta: plan}}")["children"] if one["kind"] == "etf")
    assert child["delta_ns"] == 11_000


@pytest.mark.parametrize("pcp", [3, 5])
def test_without_a_loss_that_is_allowed_the_slowest_timer_counts(pcp: int) -> None:
    """Of 1000001 ns one part in a million is 1 ns; without it 1000 us were enough. PCP 5 has no stream."""
    text = HOST.replace("to: 10 us}, driver: 700 ns", "to: 1000001 ns}").replace("SECOND", "20 %")
    text = text.replace(", requires: {loss: 20 %}", "")
    text = text.replace("QDISC", f"etf: {{{pcp}: {{delta: plan, skip-sock-check: true}}}}")
    found = port_of(document_of(text), "h -> sw")["qdisc"]
    assert [child["delta_ns"] for child in found["children"] if child["kind"] == "etf"] == [1_001_000]


@pytest.mark.parametrize(
    ("settings", "ns"),
    [
        (
            "taprio: txtime-assist, txtime-delay: plan, etf: {3: {delta: 12345 ns, skip-sock-check: true}}",
            13_000,
        ),
        (
            "taprio: txtime-assist, txtime-delay: plan, etf: {3: {delta: 12 us, skip-sock-check: true}}",
            13_000,
        ),
        # Without etf there is no delta; a delay that is written stays.
        ("taprio: txtime-assist, txtime-delay: plan", 1_000),
        (
            "taprio: txtime-assist, txtime-delay: 40 us, etf: {3: {delta: 12 us, skip-sock-check: true}}",
            40_000,
        ),
    ],
)
def test_the_delay_of_taprio_is_longer_than_delta(settings: str, ns: int) -> None:
    text = (
        HOST.replace("SECOND", "0")
        .replace("QDISC", settings)
        .replace("h -> sw: {", "h -> sw: {gates: {entries: [{open: all, for: 1 ms}]}, ")
    )
    found = port_of(document_of(text), "h -> sw")["qdisc"]
    assert found["taprio"]["txtime_delay_ns"] == ns


def test_a_frame_that_changes_its_priority_on_the_way_counts_where_it_waits() -> None:
    """From p with PCP 6, and from h on with 3: it may not be lost, so the slowest timer counts for 3."""
    text = HOST.replace("stations: [b]", "stations: [b, p]").replace("h -- sw,", "h -- sw, p -- h,")
    text = text.replace("QDISC", "etf: {3: {delta: plan, skip-sock-check: true}}").replace("SECOND", "30 %")
    text = text.replace(
        "  back:",
        "  through: {from: p, to: b, pcp: 6, period: 1 ms, frame: 90 B, requires: {loss: 0}}\n  back:",
    )
    deltas = []
    for more in ("", "policing:\n  - {at: p -> h, regenerate: {6: 3}}\n"):
        found = port_of(document_of(text + more), "h -> sw")["qdisc"]
        deltas += [one["delta_ns"] for one in found["children"] if one["kind"] == "etf"]
    assert deltas == [9_000, 11_000]
