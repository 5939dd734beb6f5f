"""The catalogue against the printed tables, which were typed from the papers a second time."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean, pstdev

import pytest

from tsnbench.plan.sizes import PHY_OVERHEAD, header
from tsnbench.scenario import catalogue, model, read_scenario
from tsnbench.scenario.catalogue.listing import entries
from tsnbench.scenario.model import FixedSize, Periodic, Poisson, UnitSizes

US = 1_000


def stream(pattern: str, more: str = "") -> model.Stream:
    text = f"""
name: one
duration: 1 s
network: {{stations: [a, b], links: {{rate: 1 Gbit/s, between: [a -- b]}}}}
streams: {{s: {{from: a, to: b, pattern: {pattern}{more}}}}}
"""
    (scenario,) = read_scenario(text)
    return scenario.streams["s"]


# EnGINE Table 1: PCP, max latency in us, max jitter in us.
TABLE_1 = {"A": (3, 2000, 125), "B": (2, 10_000, 1000), "C": (5, 15_000, 500), "D": (5, 15_000, 500)}


@pytest.mark.parametrize(("letter", "row"), TABLE_1.items())
def test_engine_table_1(letter: str, row: tuple[int, int, int]) -> None:
    sr = catalogue.sr_classes()[f"sr/{letter}"]
    assert (sr.letter, sr.pcp, sr.requirements.delay) == (letter, row[0], row[1] * US)
    assert [(j.kind, j.limit) for j in sr.requirements.jitter] == [("delay-step-abs", row[2] * US)]


def test_engine_table_1_best_effort() -> None:
    sr = catalogue.sr_classes()["sr/BE"]
    assert (sr.letter, sr.pcp, sr.requirements) == (None, 0, model.Requirements())


def test_engine_table_2() -> None:
    assert catalogue.pcp_to_class() == {
        "802.1Q/4": (0, 0, 2, 3, 1, 1, 1, 1),
        "802.1Q/8": (1, 0, 6, 7, 2, 3, 4, 5),
    }


# EnGINE Table 3: streams, PCP, period us, size B, packets per second, Mbyte/s per flow, Mbyte/s of all flows.
TABLE_3 = {
    "cc-1ms": (6, 3, 1000, 1024, 1000, "1.024", "6.144"),
    "cc-6ms": (6, 3, 6000, 1024, 167, "0.167", "1.026"),
    "adas-video-600us": (2, 3, 600, 1500, 1667, "2.501", "5.001"),
    "adas-video-400us": (6, 3, 400, 1500, 2500, "3.750", "22.500"),
    "audio": (8, 5, 10000, 256, 100, "0.026", "0.205"),
    "lidar": (3, 3, 2500, 1500, 400, "1.350", "4.050"),
    "radar": (6, 3, 2500, 1250, 400, "0.500", "3.000"),
    "ultrasound": (3, 2, 20000, 512, 50, "0.026", "0.077"),
    "gps": (1, 0, 10000, 256, 10, "0.003", "0.003"),
    "audio-sr-c": (3, 5, 1451, 256, 690, "0.177", "0.530"),
    "audio-sr-d": (3, 5, 1333, 256, 751, "0.192", "0.577"),
    "be-64": (4, 0, 200, 64, 5000, "0.320", "1.280"),
    "ft-64": (5, 0, 200, 64, 5000, "0.320", "1.600"),
    "diagnostics": (5, 0, 200, 64, 5000, "0.320", "1.600"),
    "be-512": (3, 0, 200, 512, 5000, "2.560", "7.680"),
    "be-1500": (3, 0, 200, 1500, 5000, "7.500", "22.500"),
}


def test_engine_table_3_is_whole() -> None:
    rows = catalogue.printed()
    names = [name for name in rows if name.startswith("engine/")]
    assert names == [f"engine/{name}" for name in TABLE_3]
    assert [int(rows[name]["row"]) for name in names] == list(range(16))


@pytest.mark.parametrize(("name", "row"), TABLE_3.items())
def test_engine_table_3(name: str, row: tuple[int, int, int, int, int, str, str]) -> None:
    streams, pcp, period, size, per_second, flow, total = row
    found = stream(f"engine/{name}")
    assert (found.count, found.pcp) == (streams, pcp)
    assert found.pattern == Periodic(period=period * US)
    assert isinstance(found.size, FixedSize)
    assert found.size.octets == (64 if size == 64 else size - PHY_OVERHEAD)
    kept = catalogue.printed()[f"engine/{name}"]
    assert [kept[key] for key in ("period", "size", "pps", "flow", "total")] == [
        str(period), str(size), str(per_second), flow, total,
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "row"), TABLE_3.items())
def test_engine_table_3_rows_with_a_contradiction_have_a_note(
    name: str, row: tuple[int, int, int, int, int, str, str]
) -> None:
    """Packets per second and throughput follow from period and size, or a note names the contradiction."""
    _, _, period, size, per_second, flow, _ = row
    rate = Fraction(10**6, period)
    agrees = abs(rate - per_second) <= 1 and abs(size * rate / 10**6 - Fraction(flow)) <= Fraction(1, 1000)
    noted = "note" in catalogue.printed()[f"engine/{name}"]
    assert noted == (name in ("cc-6ms", "audio", "lidar", "gps"))
    assert agrees or noted


# FlexTest Table IV: PCP, cycle us, application size and deviation, bit/s at the link layer with headers.
TABLE_IV = {
    "theta-high": (6, 200, "1472", "0", 61e6),
    "theta-med": (5, 300, "1472", "0", 41e6),
    "theta-low": (4, 500, "1472", "0", 24e6),
    "psi-high": (6, 1000, "82", "0", 1.1e6),
    "psi-med": (5, 24000, "480", "0", 177e3),
    "psi-low": (4, 16670, "8336.4", "24283.8", 4.1e6),
    "omega-high": (6, None, "501.6", "984.4", 175e3),
    "omega-med": (5, 20000, "153.9", "46.6", 82e3),
    "omega-low": (4, 25000, "62412.5", "60355.9", 20e6),
}


@pytest.mark.parametrize(("name", "row"), TABLE_IV.items())
def test_flextest_table_iv(name: str, row: tuple[int, int | None, str, str, float]) -> None:
    pcp, cycle, mean, deviation, rate = row
    found = stream(f"flextest/{name}")
    assert (found.pcp, found.count) == (pcp, 1)
    if cycle is None:
        assert found.pattern == Poisson(rate=int(rate))
    else:
        assert found.pattern == Periodic(period=cycle * US)
    if deviation == "0":
        assert found.size == FixedSize(octets=int(mean) + header(True))
        octets = float(mean) + header(True)
    else:
        assert isinstance(found.size, UnitSizes)
        assert found.size.most_per_frame == 1472
        assert fmean(found.size.octets) == pytest.approx(float(mean), rel=0.005)
        assert pstdev(found.size.octets) == pytest.approx(float(deviation), rel=0.005)
        octets = fmean(unit + -(-unit // 1472) * header(True) for unit in found.size.octets)
    if cycle is not None:  # the printed, rounded rates follow from sizes and tagged headers
        assert octets * 8 * 1e6 / cycle == pytest.approx(rate, rel=0.04)


def test_flextest_cross_traffic() -> None:
    found = stream("flextest/cross-traffic")
    assert (found.pcp, found.count, found.size) == (0, 2, FixedSize(octets=1522))
    assert found.pattern == Poisson(rate=10**9)


# FlexTest Table VI: the priorities (PCP 6, 5, 4, 0: high, medium, low, cross traffic) of each slot.
TABLE_VI = {
    1: ["6", "5", "4", "0"],
    2: ["6", "65", "64", "60"],
    3: ["6", "65", "654", "6540"],
    4: ["6", "5", "64", "50", "64", "5", "6"],
}


def gates(written: str) -> model.Gates:
    text = f"""
name: gates
duration: 1 s
network: {{stations: [a, b], links: {{rate: 1 Gbit/s, between: [a -- b]}}}}
streams: {{s: {{from: a, to: b, period: 1 ms, frame: 100 B}}}}
shapers: {{a -> b: {{gates: {written}}}}}
"""
    (scenario,) = read_scenario(text)
    found = scenario.shapers["a -> b"].gates
    assert found is not None
    return found


@pytest.mark.parametrize(("number", "slots"), TABLE_VI.items())
@pytest.mark.parametrize("slot", [15, 45])
def test_flextest_table_vi(number: int, slots: list[str], slot: int) -> None:
    found = gates(f"{{pattern: flextest/gcl-{number}, slot: {slot} us}}")
    assert ["".join(str(pcp) for pcp in entry.open) for entry in found.entries] == slots
    assert {entry.duration for entry in found.entries} == {slot * US}
    assert found.by == "pcp"


@pytest.mark.parametrize("number", [1, 4])
def test_flextest_guard_band_is_one_slot_of_15_us(number: int) -> None:
    found = gates(f"{{pattern: flextest/gcl-{number}, slot: 45 us, guard-band: true}}")
    assert len(found.entries) == len(TABLE_VI[number]) + 1
    assert (found.entries[-1].open, found.entries[-1].duration) == ((), 15 * US)


def test_default_slot() -> None:
    assert gates("flextest/gcl-3").entries[0].duration == 15 * US


@pytest.mark.parametrize(
    ("more", "check"),
    [
        (", period: 100 us", ("pattern", Periodic(period=100 * US))),
        (", poisson: 5 Mbit/s", ("pattern", Poisson(rate=5_000_000))),
        (", payload: 82 B", ("size", FixedSize(octets=132))),
        (", pcp: 1", ("pcp", 1)),
        (", class: sr/B", ("pcp", 2)),
        (", count: 3", ("count", 3)),
    ],
)
def test_patterns_are_overridden_key_by_key(more: str, check: tuple[str, object]) -> None:
    base, found = stream("flextest/theta-high"), stream("flextest/theta-high", more)
    assert getattr(found, check[0]) == check[1]
    others = {"pattern", "size", "pcp", "count"} - {check[0]}
    assert all(getattr(found, name) == getattr(base, name) for name in others)


def test_listing_names_everything() -> None:
    names = [name for name, _ in entries()]
    assert len(names) == len(set(names)) == 5 + 2 + 16 + 10 + 4 + 5 + 30
    assert all(text for _, text in entries())
