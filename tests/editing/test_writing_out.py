"""Generators and entries of the catalogue as text: the scenario stays, and each part can be edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.editing.edits import Edit
from tsnbench.editing.requests import made
from tsnbench.editing.spans import EditError, spans
from tsnbench.editing.writing_out import write_out_gates, write_out_network, write_out_pattern
from tsnbench.scenario.build.generators import SHAPES
from tsnbench.scenario.loader import read_scenario

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def generators(path: Path) -> list[str]:
    network = spans(path.read_text(encoding="utf-8")).get("network")
    return [key.text for key, _ in network.items if key and key.text in SHAPES] if network else []


SMALL = [path for path in sorted(SCENARIOS.rglob("*.yaml")) if path.name not in ("lab.yaml", "thousand.yaml")]
GENERATED = [path for path in SMALL if generators(path)]
SWEPT = {
    "ex-cm1",
    "ex-cm2",
    "ex-cs1",
    "ex-cs2",
    "ex-mq1",
    "ex-mq2",
    "ex-mq2-unlimited",
    "ex-ts",
    "ex-ts-deadline",
    "ex-ts-strict",
    "3-cbs-line",
}
"""Scenarios with a parameter in their generator; second twins (``-across``) have it from the first ones."""

RING = """name: ring  # of four
duration: 1 ms
network:
  # four bridges
  ring: {nodes: 4, prefix: sw, processing: 2 us, rate: 1 Gbit/s, cable: 30 m}
  stations: [plc, drive]
  links: {rate: 100 Mbit/s, between: [plc -- sw1, drive -- sw3]}
streams:
  loop: {from: plc, to: drive, period: 1 ms, payload: 100 B}
"""


def applied(text: str, edit: Edit) -> str:
    return edit.applied(text)


def test_a_generator_becomes_its_nodes_and_links() -> None:
    text = applied(RING, write_out_network(RING, "ring.yaml"))
    assert text == RING.replace(
        "  ring: {nodes: 4, prefix: sw, processing: 2 us, rate: 1 Gbit/s, cable: 30 m}\n", ""
    ).replace(
        "links: {rate: 100 Mbit/s, between: [plc -- sw1, drive -- sw3]}\n",
        "links: [{rate: 100 Mbit/s, between: [plc -- sw1, drive -- sw3]}, {rate: 1 Gbit/s, cable: 30 m, "
        "between: [sw1 -- sw2, sw2 -- sw3, sw3 -- sw4, sw4 -- sw1]}]\n"
        "  bridges: {sw1: {processing: 2 us}, sw2: {processing: 2 us}, sw3: {processing: 2 us}, "
        "sw4: {processing: 2 us}}\n",
    )


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem)
def test_shipped_generators_are_written_out_or_refused_with_a_reason(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.stem.removesuffix("-across") in SWEPT:
        with pytest.raises(EditError, match="a parameter of a sweep decides"):
            write_out_network(text, str(path))
        return
    new = applied(text, write_out_network(text, str(path)))
    network = spans(new).get("network")
    assert network is not None
    assert not any(key and key.text in SHAPES for key, _ in network.items)
    before, after = read_scenario(text, str(path)), read_scenario(new, str(path))
    for old, made_now in zip(before, after, strict=True):
        assert old.network.nodes == made_now.network.nodes
        assert sorted(map(repr, old.network.links)) == sorted(map(repr, made_now.network.links))
        assert old.streams == made_now.streams
    comments = [line.partition("#")[2] for line in text.split("\n") if "#" in line]
    assert all(comment in new for comment in comments)


LINE = """name: line
duration: 1 ms
network:
  line: {nodes: 3, kind: bridge, ends: host, rate: 1 Gbit/s}
streams:
  # from one end to the other
  loop: {from: first, to: last, period: 1 ms, payload: 100 B}
shapers:
  first -> bridge2: {queues: {limit-frames: 7}}
"""


def test_the_ends_of_a_line_get_their_names() -> None:
    text = applied(LINE, write_out_network(LINE, "line.yaml"))
    assert "  loop: {from: bridge1, to: bridge3, period: 1 ms, payload: 100 B}\n" in text
    assert "  bridge1 -> bridge2: {queues: {limit-frames: 7}}\n" in text
    assert "# from one end to the other" in text
    assert read_scenario(text)[0].network.nodes["bridge1"].kind == "host"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("nodes: 4", "nodes: [4, 5]", "a parameter of a sweep decides what is generated"),
        ("ring: {nodes: 4", "ring: {nodes: ${n}", "a parameter of a sweep decides what is generated"),
        ("  ring: {nodes: 4, ", "  ring: {nodes: 4,  # four\n    ", "a comment stands inside of it"),
        ("2 us", "{least: 2 us, most: 3 us}", "its processing time differs from frame to frame"),
        ("  links: {rate: 100 Mbit/s, between:", "  links:\n    rate: 100 Mbit/s\n    between:", "as a list"),
        ("plc -- sw1", "plc -- sw9", "correct the mistakes of the text first"),
    ],
)
def test_what_cannot_be_written_out_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    text = RING.replace(old, new)
    if "links:\n" in new:
        text = text.replace("drive -- sw3]}", "drive -- sw3]")
    if "${n}" in new:
        text = text.replace("duration: 1 ms\n", "duration: 1 ms\nparameters: {n: [4, 5]}\n")
    with pytest.raises(EditError, match=reason):
        write_out_network(text, "ring.yaml")


def test_without_a_generator_nothing_is_written_out() -> None:
    text = RING.replace(
        "ring: {nodes: 4, prefix: sw, processing: 2 us, rate: 1 Gbit/s, cable: 30 m}", "bridges: [sw1, sw3]"
    )
    with pytest.raises(EditError, match="no generator makes this part"):
        write_out_network(text, "ring.yaml")


STAR = """name: star
duration: 1 ms
network: {stations: [a, b], bridges: [sw], rate: 1 Gbit/s, links: [a -- sw, sw -- b]}
streams:
  high: {from: a, to: b, pattern: flextest/theta-high, period: 1 ms}  # slower
  med:
    from: a
    pattern: flextest/theta-med
    to: b
shapers:
  sw -> b: {gates: flextest/gcl-2}
  a -> sw: {gates: {pattern: flextest/gcl-1, slot: 45 us, base-time: 5 us}}
"""


def test_a_pattern_becomes_its_keys_without_those_that_the_stream_has() -> None:
    text = applied(STAR, write_out_pattern(STAR, "star.yaml", "high"))
    assert "high: {from: a, to: b, pcp: 6, payload: 1472 B, period: 1 ms}  # slower" in text
    text = applied(text, write_out_pattern(text, "star.yaml", "med"))
    assert "    from: a\n    pcp: 5\n    period: 0.3 ms\n    payload: 1472 B\n    to: b\n" in text
    assert read_scenario(text)[0].streams == read_scenario(STAR)[0].streams
    with pytest.raises(EditError, match="med has no pattern of the catalogue"):
        write_out_pattern(text, "star.yaml", "med")


def test_a_gate_list_becomes_its_entries() -> None:
    text = applied(STAR, write_out_gates(STAR, "star.yaml", "sw -> b"))
    assert (
        "sw -> b: {gates: {entries: [{open: [6], for: 15 us}, {open: [6, 5], for: 15 us}, "
        "{open: [6, 4], for: 15 us}, {open: [6, 0], for: 15 us}]}}\n"
    ) in text
    text = applied(text, write_out_gates(text, "star.yaml", "a -> sw"))
    assert "for: 45 us}" in text
    assert "base-time: 5 us}}" in text
    assert read_scenario(text)[0].shapers == read_scenario(STAR)[0].shapers
    with pytest.raises(EditError, match="no gate control list of the catalogue is there"):
        write_out_gates(text, "star.yaml", "a -> sw")


def test_the_page_requests_them_by_name() -> None:
    assert made(RING, "ring.yaml", {"edit": "write-out-network"}) == write_out_network(RING, "ring.yaml")
    wanted = {"edit": "write-out-pattern", "stream": "high"}
    assert made(STAR, "star.yaml", wanted) == write_out_pattern(STAR, "star.yaml", "high")
    wanted = {"edit": "write-out-gates", "port": "sw -> b"}
    assert made(STAR, "star.yaml", wanted) == write_out_gates(STAR, "star.yaml", "sw -> b")
