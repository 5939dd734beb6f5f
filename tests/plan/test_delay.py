"""The closed form of the smallest delay, against sums by hand."""

from __future__ import annotations

import pytest

from support.networks import line, links, network, periodic, scenario
from support.planned import document_of
from tsnbench.plan.delay import (
    SmallestDelays,
    cut_octets,
    since_release,
    smallest_delay_ns,
    smallest_delay_ps,
    stamped_points,
)
from tsnbench.planning import plan
from tsnbench.scenario import model


@pytest.mark.parametrize(
    ("hops", "ns"),
    # 1230 octets take 9.84 us at 1 Gbit/s; every further link adds 9.84 us and 64 ns of preamble.
    [(1, 9_840), (2, 19_744), (7, 9_840 + 6 * 9_904)],
)
def test_a_line(hops: int, ns: int) -> None:
    document = plan(line(hops)).document
    assert smallest_delay_ns(document, document["streams"][0], 0) == ns


def test_rates_cables_and_processing_add_up() -> None:
    wires = (*links("t-b", rate=10**8, cable=100_000), *links("b-l", rate=10**9, cable=2_000))
    net = network("t:station b:bridge l:station", wires)
    nodes = net.nodes | {
        "b": model.Node(kind="bridge", processing=1_500),
        "t": model.Node(kind="station", processing=9),
    }
    made = scenario(net.model_copy(update={"nodes": nodes}), {"s": periodic("t", "l")})
    document = plan(made).document
    expected = 98_400_000 + 500_000 + 1_500_000 + 9_904_000 + 10_000
    assert smallest_delay_ps(document, document["streams"][0], 0) == expected


@pytest.mark.parametrize(
    ("octets", "ns"),
    # From start to start: the octets that must arrive first (up to 337), and their preamble; FlexTest Fig. 7.
    [(64, 576), (336, 2_752), (337, 2_760), (338, 2_760), (1_522, 2_760)],
)
@pytest.mark.parametrize(("back", "cuts"), [(10**9, True), (10**8, True), (10**10, False)])
def test_cut_through_waits_for_its_threshold(octets: int, ns: int, back: int, cuts: bool) -> None:
    wires = (*links("t-b", rate=10**9), *links("b-l", rate=back))
    net = network("t:station b:bridge l:station", wires)
    nodes = net.nodes | {"b": model.Node(kind="bridge", cut_through=337, processing=500)}
    stream = periodic("t", "l", size=model.FixedSize(octets=octets))
    taps = model.Taps(rx_point="start")
    document = plan(scenario(net.model_copy(update={"nodes": nodes}), {"s": stream}, taps=taps)).document
    # The last link counts its own preamble. On a faster link frames are stored whole, as its queue would run
    # empty.
    before = ns - 64 if cuts else octets * 8
    expected = before * 1_000 + 500_000 + 8 * 8 * 10**12 // back
    assert smallest_delay_ps(document, document["streams"][0], 0) == expected


def test_hardware_stamps_see_one_frame_less() -> None:
    """From start to start, a single link has only the delay of its cable."""
    document = plan(line(1, taps=model.Taps(rx_point="start"))).document
    assert smallest_delay_ps(document, document["streams"][0], 0) == 0
    document = plan(line(2, taps=model.Taps(rx_point="start"))).document
    assert smallest_delay_ps(document, document["streams"][0], 0) == 9_904_000
    document = plan(line(2, taps=model.Taps(tx_point="end"))).document
    assert smallest_delay_ps(document, document["streams"][0], 0) == 9_904_000


def test_from_release_the_first_preamble_and_the_last_frame_count() -> None:
    """Two links of 9.904 us each, preambles included."""
    document = plan(line(2, taps=model.Taps(rx_point="start"))).document
    stream = document["streams"][0]
    points = stamped_points(document)
    released = since_release(document, stream, points)
    first, last = (document["ports"][hop["port"]]["name"] for hop in stream["route"])
    assert released == {**points, f"{first} tx": "release"}
    assert released[f"{last} rx"] == "start"
    assert smallest_delay_ps(document, stream, 0, points=points) == 9_904_000
    # The last stamp is taken after the preamble, so 64 ns of the second link count.
    assert smallest_delay_ps(document, stream, 0, points=released) == 9_904_000 + 64_000
    assert smallest_delay_ns(document, stream, 0, points=released) == 9_968
    whole = plan(line(2)).document
    released = since_release(whole, whole["streams"][0], stamped_points(whole))
    assert smallest_delay_ps(whole, whole["streams"][0], 0, points=released) == 2 * 9_904_000


def test_without_taps_stamps_are_of_the_first_bit_out_and_the_last_bit_in() -> None:
    document = plan(line(2)).document
    assert smallest_delay_ps(document, document["streams"][0], 0, points={}) == 9_840_000 + 9_904_000


@pytest.mark.parametrize("taps", [{}, {"rx_point": "start"}, {"tx_point": "end"}])
def test_delays_of_many_streams_are_those_of_each(taps: dict) -> None:
    document = plan(line(3, taps=model.Taps(**taps))).document
    (stream,) = document["streams"][:1]
    many = SmallestDelays(document)
    for octets in (64, 1_230, 64):
        assert many.ns(stream, 0, octets) == smallest_delay_ns(document, stream, 0, octets)
        assert not many.within(stream, octets, many.ns(stream, 0, octets) - 1)
        assert many.within(stream, octets, 10 * many.ns(stream, 0, octets))


@pytest.mark.parametrize("key", ["cut_through_octets", "redundancy"])
def test_delays_that_are_not_sums_are_not_estimated(key: str) -> None:
    document = plan(line(2)).document
    (stream,) = document["streams"][:1]
    if key == "redundancy":
        stream["redundancy"] = {"merges": [], "fan": []}  # type: ignore[typeddict-item]
    else:
        document["nodes"][-1]["cut_through_octets"] = 64
        assert SmallestDelays(document).within(stream, 64, 10**9), "this node is not on the path"
        last = document["ports"][stream["route"][-1]["port"]]
        document["nodes"][last["node"]]["cut_through_octets"] = 64
    assert not SmallestDelays(document).within(stream, 64, 10**9)


MERGED = """\
name: merged
duration: 1 ms
network:
  rate: 1 Gbit/s
  bridges: [s, z, m, y]
  stations: [t, l]
  links: [t -- s, s -- m, s -- z, z -- m, m -- y, y -- l]
streams: {x: {from: t, to: l, pcp: 5, period: 1 ms, frame: 1000 B, frer: {}}}
"""


def test_frames_are_stored_where_member_streams_merge_and_cut_through_afterwards() -> None:
    """1000, 1014, 1008 and 1008 octets on four links; s and y, but not m, start 900 octets early."""
    document = document_of(MERGED)
    for node in document["nodes"]:
        node["cut_through_octets"] = 100
    assert smallest_delay_ns(document, document["streams"][0], 0) == (1000 + 1014 + 1008 + 1008 - 2 * 900) * 8


def test_a_smaller_frame_is_faster() -> None:
    document = plan(line(2)).document
    assert smallest_delay_ps(document, document["streams"][0], 0, 64) == 2 * 512_000 + 64_000
    assert smallest_delay_ns(document, document["streams"][0], 0, 64) == 1_088


@pytest.mark.parametrize(
    ("after", "rate", "express", "pcp", "octets"),
    [
        (None, 10**9, None, 3, 0),  # stored whole
        (337, 10**9, None, 3, 1_522 - 337),
        (337, 10**8, None, 3, 1_522 - 337),
        (337, 10**9 + 1, None, 3, 0),  # a faster link would run empty in the frame
        (1_522, 10**9, None, 3, 0),
        (2_000, 10**9, None, 3, 0),  # no more octets than the frame has
        (337, 10**9, 0b10, 3, 1_522 - 337),  # class 1 is express
        (337, 10**9, 0b101, 3, 0),  # here class 1 may be interrupted
        (337, 10**9, 0b101, 0, 1_522 - 337),
    ],
)
def test_what_cut_through_does_not_wait_for(
    after: int | None, rate: int, express: int | None, pcp: int, octets: int
) -> None:
    nodes = [{}, {} if after is None else {"cut_through_octets": after}]
    ingress = {"node": 0, "rate_bps": 10**9, "pcp_to_class": [0, 0, 0, 1, 1, 1, 2, 2]}
    if express is not None:
        ingress["preemption"] = {"express": express}
    egress = {"node": 1, "rate_bps": rate}
    assert cut_octets({"nodes": nodes}, ingress, egress, 1_522, pcp) == octets
