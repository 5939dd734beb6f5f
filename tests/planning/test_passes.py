"""Addresses, classes, sizes, gates, phases, requirements and taps of small networks."""

from __future__ import annotations

from typing import Any

import pytest

from support.networks import line, links, network, periodic, scenario
from support.planned import problems_of
from tsnbench.plan.frames import frames_of, sizes
from tsnbench.planning import plan
from tsnbench.planning.selectors import Selector, parse
from tsnbench.scenario import model


def port(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(port for port in document["ports"] if port["name"] == name)


def problems(made: model.Scenario) -> list[tuple[str, str]]:
    return [(problem.path, problem.found) for problem in problems_of(made)]


def test_addresses_are_local_unique_and_of_the_place() -> None:
    document = plan(line(3)).document
    assert [node["ipv4"] for node in document["nodes"]] == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]
    macs = {port["name"]: port["mac"] for port in document["ports"]}
    assert len(set(macs.values())) == len(macs)
    assert macs["b1 -> b2"] == "02:00:00:02:00:02"
    (stream,) = document["streams"]
    assert stream["destination_mac"] == macs["listener -> b2"]
    assert stream["destination_ipv4"] == "10.0.0.4"
    assert stream["vid"] == 100


def test_several_listeners_get_a_group_address() -> None:
    net = network("t:station a:bridge x:station y:station", links("t-a a-x a-y"))
    first, second = plan(scenario(net, {"s": periodic("t", ("x", "y"), count=2)})).document["streams"]
    assert (first["destination_ipv4"], first["destination_mac"]) == ("239.192.0.1", "01:00:5e:40:00:01")
    assert (second["destination_ipv4"], second["destination_mac"]) == ("239.192.0.2", "01:00:5e:40:00:02")


def test_untagged_streams_have_no_vid() -> None:
    made = line()
    stream = made.streams["cam"].model_copy(update={"vid": None})
    assert "vid" not in plan(made.model_copy(update={"streams": {"cam": stream}})).document["streams"][0]


def test_eight_classes_by_default_and_as_many_as_the_map_needs() -> None:
    document = plan(line()).document
    assert port(document, "b1 -> listener")["pcp_to_class"] == [1, 0, 2, 3, 4, 5, 6, 7]
    mapped = model.Shaper(queues=model.Queues(classes={6: 3, 5: 2, 4: 1, 0: 0}))
    document = plan(line(shapers={"b1 -> *": mapped})).document
    assert port(document, "b1 -> listener")["pcp_to_class"] == [0, 0, 0, 0, 1, 2, 3, 0]
    assert len(port(document, "b1 -> listener")["classes"]) == 4
    assert len(port(document, "talker -> b1")["classes"]) == 8


def test_later_selectors_override_key_by_key() -> None:
    shapers = {
        "*": model.Shaper(queues=model.Queues(classes={3: 1}, limit_frames=7), real_rate=900_000_000),
        "b1 -> *": model.Shaper(queues=model.Queues(limit_octets=5000)),
        "* -> listener": model.Shaper(queues=model.Queues(limit_frames=None)),
    }
    made = plan(line(shapers=shapers)).document
    assert port(made, "talker -> b1")["classes"] == [{"limit_frames": 7}] * 2
    assert port(made, "b1 -> talker")["classes"] == [{"limit_frames": 7, "limit_octets": 5000}] * 2
    assert port(made, "b1 -> listener")["classes"] == [{"limit_octets": 5000}] * 2
    assert {port["rate_bps"] for port in made["ports"]} == {900_000_000}


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("*", Selector(None, None, None)),
        ("a -> b", Selector("a", "b", None)),
        ("a->b", Selector("a", "b", None)),
        (" a -> * ", Selector("a", None, None)),
        ("* -> b-1.x", Selector(None, "b-1.x", None)),
        ("a -> b #2", Selector("a", "b", 2)),
        ("a -> b#12", Selector("a", "b", 12)),
        ("a", None),
        ("a -> ", None),
        ("a -> b #0", None),
        ("a -> b -> c", None),
        ("", None),
    ],
)
def test_selectors(text: str, selector: Selector | None) -> None:
    assert parse(text) == selector


def test_a_selector_without_a_port_is_a_problem() -> None:
    made = line(shapers={"b1 -> nowhere": model.Shaper(), "talker -> listener": model.Shaper()})
    assert problems(made) == [
        ("shapers.b1 -> nowhere", "no node 'nowhere'"),
        ("shapers.talker -> listener", "no link for 'talker -> listener'"),
    ]


def test_one_of_parallel_links_can_be_meant() -> None:
    net = network("t:station a:bridge l:station", links("t-a t-a a-l"))
    shaped = {"t -> a #2": model.Shaper(real_rate=5_000_000)}
    document = plan(scenario(net, {"s": periodic("t", "l")}, shapers=shaped)).document
    assert [port["rate_bps"] for port in document["ports"] if port["name"].startswith("t")] == [
        10**9,
        5_000_000,
    ]


def test_a_rate_that_no_port_has() -> None:
    made = line(1, shapers={"talker -> listener": model.Shaper(real_rate=0)})
    assert problems(made) == [("talker -> listener: rate", "0 bit/s")]


def test_a_link_may_differ_by_direction() -> None:
    wires = (model.Link(a="t", b="l", rate=10**9, cable=1000, back_rate=10**8, back_cable=3000),)
    document = plan(scenario(network("t:host l:host", wires), {})).document
    there, back = document["ports"]
    assert (there["rate_bps"], there["propagation_ps"], there["peer"]) == (10**9, 5_000, 1)
    assert (back["rate_bps"], back["propagation_ps"], back["peer"]) == (10**8, 15_000, 0)


@pytest.mark.parametrize(
    ("unit", "frames"),
    [
        (0, [(64, 1)]),
        (14, [(64, 1)]),
        (15, [(65, 1)]),
        (1472, [(1522, 1)]),
        (1473, [(1522, 1), (64, 1)]),
        (2 * 1472, [(1522, 2)]),
        (2 * 1472 + 100, [(1522, 2), (150, 1)]),
    ],
)
def test_data_units_are_cut_into_frames(unit: int, frames: list[tuple[int, int]]) -> None:
    assert frames_of(unit, 1472, 50) == frames


def test_mean_sizes_are_over_data_units() -> None:
    found = sizes({"kind": "units", "octets": [50, 1572], "most_per_frame": 1472, "overhead": 50})
    assert (found.smallest, found.largest) == (100, 1522)
    assert found.frame_bits == 8 * (100 + 1522 + 150) / 2
    assert found.phy_bits == 8 * (100 + 1522 + 150 + 3 * 20) / 2


def test_a_poisson_rate_counts_frames_without_preamble() -> None:
    stream = periodic("talker", "listener", pattern=model.Poisson(rate=984_000_000))
    document = plan(line().model_copy(update={"streams": {"s": stream}})).document
    assert document["streams"][0]["pattern"] == {"kind": "poisson", "mean_interval_ps": 10_000_000}


def test_a_poisson_interval_is_the_mean_of_the_gaps() -> None:
    stream = periodic("talker", "listener", pattern=model.Poisson(mean_interval=10_000))
    document = plan(line().model_copy(update={"streams": {"s": stream}})).document
    assert document["streams"][0]["pattern"] == {"kind": "poisson", "mean_interval_ps": 10_000_000}


def gates(*entries: tuple[tuple[int, ...], int], **changes: Any) -> dict[str, model.Shaper]:
    opened = tuple(model.GateEntry(open=numbers, duration=length) for numbers, length in entries)
    return {"b1 -> listener": model.Shaper(gates=model.Gates(entries=opened, **changes))}


def test_gates_open_the_classes_of_priorities() -> None:
    shapers = gates(((3,), 45_000), ((0, 1), 50_000), ((), 5_000), base_time=7, cycle=100_000)
    assert port(plan(line(shapers=shapers)).document, "b1 -> listener")["gates"] == {
        "base_time_ns": 7,
        "cycle_ns": 100_000,
        "entries": [
            {"open": 0b1000, "interval_ns": 45_000},
            {"open": 0b0011, "interval_ns": 50_000},
            {"open": 0, "interval_ns": 5_000},
        ],
    }


def test_gates_by_class() -> None:
    planned = port(plan(line(shapers=gates(((3, 7), 10), by="class"))).document, "b1 -> listener")
    assert planned["gates"]["entries"] == [{"open": 0b1000_1000, "interval_ns": 10}]


def test_all_means_the_classes_that_the_port_has() -> None:
    shapers = gates((tuple(range(8)), 10), by="class")
    shapers = {"*": model.Shaper(queues=model.Queues(classes={3: 1}))} | shapers
    planned = port(plan(line(shapers=shapers)).document, "b1 -> listener")
    assert planned["gates"]["entries"] == [{"open": 0b11, "interval_ns": 10}]


def test_gates_that_cannot_be() -> None:
    assert problems(line(shapers=gates(((8,), 10), ((3,), 0), cycle=11))) == [
        ("shapers.b1 -> listener.gates.entries[0].open", "8"),
        ("shapers.b1 -> listener.gates.entries[1].for", "0"),
        ("shapers.b1 -> listener.gates.cycle", "11 ns"),
    ]
    assert problems(line(shapers=gates())) == [("shapers.b1 -> listener.gates.entries", "0")]


def test_flows_of_a_stream_share_its_phase_and_stop_with_the_run() -> None:
    stream = periodic(
        "talker",
        "listener",
        count=2,
        pattern=model.Periodic(period=100, offset=30, jitter=5),
        start=10,
        stop=10**12,
    )
    for planned in plan(line().model_copy(update={"streams": {"s": stream}})).document["streams"]:
        assert planned["pattern"] == {"kind": "periodic", "period_ns": 100, "offset_ns": 30, "jitter_ns": 5}
        assert (planned["start_ns"], planned["stop_ns"]) == (10, 10_000_000)


def test_names_of_flows_are_unique() -> None:
    streams = {"s": periodic("talker", "listener", count=2), "s.2": periodic("talker", "listener")}
    assert problems(line().model_copy(update={"streams": streams})) == [("streams.s.2", "'s.2'")]


def test_requirements_are_only_what_is_required() -> None:
    requires = model.Requirements(
        delay=2_000_000,
        percentiles={999_000: 1_000_020, 500_000: 1_000_010},
        jitter=(model.JitterLimit(kind="spread", limit=5),),
        loss_ppm=0,
        rate=10**6,
    )
    streams = {"a": periodic("talker", "listener", requires=requires), "b": periodic("talker", "listener")}
    document = plan(line().model_copy(update={"streams": streams})).document
    assert document["streams"][0]["requirements"] == {
        "delay_ns": 2_000_000,
        "delay_percentiles": [
            {"share_ppm": 500_000, "delay_ns": 1_000_010},
            {"share_ppm": 999_000, "delay_ns": 1_000_020},
        ],
        "jitter": [{"kind": "spread", "limit_ns": 5}],
        "loss_ppm": 0,
        "rate_bps": 10**6,
    }
    assert document["streams"][1]["requirements"] == {}


def taps(**changes: Any) -> list[tuple[str, str, str, int]]:
    document = plan(line(3, taps=model.Taps(**changes))).document
    ports = [port["name"] for port in document["ports"]]
    return [
        (tap["name"], ports[tap["port"]], tap["point"], tap["granularity_ns"]) for tap in document["taps"]
    ]


def test_taps_at_the_ends() -> None:
    assert taps() == [
        ("talker -> b1 tx", "talker -> b1", "start", 1),
        ("b2 -> listener rx", "listener -> b2", "end", 1),
    ]


def test_taps_anywhere_and_merged() -> None:
    assert taps(ports=("b1 -> b2", "talker -> *"), send=True, rx_point="start", granularity=8) == [
        ("talker -> b1 send", "talker -> b1", "start", 8),
        ("talker -> b1 tx", "talker -> b1", "start", 8),
        ("talker -> b1 rx", "b1 -> talker", "start", 8),
        ("b1 -> b2 tx", "b1 -> b2", "start", 8),
        ("b1 -> b2 rx", "b2 -> b1", "start", 8),
        ("b2 -> listener rx", "listener -> b2", "start", 8),
    ]
    assert taps(ends=False) == []
