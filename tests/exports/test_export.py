"""Golden files of everything that a small and rich scenario exports.

``TSNBENCH_WRITE_GOLDEN=1`` writes them anew; read the difference before keeping it.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tsnbench.errors import InputError
from tsnbench.exports import FORMATS, export, write
from tsnbench.exports.network import Network
from tsnbench.exports.tsnkit import windows
from tsnbench.exports.tsnkit_import import scenario
from tsnbench.planning import plan
from tsnbench.scenario import load, read_scenario

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
PLANS = HERE.parent / "plans"


def rich() -> dict[str, Any]:
    return plan(load(HERE / "rich.yaml")).document


def test_everything_is_as_it_was() -> None:
    files = export(rich(), FORMATS).files
    if os.environ.get("TSNBENCH_WRITE_GOLDEN"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for name, text in files.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_text(text, encoding="utf-8")
    found = {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*") if path.is_file()}
    assert found == set(files)
    for name, text in files.items():
        assert text == (GOLDEN / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("name", ["followers", "fork", "gate-changes", "gates", "ring"])
@pytest.mark.parametrize("to", FORMATS)
def test_other_plans_export_twice_the_same(name: str, to: str) -> None:
    document = plan(load(PLANS / f"{name}.yaml")).document
    once, twice = export(document, [to]), export(document, [to])
    assert once.files == twice.files
    assert once.files
    assert {note.to for note in once.notes} <= {to}


def test_what_is_not_exported_is_said() -> None:
    notes = [str(note) for note in export(rich(), FORMATS).notes]
    for to, word in [
        ("tc", "several ways of alarm"),
        ("tc", "pre-emption"),
        ("inet", "faults"),
        ("tsnkit", "stream files"),
        ("tsnkit", "the shapers of right -> robot"),
        ("csv", "clocks and PTP"),
        ("yang", "limits of queues"),
    ]:
        assert any(note.startswith(f"{to}: ") and word in note for note in notes), (to, word)
    assert len(notes) == len(set(notes))


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(
        InputError, match="--to: expected one of tc, ptp4l, yang, inet, tsnkit, csv, found tv"
    ):
        export(rich(), ["tv"])


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="expected an empty folder or an earlier export"):
        write(export(rich(), ["csv"]), tmp_path)


def test_an_earlier_export_is_replaced(tmp_path: Path) -> None:
    write(export(rich(), ["csv", "tsnkit"]), tmp_path / "out")
    write(export(rich(), ["csv"]), tmp_path / "out")
    assert not (tmp_path / "out/tsnkit/task.csv").exists()
    assert (tmp_path / "out/csv/ports.csv").exists()


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_tables_have_the_plans_numbers() -> None:
    document = rich()
    files = export(document, ["csv"]).files
    ports = table(files["csv/ports.csv"])
    assert [int(row["rate_bps"]) for row in ports] == [port["rate_bps"] for port in document["ports"]]
    gates = table(files["csv/gates.csv"])
    assert [(row["port"], row["begin_ns"], row["interval_ns"], row["open_classes"]) for row in gates] == [
        ("left -> right", "0", "50000", "3"),
        ("left -> right", "50000", "450000", "0 1 2"),
    ]


# tsnkit


def test_windows_wrap_around_the_cycle() -> None:
    gates = {
        "base_time_ns": 80,
        "cycle_ns": 100,
        "entries": [{"open": 2, "interval_ns": 30}, {"open": 1, "interval_ns": 70}],
    }
    assert windows(gates, 1) == [(0, 10), (80, 100)]
    assert windows(gates, 0) == [(10, 80)]
    # Without a wrap, and before 0.
    assert windows({**gates, "base_time_ns": -100}, 1) == [(0, 30)]


@pytest.mark.parametrize("name", ["rich", "fork"])
def test_tsnkit_comes_back(name: str) -> None:
    """Out, in as a scenario, and out again: the same problem (numbers of nodes may change)."""
    path = HERE / "rich.yaml" if name == "rich" else PLANS / f"{name}.yaml"
    first = export(plan(load(path)).document, ["tsnkit"]).files
    text = scenario(first["tsnkit/task.csv"], first["tsnkit/topo.csv"])
    (back,) = read_scenario(text, "back.yaml")
    second = export(plan(back).document, ["tsnkit"]).files

    def problem(files: dict[str, str]) -> tuple[list[Any], list[Any]]:
        names = {row["node"]: row["name"] for row in table(files["tsnkit/nodes.csv"])}
        numbers = {node: re.sub(r"\D", "", names[node]) if files is second else node for node in names}

        def renamed(cell: str) -> str:
            return re.sub(r"\d+", lambda found: numbers[found[0]], cell)

        links = [
            (renamed(row["link"]), row["rate"], row["t_proc"], row["t_prop"])
            for row in table(files["tsnkit/topo.csv"])
        ]
        tasks = [
            (
                renamed(row["src"]),
                renamed(row["dst"]),
                row["size"],
                row["period"],
                row["deadline"],
                row["jitter"],
            )
            for row in table(files["tsnkit/task.csv"])
        ]
        return sorted(links), sorted(tasks)

    assert problem(first) == problem(second)


TASK = "stream,src,dst,size,period,deadline,jitter\n0,0,[2],120,1000000,500000,1000000\n"
TOPO = "link,q_num,rate,t_proc,t_prop\n" + "".join(
    f'"({one}, {other})",8,1,2000,0\n' for one, other in ((0, 1), (1, 0), (1, 2), (2, 1))
)


def test_a_problem_of_tsnkit_is_a_scenario() -> None:
    (back,) = read_scenario(scenario(TASK, TOPO), "back.yaml")
    document = plan(back).document
    assert [node["name"] for node in document["nodes"]] == ["es0", "es2", "sw1"]
    (stream,) = document["streams"]
    assert stream["size"] == {"kind": "frame", "octets": 100}
    assert stream["requirements"]["delay_ns"] == 500_000
    assert document["nodes"][2]["processing_ns"] == 2000


@pytest.mark.parametrize(
    ("task", "topo", "words"),
    [
        ("", TOPO, "task.csv:1: expected the columns stream"),
        (TASK.splitlines()[0] + "\n", TOPO, "task.csv: expected rows"),
        (TASK.replace("[2]", "2;3"), TOPO, "task.csv:2: dst: expected a list such as [3], found 2;3"),
        (TASK.replace("[2]", "[9]"), TOPO, "task.csv:2: expected a node of the topology, found 9"),
        (TASK.replace(",120,", ",-1,"), TOPO, "task.csv:2: size: expected a whole number, found -1"),
        (TASK.replace(",120,", ",9000,"), TOPO, "size: expected up to 1542 octets, found 9000"),
        (TASK.replace(",1000000,5", ",0,5"), TOPO, "period: expected more than 0"),
        (TASK, TOPO.replace('"(2, 1)",8,1,2000,0\n', ""), "link: expected (2, 1) besides (1, 2), found none"),
        (
            TASK,
            TOPO.replace("(0, 1)", "0-1"),
            "topo.csv:2: link: expected two nodes such as (0, 1), found 0-1",
        ),
        (
            TASK,
            TOPO.replace('"(0, 1)",8,1', '"(0, 1)",8,7'),
            "rate: expected one of 1, 10, 100, 1000 (ns per bit), found 7",
        ),
        (TASK, TOPO.replace('(2, 1)",8,1,2000', '(2, 1)",8,1,1000'), None),
        (
            TASK,
            TOPO.replace('(2, 1)",8,1,2000', '(2, 1)",8,1,1'),
            "t_proc: expected one value for all links to node 1",
        ),
    ],
)
def test_wrong_files_are_told_where(task: str, topo: str, words: str | None) -> None:
    with pytest.raises(InputError) as error:
        scenario(task, topo)
    if words:
        assert words in str(error.value)


# INET


def gate_at(lines: dict[str, str], gate: str, at: int) -> bool:
    """Whether a gate of INET is open at an instant, worked out from its parameters."""
    state = lines[f"{gate}.initiallyOpen"] == "true"
    durations = [
        int(one.removesuffix("ns"))
        for one in lines.get(f"{gate}.durations", "[]").strip("[]").split(", ")
        if one
    ]
    if not durations:
        return state
    assert len(durations) % 2 == 0
    at = (at + int(lines[f"{gate}.offset"].removesuffix("ns"))) % sum(durations)
    for duration in durations:
        if at < duration:
            return state
        at -= duration
        state = not state
    raise AssertionError


@pytest.mark.parametrize(
    "path", [HERE / "rich.yaml", PLANS / "gates.yaml", PLANS / "followers.yaml"], ids=lambda path: path.stem
)
def test_gates_of_inet_are_open_when_the_plans_are(path: Path) -> None:
    document = plan(load(path)).document
    network = Network(document)
    text = export(document, ["inet"]).files["inet/omnetpp.ini"]
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    checked = 0
    for number, port in enumerate(document["ports"]):
        gates = port.get("gates")
        if gates is None:
            continue
        name = document["nodes"][port["node"]]["name"]
        for one in range(len(port["classes"])):
            gate = f"*.{name}.eth[{network.place(number)}].macLayer.queue.transmissionGate[{one}]"
            begin = gates["base_time_ns"]
            for entry in [*gates["entries"], *gates["entries"]]:
                for at in (begin, begin + entry["interval_ns"] - 1):
                    if at >= 0:
                        assert gate_at(lines, gate, at) == bool(entry["open"] >> one & 1)
                        checked += 1
                begin += entry["interval_ns"]
    assert checked > 3


def test_ned_has_every_node_and_link() -> None:
    document = rich()
    ned = export(document, ["inet"]).files["inet/network.ned"]
    assert len(re.findall(r": Tsn(?:Device|Switch) ", ned)) == len(document["nodes"])
    assert ned.count("<--> EthernetLink") == len(document["ports"]) // 2
    assert ned.count("{") == ned.count("}")
