"""Bridges that learn, from scenario to run: what is flooded where, and until when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.planned import refusal_text
from tsnbench.backends.simulation import Simulation
from tsnbench.measure import measure_run
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.scenario import load

LEARNS = "{forwarding: {learning: true}}"


def planned(folder: Path, bridges: str, links: str, streams: str = "", more: str = "") -> Plan:
    file = folder / "s.yaml"
    file.write_text(
        "name: s\nduration: 10 ms\n"
        f"network: {{rate: 1 Gbit/s, stations: [a, b, c, d], bridges: {{{bridges}}}, links: [{links}]}}\n"
        f"streams: {{s: {{from: a, to: b, period: 100 us, phy: 1250 B}}{streams}}}\n{more}",
        encoding="utf-8",
    )
    return plan(load(file))


def flooded(made: Plan) -> list[tuple[str, int]]:
    """Ports and parents of the first stream's flooded branches."""
    ports = made.document["ports"]
    flood: list[dict[str, Any]] = made.document["streams"][0].get("flood", [])
    return [(ports[hop["port"]]["name"], hop["parent"]) for hop in flood]


def test_every_other_port_is_flooded(tmp_path: Path) -> None:
    star = "a -- x, b -- x, c -- x, d -- x"
    made = planned(tmp_path, f"x: {LEARNS}", star)
    assert flooded(made) == [("x -> c", 0), ("x -> d", 0)]
    assert [hop["port"] for hop in made.document["streams"][0]["route"]] == [0, 3]
    (learning,) = [node["learning"] for node in made.document["nodes"] if "learning" in node]
    assert learning == {"ageing_ns": 300 * 10**9}
    static = planned(tmp_path, "x: {}", star).document
    assert "flood" not in static["streams"][0]
    # Another bridge that learns is flooded through, one that does not ends it.
    tree = "a -- x, b -- x, x -- y, x -- z, c -- y, d -- z"
    short = "{forwarding: {learning: {ageing: 1 s}}}"
    made = planned(tmp_path, f"x: {LEARNS}, y: {short}, z: {{}}", tree)
    assert flooded(made) == [("x -> y", 0), ("x -> z", 0), ("y -> c", 2)]
    # Behind the second flooded entry, number 3, there is one more.
    both = f"x: {LEARNS}, y: {LEARNS}"
    made = planned(tmp_path, both, "a -- x, b -- x, c -- x, x -- y, d -- y")
    assert flooded(made) == [("x -> c", 0), ("x -> y", 0), ("y -> d", 3)]
    # Multicast is not flooded.
    made = planned(tmp_path, f"x: {LEARNS}", star, ", m: {from: a, to: [b, c], period: 1 ms, frame: 64 B}")
    assert "flood" not in made.document["streams"][1]


def test_it_reaches_the_wire(tmp_path: Path) -> None:
    answer = ", t: {from: b, to: a, period: 1 s, offset: 2.05 ms, frame: 64 B}"
    made = planned(tmp_path, f"x: {LEARNS}", "a -- x, b -- x, c -- x, d -- x", answer)
    run = Simulation().execute(made, tmp_path / "run")
    first, second = run.counters["streams"]
    assert first["delivered"] == {"b": 100}
    assert first["filtered"] == 2 * 21
    assert "filtered" not in second
    (path,) = (path for path in measure_run(run.folder)["paths"] if path["stream"] == "s")
    assert (path["count"]["sent"], path["count"]["received"], path["count"]["duplicate"]) == (100, 100, 0)


@pytest.mark.parametrize(
    ("bridge", "more", "said"),
    [
        (
            "{forwarding: {mode: cut-through, after: 64 B, learning: true}}",
            "",
            "beside cut-through is not modelled yet",
        ),
        (
            LEARNS,
            "shapers: {x -> b: {preemption: {express: [7]}}}\n",
            "beside clocks of nodes or frame pre-emption",
        ),
    ],
)
def test_mistakes_are_told(tmp_path: Path, bridge: str, more: str, said: str) -> None:
    star = "a -- x, b -- x, c -- x, d -- x"
    assert said in refusal_text(planned, tmp_path, f"x: {bridge}", star, more=more)
    circle = refusal_text(planned, tmp_path, f"x: {{}}, y: {LEARNS}", f"{star}, x -- y, x -- y")
    assert "no circles among bridges" in circle
