"""Software of hosts by hand: every stage in its place, what a kernel's gates cannot do, and timers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.planned import document_of, problems_of
from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import model, read_scenario

TEXT = """\
name: software
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a -- s, s -- b]}
hosts: {a: HOST}
streams:
  x: {from: a, to: b, pcp: 3, period: 1 ms, offset: OFFSET, frame: 500 B, send: {SEND}}
shapers:
  a -> s: {gates: {GATES}, qdisc: {taprio: software}}
"""
ENTRIES = "entries: [{open: [3], for: 100 us}, {open: [0], for: 900 us}]"


def planned(
    host: str = "low-latency",
    send: str = "advance: 0 us",
    gates: str = ENTRIES,
    offset: str = "0 us",
    more: str = "",
) -> dict[str, Any]:
    text = TEXT.replace("HOST", host).replace("OFFSET", offset)
    text = text.replace("{SEND}", f"{{{send}}}").replace("{GATES}", f"{{{gates}}}") + more
    found: dict[str, Any] = document_of(text)  # type: ignore[assignment]
    return found


def test_every_stage_of_software_has_its_own_latency() -> None:
    stages = ("wakeup", "send", "qdisc", "driver", "tx", "kernel-rx", "app-rx", "timer")
    written = ", ".join(f"{stage}: {place} us" for place, stage in enumerate(stages, 1))
    (host,) = (node["host"] for node in planned(f"{{{written}}}")["nodes"] if "host" in node)
    assert host == {
        stage.replace("-", "_"): {"kind": "constant", "ns": place * 1_000}
        for place, stage in enumerate(stages, 1)
    }


def test_what_is_zero_or_false_is_not_in_the_plan() -> None:
    made = planned("{wakeup: {values: [1 us, 2 us], counts: [3, 4]}, timer: 1 us}", "advance: 7 us")
    wakeup = {"kind": "histogram", "ns": [1_000, 2_000], "counts": [3, 4]}
    assert made["nodes"][0]["host"]["wakeup"] == wakeup
    assert made["streams"][0]["socket"] == {"advance_ns": 7_000}
    taprio = next(port["qdisc"]["taprio"] for port in made["ports"] if "qdisc" in port)
    assert taprio.keys() == {"mode", "base_time_ns", "cycle_ns", "entries"}


def test_hardware_keeps_what_a_kernel_does_not() -> None:
    """tc-taprio(8) without offload keeps one plain list: ``errors/planned/kernel-gates.yaml``."""
    text = (Path(__file__).parents[2] / "errors/planned/kernel-gates.yaml").read_text(encoding="utf-8")
    for mode in ("software", "txtime-assist"):
        text = text.replace(f"taprio: {mode}", "taprio: full-offload")
    ports = document_of(text)["ports"]
    assert ["gates" in port for port in ports] == [True, False] * 12 + [False, False]


def test_gates_that_follow_others_are_a_plain_list_too() -> None:
    """100 us of the bridge's gate, as seen from a: a kernel can keep such a list as well as a written one."""
    made = planned(gates="follow: s -> b", more=f"  s -> b: {{gates: {{{ENTRIES}}}}}\n")
    (port,) = (port for port in made["ports"] if port["name"] == "a -> s")
    assert "gates" not in port
    taprio = port["qdisc"]["taprio"]
    assert (taprio["mode"], taprio["cycle_ns"]) == ("software", 1_000_000)
    assert sum(entry["interval_ns"] for entry in taprio["entries"] if entry["open"] & 1 << 3) == 100_000


def test_every_setting_of_etf_is_in_the_plan_where_it_is_given() -> None:
    """PCP 3 and 2 have the classes of their numbers; every other class has a plain queue."""
    etf = "{3: {delta: 50 us, deadline: true}, 2: {delta: 20 us, offload: true}, "
    etf += "6: {delta: 1 ns, skip-sock-check: true}}"
    text = TEXT.replace("HOST", "low-latency").replace("OFFSET", "0 us").replace(", send: {SEND}", "")
    text = text.replace("{GATES}, qdisc: {taprio: software}", "{GATES}, qdisc: {limit-frames: 9, etf: ETF}")
    text = text.replace("gates: {GATES}, ", "").replace("ETF", etf)
    made: Any = document_of(text)
    (port,) = (port for port in made["ports"] if port["name"] == "a -> s")
    plain = {"kind": "pfifo", "limit_frames": 9}
    assert port["qdisc"]["children"] == [
        plain, plain,
        {"kind": "etf", "delta_ns": 20_000, "offload": True},
        {"kind": "etf", "delta_ns": 50_000, "deadline": True},
        plain, plain,
        {"kind": "etf", "delta_ns": 1, "skip_sock_check": True},
        plain,
    ]  # fmt: skip


def test_a_processor_and_the_octets_that_cbs_counts() -> None:
    """b has none, so its threads wait for no other; `overhead` is of cbs alone."""
    text = TEXT.replace("{a: HOST}", "{a: {wakeup: 1 us, processor: one}, b: {send: 2 us}}")
    text = text.replace("OFFSET", "0 us").replace(", send: {SEND}", "")
    text = text.replace(
        "gates: {GATES}, qdisc: {taprio: software}",
        "cbs: {3: 10 Mbit/s}, qdisc: {cbs: software, overhead: 24 B}",
    )
    made: Any = document_of(text)
    one, two, _ = (node.get("host") for node in made["nodes"])
    assert (one["processor"], two) == (0, {"send": {"kind": "constant", "ns": 2_000}})
    (port,) = (port for port in made["ports"] if port["name"] == "a -> s")
    counted = [child.get("overhead_octets") for child in port["qdisc"]["children"]]
    assert counted == [None, None, None, 24, None, None, None, None]


@pytest.mark.parametrize(
    ("selector", "named"), [("*", False), ("* -> b", False), ("s->b", True), ("s -> *", True)]
)
def test_only_a_selector_of_the_node_itself_asks_for_software_there(selector: str, named: bool) -> None:
    """s has none: a selector of all ports leaves its ports as they are, and one of s is a mistake."""
    text = TEXT.replace("HOST", "low-latency").replace("OFFSET", "0 us").replace(", send: {SEND}", "")
    (scenario,) = read_scenario(text.replace("{GATES}", f"{{{ENTRIES}}}"))
    more = {selector: model.Shaper(qdisc=model.Qdisc(limit_frames=9)), "s -> a": model.Shaper()}
    scenario = scenario.model_copy(update={"shapers": {**more, **scenario.shapers}})
    if named:
        problem = problems_of(scenario)[0]
        assert (problem.expected, problem.found) == ("a port of a host with software", "s")
        return
    assert [port["name"] for port in plan(scenario).document["ports"] if "qdisc" in port] == ["a -> s"]


def test_a_fault_of_another_port_is_no_matter() -> None:
    more = f"  s -> b: {{gates: {{{ENTRIES}}}}}\n"
    more += "faults: [{schedule: {shift: 10 us}, on: s -> b, at: 1 ms}]\n"
    assert planned(more=more)["faults"][0]["kind"] == "schedule"


@pytest.mark.parametrize(
    ("offset", "advance", "begins"),
    [
        ("100 us", "100 us", 0),
        ("100 us", "99999 ns", 1),
        ("100 us", "100001 ns", 999_999),
        ("0 us", "250 us", 750_000),
        ("900 us", "250 us", 650_000),
        # The first release is in the third period, and stays there.
        ("2300 us", "100 us", 2_200_000),
    ],
)
def test_a_timer_is_set_before_the_instant_and_not_before_the_start(
    offset: str, advance: str, begins: int
) -> None:
    """In the first cycle in which the timer does not lie before time 0."""
    (stream,) = planned(send=f"advance: {advance}", offset=offset)["streams"]
    assert stream["pattern"] == {
        "kind": "periodic",
        "period_ns": 1_000_000,
        "offset_ns": begins,
        "jitter_ns": 0,
    }


@pytest.mark.parametrize(("window", "fits"), [("750 us", True), ("750001 ns", False)])
def test_timer_and_window_fit_one_period(window: str, fits: bool) -> None:
    send = f"advance: 250 us, window: {window}"
    if fits:
        planned(send=send)
        return
    with pytest.raises(PlanningErrors, match="at most 249999 ns, a period without the window, found 250 us"):
        planned(send=send)


def test_a_window_that_is_longer_than_a_period_leaves_no_time_for_a_timer() -> None:
    (problem,) = problems_of(planned, send="advance: 1 us, window: 1200 us")
    assert problem.path == "streams.x.send.advance"
    assert (problem.expected, problem.found) == ("at most 0 ns, a period without the window", "1 us")
