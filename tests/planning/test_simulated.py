"""The closed form of the smallest delay against the simulator: a lone frame takes exactly that long."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.networks import network, periodic, scenario
from tsnbench.plan.delay import smallest_delay_ns
from tsnbench.planning import plan
from tsnbench.scenario import load, model

PLANS = Path(__file__).parent.parent / "plans"
RATES = (10**7, 10**8, 10**9, 9_294_196_000, 10**10)


def delays(made: model.Scenario) -> dict[str, list[tuple[int, int]]]:
    """Per flow: (measured, smallest possible) ns of every frame at its first listener's tap."""
    import polars as pl

    from tsnbench.backends.simulation import Simulation

    planned = plan(made)
    with tempfile.TemporaryDirectory() as folder:
        rows = planned.run(on=Simulation(), into=Path(folder) / "run").observations()
    found: dict[str, list[tuple[int, int]]] = {}
    document = planned.document
    for stream in document["streams"]:
        ports = [document["ports"][hop["port"]]["name"] for hop in stream["route"]]
        own = rows.filter(pl.col("stream") == stream["name"])
        sent = own.filter(pl.col("tap") == f"{ports[0]} tx").select("seq", "octets", sent="t_ns")
        last = ports[stream["listeners"][0]["route"]]
        received = own.filter(pl.col("tap") == f"{last} rx").select("seq", received="t_ns")
        found[stream["name"]] = [
            (row["received"] - row["sent"], smallest_delay_ns(document, stream, 0, row["octets"]))
            for row in sent.join(received, on="seq").iter_rows(named=True)
        ]
    return found


@st.composite
def lines(draw: st.DrawFn) -> model.Scenario:
    """A line of any rates, cables and processing times, and one frame every 100 ms."""
    hops = draw(st.integers(1, 5))
    names = [f"n{number}" for number in range(hops + 1)]
    wires = tuple(
        model.Link(a=a, b=b, rate=draw(st.sampled_from(RATES)), cable=draw(st.integers(0, 10**6)))
        for a, b in itertools.pairwise(names)
    )
    net = network(" ".join(f"{name}:host" for name in names), wires)
    nodes = {
        name: model.Node(
            kind="host",
            processing=draw(st.integers(0, 10_000)),
            cut_through=draw(st.none() | st.integers(18, 2_000)),
        )
        for name in net.nodes
    }
    stream = periodic(
        names[0],
        names[-1],
        pattern=model.Periodic(period=100_000_000),
        size=model.FixedSize(octets=draw(st.integers(64, 9_018))),
    )
    points = model.Taps(
        tx_point=draw(st.sampled_from(["start", "end"])), rx_point=draw(st.sampled_from(["start", "end"]))
    )
    return scenario(net.model_copy(update={"nodes": nodes}), {"s": stream}, taps=points)


@examples(0.25)
@given(lines())
def test_a_lone_frame_takes_exactly_the_smallest_delay(made: model.Scenario) -> None:
    ((measured, least),) = delays(made)["s"]
    # Stamps are whole ns: their difference may be one more than the whole part of the delay.
    assert measured - least in (0, 1)


@pytest.mark.parametrize("name", ["fork", "gates", "ring"])
def test_no_frame_is_faster(name: str) -> None:
    found = delays(load(PLANS / f"{name}.yaml"))
    assert sum(len(rows) for rows in found.values()) > 100
    for flow, rows in found.items():
        assert all(measured >= least for measured, least in rows), flow
