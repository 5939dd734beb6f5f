"""EnGINE's experiment files as scenarios: paths, services, queues, shapers, gates, and missing values."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from support.commands import tsnbench
from support.examples import examples
from support.planned import document_of
from tsnbench.errors import InputError
from tsnbench.exports.engine.experiment import experiments, scenario
from tsnbench.exports.engine.files import EXPERIMENTS, NETWORK, STACKS
from tsnbench.scenario import read_scenario

FOLDER = Path(__file__).parent / "engine"
TEXTS = {name: (FOLDER / name).read_text(encoding="utf-8") for name in (NETWORK, STACKS, EXPERIMENTS)}
FILE = {"network": NETWORK, "stacks": STACKS, "experiments": EXPERIMENTS}


def imported(**changes: str) -> str:
    return scenario(TEXTS | {FILE[name]: text for name, text in changes.items()})


def lines(text: str, begin: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith(begin)]


def test_a_whole_experiment() -> None:
    text = imported()
    assert text.startswith("# From EnGINE's experiment the experiment/10s.\n")
    assert "\nname: the-experiment-10s\nduration: 10 s\n" in text
    assert lines(text, "hosts:") == [
        "hosts: [node-1, node-2, node-3, node-4]",
        "hosts: {default: engine-zgw}",
    ]
    assert lines(text, "- ") == [
        "- node-1 -- node-2", "- node-2 -- node-3", "- node-4 -- node-3", "- node-4 -- node-3",
    ]  # fmt: skip
    assert lines(text, "flow") == [
        "flow1-2201: {from: node-1, to: node-3, via: [node-2, node-3], pcp: 3, payload: 1180 B, "
        "period: 100 us}",
        "flow1-2202: {from: node-1, to: node-3, via: [node-2, node-3], pcp: 7, payload: 1430 B, "
        "period: 833.333 us, start: 2 s, stop: 5 s}",
        "flow1-5000: {from: node-3, to: node-1, via: [node-2, node-1], pcp: 0, payload: 1460 B, "
        "saturating: true}",
        "flow3-7: {from: node-3, to: node-4, via: [node-4#2], pcp: 1, units: [3000 B], period: 24 ms}",
        "flow2-6600: {from: node-4, to: node-3, via: [node-3#1], pcp: 3, payload: 256 B, period: 100 us, "
        "stop: 2 s, send: {advance: 300 us, txtime: true}}",
        "flow3-6600: {from: node-4, to: node-3, via: [node-3#2], pcp: 2, payload: 256 B, period: 200 us, "
        "send: {advance: 300 us, txtime: true, deadline: true}}",
    ]
    assert [line for line in text.splitlines() if line.startswith("#   ")] == [
        "#   priorities above 7, which no VLAN tag carries; written: 7: iperf on node-1, port 2202",
        "#   periods that are no whole ns; written: the nearest: iperf on node-1, port 2202",
        "#   services other than iperf and send_udp: input/lidar on node-1",
        "#   acknowledgements of TCP; written: frames in one direction: iperf on node-3, port 5000",
        "#   clients that are not at the end of their flow: iperf on node-2, flow 1",
    ]  # fmt: skip


def test_its_ports_have_their_queues_shapers_and_gates() -> None:
    ports = {port["name"]: port for port in document_of(imported())["ports"]}
    first: Any = ports["node-1 -> node-2"]
    # Queue 1 has the highest class; the last queue takes all other priorities.
    assert first["pcp_to_class"] == [0, 1, 2, 3, 0, 0, 0, 0]
    assert [one.get("cbs", {}).get("idle_slope_bps") for one in first["classes"]] == [
        None, None, 12_820_000, 26_400_000,
    ]  # fmt: skip
    # Slopes and credits are those of the file, exactly.
    assert [one["cbs"]["linux"] for one in first["classes"][2:]] == [
        {"idleslope": 12_820, "sendslope": -987_180, "hicredit": 41, "locredit": -1_234},
        {"idleslope": 26_400, "sendslope": -973_600, "hicredit": 41, "locredit": -1_461},
    ]
    # A configuration without an interface applies to all ports of the node.
    for name in ("node-2 -> node-1", "node-2 -> node-3"):
        other: Any = ports[name]
        assert other["pcp_to_class"] == first["pcp_to_class"]
        assert other["classes"][3]["cbs"]["idle_slope_bps"] == 26_400_000
    for name in ("node-4 -> node-3 #1", "node-4 -> node-3 #2"):
        gated: Any = ports[name]
        assert gated["pcp_to_class"] == [0, 0, 1, 2, 0, 0, 0, 0]
        taprio = gated["qdisc"]["taprio"]
        assert (taprio["mode"], taprio["txtime_delay_ns"]) == ("txtime-assist", 200_000)
        assert [(one["open"], one["interval_ns"]) for one in taprio["entries"]] == [
            (0b100, 300_000), (0, 100_000), (0b011, 600_000),
        ]  # fmt: skip
        children = gated["qdisc"]["children"]
        wanted = ("kind", "delta_ns", "deadline", "offload")
        assert [tuple(one.get(key) for key in wanted) for one in children] == [
            ("pfifo", None, None, None), ("etf", 150_000, True, True), ("etf", 175_000, None, None),
        ]  # fmt: skip
    assert "queues" not in imported().partition("streams:")[0]


def test_queues_that_are_equal_everywhere_stand_once() -> None:
    network = TEXTS[NETWORK].replace('      tsn-2: ["node-4:1,2"]\n', "")
    text = imported(network=network)
    assert lines(text, "queues") == ["queues: {classes: {0: 0, 1: 1, 2: 2, 3: 3, 4: 0, 5: 0, 6: 0, 7: 0}}"]
    assert "#   queues of ports without a TSN configuration: node-4 -> node-3 #1, node-4 -> node-3 #2" in text


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [("time: 7", 7), ("", 30), ("signal: true", 60), ("signal: yes, timeout: 120", 120), ("time: '9'", 9)],
)
def test_how_long_an_experiment_takes(settings: str, seconds: int) -> None:
    text = f"experiments:\n  - {{ network: net-1, stack: stack-1{', ' if settings else ''}{settings} }}\n"
    assert f"\nname: experiment-1\nduration: {seconds} s\n" in imported(experiments=text)


def test_names_begin_with_a_letter_and_are_short() -> None:
    text = TEXTS[EXPERIMENTS].replace("the experiment/10s", "4-queue_" + "x" * 90)
    (name,) = lines(imported(experiments=text), "name:")
    assert name == ("name: engine-4-queue_" + "x" * 90)[:70]
    read_scenario(imported(experiments=text))


def test_one_of_several_experiments_is_named() -> None:
    text = TEXTS[EXPERIMENTS] + "  - { network: net-1, stack: stack-1, name: other }\n"
    assert experiments(text) == ["the experiment/10s", "other"]
    texts = {**TEXTS, EXPERIMENTS: text}
    assert "name: other\n" in scenario(texts, "other")
    with pytest.raises(InputError) as raised:
        scenario(texts)
    assert str(raised.value) == "--experiment: expected one of 2 experiments:\n  the experiment/10s\n  other"
    with pytest.raises(InputError, match="expected one of the experiment/10s, other, found third"):
        scenario(texts, "third")


@pytest.mark.parametrize(
    ("part", "before", "after", "words"),
    [
        ("experiments", "experiments:", "others:", "expected a list of experiments, found none"),
        ("experiments", "'net-1'", "net-2", "expected the network net-2 of the experiment, found net-1"),
        ("experiments", "'stack-1'", "s", "expected the stack s of the experiment, found stack-1"),
        ("experiments", "time: 10", "time: long", "time: expected a whole number, found long"),
        ("experiments", "time: 10", "time: 0", "time: expected at least 1, found 0"),
        ("network", "':node-4:1,2:node-3:'", "'node-4'", "':node-1:4,1:node-3:' in flow 2, found node-4"),
        ("network", "':node-4:1,2:node-3:'", "':a:1,2:a:'", "in flow 2, found :a:1,2:a:"),
        ("network", "tsn-2: [", "tsn-9: [", "expected tsn-9 in tsnconfigs, found none"),
        ("network", "idle: '12820'", "idle: fast", "queue 2: idle: expected a whole number, found fast"),
        ("network", "duration: 300", "duration: -1", "duration: expected a whole number, found -1"),
        ("network", "      1: { mode: etf", "      one: { mode: etf", "expected numbered queues in tsn-2"),
        ("stacks", "flow: 1, port: 2201", "flow: 9, port: 2201", "of the network (1, 2, 3), found 9"),
        ("stacks", "size: 1430", "size: 0", "iperf on node-1, port 2202: size: expected at least 1, found 0"),
    ],
)  # fmt: skip
def test_mistakes(part: str, before: str, after: str, words: str) -> None:
    text = TEXTS[FILE[part]]
    assert before in text
    with pytest.raises(InputError) as raised:
        imported(**{part: text.replace(before, after)})
    assert words in str(raised.value)
    assert str(raised.value).startswith(f"{FILE[part]}: ") or "network net-2" in words or "stack s" in words


def test_no_service_that_sends() -> None:
    with pytest.raises(InputError, match="expected iperf clients or send_udp in stack-1, found none"):
        imported(stacks="stacks: {stack-1: {services: {node-1: [{name: tcpdump, flow: [1]}]}}}\n")


@pytest.mark.parametrize(
    "text", ["", "- 1", "a: [", "\t", "a: &a [*a]", "network: 5", "? {a: b}\n: c", "\x00"]
)
@pytest.mark.parametrize("name", ["network", "stacks", "experiments"])
def test_other_files_are_refused(name: str, text: str) -> None:
    with pytest.raises(InputError):
        imported(**{name: text})


TREES = {name: YAML(typ="safe", pure=True).load(text) for name, text in TEXTS.items()}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.text(max_size=6) | st.floats(allow_nan=True),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip


@examples(1.5)
@given(st.data())
def test_any_value_at_any_place_is_read_or_refused(data: st.DataObject) -> None:
    """Any value at any place of the three files gives a scenario or an error of the input."""
    trees = copy.deepcopy(TREES)
    tree: Any = trees[data.draw(st.sampled_from(sorted(trees)))]
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        key = data.draw(st.sampled_from(keys))
        inner = tree[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            tree[key] = data.draw(VALUES)
            break
        tree = inner
    try:
        text = scenario({name: json.dumps(tree) for name, tree in trees.items()})
    except InputError:
        return
    assert text.startswith("# From EnGINE's experiment ")


def test_the_command(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    done = tsnbench("import", "engine", tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, imported())
    (tmp_path / STACKS).unlink()
    lacks = tsnbench("import", "engine", tmp_path, cwd=tmp_path)
    assert lacks.returncode == 2
    assert "02-stacks.yml" in lacks.stderr
