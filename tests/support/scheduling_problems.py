"""Random scheduling problems."""

from __future__ import annotations

import json
import random
from typing import Any

from tsnbench import _native

LIMITS = {"entries": 1024, "shortest_interval_ns": 1, "granularity_ns": 1, "longest_cycle_ns": 10**9}


def random_problem(draw: random.Random, streams: int, *, tight: bool) -> dict[str, Any]:
    """Two bridges with three stations each; times on a grid of ten microseconds."""
    nodes = [{"processing_ps": 10**7, "forwards": True}] * 2 + [{"processing_ps": 0, "forwards": False}] * 6
    queues = draw.choice([1, 1, 2])
    limits = {**LIMITS, "granularity_ns": 10_000}
    links = [
        {
            "from": one,
            "to": other,
            "rate_bps": 100_000_000,
            "propagation_ps": 0,
            "margin_ps": 0,
            "queues": queues,
            "limits": limits,
        }
        for a, b in [(0, 1), *((2 + n, n % 2) for n in range(6))]
        for one, other in ((a, b), (b, a))
    ]
    made: list[dict[str, Any]] = []
    while len(made) < streams:
        talker, listener = draw.sample(range(2, 8), 2)
        earliest = draw.randrange(8) * 10_000
        # 130 octets with preamble and gap take 12 us.
        stream = {
            "talker": talker,
            "listeners": [listener],
            "period_ns": draw.choice([80_000, 80_000, 160_000]),
            "frames": [draw.choice([105, 130, 230, 480])],
            "deadline_ns": draw.choice([60_000, 80_000, 120_000]),
            "earliest_ns": earliest if tight else 0,
            "latest_ns": earliest + draw.choice([0, 10_000, 30_000]) if tight else 79_999,
        }
        if queues > 1 and draw.random() < 0.7:
            stream["queue"] = 1
        problem = {"nodes": nodes, "links": links, "streams": [stream], "granularity_ns": 10_000}
        (paths,) = json.loads(_native.candidate_paths(json.dumps(problem), 1))
        if paths:
            tree = [
                {key: value for key, value in hop.items() if value is not None} for hop in paths[0]["tree"]
            ]
            made.append({**stream, "tree": tree})
    return {"nodes": nodes, "links": links, "streams": made, "granularity_ns": 10_000}
