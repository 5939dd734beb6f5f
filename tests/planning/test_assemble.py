"""The last pass, part by part: what a draft holds, and what the Plan then says of it.

A part of the Plan that is optional is absent where the draft does not need it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tsnbench.planning.assemble import assemble
from tsnbench.planning.draft import Draft, Flow, Gates, Hop, Node, Policing, Port, Tap
from tsnbench.planning.shaping.cbs import CreditBasedShaper
from tsnbench.scenario import model, read_scenario

TEXT = """\
name: assembled
seed: 7
duration: 10 ms
drain: 2 ms
network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}
streams:
  s: {from: a, to: b, vlan: none, period: 1 ms, frame: 1000 B}
"""


def assembled(text: str = TEXT, **parts: Any) -> dict[str, Any]:
    """The document of a draft with these parts."""
    (scenario,) = read_scenario(text)
    return dict(assemble(Draft(scenario, **parts)))


def test_an_empty_draft_has_the_times_of_its_scenario() -> None:
    assert assembled() == {
        "format": "tsnbench-plan/1",
        "name": "assembled",
        "variant": {},
        "seed": 7,
        "duration_ns": 10_000_000,
        "drain_ns": 2_000_000,
        "nodes": [],
        "ports": [],
        "streams": [],
        "taps": [],
    }


def test_the_values_of_a_sweep_are_kept_as_written() -> None:
    scenario = read_scenario(TEXT)[0].model_copy(update={"variant": {"load": "10 Mbit/s"}})
    assert assemble(Draft(scenario))["variant"] == {"load": "10 Mbit/s"}


def test_taps_faults_and_clocks() -> None:
    fault = {"kind": "node-down", "node": 1, "from_ns": 5, "until_ns": 9}
    document = assembled(
        TEXT + "clocks: {a: {offset: 3 us}, record: 1 ms}\n",
        nodes=[Node("a", "station", 0)],
        taps=[Tap("t", 4, "rx", "end", 8)],
        faults=[fault],
    )
    assert document["taps"] == [{"name": "t", "port": 4, "stage": "rx", "point": "end", "granularity_ns": 8}]
    assert document["faults"] == [fault]
    clock = {"offset_ns": 3_000, "deviation_ppt": 0, "granularity_ns": 1, "jitter_ns": 0}
    assert document["clocks"] == {"nodes": [clock], "record_ns": 1_000_000}


def test_a_plain_node_and_one_with_everything() -> None:
    plain = Node("a", "station", 0, ipv4="10.0.0.1")
    full = Node(
        "sw",
        "bridge",
        processing_ns=1_300,
        cut_through_octets=64,
        further={"kind": "uniform", "up_to_ns": 700},
        buffer={"octets": 9_000},
        learning={"ageing_ns": 300},
        ipv4="10.0.0.2",
        host={"wakeup": {"kind": "constant", "ns": 50}},
    )
    assert assembled(nodes=[plain, full])["nodes"] == [
        {"name": "a", "kind": "station", "processing_ns": 0, "ipv4": "10.0.0.1"},
        {
            "name": "sw",
            "kind": "bridge",
            "processing_ns": 1_300,
            "ipv4": "10.0.0.2",
            "cut_through_octets": 64,
            "further": {"kind": "uniform", "up_to_ns": 700},
            "buffer": {"octets": 9_000},
            "learning": {"ageing_ns": 300},
            "host": {"wakeup": {"kind": "constant", "ns": 50}},
        },
    ]


def test_tables_of_policing_are_in_the_order_of_nodes_without_empty_ones() -> None:
    kinds: dict[str, list[Any]] = {
        "filters": [{"name": "s", "ports": [1]}],
        "gates": [{"base_time_ns": 0, "cycle_ns": 10, "entries": [{"open": True, "interval_ns": 10}]}],
        "meters": [{"cir_bps": 1, "cbs_octets": 2, "eir_bps": 3, "ebs_octets": 4}],
        "schedulers": [{"cir_bps": 1, "cbs_bits": 2, "group": 0}],
        "groups": [{"name": "g", "max_residence_ns": 5}],
        "regeneration": [{"port": 1, "pcp": [7, 6, 5, 4, 3, 2, 1, 0]}],
    }
    every = Policing(**kinds)
    one_each = {node: Policing(**{kind: kinds[kind]}) for node, kind in enumerate(kinds, 1)}
    document = assembled(policing={9: Policing(), **one_each, 8: Policing(), 0: every})
    assert document["policing"] == [
        {"node": 0, **kinds},
        {"node": 1, "filters": kinds["filters"]},
        {"node": 2, "gates": kinds["gates"]},
        {"node": 3, "meters": kinds["meters"]},
        {"node": 4, "schedulers": kinds["schedulers"]},
        {"node": 5, "groups": kinds["groups"]},
        {"node": 6, "regeneration": kinds["regeneration"]},
    ]
    assert "policing" not in assembled(policing={0: Policing()})


PORT = Port(
    number=3, name="a -> b", node=0, to=1, copy=1, peer=2, rate_bps=10**9, propagation_ps=50, mac="02:00",
    pcp_to_class=(0, 0, 0, 0, 0, 1, 1, 1),
)  # fmt: skip
PLAIN = {
    "name": "a -> b",
    "node": 0,
    "peer": 2,
    "mac": "02:00",
    "rate_bps": 1_000_000_000,
    "propagation_ps": 50,
    "pcp_to_class": [0, 0, 0, 0, 0, 1, 1, 1],
    "classes": [{}, {}],
}
"""``PORT`` in the Plan: as many classes as its highest class needs."""


def port(**fields: Any) -> dict[str, Any]:
    """``PORT`` in the Plan with these fields of the draft: what is new or different."""
    (made,) = assembled(ports=[replace(PORT, **fields)])["ports"]
    assert set(PLAIN) <= set(made)
    return {key: value for key, value in made.items() if key not in PLAIN or value != PLAIN[key]}


def test_a_plain_port() -> None:
    assert assembled(ports=[PORT])["ports"] == [PLAIN]


GATES = Gates(5, ((0b10, 400), (0b01, 600)))
LIST = {
    "base_time_ns": 5,
    "cycle_ns": 1_000,
    "entries": [{"open": 0b10, "interval_ns": 400}, {"open": 0b01, "interval_ns": 600}],
}


def written(**fields: Any) -> model.Shaper:
    """The shaper of a port whose gates are written in the scenario; the entries do not count here."""
    return model.Shaper(gates=model.Gates(entries=(), **fields))


HELD = [{"open": 0b10, "interval_ns": 400, "mac": "hold"}, {"open": 0b01, "interval_ns": 600}]
QDISC = {"children": [{"kind": "pfifo", "limit_frames": 1_000}]}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # Limits are those of every class, and a largest unit is that of one.
        ({"limits": (40, None)}, {"classes": [{"limit_frames": 40}, {"limit_frames": 40}]}),
        ({"limits": (None, 900)}, {"classes": [{"limit_octets": 900}, {"limit_octets": 900}]}),
        ({"max_sdu": {1: 600}}, {"classes": [{}, {"max_sdu_octets": 600}]}),
        ({"express": 0b10}, {"preemption": {"express": 0b10}}),
        (
            {"express": 0b10, "hold_advance_ns": 120},
            {"preemption": {"express": 0b10, "hold_advance_ns": 120}},
        ),
        (
            {"express": 0b10, "release_advance_ns": 80},
            {"preemption": {"express": 0b10, "release_advance_ns": 80}},
        ),
        ({"hold_advance_ns": 120, "release_advance_ns": 80}, {}),
        ({"qdisc": QDISC}, {"qdisc": QDISC}),
        ({"gates": GATES}, {"gates": LIST}),
        ({"gates": GATES, "shaper": written()}, {"gates": LIST}),
        ({"gates": GATES, "shaper": written(guard=False)}, {"gates": {**LIST, "unguarded": True}}),
        # The gates before the first list are told also if all are closed.
        ({"gates": GATES, "gates_before": 0}, {"gates": {**LIST, "initial": 0}}),
        ({"gates": replace(GATES, extension_ns=30)}, {"gates": {**LIST, "cycle_extension_ns": 30}}),
        ({"gates": replace(GATES, macs=("hold", None))}, {"gates": {**LIST, "entries": HELD}}),
    ],
)
def test_a_part_of_a_port(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    assert port(**fields) == expected


def test_lists_that_replace_the_first_one() -> None:
    later = Gates(7, ((0b11, 250),))
    changes = [(9_000, later, {}), (12_000, replace(later, extension_ns=4), {1: 20_000, 0: 10_000})]
    change = {"base_time_ns": 7, "cycle_ns": 250, "entries": [{"open": 0b11, "interval_ns": 250}]}
    assert port(gates=GATES, gate_changes=changes)["gates"]["changes"] == [
        {"at_ns": 9_000, **change},
        {
            "at_ns": 12_000,
            **change,
            "cycle_extension_ns": 4,
            "idle_slopes": [{"class": 0, "bps": 10_000}, {"class": 1, "bps": 20_000}],
        },
    ]


def shaper(idle: int, high: Fraction, low: Fraction) -> CreditBasedShaper:
    """A shaper at 1 Gbit/s; slope in Mbit/s, credits in bit."""
    million = Fraction(10**6)
    return CreditBasedShaper(10**9, 1_250, idle * million, (idle - 1_000) * million, high, low)


def test_a_credit_based_shaper_counts_its_gates_in_the_standard_and_not_in_linux() -> None:
    """Of 1 Gbit/s, 100 Mbit/s are reserved; the gate is open half of the time, so 200 Mbit/s are needed then.

    Credits are rounded away from zero, in Linux to octets.
    """
    own = {
        "cbs": {1: shaper(100, Fraction(1_601), Fraction(-9_001))},
        "gated_cbs": {1: shaper(200, Fraction(6_401, 2), Fraction(-16_001, 2))},
    }
    made = {
        "idle_slope_bps": 200_000_000,
        "send_slope_bps": -800_000_000,
        "hi_credit_bits": 3_201,
        "lo_credit_bits": -8_001,
        "linux": {"idleslope": 100_000, "sendslope": -900_000, "hicredit": 201, "locredit": -1_126},
    }
    assert port(**own) == {"classes": [{}, {"cbs": made}]}
    assert port(**own, shaper=written()) == {"classes": [{}, {"cbs": made}]}
    runs = {**made, "runs_while_closed": True}
    assert port(**own, shaper=written(credit_runs=True)) == {"classes": [{}, {"cbs": runs}]}


STREAM = {
    "name": "s.0",
    "group": "s",
    "talker": 0,
    "pcp": 0,
    "destination_mac": "02:01",
    "destination_ipv4": "10.0.0.9",
    "udp_port": 5_000,
    "pattern": {"kind": "poisson", "mean_interval_ps": 77},
    "size": {"kind": "frame", "octets": 1_000},
    "start_ns": 11,
    "stop_ns": 99,
    "route": [{"port": 0}, {"port": 4, "parent": 0}, {"port": 6, "parent": 0}],
    "listeners": [{"node": 2, "route": 2}, {"node": 1, "route": 1}],
    "requirements": {},
}
"""The flow of ``stream`` in the Plan: to two listeners by a tree."""


def stream(line: str = "vlan: none, frame: 1000 B", **fields: Any) -> dict[str, Any]:
    """A flow in the Plan, with these words in the scenario and these fields of the draft: what is new or
    different."""
    text = TEXT[: TEXT.index("  s:")] + f"  s: {{from: a, to: b, period: 1 ms, {line}}}\n"
    (made,) = assembled(text, flows=[flow(text, **fields)])["streams"]
    assert set(STREAM) <= set(made)
    return {key: value for key, value in made.items() if key not in STREAM or value != STREAM[key]}


def flow(text: str, name: str = "s", **fields: Any) -> Flow:
    made = Flow(
        name=f"{name}.0",
        group=name,
        number=0,
        stream=read_scenario(text)[0].streams[name],
        talker=0,
        listeners=(2, 1),
        route=(Hop(0, None), Hop(4, 0), Hop(6, 0)),
        ends=(2, 1),
        destination_mac="02:01",
        destination_ipv4="10.0.0.9",
        udp_port=5_000,
        start_ns=11,
        stop_ns=99,
        **fields,
    )
    made.pattern = {"kind": "poisson", "mean_interval_ps": 77}
    made.size = {"kind": "frame", "octets": 1_000}
    return made


FLOOD = [{"port": 8, "parent": 1}, {"port": 9, "parent": 3}]


@pytest.mark.parametrize(
    ("words", "fields", "expected"),
    [
        ("vlan: none", {}, {}),
        ("vlan: 1, pcp: 3", {}, {"vid": 1, "pcp": 3}),
        ("vlan: none, tos: 64", {}, {"type_of_service": 64}),
        ("vlan: none, tos: 0", {}, {}),
        ("vlan: none, requires: {delay: 3 us}", {}, {"requirements": {"delay_ns": 3_000}}),
        ("vlan: none", {"answers": {"stream": 0, "after_ns": 0}}, {"answers": {"stream": 0, "after_ns": 0}}),
        ("vlan: none", {"redundancy": {"copies": [0, 1, 2]}}, {"redundancy": {"copies": [0, 1, 2]}}),
        ("vlan: none", {"socket": {"advance_ns": 250}}, {"socket": {"advance_ns": 250}}),
        ("vlan: none", {"scheduled": {"starts_ps": [[1], [2]]}}, {"scheduled": {"starts_ps": [[1], [2]]}}),
        # It has the form of the route.
        ("vlan: none", {"flood": (Hop(8, 1), Hop(9, 3))}, {"flood": FLOOD}),
    ],
)
def test_a_part_of_a_stream(words: str, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    assert stream(f"{words}, frame: 1000 B", **fields) == expected


def test_a_whole_stream() -> None:
    assert assembled(flows=[flow(TEXT)])["streams"] == [STREAM]


def test_a_trdp_telegram_without_and_with_its_counters() -> None:
    """The quality of service is the upper three bits of the type of service; 5 unless given."""
    telegram = "vlan: none, trdp: {com-id: 1000, data-set: 64 B, time-out: 60 ms"
    trdp = {"com_id": 1_000, "header_octets": 40, "data_set_octets": 64, "time_out_ns": 60_000_000}
    assert stream(f"{telegram}}}") == {"type_of_service": 0xA0, "trdp": trdp}
    assert stream(f"{telegram}, qos: 0}}") == {"trdp": trdp}
    assert stream(f"{telegram}, etb-topo-count: 7}}")["trdp"] == {**trdp, "etb_topo_count": 7}
    assert stream(f"{telegram}, op-trn-topo-count: 8}}")["trdp"] == {**trdp, "op_trn_topo_count": 8}
    assert stream(f"{telegram}, service-id: 9}}")["trdp"] == {**trdp, "service_id": 9}
    assert stream(f"{telegram}, pattern: tsn, header: 16}}")["trdp"] == {**trdp, "header_octets": 16}


PULL = """\
name: pull
duration: 10 ms
network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}
streams:
  ask: {from: a, to: b, period: 1 ms, trdp: {com-id: 2, data-set: 64 B, pattern: pull}}
  reply: {from: b, to: a, answers: ask, trdp: {com-id: 3, data-set: 64 B, pattern: pull}}
  second: {from: b, to: a, answers: ask, trdp: {com-id: 4, data-set: 64 B, pattern: pull}}
"""


def test_a_request_names_the_first_reply_and_a_reply_names_none() -> None:
    flows = [flow(PULL, "ask"), flow(PULL, "reply", answers={"stream": 0, "after_ns": 0})]
    size = {"header_octets": 40, "data_set_octets": 64, "time_out_ns": 100_000_000}
    assert [one["trdp"] for one in assembled(PULL, flows=flows)["streams"]] == [
        {"com_id": 2, **size, "kind": "request", "reply_com_id": 3},
        {"com_id": 3, **size, "kind": "reply"},
    ]


def test_a_request_that_no_stream_answers_names_0() -> None:
    """The reader of files refuses it; a scenario that is made in Python may have it."""
    (scenario,) = read_scenario(PULL)
    alone = scenario.model_copy(update={"streams": {"ask": scenario.streams["ask"]}})
    (made,) = assemble(Draft(alone, flows=[flow(PULL, "ask")]))["streams"]
    assert made["trdp"]["reply_com_id"] == 0


MESSAGES = """\
name: messages
duration: 10 ms
network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}
streams:
  event: {from: b, to: a, period: 1 ms, trdp: {com-id: 1, data-set: 32 B, pattern: notify}}
  order:
    from: a
    to: b
    period: 1 ms
    trdp: {com-id: 2, data-set: 64 B, pattern: request, reply-time-out: 20001 ns}
  state: {answers: order, trdp: {com-id: 3, data-set: 128 B, pattern: reply, confirm-time-out: 4002 ns}}
  done: {answers: state, trdp: {pattern: confirm}}
  query: {from: a, to: b, period: 1 ms, trdp: {com-id: 4, data-set: 16 B, pattern: request}}
  brief: {answers: query, trdp: {com-id: 5, data-set: 14 B, pattern: reply}}
  wrong: {from: a, to: b, period: 1 ms, trdp: {com-id: 6, data-set: 16 B, pattern: request}}
  refused: {answers: wrong, trdp: {pattern: error}}
"""


def test_telegrams_of_message_data_have_a_kind_and_the_time_that_their_sender_waits() -> None:
    """Times are whole microseconds, rounded up. A reply waits only if a stream confirms it: an Mq then."""
    names = ["event", "order", "state", "done", "query", "brief", "wrong", "refused"]
    flows = [flow(MESSAGES, name) for name in names]
    head, failed = {"header_octets": 116}, {"reply_status": -3}
    assert [one["trdp"] for one in assembled(MESSAGES, flows=flows)["streams"]] == [
        {**head, "com_id": 1, "data_set_octets": 32, "kind": "message-notify", "time_out_ns": 0},
        {**head, "com_id": 2, "data_set_octets": 64, "kind": "message-request", "time_out_ns": 21_000},
        {**head, "com_id": 3, "data_set_octets": 128, "kind": "message-reply-query", "time_out_ns": 5_000},
        {**head, "com_id": 0, "data_set_octets": 0, "kind": "message-confirm", "time_out_ns": 0},
        {**head, "com_id": 4, "data_set_octets": 16, "kind": "message-request", "time_out_ns": 5_000_000_000},
        {**head, "com_id": 5, "data_set_octets": 14, "kind": "message-reply", "time_out_ns": 0},
        {**head, "com_id": 6, "data_set_octets": 16, "kind": "message-request", "time_out_ns": 5_000_000_000},
        {**head, "com_id": 0, "data_set_octets": 0, "kind": "message-error", "time_out_ns": 0, **failed},
    ]


def test_an_answer_without_trdp_names_no_telegram() -> None:
    text = MESSAGES[: MESSAGES.index("  event:")]
    text += "  ask: {from: a, to: b, period: 1 ms, frame: 100 B}\n  reply: {answers: ask, frame: 200 B}\n"
    flows = [flow(text, "ask"), flow(text, "reply", answers={"stream": 0, "after_ns": 0})]
    ask, reply = assembled(text, flows=flows)["streams"]
    assert "trdp" not in ask
    assert "trdp" not in reply
    assert reply["answers"] == {"stream": 0, "after_ns": 0}
