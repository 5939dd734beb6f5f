"""Parts of a draft, by hand: gate control lists, and priorities of frames behind a port."""

from __future__ import annotations

from tsnbench.planning.draft import Draft, Gates, Policing, Port
from tsnbench.planning.passes import draft
from tsnbench.scenario import read_scenario

TEXT = """\
name: draft
duration: 10 ms
network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}
streams:
  x: {from: a, to: b, pcp: 4, period: 1 ms, frame: 1000 B}
"""


def test_how_long_a_gate_is_open() -> None:
    gates = Gates(0, ((0b01, 10), (0b11, 30), (0b01, 20)))
    assert [gates.open_ns(number) for number in range(3)] == [60, 30, 0]
    assert [gates.longest_ns(number) for number in range(3)] == [30, 30, 0]


def test_a_port_regenerates_the_priorities_of_its_own_table() -> None:
    """Of node 1, port 1 has a table and port 2 has none; node 0 has no policing."""
    ports = [Port(number, f"p{number}", node, 0, 0, 0, 1, 0) for number, node in enumerate((0, 1, 1))]
    table = [7, 6, 5, 4, 3, 2, 1, 0]
    one = Draft(read_scenario(TEXT)[0], ports=ports)
    one.policing[1] = Policing(regeneration=[{"port": 1, "pcp": table}])
    assert [one.regenerated(port, 2) for port in range(3)] == [2, 5, 2]


def test_the_priority_at_a_port_that_a_stream_does_not_cross_is_its_own() -> None:
    one = draft(read_scenario(TEXT)[0])
    assert [one.priority(one.flows[0], port) for port in one.ports] == [4, 4]
    assert one.node_numbers == {"a": 0, "b": 1}


def test_priorities_of_member_streams() -> None:
    """Active identification writes PCP 6 into both members; behind the merge frames have PCP 4 again."""
    text = TEXT.replace("stations: [a, b], rate: 1 Gbit/s, links: [a -- b]", "NETWORK").replace(
        "NETWORK", "stations: [a, b], bridges: [m], rate: 1 Gbit/s, links: [a -- m, a -- m, m -- b]"
    )
    one = draft(read_scenario(text.replace("1000 B}", "1000 B, frer: {}}"))[0])
    (flow,) = one.flows
    assert one.priorities(flow) == [4, 4, 4]
    active = {"destination_mac": "02:00:00:00:00:01", "vid": 7, "pcp": 6}
    flow.redundancy["recovery"]["identification"] = {"active": active}  # type: ignore[typeddict-item]
    assert one.priorities(flow) == [6, 6, 4]
