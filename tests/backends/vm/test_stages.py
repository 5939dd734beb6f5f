"""Stages of hosts and saturating talkers on a guest's kernel."""

from __future__ import annotations

import polars as pl

from support.guest_runs import Guest, wanted

SCENARIO = """
name: stages
duration: 40 ms
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: 100 Mbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
hosts: {controller: low-latency, robot: low-latency}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, payload: 100 B, send: {advance: 100 us}}
  files: {from: disk, to: robot, pcp: 0, saturating: true, payload: 1472 B}
shapers: {switch -> robot: {queues: {classes: {6: 1, 0: 0}}}}
taps: {stages: [interval-start, wakeup, send, qdisc, driver, kernel-rx, app-rx]}
"""
STAGES = wanted("stages", SCENARIO)
WAY = ("interval-start", "wakeup", "send", "qdisc", "driver", "rx", "kernel-rx", "app-rx")


def test_every_stage_is_stamped_in_its_order_beside_a_saturating_talker(guest: Guest):
    run = guest.run(STAGES)
    loop = run.observations().filter(pl.col("stream") == "loop")
    by_stage = {
        stage: dict(loop.filter(pl.col("stage") == stage).select("seq", "t_ns").iter_rows()) for stage in WAY
    }
    assert all(len(by_stage[stage]) == 40 for stage in WAY), {w: len(by_stage[w]) for w in WAY}
    for seq in range(40):
        stamps = [by_stage[stage][seq] for stage in WAY]
        # The interval begins when the Plan says: one advance before the frame's launch time.
        assert stamps[0] % 1_000_000 == 900_000
        assert stamps == sorted(stamps), seq
    # The link is almost never idle, and its queue drops nothing: 1534 octets take 122.72 us.
    files = run.observations().filter((pl.col("stream") == "files") & (pl.col("stage") == "tx"))
    gaps = files.sort("t_ns")["t_ns"].diff().drop_nulls()
    assert 122_000 < gaps.median() < 124_000
    assert gaps.mean() < 1.05 * 122_720
    counted = next(one for one in run.counters["streams"] if one["name"] == "files")
    assert counted["dropped_at_talker"] <= 6
