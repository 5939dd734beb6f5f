"""gPTP and PTP in scenarios: elections, kinds of clocks, servos, faults of clocks, measured oscillators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.golden import fragment_matches, fragments
from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import load, read_scenario
from tsnbench.scenario.errors import ScenarioErrors

SCENARIO = """
name: ptp
duration: 10 ms
network:
  stations: [a, d]
  bridges: [b, c]
  links: {{rate: 1 Gbit/s, between: [a-b, b-c, b-c, c-d]}}
streams: {{s: {{from: a, to: d, period: 1 ms, frame: 500 B}}}}
clocks: {clocks}
faults: {faults}
"""
NODES = ["a", "d", "b", "c"]
MISTAKES = Path(__file__).parents[1] / "errors/fragments/clocks.txt"


def clocks(text: str, faults: str = "[]") -> dict[str, Any]:
    (scenario,) = read_scenario(SCENARIO.format(clocks=text, faults=faults))
    made = plan(scenario).document
    return {**made["clocks"], "ports": [port["name"] for port in made["ports"]]}


def test_an_election_has_all_links_and_names_the_winner() -> None:
    made = clocks(
        "{gptp: {bmca: "
        "{default: {priority1: 200}, c: {priority1: 100, clock-class: 6}, d: {clock-class: 5}}}}"
    )
    gptp = made["gptp"]
    assert gptp["grandmaster"] == NODES.index("c")
    assert gptp["slaves"] == []
    assert gptp["bmca"]["ports"] == list(range(8))
    usual = {"priority1": 200, "class": 248, "accuracy": 254, "variance": 0x436A, "priority2": 248}
    c, d = usual | {"priority1": 100, "class": 6}, usual | {"class": 5}
    assert gptp["bmca"]["clocks"] == [usual, d, usual, c]
    assert gptp["bmca"]["announce_interval_ns"] == 10**9
    assert not {"ieee_1588", "one_step", "visible", "servo"} & gptp.keys()


def test_a_transparent_clock_is_not_elected() -> None:
    """b has the least priority1, but only corrects the messages of others: c is next."""
    made = clocks("{ptp: {bmca: {b: {priority1: 1}, c: {priority1: 2}}, transparent: [b]}}")
    assert made["gptp"]["grandmaster"] == NODES.index("c")
    made = clocks("{ptp: {bmca: {b: {priority1: 1}, c: {priority1: 2}}}}")
    assert made["gptp"]["grandmaster"] == NODES.index("b")


def test_ptp_has_its_own_defaults() -> None:
    gptp = clocks("{ptp: {grandmaster: a, transparent: [c], one-step: true}}")["gptp"]
    assert gptp["ieee_1588"] == {"delay": "end-to-end", "transparent": [NODES.index("c")]}
    assert gptp["one_step"] is True
    assert gptp["sync_interval_ns"] == 10**9
    assert clocks("{ptp: {bmca: {}}}")["gptp"]["bmca"]["clocks"][0]["priority1"] == 128
    assert clocks("{ptp: {grandmaster: a, delay: p2p}}")["gptp"]["ieee_1588"] == {"delay": "peer-to-peer"}


def test_only_named_links_carry_ptp() -> None:
    made = clocks("{gptp: {grandmaster: b, links: ['b -> c #2', 'c -> d']}}")
    assert [made["ports"][port] for port in made["gptp"]["slaves"]] == ["c -> b #2", "d -> c"]
    elected = clocks("{gptp: {bmca: {}, links: ['b -> c #2']}}")
    assert [elected["ports"][port] for port in elected["gptp"]["bmca"]["ports"]] == ["b -> c #2", "c -> b #2"]


def test_a_servo_has_linuxptps_names_and_defaults() -> None:
    found = clocks("{gptp: {grandmaster: a, servo: {step_threshold: 20 us, pi_integral_exponent: 0.25}}}")
    assert found["gptp"]["servo"] == {
        "pi_proportional_scale": 700,
        "pi_proportional_exponent": -300,
        "pi_proportional_norm_max": 700,
        "pi_integral_scale": 300,
        "pi_integral_exponent": 250,
        "pi_integral_norm_max": 300,
        "first_step_threshold_ns": 20_000,
        "step_threshold_ns": 20_000,
        "max_frequency_ppb": 62_499_999,
    }


def test_faults_of_clocks_stand_among_the_others() -> None:
    faults = (
        "[{clock-step: b, by: -10 us, at: 1 ms}, {down: a -> b, at: 1 ms}, "
        "{frequency-jump: c, by: -5 ppm, at: 2 ms, for: 1 ms}, {grandmaster-lost: a, at: 3 ms, for: 2 ms}]"
    )
    assert clocks("{gptp: {grandmaster: a}}", faults)["faults"] == [
        {"kind": "clock-step", "node": 2, "at_ns": 10**6, "by_ns": -10_000},
        {
            "kind": "frequency-jump",
            "node": 3,
            "from_ns": 2 * 10**6,
            "until_ns": 3 * 10**6,
            "by_ppt": -5_000_000,
        },
        {"kind": "ptp-down", "node": 0, "from_ns": 3 * 10**6, "until_ns": 5 * 10**6},
    ]


def test_faults_of_clocks_end_with_a_run_that_is_shorter_than_its_scenario() -> None:
    """20 ms, and 100 ms more in which frames may arrive: what begins at 120 ms is left out."""
    faults = (
        "[{clock-step: b, by: 1 us, at: 120 ms}, {frequency-jump: c, by: 1 ppm, at: 119999999 ns, for: 1 s}, "
        "{grandmaster-lost: a, at: 1 s}, {grandmaster-lost: d, at: 3 ms}]"
    )
    text = SCENARIO.replace("10 ms", "2 s").format(clocks="{gptp: {grandmaster: a}}", faults=faults)
    (scenario,) = read_scenario(text)
    made = plan(scenario.model_copy(update={"duration": 20_000_000})).document["clocks"]
    assert made["faults"] == [
        {
            "kind": "frequency-jump",
            "node": 3,
            "from_ns": 119_999_999,
            "until_ns": 120_000_000,
            "by_ppt": 1_000_000,
        },
        {"kind": "ptp-down", "node": 1, "from_ns": 3_000_000, "until_ns": 120_000_000},
    ]


@pytest.mark.parametrize("fragment", fragments(MISTAKES))
def test_mistakes_are_named(fragment: str) -> None:
    written, _, faults = fragment.partition("; faults: ")
    text = SCENARIO.format(clocks=written.removeprefix("clocks: "), faults=faults or "[]")
    with pytest.raises(ScenarioErrors) as raised:
        read_scenario(text, "ptp.yaml")
    fragment_matches(MISTAKES, fragment, f"{raised.value}\n")


def test_faults_of_clocks_need_clocks() -> None:
    text = SCENARIO.replace("clocks: {clocks}", "").format(faults="[{clock-step: a, by: 1 us}]")
    with pytest.raises(ScenarioErrors, match="clocks, because a fault names one"):
        read_scenario(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{ptp: {bmca: {}, transparent: [b, c]}}", "ring of transparent clocks"),
        ("{gptp: {bmca: {default: {priority1: 255}}}}", "priority1 below 255"),
    ],
)
def test_what_cannot_be_planned_is_said(text: str, problem: str) -> None:
    (scenario,) = read_scenario(SCENARIO.format(clocks=text, faults="[]"))
    with pytest.raises(PlanningErrors, match=problem):
        plan(scenario)


def test_a_measured_trace_is_put_into_the_plan(tmp_path: Path) -> None:
    (tmp_path / "offset.csv").write_text(
        "t_s,offset_ns\n0,0\n0.001,20\n0.002,40\n0.004,20\n", encoding="utf-8"
    )
    (tmp_path / "drift.csv").write_text("t_s,drift_ppm\n0.001,1.5\n0.002,-2\n", encoding="utf-8")
    file = tmp_path / "scenario.yaml"
    text = "{default: {drift-within: 5 ppm}, a: {trace: offset.csv}, d: {trace: drift.csv, drift: 3 ppm}}"
    file.write_text(SCENARIO.format(clocks=text, faults="[]"), encoding="utf-8")
    found = plan(load(file)).document["clocks"]["nodes"]
    assert found[0]["deviation_ppt"] == 20_000_000
    assert found[0]["changes"] == [{"at_ns": 2_000_000, "deviation_ppt": -10_000_000}]
    assert found[1]["deviation_ppt"] == 3_000_000
    assert found[1]["changes"] == [
        {"at_ns": 1_000_000, "deviation_ppt": 1_500_000},
        {"at_ns": 2_000_000, "deviation_ppt": -2_000_000},
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        ("a,b\n1,2\n", "without them"),
        ("t_s,drift_ppm\n1,x\n", "numbers"),
        ("t_s,drift_ppm\n1e999999999,1\n", "numbers"),
        ("t_s,drift_ppm\n1,1e-999999999\n", "numbers"),
        ("t_s,drift_ppm\n1/3,1\n", "numbers"),
        (f"t_s,drift_ppm\n{'1' * 5000},1\n", "numbers"),
        ("t_s,drift_ppm\n2,1\n1,1\n", "times that grow"),
        ("t_s,drift_ppm\n0,2000\n", "at most 1000 ppm"),
    ],
)
def test_a_trace_that_is_none(tmp_path: Path, content: str | None, problem: str) -> None:
    if content is not None:
        (tmp_path / "trace.csv").write_text(content, encoding="utf-8")
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO.format(clocks="{default: {trace: trace.csv}}", faults="[]"), encoding="utf-8")
    with pytest.raises(ScenarioErrors, match=problem):
        load(file)


@pytest.mark.parametrize(
    ("text", "ppt"),
    [
        ("20 ppm", 20_000_000),
        ("-3 ppb", -3_000),
        ("+1.5ppm", 1_500_000),
        ("-7 ppt", -7),
        ("1/8 ppm", 125_000),
    ],
)
def test_drifts_have_signs_and_units(text: str, ppt: int) -> None:
    found = clocks(f"{{default: {{drift: {text}}}}}")["nodes"]
    assert [clock["deviation_ppt"] for clock in found] == [ppt] * 4  # type: ignore[attr-defined]


def test_a_nodes_own_clock_overrides_the_default_key_by_key() -> None:
    found = clocks("{default: {drift-within: 10 ppm, granularity: 8 ns}, b: {drift: 1 ppm, offset: -2 us}}")
    by_name = dict(zip(NODES, found["nodes"], strict=True))  # type: ignore[call-overload]
    assert by_name["b"] == {
        "offset_ns": -2000,
        "deviation_ppt": 1_000_000,
        "granularity_ns": 8,
        "jitter_ns": 0,
    }
    drawn = {by_name[name]["deviation_ppt"] for name in "acd"}
    assert len(drawn) == 3
    assert all(abs(ppt) <= 10_000_000 for ppt in drawn)
    assert found == clocks(
        "{default: {drift-within: 10 ppm, granularity: 8 ns}, b: {drift: 1 ppm, offset: -2 us}}"
    )


def test_gptp_follows_the_fewest_hops_and_parents_come_first() -> None:
    made = clocks("{gptp: {grandmaster: a, sync-interval: 1/16 s}}")
    assert made["gptp"]["sync_interval_ns"] == 62_500_000
    assert [made["ports"][port] for port in made["gptp"]["slaves"]] == ["b -> a", "c -> b #1", "d -> c"]


@pytest.mark.parametrize(
    "faults",
    [
        "[{loss: 1 %, on: c -> d}]",
        "[{down: c -> d, at: 2 ms, for: 1 ms}]",
        "[{babble: s, every: 100 us}]",
        "[{clock-step: b, by: 1 us, at: 2 ms}, {grandmaster-lost: a, at: 3 ms}]",
        "[]\nshapers: {all: {preemption: {express: [7]}}}",
    ],
)
def test_what_clocks_go_with(faults: str) -> None:
    assert clocks("{gptp: {grandmaster: a}}", faults)["gptp"]["grandmaster"] == NODES.index("a")
