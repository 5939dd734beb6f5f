"""Streams that join and leave in random order, and how much less the network admits then: fragmentation.

A line of four bridges with two stations each; scheduled streams of 1, 2 and 4 ms. Every change asks for a
stream, or removes one, up to a number of streams that nearly fill the links. Afterwards the same further
streams are requested from three networks with the same streams in place: as they joined, after ``tidy``, and
planned from nothing.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from tsnbench.cnc.admission import Rules, bounds_of, decide, disagreement, first
from tsnbench.cnc.changes import Change, NotAcceptedError
from tsnbench.cnc.changing.tidying import fragmentation, tidied
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.policy import Moves
from tsnbench.planning.errors import PlanningErrors
from tsnbench.planning.passes import planned

SCENARIO = """\
name: churn
duration: 10 ms
network: {line: {hops: 4, stations: 2, rate: 100 Mbit/s}}
streams:
  loop: {from: FIRST, to: LAST, period: 1 ms, payload: 100 B, pcp: 7, scheduled: true}
"""
RULES = Rules(moves=Moves.IN_MAINTENANCE)


def drawn(draw: random.Random, stations: list[str]) -> dict[str, Any]:
    """A stream between two stations."""
    talker, listener = draw.sample(stations, 2)
    period = draw.choice((1, 2, 4))
    payload = draw.choice((64, 200, 500, 1000, 1400))
    found = {"from": talker, "to": listener, "pcp": 7, "scheduled": True, "payload": f"{payload} B"}
    return {**found, "period": f"{period} ms", "requires": {"delay": f"{period} ms"}}


def churned(
    base: Base, stations: list[str], changes: int, most: int, seed: int
) -> tuple[Network, dict[str, int]]:
    """The network after random changes; how many streams joined, left and were refused.

    One leaves as soon as there are ``most``.
    """
    draw, now = random.Random(seed), first(base)
    counts = {"joined": 0, "left": 0, "refused": 0}
    for number in range(changes):
        if now.requested and (len(now.requested) >= most or draw.random() < 0.4):
            now = decide(base, now, Change("a", {}, (draw.choice(sorted(now.requested)),)), RULES)
            counts["left"] += 1
            continue
        try:
            now = decide(base, now, Change("a", {f"s{number}": drawn(draw, stations)}), RULES)
            counts["joined"] += 1
        except NotAcceptedError:
            counts["refused"] += 1
    return now, counts


def from_nothing(base: Base, now: Network) -> Network:
    """The same streams, planned without an earlier Plan."""
    made = planned(base.with_streams(now.requested))
    bounds = bounds_of(base, made, None)
    return Network(now.number, now.requested, made.plan, made.hash, bounds, made.read, made.draft)


def admitted(base: Base, now: Network, stations: list[str], seed: int, tries: int) -> int:
    """How many of further streams join."""
    draw, found = random.Random(seed), 0
    for number in range(tries):
        try:
            now = decide(base, now, Change("a", {f"more{number}": drawn(draw, stations)}), RULES)
            found += 1
        except NotAcceptedError:
            pass
    return found


def main() -> None:
    """Prints a line for each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=36, help="most streams in place")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tries", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "churn.yaml"
        file.write_text(
            SCENARIO.replace("FIRST", "station1.1").replace("LAST", "station4.2"), encoding="utf-8"
        )
        base = Base(file)
        stations = [node["name"] for node in base.plan.document["nodes"] if node["kind"] != "bridge"]
        print(
            "| seed | joined | left | refused | in place | CPU ms a change | network | fragmented | admits |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for seed in range(1, asked.seeds + 1):
            began = time.process_time()
            now, counts = churned(base, stations, asked.changes, asked.streams, seed)
            each = (time.process_time() - began) * 1e3 / asked.changes
            if differs := disagreement(base, now)[0]:
                raise SystemExit(f"seed {seed}: planning everything finds {differs}")
            begin = f"| {seed} | {' | '.join(map(str, counts.values()))} | {len(now.requested)} | {each:.0f}"
            networks = {"as they joined": now}
            try:
                networks["tidied"] = tidied(base, now, Change("a", tidy=sorted(now.requested)), RULES)
                networks["from nothing"] = from_nothing(base, now)
            except (NotAcceptedError, PlanningErrors) as error:
                print(f"{begin} | not planned from nothing: {str(error).splitlines()[0]} | | |", flush=True)
            for name, network in networks.items():
                share = fragmentation(network.plan.document)
                more = admitted(base, network, stations, 1000 + seed, asked.tries)
                print(f"{begin} | {name} | {share:.2f} | {more} of {asked.tries} |", flush=True)


if __name__ == "__main__":
    main()
