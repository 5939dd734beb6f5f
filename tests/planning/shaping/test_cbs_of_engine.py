"""EnGINE's Table 8 from the streams of Table 7 and the network of Fig. 21 alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from support.networks import ENGINE_PATHS, engine_use_case
from tsnbench.plan.load import class_loads, total
from tsnbench.planning import plan

# Table 8: interface and class to (idleSlope, sendSlope, hiCredit, loCredit); interfaces named by Fig. 21.
SR_A, SR_B = 3, 2
CONFIGURATION_1 = {SR_B: (12_820, -987_180, 20, -1234)}
CONFIGURATION_2 = {SR_A: (26_400, -973_600, 41, -1461)}
CONFIGURATION_3 = {SR_A: (89_152, -910_848, 138, -1367), SR_B: (12_820, -987_180, 41, -1234)}
CONFIGURATION_4 = {SR_A: (89_152, -910_848, 138, -1367)}
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


def shapers(port: dict[str, Any]) -> dict[int, tuple[int, ...]]:
    return {
        number: tuple(each["cbs"]["linux"][key] for key in ("idleslope", "sendslope", "hicredit", "locredit"))
        for number, each in enumerate(port["classes"])
        if "cbs" in each
    }


def test_table_8_and_no_shaper_elsewhere() -> None:
    document = plan(engine_use_case()).document
    planned = {port["name"]: shapers(port) for port in document["ports"] if shapers(port)}
    assert planned == TABLE_8


def test_table_7_counts_26_flows_and_their_bit_rate() -> None:
    document = plan(engine_use_case()).document
    assert len(document["streams"]) == 26
    last = [port["name"] for port in document["ports"]].index("zgw3 -> vcc1")
    # Paths 1, 3 and 4 end over this port: 189.152 + 112.8192 + 100 Mbit/s of Table 7.
    assert total(class_loads(document)[last]) == Fraction("401.9712") * 10**6


def test_standard_units_are_exact() -> None:
    document = plan(engine_use_case()).document
    port = next(port for port in document["ports"] if port["name"] == "zgw1 -> zgw2")
    assert port["classes"][SR_B]["cbs"]["idle_slope_bps"] == 12_819_200


def test_flows_follow_the_paths() -> None:
    document = plan(engine_use_case()).document
    names = [node["name"] for node in document["nodes"]]
    for stream in document["streams"]:
        path = [names[document["ports"][hop["port"]]["node"]] for hop in stream["route"]]
        assert " ".join([*path, "vcc1"]) == ENGINE_PATHS[int(stream["name"][1])]


def test_the_use_case_needs_no_warning() -> None:
    assert plan(engine_use_case()).warnings == ()
