"""Standby paths by hand: their routes, and when each path forwards. Settings of recovery functions."""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

US = 1_000
MS = 1_000_000
END = 120 * MS + 1
"""20 ms of duration, 100 ms in which frames may still arrive, and the instant after them."""

LADDER = """\
name: ladder
duration: 20 ms
network:
  rate: 1 Gbit/s
  bridges: [x1, x2, y, z, x3, x4]
  stations: [t, l]
  links: [t -- x1, x1 -- x2, x2 -- y, y -- x3, x2 -- z, z -- x3, x3 -- x4, x4 -- l]
"""
CIRCLE = """\
name: circle
duration: 20 ms
network:
  rate: 1 Gbit/s
  bridges: [up, low]
  stations: [t, l]
  links: [t -- up, up -- l, t -- low, low -- l]
"""


def stream(network: str, settings: str, rest: str = "", number: int = 0) -> dict[str, Any]:
    """One stream of the Plan, with the names of its ports in place of their numbers."""
    text = (
        f"{network}streams:\n  s: {{from: t, to: l, pcp: 5, period: 1 ms, frame: 100 B, {settings}}}\n{rest}"
    )
    document = plan(read_scenario(text)[0]).document
    found: Any = dict(document["streams"][number])
    found["route"] = [(document["ports"][hop["port"]]["name"], hop.get("parent")) for hop in found["route"]]
    return found


def spans(settings: str, *faults: str) -> list[list[tuple[int, int]]]:
    """From when until when the first path forwards, and the standby path."""
    written = "".join(f"  - {{{fault}}}\n" for fault in faults)
    settings = f"via: [up], failover: {{path: [low], {settings}}}"
    found = stream(CIRCLE, settings, f"faults:\n{written}" if faults else "")
    return [
        [(span["from_ns"], span["until_ns"]) for span in path["spans"]]
        for path in found["redundancy"]["active"]
    ]


def test_both_paths_share_their_beginning_and_their_end() -> None:
    found = stream(LADDER, "via: [x1, x2, y, x3, x4], failover: {path: [x1, x2, z, x3, x4], after: 1 ms}")
    assert found["route"] == [
        ("t -> x1", None), ("x1 -> x2", 0),
        ("x2 -> y", 1), ("y -> x3", 2),
        ("x2 -> z", 1), ("z -> x3", 4),
        ("x3 -> x4", 3), ("x4 -> l", 6),
    ]  # fmt: skip
    assert found["redundancy"]["merges"] == [{"from": [3, 5]}]
    assert [path["route"] for path in found["redundancy"]["active"]] == [2, 4]
    assert [listener["route"] for listener in found["listeners"]] == [7]


def test_paths_that_share_nothing() -> None:
    found = stream(CIRCLE, "via: [low], failover: {path: [up], after: 1 ms}")
    assert found["route"] == [("t -> low", None), ("low -> l", 0), ("t -> up", None), ("up -> l", 2)]
    assert [path["route"] for path in found["redundancy"]["active"]] == [0, 2]


@pytest.mark.parametrize(
    ("settings", "number", "ports"),
    [
        ("via: ['sw#3'], failover: {path: ['sw#2'], after: 1 ms}", 0, ["t -> sw #3", "t -> sw #2"]),
        ("count: 2, via: [sw], failover: {path: ['sw#3'], after: 1 ms}", 0, ["t -> sw #1", "t -> sw #3"]),
        ("count: 2, via: [sw], failover: {path: ['sw#3'], after: 1 ms}", 1, ["t -> sw #2", "t -> sw #3"]),
    ],
)
def test_parallel_links_are_chosen_by_their_number(settings: str, number: int, ports: list[str]) -> None:
    network = CIRCLE.replace("[up, low]", "[sw]").replace(
        "[t -- up, up -- l, t -- low, low -- l]", "[t -- sw, t -- sw, t -- sw, sw -- l]"
    )
    found = stream(network, settings, number=number)
    assert [name for name, parent in found["route"] if parent is None] == ports


@pytest.mark.parametrize("row", table(__file__, "failovers.yaml"), ids=lambda row: row["case"])
def test_when_each_path_forwards(row: dict[str, Any]) -> None:
    assert spans(row["failover"], *row["faults"]) == [
        [(begin * US, END if end is None else end * US) for begin, end in row[path]]
        for path in ("first", "standby")
    ]


def test_settings_of_recovery_functions() -> None:
    settings = "frer: {paths: [[up], [low]], recovery: match, reset: 7 ms, identification: source-mac}"
    assert stream(CIRCLE, settings)["redundancy"]["recovery"] == {
        "identification": "source-mac", "algorithm": {"kind": "match"}, "reset_ns": 7 * MS,
    }  # fmt: skip
    latent = "latent-errors: {period: 3 ms, reset: 5 ms, difference: 4}"
    settings = f"frer: {{paths: [[up], [low]], history: 9, reset: 7 ms, individual: true, {latent}}}"
    assert stream(CIRCLE, settings)["redundancy"]["recovery"] == {
        "identification": "null",
        "algorithm": {"kind": "vector", "history": 9},
        "reset_ns": 7 * MS,
        "individual": True,
        "latent": {"period_ns": 3 * MS, "reset_ns": 5 * MS, "difference": 4},
    }


def test_paths_of_which_one_is_a_part_of_the_other() -> None:
    """The second path leaves out a bridge: both have the same first and last links, so nothing merges."""
    network = LADDER.replace("x2 -- z, z -- x3,", "x2 -- z, z -- x3, x2 -- x3,")
    found = stream(network, "frer: {paths: [[x1, x2, y, x3, x4], [x1, x2, x3, x4]], at: x3}")
    assert found["redundancy"]["merges"] == [{"from": [3, 4]}]


@pytest.mark.parametrize(
    ("network", "paths"),
    [(CIRCLE, "[[up], [low]]"), (LADDER, "[[x1, x2, y, x3, x4], [x1, x2, z, x3, x4]]")],
)
def test_paths_may_merge_at_the_listener(network: str, paths: str) -> None:
    merged = stream(network, f"frer: {{paths: {paths}, at: l}}")
    (merge,) = merged["redundancy"]["merges"]
    assert [merged["route"][entry][0].endswith("-> l") for entry in merge["from"]] == [True, True]


@pytest.mark.parametrize("at", ["", "at: x3", "at: [x3, x4]"])
def test_frames_carry_a_tag_from_where_paths_part_until_they_merge(at: str) -> None:
    """Where paths have merged already, a further node has nothing to merge."""
    paths = "paths: [[x1, x2, y, x3, x4], [x1, x2, z, x3, x4]]"
    found = stream(LADDER, f"frer: {{{paths}{at and ', '}{at}}}")
    assert [name for name, _ in found["route"]] == [
        "t -> x1", "x1 -> x2", "x2 -> y", "y -> x3", "x2 -> z", "z -> x3", "x3 -> x4", "x4 -> l",
    ]  # fmt: skip
    assert found["redundancy"]["merges"] == [{"from": [3, 5]}]
    assert found["redundancy"]["copies"] == [0, 0, 1, 1, 2, 2, 0, 0]


def test_a_listener_with_one_path_asks_for_no_merge_point() -> None:
    """The paths to l cross in x and merge at l alone. The frame to m has no tag behind x."""
    network = LADDER.replace("[x1, x2, y, z, x3, x4]", "[x, y, p, q]").replace("[t, l]", "[t, l, m]")
    start = network.index("links:")
    network = f"{network[:start]}links: [t -- x, t -- y, x -- p, p -- l, y -- x, x -- q, q -- l, x -- m]\n"
    frer = "frer: {paths: [[x, p, l], [y, x, q, l], [x, m]]}"
    text = f"{network}streams:\n  s: {{from: t, to: [l, m], period: 1 ms, frame: 100 B, {frer}}}\n"
    document = plan(read_scenario(text)[0]).document
    (found,) = document["streams"]
    assert [(document["ports"][hop["port"]]["name"], hop.get("parent")) for hop in found["route"]] == [
        ("t -> x", None), ("x -> p", 0), ("p -> l", 1),
        ("t -> y", None), ("y -> x", 3), ("x -> q", 4), ("q -> l", 5),
        ("x -> m", 0),
    ]  # fmt: skip
    assert found["redundancy"]["merges"] == [{"from": [2, 6]}]
    assert found["redundancy"]["copies"] == [1, 1, 1, 2, 2, 2, 2, 0]


THREE = CIRCLE.replace("[up, low]", "[up, mid, low]").replace(
    "t -- low, low -- l]", "t -- mid, mid -- l, t -- low, low -- l]"
)


@pytest.mark.parametrize(
    ("settings", "first", "second"),
    [
        ("failover: {after: 1 ms}", "up", "mid"),
        ("via: [low], failover: {after: 1 ms}", "low", "up"),
        ("failover: {path: [up], after: 1 ms}", "mid", "up"),
        ("via: [mid], failover: {path: [low], after: 1 ms}", "mid", "low"),
    ],
)
def test_what_is_not_written_is_the_shortest_path_beside_it(settings: str, first: str, second: str) -> None:
    """Of three equal paths, the first two without links of the written one, in the order of the scenario."""
    assert stream(THREE, settings)["route"] == [
        (f"t -> {first}", None), (f"{first} -> l", 0), (f"t -> {second}", None), (f"{second} -> l", 2),
    ]  # fmt: skip


def test_a_first_path_beside_the_written_one_need_not_leave_room_for_a_third() -> None:
    """The shortest path t-a-b-l has links of both paths of the only pair, t-a-e-f-l and t-c-g-b-l."""
    bridges = "[low, a, b, c, e, f, g]"
    pair = "t -- a, a -- e, e -- f, f -- l, t -- c, c -- g, g -- b, b -- l"
    network = CIRCLE.replace("[up, low]", bridges).replace("t -- up, up -- l", f"{pair}, a -- b")
    assert [name for name, _ in stream(network, "failover: {path: [low], after: 1 ms}")["route"]] == [
        "t -> a", "a -> b", "b -> l", "t -> low", "low -> l",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "settings", ["failover: {after: 1 ms}", "via: [x1, x2, y, x3, x4], failover: {after: 1 ms}"]
)
def test_paths_that_must_share_links(settings: str) -> None:
    """A second path has links of its own where there are some, and shares those that there is one of."""
    assert [name for name, _ in stream(LADDER, settings)["route"]] == [
        "t -> x1", "x1 -> x2", "x2 -> y", "y -> x3", "x2 -> z", "z -> x3", "x3 -> x4", "x4 -> l",
    ]  # fmt: skip


def test_latent_error_detection_has_defaults_of_the_standard() -> None:
    recovery = stream(CIRCLE, "frer: {paths: [[up], [low]], latent-errors: {}}")["redundancy"]["recovery"]
    assert sorted(recovery["latent"]) == ["difference", "period_ns", "reset_ns"]
    assert "latent" not in stream(CIRCLE, "frer: {paths: [[up], [low]]}")["redundancy"]["recovery"]
