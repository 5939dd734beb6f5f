"""Synthetic run folders in the format of real ones: known frames give known text."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl


@dataclass
class Stream:
    """One scenario stream; ``path`` has its nodes from talker to listener."""

    name: str
    path: tuple[str, ...]
    pcp: int
    octets: int
    period_ns: int
    flows: int = 1
    delay_limit_ns: int | None = None
    jitter_limit_ns: int | None = None
    loss: float = 0.0
    tail_ns: float = 3_000.0


@dataclass
class Case:
    """One synthetic run."""

    name: str
    links: list[tuple[str, str]]
    streams: list[Stream]
    duration_ns: int = 200_000_000
    seed: int = 7
    kinds: dict[str, str] = field(default_factory=dict)
    gates: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By port, the entries of its gate control list: mask and ns."""
    cbs: dict[str, dict[int, int]] = field(default_factory=dict)
    """By port and class, the idle slope in bit/s."""
    variant: dict[str, str] = field(default_factory=dict)
    state: str = "complete"


RATE = 1_000_000_000


def in_vehicle() -> Case:
    """EnGINE's exemplary use case: Table 7 over the mesh of Fig. 21."""
    links = [
        ("zgw1", "zgw2"), ("zgw1", "zgw6"), ("zgw6", "zgw5"), ("zgw6", "zgw2"), ("zgw2", "zgw3"),
        ("zgw5", "zgw3"), ("zgw5", "zgw4"), ("zgw3", "zgw4"), ("zgw3", "vcc1"), ("zgw4", "vcc1"),
    ]  # fmt: skip
    one = ("zgw5", "zgw3", "vcc1")
    two = ("zgw1", "zgw6", "zgw5", "zgw4", "vcc1")
    three = ("zgw1", "zgw2", "zgw3", "vcc1")
    a: dict[str, Any] = {"pcp": 3, "delay_limit_ns": 2_000_000, "jitter_limit_ns": 125_000}
    b: dict[str, Any] = {"pcp": 2, "delay_limit_ns": 10_000_000, "jitter_limit_ns": 1_000_000}
    return Case(
        "ex-ucc",
        links,
        [
            Stream("f1-cc", one, octets=1004, period_ns=1_000_000, flows=6, **a),
            Stream("f1-adas", one, octets=1480, period_ns=600_000, flows=2, **a),
            Stream("f2-lidar", two, octets=1480, period_ns=2_500_000, flows=3, tail_ns=15_000, **a),
            Stream("f2-radar", two, octets=1230, period_ns=2_500_000, flows=3, tail_ns=60_000, **a),
            Stream("f3-radar", three, octets=1230, period_ns=2_500_000, flows=3, **b),
            Stream("f3-us", three, octets=492, period_ns=20_000_000, flows=3, **b),
            Stream("f3-gps", three, octets=236, period_ns=10_000_000, **b),
            Stream("f1-be", one, 1, 1230, 100_000),
            Stream("f2-be", two, 1, 1230, 100_000, loss=0.01),
            Stream("f3-be", three, 1, 1230, 100_000),
            Stream("f4-be", ("zgw6", "zgw2", "zgw3", "vcc1"), 0, 1230, 100_000, tail_ns=40_000),
            Stream("f5-be", ("zgw5", "zgw3", "vcc1"), 0, 1230, 100_000, loss=0.03, tail_ns=40_000),
        ],
        kinds={node: "host" for pair in links for node in pair},
        cbs={
            "zgw3 -> vcc1": {3: 89_152_000, 2: 12_820_000},
            "zgw1 -> zgw2": {2: 12_820_000},
            "zgw5 -> zgw3": {3: 89_152_000},
            "zgw4 -> vcc1": {3: 26_400_000},
        },
    )


def star() -> Case:
    """A star of FlexTest: a gated port, and cross traffic with the load of a second link."""
    links = [("node0", "dut"), ("node1", "dut"), ("node2", "dut"), ("node3", "dut"), ("node4", "dut")]
    kinds = {"dut": "bridge"} | {f"node{n}": "station" for n in range(5)}
    cycle = [(0b1000000, 45_000), (0b1100000, 45_000), (0b0010000, 45_000), (0b0001111, 45_000)]
    return Case(
        "theta-through-one-bridge",
        links,
        [
            Stream("theta-high", ("node1", "dut", "node0"), 6, 1518, 200_000, delay_limit_ns=100_000),
            Stream("theta-low", ("node3", "dut", "node0"), 4, 1518, 500_000, delay_limit_ns=30_000),
            Stream("cross", ("node4", "dut", "node0"), 0, 1518, 30_000, loss=0.2, tail_ns=200_000),
        ],
        kinds=kinds,
        gates={"dut -> node0": cycle},
    )


def line(hops: int) -> Case:
    """A line of ``hops`` links with two SR class A flows and best effort."""
    nodes = tuple(f"zgw{n}" for n in range(hops + 1))
    return Case(
        "ex-cm2",
        list(pairwise(nodes)),
        [
            Stream("class-a", nodes, 3, 1230, 100_000, 1, 700_000, 25_000, tail_ns=2_000.0 * hops),
            Stream("class-b", nodes, 2, 1230, 100_000, 1, 10_000_000, 1_000_000, tail_ns=3_000.0 * hops),
            Stream("be-1", nodes, 0, 1518, 20_000, tail_ns=40_000.0 * hops),
        ],
        duration_ns=50_000_000,
        kinds=dict.fromkeys(nodes, "host"),
        variant={"hops": str(hops)},
    )


def write(case: Case, folder: Path) -> Path:
    """Make the run folder of a case."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = _plan(case)
    flows = [(stream, f"{stream.name}.{n + 1}" if stream.flows > 1 else stream.name)
             for stream in case.streams for n in range(stream.flows)]  # fmt: skip
    rng = np.random.default_rng(case.seed)
    frames, sightings, paths, tables = [], [], [], []
    for number, (stream, name) in enumerate(flows):
        table, sent, seen = _frames(case, stream, number, rng)
        tables.append(table)
        frames.append(sent)
        sightings += _sightings(plan, stream, number, seen)
        paths.append(_path(plan, stream, name, table, case.duration_ns))
    groups = []
    for stream in case.streams:
        members = [table for table, (own, _) in zip(tables, flows, strict=True) if own is stream]
        pooled = _path(plan, stream, stream.name, _pool(members), case.duration_ns, members)
        groups.append({**pooled, "flows": stream.flows})
    key = [{"stream": path["stream"], "group": path["group"], "listener": path["listener"]} for path in paths]
    pl.concat(frames).write_parquet(folder / "frames.parquet", metadata={"tsnbench.paths": json.dumps(key)})
    legend = {
        "taps": [{"name": t["name"], "node": "", "stage": t["stage"], "clock": "true", "point": t["point"]}
                 for t in plan["taps"]],
        "streams": [{"name": name, "group": stream.name} for stream, name in flows],
    }  # fmt: skip
    pl.concat(sightings).sort("t_ns").write_parquet(
        folder / "observations.parquet", metadata={"tsnbench.legend": json.dumps(legend)}
    )
    measures = {
        "format": "tsnbench-measures/1",
        "source": {},
        "offset": None,
        "paths": paths,
        "groups": groups,
    }
    _json(folder / "plan.json", plan)
    _json(folder / "measures.json", measures)
    _json(folder / "verdict.json", _verdict(case, paths, flows))
    _json(folder / "counters.json", _counters(case, plan, paths))
    _json(folder / "manifest.json", _manifest(case, plan))
    return folder


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1))


def _plan(case: Case) -> dict[str, Any]:
    names = list(dict.fromkeys(node for link in case.links for node in link))
    ports: list[dict[str, Any]] = []
    for a, b in case.links:
        for one, other, peer in ((a, b, len(ports) + 1), (b, a, len(ports))):
            name = f"{one} -> {other}"
            slopes = case.cbs.get(name, {})
            classes = [
                {"cbs": {"idle_slope_bps": slopes[n], "send_slope_bps": slopes[n] - RATE, "hi_credit_bits": 1,
                         "lo_credit_bits": -1, "linux": {}}} if n in slopes else {}
                for n in range(8)
            ]  # fmt: skip
            port = {"name": name, "node": names.index(one), "peer": peer, "mac": "02:00:00:00:00:01",
                    "rate_bps": RATE, "propagation_ps": 5_000, "pcp_to_class": list(range(8)),
                    "classes": classes}  # fmt: skip
            if name in case.gates:
                entries = [{"open": mask, "interval_ns": ns} for mask, ns in case.gates[name]]
                port["gates"] = {"base_time_ns": 0, "cycle_ns": sum(e["interval_ns"] for e in entries),
                                 "entries": entries}  # fmt: skip
            ports.append(port)
    index = {port["name"]: number for number, port in enumerate(ports)}
    streams, taps = [], {}
    for stream in case.streams:
        hops = [index[f"{a} -> {b}"] for a, b in zip(stream.path, stream.path[1:], strict=False)]
        first, last = ports[hops[0]]["name"], ports[hops[-1]]["name"]
        taps[f"{first} tx"] = {"name": f"{first} tx", "port": hops[0], "stage": "tx", "point": "start",
                               "granularity_ns": 1}  # fmt: skip
        taps[f"{last} rx"] = {"name": f"{last} rx", "port": ports[hops[-1]]["peer"], "stage": "rx",
                              "point": "end", "granularity_ns": 1}  # fmt: skip
        route = [{"port": hop, **({"parent": n - 1} if n else {})} for n, hop in enumerate(hops)]
        for n in range(stream.flows):
            streams.append({
                "name": f"{stream.name}.{n + 1}" if stream.flows > 1 else stream.name, "group": stream.name,
                "talker": names.index(stream.path[0]), "pcp": stream.pcp, "vid": 100, "route": route,
                "listeners": [{"node": names.index(stream.path[-1]), "route": len(route) - 1}],
            })  # fmt: skip
    plan: dict[str, Any] = {
        "format": "tsnbench-plan/1", "name": case.name, "variant": case.variant, "seed": case.seed,
        "duration_ns": case.duration_ns, "drain_ns": 100_000_000,
        "nodes": [{"name": n, "kind": case.kinds.get(n, "host"), "processing_ns": 0, "ipv4": ""}
                  for n in names],
        "ports": ports, "streams": streams, "taps": list(taps.values()),
    }  # fmt: skip
    plan["hash"] = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()
    return plan


def _frames(case: Case, stream: Stream, number: int, rng: Any) -> tuple[dict[str, Any], Any, Any]:
    n = max(2, case.duration_ns // stream.period_ns)
    wire = (stream.octets + 20) * 8
    hops = len(stream.path) - 1
    tx = np.arange(n, dtype=np.int64) * stream.period_ns + rng.integers(0, stream.period_ns // 4)
    delay = np.full(n, hops * (wire + 5), dtype=np.int64) + rng.exponential(stream.tail_ns, n).astype(
        np.int64
    )
    if case.gates:
        masks = next(iter(case.gates.values()))
        cycle = sum(ns for _, ns in masks)
        start = 0
        for mask, ns in masks:
            if mask >> stream.pcp & 1:
                break
            start += ns
        # The frame begins when its gate opens, or directly behind the frame before it.
        begin = tx + wire + 64
        begin += (start - begin % cycle) % cycle + rng.integers(0, 3, n) * (wire + 160)
        delay = begin + wire + 5 - tx - 96
    lost = rng.random(n) < stream.loss
    seen = pl.DataFrame(
        {"path": np.full(n, number, dtype=np.uint32), "seq": np.arange(n, dtype=np.uint64), "t_tx_ns": tx,
         "t_rx_ns": pl.Series(tx + delay), "delay_ns": pl.Series(delay),
         "octets": np.full(n, stream.octets, dtype=np.uint32)}
    )  # fmt: skip
    gone = pl.Series("lost", lost)
    table = seen.with_columns(
        pl.when(~gone).then(pl.col(name)).otherwise(None).alias(name) for name in ("t_rx_ns", "delay_ns")
    )
    kept = delay[~lost]
    facts = {
        "delay": kept,
        "seq": np.arange(n)[~lost],
        "sent": n,
        "rx": (tx + delay)[~lost],
        "stream": stream,
    }
    return facts, table, table


def _pool(members: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "delay": np.concatenate([m["delay"] for m in members]),
        "seq": np.concatenate([m["seq"] for m in members]),
        "sent": sum(m["sent"] for m in members),
        "rx": members[0]["rx"],
        "stream": members[0]["stream"],
    }


def _stat(values: Any, seq: Any) -> dict[str, Any] | None:
    if not len(values):
        return None
    ordered = np.sort(values)
    n = len(ordered)

    def rank(p: float) -> int:
        return int(ordered[max(0, math.ceil(p * n) - 1)])

    return {
        "count": n, "min": int(ordered[0]), "min_seq": int(seq[values.argmin()]), "max": int(ordered[-1]),
        "max_seq": int(seq[values.argmax()]), "sum": int(values.sum()), "mean": float(values.mean()),
        "std": float(values.std()), "median": rank(0.5), "p90": rank(0.9), "p99": rank(0.99),
        "p99_9": rank(0.999),
    }  # fmt: skip


def _path(
    plan: dict[str, Any], stream: Stream, name: str, facts: dict[str, Any], duration: int, members: Any = None
) -> dict[str, Any]:
    delay = facts["delay"]
    steps = np.concatenate([np.diff(m["delay"]) for m in members or [facts]])
    lost = facts["sent"] - len(delay)
    first, last = f"{stream.path[0]} -> {stream.path[1]} tx", f"{stream.path[-2]} -> {stream.path[-1]} rx"
    return {
        "stream": name, "group": stream.name, "listener": stream.path[-1], "tx_tap": first, "rx_tap": last,
        "tx_clock": "true", "rx_clock": "true",
        "count": {"never_sent": 0, "sent": facts["sent"], "received": len(delay), "lost": lost, "late": 0,
                  "duplicate": 0, "reordered": 0, "unmatched_rx": 0, "missing_timestamp": 0},
        "lost_where": [{"after_tap": first, "frames": lost}] if lost else [],
        "delay": _stat(delay, facts["seq"]),
        "jitter": {"delay-step": _stat(steps, np.arange(1, len(steps) + 1)),
                   "delay-step-abs": _stat(np.abs(steps), np.arange(1, len(steps) + 1)),
                   "deviation": _stat(np.abs(delay - round(float(delay.mean()))), facts["seq"]),
                   "interval": _stat(np.abs(np.diff(facts["rx"]) - stream.period_ns), facts["seq"][1:])},
        "spread": float(delay.std()), "period_ns": stream.period_ns,
        "rate": {"sent_bps": facts["sent"] * stream.octets * 8e9 / duration,
                 "received_bps": len(delay) * stream.octets * 8e9 / duration},
        "send_to_tx": None,
    }  # fmt: skip


def _sightings(plan: dict[str, Any], stream: Stream, number: int, seen: Any) -> list[Any]:
    taps = [tap["name"] for tap in plan["taps"]]
    first, last = f"{stream.path[0]} -> {stream.path[1]} tx", f"{stream.path[-2]} -> {stream.path[-1]} rx"
    return [
        seen.filter(pl.col(column).is_not_null()).select(
            pl.lit(taps.index(tap), pl.UInt16).alias("tap"),
            pl.lit(number, pl.UInt32).alias("stream"),
            pl.col("seq"),
            pl.lit(0, pl.UInt8).alias("copy"),
            pl.col(column).alias("t_ns"),
            pl.col("octets"),
            pl.lit(stream.pcp, pl.UInt8).alias("pcp"),
            pl.lit(100, pl.UInt16).alias("vid"),
        )
        for tap, column in ((first, "t_tx_ns"), (last, "t_rx_ns"))
    ]


def _verdict(case: Case, paths: list[dict[str, Any]], flows: list[tuple[Stream, str]]) -> dict[str, Any]:
    rows = []
    for path, (stream, name) in zip(paths, flows, strict=True):
        for requirement, limit, stat in (
            ("delay", stream.delay_limit_ns, path["delay"]),
            ("jitter delay-step-abs", stream.jitter_limit_ns, path["jitter"]["delay-step-abs"]),
        ):
            if limit is None:
                continue
            soft = stat["mean"] <= limit and stat["median"] <= limit
            met = "yes" if stat["max"] <= limit else "mean-and-median" if soft else "no"
            rows.append({"stream": name, "group": stream.name, "listener": path["listener"],
                         "requirement": requirement, "limit": limit, "limit_unit": "ns", "found": stat["max"],
                         "margin": limit - stat["max"], "worst_seq": stat["max_seq"],
                         "met": met})  # fmt: skip
    return {"format": "tsnbench-verdict/1", "met": all(row["met"] == "yes" for row in rows), "rows": rows}


def _counters(case: Case, plan: dict[str, Any], paths: list[dict[str, Any]]) -> dict[str, Any]:
    ports = [
        {"port": port["name"], "dropped_faults": 0, "classes": [
            {"class": n, "enqueued_frames": 0, "enqueued_octets": 0, "dropped_frames": 0, "dropped_octets": 0,
             "sent_frames": 0, "sent_octets": 0, "most_frames": 3, "most_octets": 4000} for n in range(8)]}
        for port in plan["ports"]
    ]  # fmt: skip
    by_name = {path["stream"]: path for path in paths}
    sizes = {stream.name: stream.octets for stream in case.streams}
    for stream in plan["streams"]:
        count = by_name[stream["name"]]["count"]
        for hop in stream["route"]:
            own = ports[hop["port"]]["classes"][stream["pcp"]]
            own["sent_frames"] += count["sent"]
            own["sent_octets"] += count["sent"] * sizes[stream["group"]]
        own["dropped_frames"] += count["lost"]
        own["dropped_octets"] += count["lost"] * sizes[stream["group"]]
    return {
        "simulated_ns": case.duration_ns, "events": 123_456, "frame_hops": 45_678, "interrupted": False,
        "in_network_at_end": 0, "ports": ports, "streams": [],
    }  # fmt: skip


def _manifest(case: Case, plan: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": "tsnbench-run/1", "state": case.state, "plan": plan["hash"], "seed": case.seed,
        "variant": case.variant, "versions": {"tsnbench": "0.1.0"}, "started": "2026-01-01T12:00:00Z",
        "ended": "2026-01-01T12:00:02Z", "wall_seconds": 1.875, "backend": "simulation",
        "machine": {"system": "Linux", "processor": "x86_64", "cores": 2},
    }  # fmt: skip
