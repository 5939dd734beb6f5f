"""Filters, gates, meters and priorities in the Plan, each value as it is written. IEEE 802.1Q-2022, 8.6.5."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

TEXT = """\
name: policed
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [s1, s2]
  links: {rate: 1 Gbit/s, between: [a-s1, c-s1, s1-s2, s2-b]}
streams:
  one: {from: a, to: b, pcp: 5, frame: 500 B, period: 100 us}
  two: {from: a, to: b, pcp: 4, frame: 500 B, period: 100 us, count: 2}
  far: {from: c, to: b, pcp: 5, frame: 500 B, period: 100 us}
"""
# Ports in the order of the links: a, s1 (from a), c, s1 (from c), s1 (to s2), s2, s2 (to b), b.
S1, S2 = 3, 4
FROM_A, FROM_C, FROM_S2, AT_S2 = 1, 3, 4, 5


def policing(rules: str) -> dict[int, dict[str, Any]]:
    """The tables of each node, by its number."""
    document: Any = plan(read_scenario(f"{TEXT}policing:\n{rules}", "policed.yaml")[0]).document
    assert [document["nodes"][node]["name"] for node in (S1, S2)] == ["s1", "s2"]
    names = [port["name"] for port in document["ports"]]
    arrivals = (FROM_A, FROM_C, FROM_S2, AT_S2)
    assert [names[document["ports"][port]["peer"]] for port in arrivals] == [
        "a -> s1",
        "c -> s1",
        "s2 -> s1",
        "s1 -> s2",
    ]
    return {one["node"]: {key: one[key] for key in one if key != "node"} for one in document["policing"]}


def test_one_filter_for_all_streams_of_a_link() -> None:
    assert policing("  - {at: a -> s1, max-sdu: 1000 B}\n") == {
        S1: {"filters": [{"name": "all", "ports": [FROM_A], "max_sdu_octets": 1000}]}
    }


def test_some_streams_with_each_of_their_flows() -> None:
    found = policing(
        "  - {at: all -> s1, streams: [two, one], priority: 4, max-sdu: 1 kB, block-oversize: true}\n"
    )
    assert found == {
        S1: {
            "filters": [
                {
                    "name": "two, one",
                    "ports": [FROM_A, FROM_C, FROM_S2],
                    "streams": [0, 1, 2],
                    "priority": 4,
                    "max_sdu_octets": 1000,
                    "block_oversize": True,
                }
            ]
        }
    }


def test_a_filter_for_each_stream_that_comes_by_a_link() -> None:
    meter = "meter: {cir: 10 Mbit/s, cbs: 3000 B}"
    found = policing(f"  - {{at: a -> s1, per: stream, {meter}}}\n")[S1]
    assert [(one["name"], one["streams"], one["meter"]) for one in found["filters"]] == [
        ("one", [0], 0),
        ("two.1", [1], 1),
        ("two.2", [2], 2),
    ]
    assert len(found["meters"]) == 3
    found = policing(f"  - {{at: s1 -> s2, per: stream, streams: [far, one], {meter}}}\n")[S2]
    assert [(one["name"], one["ports"], one["streams"]) for one in found["filters"]] == [
        ("one", [AT_S2], [0]),
        ("far", [AT_S2], [3]),
    ]


def test_a_gate_has_its_entries_and_their_sum() -> None:
    gate = (
        "{base-time: 7 us, close-on-invalid: true, close-on-octets: true, entries: "
        "[{for: 50 us, ipv: 6, octets: 2 kB}, {open: false, for: 30 us}]}"
    )
    found = policing(
        f"  - {{at: c -> s1, gate: {gate}}}\n  - {{at: a -> s1, gate: {{entries: [{{for: 1 ms}}]}}}}\n"
    )
    assert found[S1]["gates"] == [
        {
            "base_time_ns": 7_000,
            "cycle_ns": 80_000,
            "entries": [
                {"open": True, "interval_ns": 50_000, "ipv": 6, "octets_max": 2000},
                {"open": False, "interval_ns": 30_000},
            ],
            "close_on_invalid_rx": True,
            "close_on_octets_exceeded": True,
        },
        {"base_time_ns": 0, "cycle_ns": 1_000_000, "entries": [{"open": True, "interval_ns": 1_000_000}]},
    ]
    assert [(one["ports"], one["gate"]) for one in found[S1]["filters"]] == [([FROM_C], 0), ([FROM_A], 1)]


def test_a_meter_has_its_rates_and_what_it_does() -> None:
    plain = "{cir: 10 Mbit/s, cbs: 3000 B}"
    full = (
        "{cir: 20 Mbit/s, cbs: 1500 B, eir: 5 Mbit/s, ebs: 2500 B, coupling: true, color-aware: true, "
        "drop-yellow: true, mark-all-red: true}"
    )
    found = policing(f"  - {{at: a -> s1, meter: {plain}}}\n  - {{at: c -> s1, meter: {full}}}\n")
    assert found[S1]["meters"] == [
        {"cir_bps": 10_000_000, "cbs_octets": 3000, "eir_bps": 0, "ebs_octets": 0},
        {
            "cir_bps": 20_000_000,
            "cbs_octets": 1500,
            "eir_bps": 5_000_000,
            "ebs_octets": 2500,
            "coupling": True,
            "color_aware": True,
            "drop_on_yellow": True,
            "mark_all_frames_red": True,
        },
    ]
    assert [one["meter"] for one in found[S1]["filters"]] == [0, 1]


def test_priorities_are_regenerated_where_the_later_entry_wins() -> None:
    found = policing(
        "  - {at: all -> s1, regenerate: {5: 3, 4: 2}}\n  - {at: a -> s1, regenerate: {4: 1}}\n"
        "  - {at: s1 -> s2, regenerate: {3: 7}}\n"
    )
    assert found[S1]["regeneration"] == [
        {"port": FROM_A, "pcp": [0, 1, 2, 3, 1, 3, 6, 7]},
        {"port": FROM_C, "pcp": [0, 1, 2, 3, 2, 3, 6, 7]},
        {"port": FROM_S2, "pcp": [0, 1, 2, 3, 2, 3, 6, 7]},
    ]
    assert found[S2]["regeneration"] == [{"port": AT_S2, "pcp": [0, 1, 2, 7, 4, 5, 6, 7]}]


def test_a_scheduler_joins_the_filter_that_a_flow_has() -> None:
    """What an earlier filter does for all frames is done for the shaped flow as well."""
    shapers = "shapers: {s1 -> s2: {ats: {pcp: [5]}}}\n"
    rules = (
        "policing: [{at: a -> s1, priority: 5, max-sdu: 1000 B}, "
        "{at: c -> s1, streams: [far], max-sdu: 900 B}]\n"
    )
    document: Any = plan(read_scenario(TEXT + shapers + rules, "policed.yaml")[0]).document
    (own,) = document["policing"]
    assert own["filters"] == [
        {"name": "all", "ports": [FROM_A], "streams": [0], "max_sdu_octets": 1000, "scheduler": 0},
        {"name": "all", "ports": [FROM_A], "priority": 5, "max_sdu_octets": 1000},
        {"name": "far", "ports": [FROM_C], "streams": [3], "max_sdu_octets": 900, "scheduler": 1},
    ]


@pytest.mark.parametrize(
    ("rule", "shaped", "behind"),
    [
        # A filter for frames of this flow only, at this port only, becomes the shaped one.
        ("at: a -> s1, streams: [one]", "one", []),
        # Others stay, behind that of the shaped flow: for more ports, more streams, or one priority.
        ("at: all -> s1, streams: [one]", "one", [{"ports": [FROM_A, FROM_C, FROM_S2], "streams": [0]}]),
        ("at: a -> s1, streams: [one, two]", "one, two", [{"ports": [FROM_A], "streams": [0, 1, 2]}]),
        (
            "at: a -> s1, streams: [one], priority: 5",
            "one",
            [{"ports": [FROM_A], "streams": [0], "priority": 5}],
        ),
    ],
)
def test_a_filter_for_other_frames_stays_behind_that_of_a_shaped_flow(
    rule: str, shaped: str, behind: list[dict[str, Any]]
) -> None:
    shapers = "shapers: {s1 -> s2: {ats: {pcp: [5]}}}\n"
    rules = f"policing: [{{{rule}, max-sdu: 1000 B}}]\n"
    document: Any = plan(read_scenario(TEXT + shapers + rules, "policed.yaml")[0]).document
    (own,) = document["policing"]
    limit = {"name": shaped, "max_sdu_octets": 1000}
    far = {"name": "far", "ports": [FROM_C], "streams": [3], "scheduler": 1}
    assert own["filters"] == [
        limit | {"ports": [FROM_A], "streams": [0], "scheduler": 0},
        *(limit | one for one in behind),
        far,
    ]


def test_filters_and_priorities_may_be_written_in_any_order() -> None:
    found = policing("  - {at: a -> s1, regenerate: {5: 3}}\n  - {at: c -> s1, max-sdu: 900 B}\n")[S1]
    assert found == {
        "regeneration": [{"port": FROM_A, "pcp": [0, 1, 2, 3, 4, 3, 6, 7]}],
        "filters": [{"name": "all", "ports": [FROM_C], "max_sdu_octets": 900}],
    }
