"""Hostile networks of Saihu: every mistake ends in one message with its place, and no file takes long."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.saihu.networks import output_ports, physical, written
from exports.saihu.test_import import XML, network
from support.commands import tsnbench
from support.examples import examples
from tsnbench.errors import ContentError
from tsnbench.exports.saihu.importing import scenario


def refused(text: str, file: str = "n.json") -> str:
    with pytest.raises(ContentError) as error:
        scenario(file, text)
    return str(error.value)


def changed(path: str, value: object) -> str:
    """A network of two flows with one value changed: ``flows.0.path``."""
    made: Any = network([("a", "b"), ("b",)])
    *before, last = path.split(".")
    part = made
    for key in before:
        part = part[int(key) if key.isdecimal() else key]
    part[int(last) if last.isdecimal() else last] = value
    return json.dumps(made)


RATES = "flows: f0: arrival_curve.rates: expected a number of 0 or more, alone or with a unit (4Mbps), found "
BURSTS = "flows: f0: arrival_curve.bursts: expected a number of 0 or more, alone or with a unit (50B), found "
WRONG: list[tuple[str, object, str]] = [
    ("network", [], "network: expected an object, found a list"),
    (
        "network.multiplexing",
        "ARBITRARY",
        "network: multiplexing: expected FIFO, as bounds of FIFO servers do not hold for another order, "
        "found ARBITRARY",
    ),
    ("network.rate_unit", "us", "rate_unit: expected a unit such as Mbps, found us"),
    ("flows", [], "flows: expected a list of 1 to 10000 objects, found 0"),
    ("flows", "f0", "flows: expected a list of 1 to 10000 objects, found f0"),
    ("flows", [7], "flows[0]: expected an object, found 7"),
    ("flows.1.name", "f0", "flows: name: expected each name once, found f0 again"),
    ("flows.1.name", [], "flows: name: expected a text, found a list"),
    ("servers.1.name", "a", "servers: name: expected each name once, found a again"),
    ("flows.0.path", [], "flows: f0: path: expected names of servers, found a list"),
    ("flows.0.path", ["a", "c"], "flows: f0: path: expected the name of a server, found c"),
    ("flows.0.path", ["a", {}], "flows: f0: path: expected the name of a server, found {}"),
    ("flows.0.path", ["a", "b", "a"], "flows: f0: path: expected each server once, found a again"),
    ("flows.0.multicast", [7], "multicast: expected a list of objects with a path, found a list"),
    ("flows.0.multicast", [{}], "flows: f0: path: expected names of servers, found none"),
    ("flows.0.arrival_curve", 5, "arrival_curve: expected lists bursts and rates, found 5"),
    ("flows.0.arrival_curve.rates", [], "expected as many bursts as rates, and at least one, found 1 and 0"),
    ("flows.0.arrival_curve.rates", [-1], RATES + "-1"),
    ("flows.0.arrival_curve.rates", [True], RATES + "True"),
    ("flows.0.arrival_curve.rates", ["1e999"], RATES + "1e999"),
    ("flows.0.arrival_curve.rates", [float("nan")], RATES + "NaN"),
    ("flows.0.arrival_curve.bursts", [float("inf")], BURSTS + "Infinity"),
    ("flows.0.arrival_curve.bursts", [10**40], BURSTS + "1000000000"),
    ("flows.0.max_packet_length", [1], "max_packet_length: expected a number of 0 or more"),
    ("servers.0.service_curve.rates", [0], "servers: a: rate: expected at least 1000 bit/s, found 0"),
    ("servers.0.service_curve.latencies", ["2s"], "latency: expected at most 1 s, found 2000000000 ns"),
    ("servers.0.capacity", 0, "servers: a: capacity: expected 1000000 bit/s to 1 Tbit/s, found 0"),
    ("servers.0.capacity", "9Ebps", "servers: a: capacity: expected 1000000 bit/s to 1 Tbit/s, found"),
]


@pytest.mark.parametrize(("where", "value", "said"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_value(where: str, value: object, said: str) -> None:
    found = refused(changed(where, value))
    assert said in found
    assert found.startswith("n.json:")


def test_packets_that_are_too_far_apart() -> None:
    made = network([("a",), ("a",)], capacity="1Mbps", burst="9kB", max_packet_length="9kB")
    made["servers"][0]["service_curve"]["rates"] = ["1Mbps"]
    said = refused(written(made))
    assert said.startswith(
        "n.json:10: flows: f0: packets: expected 84 to 1542 octets, found 9000\n  hint: no power"
    )


TEXTS = {
    "": "n.json:1: expected JSON",
    "{": "n.json:1: expected JSON",
    "[]": "n.json: expected an object of JSON, found a list",
    "[" * 100_000: "n.json: expected JSON, found too many levels of nesting",
    '{"a":' * 100_000: "n.json: expected JSON, found too many levels of nesting",
    '{\n"network": {},\n"network": {}}': "n.json:1: expected each key once, found network again",
    '{\n"network": {"a": 1,\n"a": 1}}': "n.json:2: expected each key once, found a again",
    "<": "n.json:1: expected XML",
    "<a/>": "n.json:1: expected <elements>, found <a>",
    "<elements/>": "n.json: <link>: expected 1 to 10000 elements, found 0",
    '<!DOCTYPE a [<!ENTITY b "c">]><elements/>': "expected <elements>, found a document type definition",
    "<elements>" + "<a>" * 50_000: "n.json:1: expected at most 4 levels, found <a>",
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_that_is_no_network(text: str) -> None:
    assert TEXTS[text] in refused(text)


MARKED = {
    ("FIFO+IS", "ARBITRARY+IS"): "line.xml:2: <network> technology: expected FIFO, as bounds of FIFO "
    "servers do not hold for another order, found ARBITRARY+IS+PK",
    ("FIFO+IS", "FIFO+REG+IS"): "<network> technology: expected some of CEIL, FIFO, IS, MOH, PK, TDMI, "
    "found REG",
    (
        'lb-burst="1kB"',
        'lb-burst="1"',
    ): "<flow> x: lb-burst: expected a number of 0 or more with a unit",
    ('lb-rate="1000"', 'lb-rate="-1"'): "<flow> x: lb-rate: expected a number of 0 or more with a unit",
    (
        'service-latency="10us"',
        'service-latency="10"',
    ): "service-latency: expected a number of 0 or more",
    ('leaky-bucket" lb-burst="1kB', 'periodic" lb-burst="1kB'): "expected leaky-bucket, found periodic",
    ('source="a"', 'source="z"'): "<target> x: expected a path of two or more nodes, each once, found z s z",
    ('source="a"', 'source="q"'): "<target> x: expected a link from q to s, found none",
    ('source="a"', ""): "<flow> source: expected a text, found nothing",
    ('name="y"', 'name="x"'): "<flow> name: expected each name once, found x again",
    ('<station name="b"', '<station name="a"'): "<station> name: expected each name once, found a again",
    ('from="b"', 'from="c"'): "<link> expected a station or switch that is there, found c",
    ('from="b" to="s"', 'from="b" to="b"'): "<link> expected two nodes, found b twice",
    ('<path node="s"/><path node="z"/>', ""): "<target> x: expected a path of two or more nodes",
    ("<target", "<aim"): "<flow> x: expected a <target>, found none",
    ('service-rate="40Mbps" colour', "colour"): "",
    ('transmission-capacity="100Mbps"', 'transmission-capacity="0Mbps"'): "line.xml:9: <link> s -> z: "
    "capacity: expected 1000000 bit/s to 1 Tbit/s, found 0",
    ("<network", "<net"): "expected one <network>, found 0",
}


@pytest.mark.parametrize("change", MARKED, ids=range(len(MARKED)))
def test_a_physical_network_that_is_refused(change: tuple[str, str]) -> None:
    text = XML.replace(*change)
    if change[0] == "<target":
        text = text.replace("</target>", "</aim>")
    if not MARKED[change]:
        # The link has a rate of its own; without that one, the latency of the switch has no rate.
        text = text.replace('service-rate="50Mbps" ', "")
    said = refused(text, "line.xml")
    assert (MARKED[change] or "service-rate: expected one beside service-latency, found none") in said


def test_long_paths_are_refused_before_they_take_long() -> None:
    names = [f"s{number}" for number in range(2500)]
    made = network([tuple(names)])
    assert "paths: expected at most 4000000 pairs of servers on all paths, found 6250000" in refused(
        written(made)
    )


def test_the_command_ends_with_one_message_and_its_code(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text(changed("flows.0.path", ["c"]), encoding="utf-8")
    done = tsnbench("import", "saihu", "n.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "n.json:1: flows: f0: path: expected the name of a server, found c",
        "more about it: tsnbench explain TSN0905",
    ]


def places(part: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [before, *(one for key, value in items for one in places(value, (*before, key)))]


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**12), 10**12), st.floats(), st.text(max_size=6), st.just([]),
    st.just({}), st.sampled_from(["1e99", "5GB", "0.1ns", "a", "b"]),
    st.lists(st.sampled_from("abc"), max_size=3),
)  # fmt: skip


@examples(2)
@given(st.integers(0, 50), st.data())
def test_any_other_value_is_a_network_or_a_message(seed: int, data: st.DataObject) -> None:
    made: Any = copy.deepcopy(output_ports(seed))
    for _ in range(data.draw(st.integers(1, 3))):
        *before, last = data.draw(st.sampled_from([one for one in places(made) if one]))
        part = made
        for key in before:
            part = part[key]
        part[last] = data.draw(ODD)
    with suppress(ContentError):
        scenario("n.json", json.dumps(made))


@examples(2)
@given(st.integers(0, 50), st.data())
def test_any_other_text_is_a_network_or_a_message(seed: int, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([physical(seed), written(output_ports(seed))]))
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 40)))
    with suppress(ContentError):
        scenario("n", text[:begin] + data.draw(st.text(max_size=10)) + text[end:])
