"""EnGINE's experiments: the printed CBS numbers, and delays that can be computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from support.papers.engine_printed import LIMITS
from support.shipped import MS, Result, planned, simulated, variants

HOPS = [str(hops) for hops in range(1, 8)]
ALL = ["mq1", "mq2", "cs1", "cs2", "cm1", "cm2"]
LIMITED, FULL = 1230, 1522  # octets from destination address to FCS: PHY 1250 B; 1472 B of payload
START = (
    8  # preamble and start frame delimiter: a hop's transmission begins this many octets before the tx stamp
)

# Table 8: interface (named by Fig. 21) to class: idleSlope, sendSlope, hiCredit, loCredit.
CONFIGURATION_1 = {2: (12_820, -987_180, 20, -1234)}
CONFIGURATION_2 = {3: (26_400, -973_600, 41, -1461)}
CONFIGURATION_3 = {3: (89_152, -910_848, 138, -1367), 2: (12_820, -987_180, 41, -1234)}
CONFIGURATION_4 = {3: (89_152, -910_848, 138, -1367)}
TABLE_8 = {
    "zgw1 -> zgw2": CONFIGURATION_1,
    "zgw2 -> zgw3": CONFIGURATION_1,
    "zgw1 -> zgw6": CONFIGURATION_2,
    "zgw4 -> vcc1": CONFIGURATION_2,
    "zgw5 -> zgw4": CONFIGURATION_2,
    "zgw6 -> zgw5": CONFIGURATION_2,
    "zgw3 -> vcc1": CONFIGURATION_3,
    "zgw5 -> zgw3": CONFIGURATION_4,
}


def shapers(name: str, variant: str = "") -> dict[str, dict[int, tuple[int, ...]]]:
    """By port and class, the numbers of ``tc``; ports without shapers are omitted."""
    found = {port["name"]: shapers_of(port) for port in planned(name, variant).document["ports"]}
    return {port: classes for port, classes in found.items() if classes}


def shapers_of(port: dict[str, Any]) -> dict[int, tuple[int, ...]]:
    keys = ("idleslope", "sendslope", "hicredit", "locredit")
    return {
        number: tuple(one["cbs"]["linux"][key] for key in keys)
        for number, one in enumerate(port["classes"])
        if "cbs" in one
    }


def least_delay(octets: int, hops: int) -> int:
    """From the first bit out to the last bit in at 1 Gbit/s, without other frames."""
    return 8 * (octets + (hops - 1) * (octets + START))


def run(name: str, hops: str, duration: int = 20 * MS) -> Result:
    return simulated(f"papers/engine/ex-{name}", hops, duration)


def test_table_8_from_the_streams_of_table_7_alone() -> None:
    assert shapers("papers/engine/ex-ucc") == TABLE_8


def test_the_flow_paths_alone_reserve_the_same_where_no_other_path_is() -> None:
    assert shapers("papers/engine/ex-ucc-f", "F1")["zgw5 -> zgw3"] == CONFIGURATION_4
    assert shapers("papers/engine/ex-ucc-f", "F2") == {
        port: classes for port, classes in TABLE_8.items() if classes is CONFIGURATION_2
    }
    assert shapers("papers/engine/ex-ucc-f", "F3")["zgw1 -> zgw2"] == CONFIGURATION_1


def test_table_7_in_total() -> None:
    document = planned("papers/engine/ex-ucc").document
    assert len(document["streams"]) == 26
    bits = {}
    for stream in document["streams"]:
        bits[stream["name"]] = 8 * (stream["size"]["octets"] + 20) / stream["pattern"]["period_ns"]
    assert sum(bits.values()) * 1000 == pytest.approx(628.3712)  # Mbit/s


@pytest.mark.parametrize("hops", HOPS)
def test_cbs_of_one_flow(hops: str) -> None:
    expected = {3: (100_000, -900_000, 155, -1125)}
    path = [f"zgw{number} -> zgw{number + 1}" for number in range(1, int(hops) + 1)]
    assert shapers("papers/engine/ex-cs1", hops) == {path[0]: expected}
    assert shapers("papers/engine/ex-cs2", hops) == dict.fromkeys(path, expected)


@pytest.mark.parametrize("hops", HOPS)
def test_cbs_of_two_classes(hops: str) -> None:
    expected = {3: (100_000, -900_000, 155, -1125), 2: (100_000, -900_000, 297, -1125)}
    path = [f"zgw{number} -> zgw{number + 1}" for number in range(1, int(hops) + 1)]
    assert shapers("papers/engine/ex-cm1", hops) == {path[0]: expected}
    assert shapers("papers/engine/ex-cm2", hops) == dict.fromkeys(path, expected)


def test_no_cbs_without_it() -> None:
    assert not shapers("papers/engine/ex-mq1", "7")
    assert not shapers("papers/engine/ex-mq2", "7")


@pytest.mark.parametrize("hops", HOPS)
@pytest.mark.parametrize("name", ALL)
def test_the_least_delay_is_that_of_serialisation(name: str, hops: str) -> None:
    """EX_MQ, EX_CS, EX_CM: some frame of each class does not wait for any other."""
    result = run(name, hops)
    assert result.delays("flow4").min() == least_delay(LIMITED, int(hops))
    if not name.startswith("cs"):
        assert result.delays("flow3").min() == least_delay(LIMITED, int(hops))


@pytest.mark.parametrize("hops", HOPS)
@pytest.mark.parametrize("name", ["mq1", "cs1", "cs2"])
def test_limited_flows_that_fit_never_wait_after_the_first_hop(name: str, hops: str) -> None:
    """The first port spaces these frames; an idle slope of exactly their rate delays none of them."""
    result = run(name, hops)
    assert result.frames["delay_ns"].unique().to_list() == [least_delay(LIMITED, int(hops))]
    assert len(result.delays("flow4")) == 200


@pytest.mark.parametrize("hops", HOPS)
@pytest.mark.parametrize("flow", ["flow4", "flow3"])
def test_behind_a_full_frame_from_hop_to_hop(hops: str, flow: str) -> None:
    """EX_MQ2: behind a longer frame, a frame waits for the difference at every hop after the first."""
    most = least_delay(LIMITED, int(hops)) + (int(hops) - 1) * 8 * (FULL - LIMITED)
    assert run("mq2", hops).delays(flow).max() == most


def test_strict_priority_starves_the_lower_of_two_unlimited_flows() -> None:
    result = run("mq2", "7")
    rate = [len(result.delays(flow)) for flow in ("flow1", "flow2", "flow3", "flow4")]
    assert rate[0] <= 2
    assert rate[2] == rate[3] == 200
    # The remaining time of 20 ms without the two limited flows.
    assert rate[1] == pytest.approx((20 * MS - 2 * 200 * 10_000) / (8 * (FULL + 20)), abs=3)


@pytest.mark.parametrize("name", ALL)
def test_delay_grows_with_hops(name: str) -> None:
    for statistic in (lambda s: s.min(), lambda s: s.mean(), lambda s: s.median(), lambda s: s.max()):
        delays = [statistic(run(name, hops).delays("flow4")) for hops in HOPS]
        assert delays == sorted(delays)
        assert len(set(delays)) == len(delays)


@pytest.mark.parametrize("hops", HOPS)
def test_shaping_everywhere_costs_delay_at_full_load(hops: str) -> None:
    """As in Fig. 23 and 24, EX_CM2 has more delay than EX_CM1 from two hops on, and the same at one hop."""
    for flow in ("flow4", "flow3"):
        at_source, everywhere = (run(name, hops).delays(flow).mean() for name in ("cm1", "cm2"))
        assert everywhere == at_source if hops == "1" else everywhere > at_source


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("mq1", {"flow1": "A", "flow2": "A", "flow3": "A", "flow4": "A"}),
        ("mq2", {"flow4": "A", "flow3": "B"}),
        ("cs1", {"flow4": "A"}),
        ("cs2", {"flow4": "A"}),
        ("cm1", {"flow4": "A", "flow3": "B"}),
        ("cm2", {"flow4": "A", "flow3": "B"}),
    ],
)
def test_sr_classes_are_kept_over_seven_hops(name: str, classes: dict[str, str]) -> None:
    for flow, letter in classes.items():
        assert_kept(run(name, "7"), flow, letter)


def test_the_use_case_meets_every_class() -> None:
    result = simulated("papers/engine/ex-ucc", duration=100 * MS)
    shaped = {s["name"]: s["pcp"] for s in result.plan["streams"] if s["pcp"] >= 2}
    assert len(shaped) == 6 + 2 + 3 + 3 + 3 + 3 + 1
    for flow, pcp in shaped.items():
        assert_kept(result, flow, "A" if pcp == 3 else "B")


def assert_kept(result: Result, flow: str, letter: str) -> None:
    delay, jitter = LIMITS[letter]
    delays = result.delays(flow)
    assert len(delays) > 1
    assert delays.max() <= delay
    assert delays.diff().abs().max() <= jitter


@pytest.mark.parametrize(("path", "hops"), [("F1", 2), ("F2", 4), ("F3", 3)])
def test_least_delay_grows_with_the_path(path: str, hops: int) -> None:
    """EX_UCC-F: first frames of bursts do not wait ("directly correlated with the path length")."""
    result = simulated("papers/engine/ex-ucc-f", path, 100 * MS)
    for stream in result.plan["streams"]:
        assert result.delays(stream["name"]).min() >= least_delay(stream["size"]["octets"], hops)
    first = result.plan["streams"][0]
    assert result.delays(first["name"]).min() == least_delay(first["size"]["octets"], hops)


def test_cross_traffic_costs_delay() -> None:
    """EX_UCC-F is "similar or lower" than EX_UCC for every stream."""
    together = simulated("papers/engine/ex-ucc", duration=100 * MS)
    for path in variants("papers/engine/ex-ucc-f"):
        alone = simulated("papers/engine/ex-ucc-f", path, 100 * MS)
        for group in dict.fromkeys(stream["group"] for stream in alone.plan["streams"]):
            assert alone.group(group).mean() <= together.group(group).mean()


def test_no_port_of_the_use_case_is_overloaded() -> None:
    assert not planned("papers/engine/ex-ucc").warnings
