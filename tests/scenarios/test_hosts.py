"""Experiments with hosts: arithmetic results agree exactly, other results have the printed shape."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest

from support.papers.engine_printed import TABLE_11, TABLE_13
from support.papers.host_stages import staged
from support.papers.hosts import SEEDS, mean, rank
from support.shipped import MS, planned

US = 1_000
PREAMBLE = 8 * 8


@pytest.mark.parametrize("name", ["papers/engine/ex-etf", "papers/cots/etf-delta"])
def test_a_capture_at_the_sender_sees_delta_only_with_offload(name: str) -> None:
    stream = {"papers/engine/ex-etf": "send-udp", "papers/cots/etf-delta": "udp-tai"}[name]
    means: dict[str, list[float]] = {}
    for way in ("false", "true"):
        for delta in (100, 175, 250, 300):
            delays = staged(name, f"{way} {delta} us").delays(stream, "driver", "rx")
            means.setdefault(way, []).append(mean(delays))
    assert max(means["false"]) - min(means["false"]) < 0.5
    steps = [after - before for before, after in pairwise(means["true"])]
    assert steps == pytest.approx([75, 75, 50], abs=0.2)


def test_with_offload_frames_leave_at_their_transmission_time_whatever_delta_is() -> None:
    for delta in (50, 300):
        run = staged("papers/engine/ex-etf", f"true {delta} us")
        left = run.seen.filter(pl.col("stage") == "tx")["t_ns"] % (100 * US)
        assert set(left.unique()) == {PREAMBLE}


def test_delta_below_the_timers_latency_drops_frames() -> None:
    lost = staged("papers/engine/ex-etf", "true 25 us", 1000 * MS).qdisc("zgw1 -> zgw2")
    kept = staged("papers/engine/ex-etf", "true 175 us", 1000 * MS).qdisc("zgw1 -> zgw2")
    # 61 of 100,000 wake-ups take longer than 30 us.
    assert 1 <= lost["dropped_expired"] <= 25
    assert kept["dropped_expired"] == kept["dropped_late"] == 0


def test_the_profile_has_the_printed_mean_and_maximum_of_cyclictest() -> None:
    run = staged("papers/engine/ex-etf", "true 175 us", 2000 * MS)
    late = run.delays("send-udp", "interval-start", "wakeup")
    assert late.is_empty()  # not tapped, so the Plan's values are used
    (host,) = {
        str(node["host"]["wakeup"]): node["host"]["wakeup"]
        for node in planned("papers/engine/ex-etf", "true 175 us").document["nodes"]
    }.values()
    total = sum(host["counts"])
    average = (
        sum((at + host["width_ns"] / 2) * n for at, n in zip(host["ns"], host["counts"], strict=True)) / total
    )
    assert average == pytest.approx(3_000, rel=1e-4)
    assert host["ns"][-1] + host["width_ns"] < 100 * US


def test_in_strict_mode_every_further_hop_waits_for_the_next_cycle() -> None:
    """Table 11, txtime-delay 450 us: six cycles and delta over seven hops."""
    medians = [
        rank(staged("papers/engine/ex-ts", f"strict 450 us {hops}").delays("flow4", "driver", "rx"), 0.5)
        for hops in range(1, 8)
    ]
    for before, after in pairwise(medians):
        assert after - before == pytest.approx(1_000, abs=1)
    assert medians[6] == pytest.approx(TABLE_11["strict", "450 us", "7"][1], rel=0.005)
    shorter = staged("papers/engine/ex-ts", "strict 200 us 7").delays("flow4", "driver", "rx")
    assert mean(shorter) < medians[6]


def test_windows_that_shift_with_the_path_need_less_than_a_cycle_per_hop() -> None:
    same, shifted = (
        rank(staged(name, variant).delays("flow4", "driver", "rx"), 0.5)
        for name, variant in (
            ("papers/engine/ex-ts", "strict 200 us 7"),
            ("papers/engine/ex-tm", "zgw8 true"),
        )
    )
    assert shifted < 0.6 * same
    offload, plain = (
        mean(staged("papers/engine/ex-tm", f"zgw8 {way}").delays("flow4", "driver", "rx"))
        for way in ("true", "false")
    )
    assert plain < 0.5 * offload


def test_the_use_case_waits_a_cycle_per_hop_in_strict_mode_only() -> None:
    """Table 13: the paths have 2, 4 and 3 hops."""
    for stream, hops in (("f1-adas", 2), ("f2-lidar", 4), ("f3-gps", 3)):
        path = stream[:2].upper()
        strict = staged("papers/engine/ex-uct-f", f"{path} strict", 200 * MS).group(stream, "driver", "rx")
        deadline = staged("papers/engine/ex-uct-f", f"{path} deadline", 200 * MS).group(
            stream, "driver", "rx"
        )
        assert rank(strict, 0.5) == pytest.approx((hops - 1) * 1_000 + 175, rel=0.08)
        assert rank(strict, 0.5) == pytest.approx(TABLE_13["strict", stream][0], rel=0.08)
        assert rank(deadline, 0.5) < 700


def motor(number: int, variant: str, duration: int) -> pl.Series:
    return staged(f"papers/farzaneh/experiment-{number}", variant, duration).delays("motor", "tx", "rx")


FRAME, PROCESSING = (200 + 8) * 8, 2 * US
ALONE = 3 * (FRAME + PROCESSING)
"""From the first switch's ingress to the last one's egress, both at the frame's start."""


def test_under_priorities_alone_latency_grows_with_load_and_with_the_others_priority() -> None:
    loads = ("200 Mbit/s", "400 Mbit/s", "600 Mbit/s", "800 Mbit/s")
    for pcp in (5, 7):
        means = [mean(motor(1, f"{pcp} {load}", 1000 * MS)) for load in loads]
        assert means == sorted(means)
    for load in loads:
        low, high = motor(1, f"5 {load}", 1000 * MS), motor(1, f"7 {load}", 1000 * MS)
        assert low.min() == ALONE == high.min()
        # At each switch the frame waits for at most one frame of lower priority.
        assert rank(low, 1) * US <= ALONE + 3 * (1500 + 20) * 8
        assert rank(high, 1) > rank(low, 1)


def test_without_synchronisation_a_cycle_bounds_the_wait_whatever_the_others_priority() -> None:
    low, high = motor(2, "5", 2000 * MS), motor(2, "7", 2000 * MS)
    assert low.equals(high)
    # The gate is open for 25 us, and during this time no frame waits. Frames reach their windows at any
    # phase.
    assert low.min() == ALONE
    assert 480 <= rank(low, 1) <= 500 + ALONE / US
    assert mean(low) == pytest.approx(242, abs=8)


def test_a_sender_with_44_us_of_delay_waits_for_the_next_window() -> None:
    outliers = 0
    for seed in SEEDS:
        run = staged("papers/farzaneh/experiment-3", "as-measured 27 us", 10_000 * MS, seed)
        slow = len([late for late in run.delays("motor", "interval-start", "wakeup") if late > 40 * US])
        delays = run.delays("motor", "tx", "rx")
        late = delays.filter(delays > 100 * US)
        assert len(delays) == 20_000
        assert len(late) == slow
        assert delays.filter(delays < 100 * US).unique().to_list() == [ALONE]
        # The frame meets the first window; the second gate closes before its last bit.
        assert set(late) <= {500 * US - 17 * US + FRAME + PROCESSING}
        outliers += slow
    # Two outliers are expected in each run.
    assert 2 <= outliers <= 16


def test_both_remedies_remove_the_outliers() -> None:
    early = motor(3, "as-measured 44 us", 10_000 * MS)
    # The frame leaves 17 us early and waits, without its own time to the first queue.
    assert rank(early, 0.5) * US == pytest.approx(ALONE + 17 * US - FRAME - PROCESSING, abs=1)
    assert rank(early, 1) < 100
    assert rank(motor(3, "real-time 27 us", 10_000 * MS), 1) < 100


def test_the_send_time_is_farzanehs_formula() -> None:
    """t_send = alpha * t_cycle + t_offset - Delta, for the first cycle that can still be reached."""
    for delta in (27, 44):
        (stream, *_) = planned("papers/farzaneh/experiment-3", f"as-measured {delta} us").document["streams"]
        assert stream["pattern"]["offset_ns"] == 500 * US - delta * US
        assert stream["socket"]["advance_ns"] == delta * US


def test_the_printed_shapers_of_the_lessons() -> None:
    printed = {
        "ex-c1": {3: [100_000, -900_000, 155, -1125], 2: [100_000, -900_000, 297, -1125]},
        "ex-c2": {3: [100_000, -9_194_196, 17, -1237], 2: [100_000, -9_194_196, 31, -1237]},
    }
    for name, expected in printed.items():
        document = planned(f"papers/cots/{name}", "full-offload").document
        (port,) = (one for one in document["ports"] if one["name"] == "n2 -> n3")
        found = {
            k: list(one["cbs"]["linux"].values()) for k, one in enumerate(port["classes"]) if "cbs" in one
        }
        assert found == expected
        (software,) = (
            one
            for one in planned(f"papers/cots/{name}", "software").document["ports"]
            if one["name"] == "n2 -> n3"
        )
        assert [child["kind"] for child in software["qdisc"]["children"]] == ["pfifo", "pfifo", "cbs", "cbs"]
        assert not any("cbs" in one for one in software["classes"])


def test_shaped_flows_keep_their_target_where_the_numbers_fit_the_rate() -> None:
    for name in ("ex-c1", "ex-c2"):
        for way in ("full-offload", "software"):
            run = staged(f"papers/cots/{name}", way, 200 * MS)
            assert rank(run.delays("f1", "tx", "rx"), 1) < 2_000
            assert rank(run.delays("f2", "tx", "rx"), 1) < 2_000
