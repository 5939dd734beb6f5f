"""Networks of Saihu as scenarios: units, curves, nodes, paths, scales; and 200 random ones both ways."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from exports.saihu.networks import output_ports, physical, written
from tsnbench.compare.plans import differences
from tsnbench.exports import export
from tsnbench.exports.saihu.importing import scenario
from tsnbench.exports.saihu.quantities import Dimension, quantity
from tsnbench.plan.bounds import bounds
from tsnbench.planning import Plan, plan
from tsnbench.scenario import read_scenario


def planned(text: str) -> Plan:
    (one,) = read_scenario(text, "imported.yaml")
    return plan(one)


def network(
    flows: list[tuple[str, ...]], capacity: object = 100, burst: object = 1000, **keys: Any
) -> dict[str, Any]:
    """Flows of 1,000 octets and 1 Mbit/s over servers of 80 Mbit/s and 5 us."""
    servers = dict.fromkeys(server for path in flows for server in path)
    return {
        "network": {
            "name": "n",
            "packetizer": True,
            "time_unit": "us",
            "data_unit": "B",
            "rate_unit": "Mbps",
        },
        "flows": [
            {
                "name": f"f{number}",
                "path": list(path),
                "arrival_curve": {"bursts": [burst], "rates": [1]},
                "max_packet_length": 1000,
                **keys,
            }
            for number, path in enumerate(flows)
        ],
        "servers": [
            {
                "name": name,
                "service_curve": {"latencies": [5], "rates": [80]},
                **({} if capacity is None else {"capacity": capacity}),
            }
            for name in servers
        ],
    }


def lines(made: dict[str, Any], *begins: str) -> list[str]:
    text = scenario("n.json", written(made))
    return [line.strip() for line in text.splitlines() if line.strip().startswith(begins)]


QUANTITIES: list[tuple[object, Dimension, str | None, Fraction | None]] = [
    ("10us", "time", None, Fraction(1, 100_000)),
    ("10", "time", "ms", Fraction(1, 100)),
    ("2m", "time", None, Fraction(120)),
    ("1e-05s", "time", None, Fraction(1, 100_000)),
    ("2 kB", "data", "b", Fraction(16_000)),
    ("64.0b", "data", None, Fraction(64)),
    ("4Mbps", "rate", None, Fraction(4_000_000)),
    ("1MBps", "rate", None, Fraction(8_000_000)),
    ("60Bpm", "rate", None, Fraction(8)),
    (".5", "rate", "kbps", Fraction(500)),
    ("10", "time", None, None),
    ("1e999", "time", "s", None),
    ("NaN", "time", "s", None),
    ("Infinity", "rate", "bps", None),
    ("10xB", "data", None, None),
    ("4Mbps", "data", None, None),
    ("0x10", "data", "B", None),
    ("1" * 31, "data", "B", None),
    (True, "data", "B", None),
    (None, "data", "B", None),
]


@pytest.mark.parametrize(("text", "dimension", "unit", "value"), QUANTITIES, ids=range(len(QUANTITIES)))
def test_a_quantity(text: object, dimension: Dimension, unit: str | None, value: Fraction | None) -> None:
    assert quantity(text, dimension, unit) == value


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_random_networks_both_ways(seed: int) -> None:
    """Twenty of each form: imported, planned, exported, imported again, and the Plans are equal."""
    for number in range(seed, seed + 20):
        for text in (written(output_ports(number)), physical(number)):
            first = planned(scenario("first.json", text))
            exported = export(first.document, ["saihu"]).files["saihu/network.json"]
            second = planned(scenario("second.json", exported))
            assert differences(first.document, second.document) == [], number


def test_servers_become_ports_and_their_bounds_are_those_by_hand() -> None:
    """Each server: 5 us, and a frame of each flow that comes over a link of its own, 100 us each."""
    made = network([("s0-o0", "s1-o0"), ("s1-o0",), ("s0-o0", "s1-o1")])
    assert lines(made, "stations", "hosts", "f", "s") == [
        "stations: [s0, end-s1-o0, end-s1-o1]",
        "hosts: [s1]",
        "streams:",
        "f0: {from: s0, to: end-s1-o0, arrivals: {burst: 1000 B, rate: 1 Mbit/s}, phy: 1000 B}",
        "f1: {from: s1, to: end-s1-o0, arrivals: {burst: 1000 B, rate: 1 Mbit/s}, phy: 1000 B}",
        "f2: {from: s0, to: end-s1-o1, arrivals: {burst: 1000 B, rate: 1 Mbit/s}, phy: 1000 B}",
        "shapers:",
        "s0 -> s1: {server: {rate: 80 Mbit/s, latency: 5 us}}",
        "s1 -> end-s1-o0: {server: {rate: 80 Mbit/s, latency: 5 us}}",
        "s1 -> end-s1-o1: {server: {rate: 80 Mbit/s, latency: 5 us}}",
    ]
    flows = {one["stream"]: one for one in bounds(planned(scenario("n.json", written(made))))["flows"]}
    upper = {name: [hop["upper_ps"] for hop in one["hops"]] for name, one in flows.items()}
    assert upper == {
        "f0": [205_000_000, 205_000_000],
        "f1": [205_000_000],
        "f2": [205_000_000, 105_000_000],
    }
    assert flows["f0"]["release_upper_ps"] == 410_000_000


def test_a_link_without_a_capacity_has_the_highest_service_rate() -> None:
    """A server that is its link alone is a plain port."""
    made = network([("a", "b")], capacity=None)
    made["servers"][0]["service_curve"] = {"latencies": [0, "5us"], "rates": [40, 80]}
    made["servers"][1]["service_curve"] = {"latencies": ["0s"], "rates": ["80Mbps"]}
    assert lines(made, "- {", "a ->", "b ->") == [
        "- {rate: 80 Mbit/s, between: a -- b}",
        "- {rate: 80 Mbit/s, between: b -- end-b}",
        "a -> b: {server: {rate: 40 Mbit/s}}",
    ]


@pytest.mark.parametrize(
    ("burst", "length", "said", "stream"),
    [
        (100, 50, "10 times", "{burst: 1000 B, rate: 10 Mbit/s}, phy: 500 B"),
        (90_000, 9_000, "1/10 of", "{burst: 9000 B, rate: 100 kbit/s}, phy: 900 B"),
        (10, 50, "10 times", "{burst: 500 B, rate: 10 Mbit/s}, phy: 500 B"),
        ("1001b", "1001b", "", "{burst: 126 B, rate: 1 Mbit/s}, phy: 126 B"),
    ],
)
def test_a_power_of_ten_makes_frames_of_packets(
    burst: object, length: object, said: str, stream: str
) -> None:
    text = scenario("n.json", written(network([("a",)], burst=burst, max_packet_length=length)))
    assert f"  f0: {{from: a, to: end-a, arrivals: {stream}}}" in text
    assert (f"# All data (bursts, packets, rates) are {said} the file's" in text) == bool(said)


def test_packets_that_no_power_makes_frames_are_padded() -> None:
    made = network([("a",), ("a",)])
    made["flows"][0] |= {"max_packet_length": 10, "arrival_curve": {"bursts": [20], "rates": [1]}}
    assert lines(made, "f0", "f1", "#   packets") == [
        "#   packets below 84 octets on the wire are frames of 84, which bursts hold: f0",
        "f0: {from: a, to: end-a, arrivals: {burst: 84 B, rate: 1 Mbit/s}, phy: 84 B}",
        "f1: {from: a, to: end-a, arrivals: {burst: 1000 B, rate: 1 Mbit/s}, phy: 1000 B}",
    ]


def test_smaller_packets_can_take_longer_and_the_scenario_says_so() -> None:
    """Two flows meet a third. Their buckets gain 763 octets on the first hop: some packets of 150 octets,
    and none of 1,500."""
    upper = []
    for length in (1500, 150):
        made = network([("a", "c"), ("a", "c"), ("b", "c")], burst=1500, max_packet_length=1500)
        for flow in made["flows"]:
            flow["arrival_curve"]["rates"] = [20]
        for flow in made["flows"][:2]:
            flow["max_packet_length"] = length
        text = scenario("n.json", written(made))
        assert "# All frames of a stream have one size: its bounds need not hold for smaller packets." in text
        upper.append(bounds(planned(text))["flows"][0]["release_upper_ps"] or 0)
    assert [round(one / 10**6) for one in upper] == [646, 766]


@pytest.mark.parametrize(("rate", "full"), [("80Mbps", False), ("81Mbps", True)])
def test_bounds_of_full_servers_are_those_of_a_queue_limit(rate: str, full: bool) -> None:
    """The file has none there; that of the scenario is longer than a second."""
    made = network([("a", "b")])
    made["flows"][0]["arrival_curve"]["rates"] = [rate]
    text = scenario("n.json", written(made))
    assert (
        "#   bounds come from a queue limit where flows exceed the rate of their server: a, b" in text
    ) == full
    upper = bounds(planned(text))["flows"][0]["release_upper_ps"]
    assert upper is not None
    assert (upper > 10**12) == full


def test_a_burst_holds_a_packet() -> None:
    """5 us and a whole packet of 1,500 octets at 80 Mbit/s, though the file's burst is 200 octets."""
    made = network([("a",)], burst=200, max_packet_length=1500)
    text = scenario("n.json", written(made))
    assert "#   bursts below the largest packet hold one: f0" in text.splitlines()
    assert [one["release_upper_ps"] for one in bounds(planned(text))["flows"]] == [155_000_000]
    made["network"]["packetizer"] = False
    assert lines(made, "f0", "#   packets") == [
        "#   packets that exceed their burst have its length: f0",
        "f0: {from: a, to: end-a, arrivals: {burst: 200 B, rate: 1 Mbit/s}, phy: 200 B}",
    ]


def test_flows_without_packets() -> None:
    """With a packetizer a packet is at most the burst; fluid flows have the smallest frames."""
    made = network([("a",)])
    del made["flows"][0]["max_packet_length"]
    assert lines(made, "f0", "#   ")[0] == "#   packets without a length are as large as the burst: f0"
    made["network"]["packetizer"] = False
    said = lines(made, "f0", "#   ")
    assert "packets without a length are the smallest of Ethernet" in said[1]
    assert said[-1].endswith("arrivals: {burst: 1000 B, rate: 1 Mbit/s}, phy: 84 B}")


def test_everything_that_is_not_said_has_its_line() -> None:
    made = network([("a", "b"), ("b",)], min_packet_length=64, deadline="1ms")
    made["network"] |= {"multiplexing": "FIFO", "colour": "blue"}
    made["servers"] += [{"name": "idle", "service_curve": {"latencies": [0], "rates": [1]}}]
    made["flows"][1]["arrival_curve"] = {"bursts": [9000, 1000], "rates": ["1kbps", "1Mbps"]}
    made["servers"][1]["service_curve"] = {"latencies": [50, 5], "rates": [90, 80]}
    text = scenario("n.json", written(made))
    source = written(made).splitlines()

    f0 = next(number for number, one in enumerate(source, 1) if '"f0"' in one) - 1
    f1 = next(number for number, one in enumerate(source, 1) if '"f1"' in one) - 1
    b = next(number for number, one in enumerate(source, 1) if '"name": "b"' in one) - 1
    said = [one[4:] for one in text.splitlines() if one.startswith("#   ")]
    assert sorted(said) == sorted(
        [
            "the key colour: network (line 2)",
            f"further parts of a service curve (the one with the shortest latency holds alone): b (line {b})",
            f"the key deadline: f0 (line {f0}), f1 (line {f1})",
            "further token buckets of an arrival curve (the one with the smallest burst holds alone): "
            f"f1 (line {f1})",
            "servers without a flow: idle",
        ]
    )
    assert "f1: {from: b, to: end-b, arrivals: {burst: 1000 B, rate: 1 Mbit/s}, phy: 1000 B}" in text
    assert "b -> end-b: {server: {rate: 80 Mbit/s, latency: 5 us}}" in text


def test_a_tree_is_one_stream_and_other_paths_are_one_stream_each() -> None:
    tree = network([("a", "b")], multicast=[{"name": "p1", "path": ["a", "c"]}])
    tree["servers"].append({**tree["servers"][0], "name": "c"})
    assert "to: [end-b, end-c]" in lines(tree, "f0")[0]
    # A second way to the same end: frames would meet themselves.
    made = network([("a", "b", "d")], multicast=[{"name": "p1", "path": ["a", "c", "d"]}])
    made["servers"].append({**made["servers"][0], "name": "c"})
    found = lines(made, "f0", "#   flows")
    assert found[0] == "#   flows with several paths: one stream for each: f0"
    assert [one.split(":")[0] for one in found[1:]] == ["f0", "f0+1"]
    whole = planned(scenario("n.json", written(made)))
    assert len(whole.document["streams"]) == 2


def test_servers_that_cannot_be_ports_of_one_node_are_joined_by_a_fast_link() -> None:
    """A ring in which a flow passes every server: its end is not the node at which it begins."""
    made = network([("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")])
    text = scenario("n.json", written(made))
    assert "servers joined by links of 1 Tbit/s, as they cannot be ports of one node" in text
    assert [len(one["hops"]) for one in bounds(planned(text))["flows"]] == [5, 5, 5]


XML = """\
<elements>
  <network name="line" technology="FIFO+IS+PK" transmission-capacity="1Gbps"/>
  <station name="a"/>
  <station name="b" service-rate="200Mbps"/>
  <switch name="s" service-latency="10us" service-rate="40Mbps" colour="red"/>
  <station name="z"/>
  <link from="a" to="s"/>
  <link from="b" to="s"/>
  <link from="s" to="z" service-rate="50Mbps" transmission-capacity="100Mbps"/>
  <link from="z" to="s"/>
  <flow name="x" arrival-curve="leaky-bucket" lb-burst="1kB" lb-rate="1000" maximum-packet-size="500B"
    source="a">
    <target><path node="s"/><path node="z"/></target>
  </flow>
  <flow name="y" arrival-curve="leaky-bucket" lb-burst="8000b" lb-rate="1Mbps" source="b">
    <target name="p"><path node="s"/><path node="z"/></target>
  </flow>
</elements>
"""


def test_a_physical_network() -> None:
    text = scenario("line.xml", XML)
    assert text[text.index("stations") :] == (
        "stations: [a, z, b]\n"
        "  bridges: [s]\n"
        "  queues: {classes: {0: 0}, limit-frames: 16777216}\n"
        "  links:\n"
        "    - {rate: 1 Gbit/s, between: a -- s}\n"
        "    - {rate: 100 Mbit/s, between: s -- z}\n"
        "    - {rate: 1 Gbit/s, between: b -- s}\n"
        "\n"
        "streams:\n"
        "  x: {from: a, to: z, arrivals: {burst: 1000 B, rate: 1 kbit/s}, phy: 500 B}\n"
        "  y: {from: b, to: z, arrivals: {burst: 1000 B, rate: 1 Mbit/s}, phy: 1000 B}\n"
        "\n"
        "shapers:\n"
        "  s -> z: {server: {rate: 50 Mbit/s, latency: 10 us}}\n"
        "  b -> s: {server: {rate: 200 Mbit/s}}\n"
    )
    assert [line for line in text.splitlines() if line.startswith("#   ")] == [
        "#   packets without a length are as large as the burst: y",
        "#   links without a flow: z -> s (line 10)",
        "#   the attribute colour of <switch>: s (line 5)",
    ]
    assert planned(text).document["name"] == "line"


def test_names_are_names_of_a_scenario_and_no_line_of_its_own() -> None:
    made = network([("a b\nstreams: {}", "null"), ("null", "1-o0")])
    made["flows"][0]["name"] = "f\n# 0\ud800"
    made["network"]["name"] = "\x00"
    text = scenario("n.json", json.dumps(made))
    whole = planned(text)
    assert [one["name"] for one in whole.document["streams"]] == ["f-0", "f1"]
    assert all(line.isprintable() for line in text.splitlines())
