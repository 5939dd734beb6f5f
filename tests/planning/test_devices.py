"""Hardware that a scenario names: planned lists are those that its driver accepts; others are refused.

``TSNBENCH_UPDATE=1`` writes docs/reference/devices.md anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.golden import matches
from support.planned import document_of, plan_of, port_of, problems_of
from tsnbench.planning.errors import PlanningErrors
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.catalogue import devices
from tsnbench.scenario.model import Device
from tsnbench.scenario.units import DURATION, RATE, SHARE

NETWORK = """\
name: device
duration: 4 ms
network:
  stations: [a, b, c]
  bridges: {{sw: {{device: {device}, processing: 1 us}}}}
  links: {{rate: 1 Gbit/s, between: [a -- sw, c -- sw, sw -- b]}}
streams:
{streams}{more}
"""
ONE = "  x: {from: a, to: b, pcp: 7, payload: 100 B, period: 250 us}\n"
SCHEDULED = ONE.replace("}", ", scheduled: true}")
REQUIRED = ONE.replace("}", ", requires: {delay: 400 us}}")

Lists = list[dict[str, Any]]


def text_of(device: str, streams: str = ONE, more: str = "") -> str:
    return NETWORK.format(device=device, streams=streams, more=more)


def lists(document: Any) -> Lists:
    """The gate control lists of the bridge."""
    nodes = [node["name"] for node in document["nodes"]]
    return [port["gates"] for port in document["ports"] if nodes[port["node"]] == "sw" and port.get("gates")]


def intervals(found: Lists) -> list[int]:
    return [entry["interval_ns"] for one in found for entry in one["entries"]]


def ticks(found: Lists) -> bool:
    return not any(ns % 200 for ns in intervals(found))


# What the driver of each in Linux refuses or states, from its source and not from our catalogue.
ACCEPTS: dict[str, Callable[[Lists], bool]] = {
    "nxp/sja1105": lambda found: len(intervals(found)) <= 1024 and ticks(found),
    "nxp/sja1110": lambda found: len(intervals(found)) <= 4096 and ticks(found),
    "nxp/ls1028a-switch": lambda found: all(
        len(one["entries"]) <= 63 and one["cycle_ns"] <= 10**9 for one in found
    ),
    "microchip/lan966x": lambda found: (
        len(intervals(found)) <= 256 and all(1_000 <= ns <= 10**9 - 1 for ns in intervals(found))
    ),
    "ti/icssg": lambda found: (
        all(len(one["entries"]) <= 16 and one["cycle_ns"] >= 1_000_000 for one in found)
        and all(ns >= 10_000 for ns in intervals(found))
    ),
    # Commands count the octets of a link of 1 Gbit/s, 16,383 at most; an entry takes as many as it needs.
    "ti/cpsw": lambda found: (
        all(ns % 8 == 0 for ns in intervals(found))
        and all(sum(-(-ns // 8 // 16_383) for ns in intervals([one])) <= 64 for one in found)
    ),
}


@examples(0.3)
@given(data=st.data(), device=st.sampled_from(sorted(ACCEPTS)), scheduled=st.booleans())
def test_planned_lists_are_those_that_the_driver_accepts(
    data: st.DataObject, device: str, scheduled: bool
) -> None:
    def drawn(number: int) -> str:
        own = (SCHEDULED if scheduled else REQUIRED).replace("x:", f"s{number}:")
        talker, octets = data.draw(st.sampled_from("ac")), data.draw(st.integers(50, 900))
        period = data.draw(st.sampled_from((250, 500, 1000)))
        return (
            own.replace("from: a", f"from: {talker}")
            .replace("100 B", f"{octets} B")
            .replace("250", f"{period}")
        )

    streams = "".join(drawn(number) for number in range(data.draw(st.integers(1, 4))))
    text = text_of(device, streams, "" if scheduled else "shapers: {sw -> b: {gates: plan}}")
    try:
        found = lists(document_of(text))
    except PlanningErrors as error:
        found, refused = [], str(error)
    # Only one holds fewer entries than such streams need; then the message names it.
    assert ACCEPTS[device](found) if found else device == "ti/icssg" and device in refused


def test_a_list_is_repeated_until_its_cycle_is_long_enough() -> None:
    text = text_of("ti/icssg", SCHEDULED)
    (found,) = lists(document_of(text))
    assert (found["cycle_ns"], len(found["entries"])) == (1_000_000, 8)


def test_too_many_entries_name_the_port_and_its_hardware() -> None:
    (problem,) = problems_of(text_of("ti/icssg", SCHEDULED.replace("250 us", "50 us")))
    assert problem.path == "network.bridges.sw.device"
    assert problem.expected == "lists of at most 16 entries, as ti/icssg has"
    assert problem.found == "40 at sw -> b"


def test_what_no_source_states_is_told() -> None:
    text = text_of("nxp/sja1105")
    assert plan_of(text).warnings == ()
    (warning,) = plan_of(text.replace(", processing: 1 us", "")).warnings
    assert (warning.kind, warning.path) == ("unknown-processing", "network.bridges.sw.device")
    assert "no source states the processing time of nxp/sja1105: sw forwards in no time" in warning.text


def test_a_time_that_is_stated_for_other_rates_is_told() -> None:
    text = text_of("ti/cpsw").replace(", processing: 1 us", "")
    assert plan_of(text).warnings == ()
    assert {node["name"]: node["processing_ns"] for node in document_of(text)["nodes"]}["sw"] == 880
    links = "{rate: 1 Gbit/s, between: [a -- sw, c -- sw, sw -- b]}"
    slow = text.replace(links, f"[{links.replace(', sw -- b', '')}, {{rate: 100 Mbit/s, between: sw -- b}}]")
    (warning,) = plan_of(slow).warnings
    assert (warning.kind, warning.path) == ("extrapolated", "network.bridges.sw.device")
    assert warning.text == "sw has links of 100 Mbit/s; ti/cpsw is stated at 1 Gbit/s"
    assert plan_of(slow.replace("ti/cpsw", "ti/cpsw, processing: 1300 ns")).warnings == ()


SHAPED = ONE.replace("pcp: 7, payload: 100 B", "class: sr/A, payload: 300 B")


@pytest.mark.parametrize(
    ("device", "planned", "tick"), [("nxp/sja1105", 16_000_000, 8), ("microchip/lan966x", 11_900_000, 0.1)]
)
def test_idle_slopes_are_those_that_the_hardware_holds(device: str, planned: int, tick: float) -> None:
    """The driver of each rounds: of the SJA1105 down, so that the slope would be below the streams' rate."""

    def slope(cbs: str) -> int:
        document = document_of(text_of(device, SHAPED, f"shapers: {{sw -> b: {{cbs: {cbs}}}}}"))
        shapers = [own["cbs"] for own in port_of(document, "sw -> b")["classes"] if own.get("cbs")]
        return int(shapers[0]["idle_slope_bps"])

    # 300 octets and 48 of UDP, IP, Ethernet and VLAN, with preamble and gap, in 250 us.
    rate = (300 + 8 + 20 + 14 + 4 + 4 + 20) * 8 * 4_000
    assert slope("from-streams") == planned == -(-rate // int(tick * 10**6)) * int(tick * 10**6)
    assert slope(f"{{A: {planned} bit/s}}") == planned
    with pytest.raises(PlanningErrors) as error:
        slope("{A: 12345 kbit/s}")
    (problem,) = error.value.problems
    assert problem.path == "shapers.sw -> b.cbs"
    assert problem.expected == f"a reservation in steps of {RATE.text(int(tick * 10**6))}, as {device} has"
    assert problem.found == "12.345 Mbit/s for class 3"
    upper = -(-12_345_000 // int(tick * 10**6)) * int(tick * 10**6)
    assert problem.hint == f"write {upper / 10**6:g} Mbit/s"


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ScenarioErrors, match="expected the name of a device, found nxp/sja1106") as error:
        plan_of(text_of("nxp/sja1106"))
    assert "did you mean nxp/sja1110?" in str(error.value)


def test_every_device_of_the_catalogue_has_a_source() -> None:
    assert set(ACCEPTS) < set(devices())
    for name, device in devices().items():
        assert device.name == name
        assert len(device.source) > 20


def test_a_device_with_four_queues_has_four_classes() -> None:
    ports = document_of(text_of("intel/i210"))["ports"]
    assert {port["name"]: len(port["classes"]) for port in ports if port["name"].startswith("sw")} == {
        "sw -> a": 4, "sw -> b": 4, "sw -> c": 4,
    }  # fmt: skip


RING = """\
name: device
duration: 4 ms
network:
  stations: [a, b]
  bridges: {{sw: {{device: mine.yaml}}, over: {{}}, end: {{}}}}
  links: {{rate: 1 Gbit/s, between: [a -- sw, sw -- end, sw -- over, over -- end, end -- b]}}
streams:
  x: {{from: a, to: b, pcp: 6, payload: 100 B, period: 250 us{own}}}
{more}
"""
GATES = "shapers: {sw -> end: {gates: {entries: [{open: [6], for: 100 us}, {open: all, for: 25 us}]}}}"
USED = {
    "gates": ("", GATES),
    "cbs": ("", "shapers: {sw -> end: {cbs: {6: 10 Mbit/s}}}"),
    "ats": ("", "shapers: {sw -> end: {ats: {pcp: [6]}}}"),
    "cqf": ("", "shapers: {sw -> end: {cqf: {cycle: 125 us, pcp: [6], classes: [7, 6]}}}"),
    "preemption": ("", "shapers: {sw -> end: {preemption: {express: [6]}}}"),
    "filters": ("", "policing: [{at: a -> sw, streams: [x], meter: {cir: 10 Mbit/s, cbs: 3000 B}}]"),
    "frer": (", frer: {paths: [[sw, end], [sw, over, end]]}", ""),
}
WHERE = {"ats": "at sw", "filters": "at sw", "frer": "for x at sw"}


@pytest.mark.parametrize("name", USED)
def test_what_the_hardware_does_not_have_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, more = USED[name]
    text, file = RING.format(own=own, more=more), Path("mine.yaml")
    others = ", ".join(f"{one}: false" for one in USED if one != name)
    # Nothing is known of it, it has it, or it lacks all others.
    for known in ("{}", f"{{{name}: true}}", f"{{{others}}}"):
        file.write_text(f"source: a test\nsupports: {known}\n")
        assert plan_of(text)
    file.write_text(f"source: a test\nsupports: {{{name}: false}}\n")
    (problem,) = problems_of(text)
    assert problem.path == "network.bridges.sw.device"
    assert problem.expected.startswith("hardware with ")
    assert problem.found == f"mine.yaml, which has none, {WHERE.get(name, 'at sw -> end')}"


def test_a_merging_node_remembers_no_more_numbers_than_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = RING.format(own=", frer: {paths: [[sw, end], [sw, over, end]], history: 65}", more="")
    text = text.replace("sw: {device: mine.yaml}", "sw: {}").replace("end: {}", "end: {device: mine.yaml}")
    Path("mine.yaml").write_text("source: a test\nlongest-history: 65\n")
    assert plan_of(text)
    Path("mine.yaml").write_text("source: a test\nlongest-history: 64\n")
    (problem,) = problems_of(text)
    assert problem.path == "network.bridges.end.device"
    assert problem.expected == "a history of at most 64 numbers, as mine.yaml has"
    assert problem.found == "65 of x"


@pytest.mark.parametrize(
    ("own", "octets"),
    [
        ("", 337),
        (", forwarding: {learning: true}", None),
        (", forwarding: store-and-forward", None),
        (", forwarding: {mode: cut-through, after: 64 B}", 64),
    ],
)
def test_a_device_cuts_through_where_the_node_does_not_say_how(own: str, octets: int | None) -> None:
    text = text_of("fibrolan/falcon-rx-g").replace("processing: 1 us", f"processing: 1 us{own}")
    found = {node["name"]: node.get("cut_through_octets") for node in document_of(text)["nodes"]}
    assert found == {"a": None, "b": None, "c": None, "sw": octets}


def test_queues_and_timestamps_are_those_of_the_hardware(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(
        "source: a test\nqueues: {limit-frames: 64, limit-octets: 9 kB}\n"
        "timestamps: {granularity: 8 ns, jitter: 3 ns}\n"
    )
    text = RING.format(own="", more="clocks: {gptp: {grandmaster: sw}, end: {granularity: 4 ns}}")

    def found(text: str) -> tuple[Any, ...]:
        made = document_of(text)
        (queue, *_) = port_of(made, "sw -> end")["classes"]
        clocks = {node["name"]: own for node, own in zip(made["nodes"], made["clocks"]["nodes"], strict=True)}
        stamps = [(clocks[name]["granularity_ns"], clocks[name]["jitter_ns"]) for name in ("sw", "end")]
        return queue["limit_frames"], queue.get("limit_octets"), stamps

    assert found(text) == (64, 9000, [(8, 3), (4, 0)])
    own = text.replace("device: mine.yaml", "device: mine.yaml, queues: {limit-frames: 7}")
    own = own.replace("end: {granularity", "default: {jitter: 0 ns}, end: {granularity")
    assert found(own) == (7, 9000, [(8, 0), (4, 0)])


PAGE = Path(__file__).parents[2] / "docs/reference/devices.md"
HEAD = """# Devices of the catalogue

A node names its hardware: `bridges: {sw1: {device: nxp/sja1105}}`
([reference](scenario.md#network)). The table has what public sources state. What they do not
state stays unknown: it limits nothing, and the Plan warns where it needs a value. `tsnbench
catalogue devices` prints the same, and a [description of your
own](../guides/calibrate.md#the-description) is a file.

"""


NAMES = {
    "granularity": "ticks of",
    "shortest_interval": "entries of at least",
    "most_entries": "entries up to",
    "most_entries_together": "entries of all ports up to",
    "shortest_cycle": "cycles of at least",
    "longest_cycle": "cycles of at most",
}


def limits_of(device: Device) -> str:
    """The numbers of a device, in the words of the page."""
    found = [f"{device.classes} traffic classes"] if device.classes else []
    if device.processing is not None:
        rates = ", ".join(RATE.text(bps) for bps in device.processing_rates)
        found.append(f"processing in {DURATION.text(device.processing)} ({rates})")
    if device.cbs.granularity:
        found.append(f"idle slopes in steps of {RATE.text(device.cbs.granularity)}")
    if device.cbs.part_of_rate:
        found.append(f"idle slopes in steps of {SHARE.text(device.cbs.part_of_rate)} of the link's rate")
    for name, value in device.gates.model_dump(exclude_none=True).items():
        found.append(f"{NAMES[name]} {value if 'entries' in name else DURATION.text(value)}")
    if device.cut_through:
        found.append(f"cut-through after {device.cut_through} B")
    if device.timestamps.granularity:
        found.append(f"timestamps of {DURATION.text(device.timestamps.granularity)}")
    return ", ".join(found)


def test_the_page_has_every_device_of_the_catalogue() -> None:
    def words(device: Device, wanted: bool) -> str:
        return ", ".join(name for name, has in device.supports.items() if has is wanted)

    rows = ["| device | has | lacks | numbers | source |", "|---|---|---|---|---|"]
    for name, one in devices().items():
        cells = (f"`{name}`", words(one, True), words(one, False), limits_of(one), one.source)
        rows.append(f"| {' | '.join(cells)} |")
    matches(PAGE, HEAD + "\n".join(rows) + "\n")
