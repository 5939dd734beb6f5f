"""tsnkit's files: exported, imported again, and run in tsnkit's own simulator."""

from __future__ import annotations

import csv
import io
import random
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from exports.plans import PLANS, RICH, document_of
from support.planned import plan_of, run_of
from support.tsnkit_program import Frames, Tsnkit, tsnkit_program
from tsnbench.errors import InputError
from tsnbench.exports import export, write
from tsnbench.exports.tsnkit_import import scenario
from tsnbench.exports.tsnkit_rows import Link, first_instant, rows, without
from tsnbench.exports.tsnkit_times import Frame, Hop, on_grid
from tsnbench.plan.gates import clock_spans, folded
from tsnbench.planning import Plan, plan
from tsnbench.scenario import load_variants, read_scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_windows_wrap_around_the_cycle() -> None:
    gates = {
        "base_time_ns": 80,
        "cycle_ns": 100,
        "entries": [{"open": 2, "interval_ns": 30}, {"open": 1, "interval_ns": 70}],
    }
    assert clock_spans(gates, 1) == [(0, 10), (80, 100)]
    assert clock_spans(gates, 0) == [(10, 80)]
    # A window that does not wrap, with a base time before 0.
    assert clock_spans({**gates, "base_time_ns": -100}, 1) == [(0, 30)]


@pytest.mark.parametrize("name", ["rich", "fork"])
def test_an_exported_problem_can_be_imported_again(name: str) -> None:
    """A Plan is exported, imported and exported again: the problem stays the same but for node numbers."""
    path = RICH if name == "rich" else PLANS / f"{name}.yaml"
    first = export(document_of(path), ["tsnkit"]).files
    text = scenario(first["tsnkit/task.csv"], first["tsnkit/topo.csv"]).scenario
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
        cells = ("size", "period", "deadline", "jitter")
        tasks = [
            (renamed(row["src"]), renamed(row["dst"]), *(row[cell] for cell in cells))
            for row in table(files["tsnkit/task.csv"])
        ]
        return sorted(links), sorted(tasks)

    assert problem(first) == problem(second)


TASK = "stream,src,dst,size,period,deadline,jitter\n0,0,[2],120,1000000,500000,1000000\n"
TOPO = "link,q_num,rate,t_proc,t_prop\n" + "".join(
    f'"({one}, {other})",8,1,2000,0\n' for one, other in ((0, 1), (1, 0), (1, 2), (2, 1))
)


def test_the_streams_of_a_problem_may_be_a_table(tmp_path: Path) -> None:
    made = scenario(TASK, TOPO, table="streams of tsnkit.csv")
    (tmp_path / "streams of tsnkit.csv").write_text(made.table, encoding="utf-8")
    (tmp_path / "t.yaml").write_text(made.scenario, encoding="utf-8")
    (apart,) = load_variants(tmp_path / "t.yaml")
    assert plan(apart).to_json() == plan_of(scenario(TASK, TOPO).scenario).to_json()


def test_a_problem_of_tsnkit_is_a_scenario() -> None:
    (back,) = read_scenario(scenario(TASK, TOPO).scenario, "back.yaml")
    document = plan(back).document
    assert [node["name"] for node in document["nodes"]] == ["es0", "es2", "sw1"]
    (stream,) = document["streams"]
    assert stream["size"] == {"kind": "frame", "octets": 100}
    # The listener's t_proc and the gap after the frame are subtracted.
    assert stream["requirements"]["delay_ns"] == 500_000 - 2000 - 96
    assert "scheduled" in stream
    assert document["nodes"][2]["processing_ns"] == 2000 + 96


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
def test_errors_of_wrong_files_name_the_place(task: str, topo: str, words: str | None) -> None:
    with pytest.raises(InputError) as error:
        scenario(task, topo)
    if words:
        assert words in str(error.value)


# tsnkit's own simulator.


@pytest.fixture(scope="module")
def tsnkit() -> Tsnkit:
    found = tsnkit_program()
    if isinstance(found, str):
        pytest.skip(found)
    return found


def exported(document: dict[str, Any], folder: Path) -> Path:
    write(export(document, ["tsnkit"]), folder)
    return folder / "tsnkit"


def problem_of(seed: int, sizes: list[int]) -> tuple[str, str]:
    """A line of three switches with two stations each, and streams among them."""
    draw = random.Random(seed)
    pairs = [(0, 1), (1, 2), *((switch, 3 + 2 * switch + n) for switch in range(3) for n in range(2))]
    topo = "link,q_num,rate,t_proc,t_prop\n" + "".join(
        f'"({a}, {b})",8,1,2000,0\n"({b}, {a})",8,1,2000,0\n' for a, b in pairs
    )
    lines = ["stream,src,dst,size,period,deadline,jitter"]
    for number in range(8):
        one, other = draw.sample(range(3, 9), 2)
        size, period = draw.choice(sizes), draw.choice([250_000, 500_000])
        hops = 2 + abs((one - 3) // 2 - (other - 3) // 2)
        # The deadline as tsnkit's generator computes it: transmission and processing of every hop, and some
        # slack.
        deadline = hops * (2000 + size * 8) + draw.choice([0, 0, 25_000, 100_000])
        lines.append(f"{number},{one},[{other}],{size},{period},{deadline},{deadline}")
    return "\n".join(lines) + "\n", topo


def delays(made: Plan, folder: Path) -> dict[str, tuple[int, int]]:
    """The least and the greatest delay of every stream in tsnbench's simulator, in ns."""
    run = run_of(made, folder)
    at = run.observations().pivot(
        on="stage", index=["stream", "seq"], values="t_ns", aggregate_function="first"
    )
    found = at.group_by("stream").agg(
        (pl.col("rx") - pl.col("tx")).min().alias("least"), (pl.col("rx") - pl.col("tx")).max().alias("most")
    )
    names = [stream["name"] for stream in made.document["streams"]]
    return {
        names[row["stream"]] if isinstance(row["stream"], int) else row["stream"]: (row["least"], row["most"])
        for row in found.iter_rows(named=True)
    }


def delays_there(files: Path, simulated: list[Frames]) -> list[tuple[int, int]]:
    """The least and greatest delays in tsnkit's simulator, without preamble, gap and its sending offset."""
    found = []
    for row, frames in zip(table((files / "task.csv").read_text()), simulated, strict=True):
        wire = int(row["size"]) * 8
        sent = [at - 2000 - wire for at in frames.sent]
        each = [end - begin - 20 * 8 for begin, end in zip(sent, frames.received, strict=False)]
        assert len(each) > 1
        found.append((min(each), max(each)))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_problem_of_tsnkit_is_planned_and_meets_its_deadlines_in_both_simulators(
    seed: int, tsnkit: Tsnkit, tmp_path: Path
) -> None:
    """Sizes are multiples of the slot, so the delays of both simulators are the same to the nanosecond."""
    task, topo = problem_of(seed, [100, 200, 500, 1500])
    made = plan_of(scenario(task, topo).scenario)
    assert all("scheduled" in stream for stream in made.document["streams"])
    files = exported(made.document, tmp_path / "out")
    ours = delays(made, tmp_path)
    theirs = delays_there(files, tsnkit.simulate(files))
    rows = table(task)
    assert len(rows) == len(theirs) == len(ours) == 8
    for row, (least, most) in zip(rows, theirs, strict=True):
        assert ours[f"s{row['stream']}"] == (least, most)
        # From the first bit of the preamble to the end of the listener's processing.
        assert 8 * 8 + most + 12 * 8 + 2000 <= int(row["deadline"])
    for stream in made.document["streams"]:
        assert ours[stream["name"]][1] <= stream["requirements"]["delay_ns"]


@pytest.mark.parametrize("seed", range(3))
def test_frames_off_tsnkits_grid_are_rounded_up(seed: int, tsnkit: Tsnkit, tmp_path: Path) -> None:
    """Frames of any size: in tsnkit, delays differ by up to 100 ns and are up to 500 ns longer than ours."""
    task, topo = problem_of(100 + seed, [84, 101, 333, 1071, 1542])
    task = re.sub(r"(\d+),(\d+)$", "200000,200000", task, flags=re.MULTILINE)
    made = plan_of(scenario(task, topo).scenario)
    files = exported(made.document, tmp_path / "out")
    ours = delays(made, tmp_path)
    theirs = delays_there(files, tsnkit.simulate(files))
    for row, (least, most) in zip(table(task), theirs, strict=True):
        assert most - least <= 100
        assert 0 <= most - ours[f"s{row['stream']}"][1] <= 500


def test_a_shipped_schedule_passes_tsnkits_simulator(tsnkit: Tsnkit, tmp_path: Path) -> None:
    files = exported(document_of(SCENARIOS / "tutorial/11-scheduled.yaml"), tmp_path / "out")
    simulated = tsnkit.simulate(files)
    assert len(simulated) == len(table((files / "task.csv").read_text()))
    for least, most in delays_there(files, simulated):
        assert most - least <= 100


# The parts of the rows.


def test_frames_that_do_not_touch_the_end_of_a_cycle_stay_where_they_are() -> None:
    link = Link(1000, frames=[(7, (100, 300)), (7, (900, 1000))])
    assert first_instant([link], 100, 1000) == 0


def test_the_first_instant_without_a_frame_on_any_link() -> None:
    # A frame is on the first link until 150 ns and on the second one from 120 to 340 ns.
    links = [Link(1000, frames=[(7, (950, 1150))]), Link(500, frames=[(7, (620, 840))])]
    assert first_instant(links, 100, 1000) == 400
    assert rows(links[0], 400) == ([(7, (550, 750))], [])
    assert rows(links[1], 400) == ([(7, (220, 440))], [])
    # There is a frame on the link at every instant.
    full = Link(500, frames=[(7, (50, 250)), (7, (250, 550))])
    assert first_instant([full], 100, 500) is None


def test_one_queue_is_open_at_a_time() -> None:
    link = Link(1000, frames=[(7, (400, 500))], windows=[(5, [(0, 700)]), (1, [(600, 1000)])])
    assert rows(link, 0) == (
        [(5, (0, 400)), (7, (400, 500)), (5, (500, 700)), (1, (700, 1000))],
        [1],
    )


def test_spans_are_folded_and_cut() -> None:
    assert folded((1950, 2030), 100) == [(0, 30), (50, 100)]
    assert list(without([(0, 10), (20, 30)], [(5, 22), (25, 26)])) == [(0, 5), (22, 25), (26, 30)]


def test_frames_wait_for_the_grid_and_for_each_other() -> None:
    """Two frames of 1,050 ns with a gap of 1 ns: on the grid, the second one starts a slot later."""
    one = Frame(10_000_000, [Hop(0, None, 0, 1_050_000, 0)])
    other = Frame(
        10_000_000, [Hop(0, None, 1_051_000, 1_050_000, 2_000_000), Hop(1, 0, 4_101_000, 500_000, 0)]
    )
    assert on_grid([one, other]) == [[0], [1_100_000, 4_200_000]]
    # The link is full to the nanosecond, so the rounded frames do not fit.
    full = [Frame(4_200_000, [Hop(0, None, 1_050_000 * n, 1_050_000, 0)]) for n in range(4)]
    assert on_grid(full) is None


@pytest.mark.parametrize("cell", ["inf", "-inf", "nan", "1e400", "1e16", "1" * 5000, "1_000x", "0x10", ""])
@pytest.mark.parametrize("column", ["size", "period", "deadline", "jitter", "src", "stream"])
def test_errors_of_cells_without_a_number_name_the_place(cell: str, column: str) -> None:
    names = TASK.splitlines()[0].split(",")
    row = ["0", "0", "[2]", "120", "1000000", "500000", "1000000"]
    row[names.index(column)] = cell
    with pytest.raises(InputError, match=rf"task.csv:2: {column}: expected a whole number"):
        scenario(",".join(names) + "\n" + ",".join(row) + "\n", TOPO)


@pytest.mark.parametrize(
    ("task", "topo"),
    [
        (TASK, TOPO.replace("(0, 1)", f"(0, {'1' * 5000})")),
        (TASK.replace("[2]", f"[{'2' * 5000}]"), TOPO),
        (TASK + '1,"' + "0" * 200_000 + '",[2],120,1000000,500000,1000000\n', TOPO),
    ],
)
def test_very_long_cells_are_errors(task: str, topo: str) -> None:
    with pytest.raises(InputError, match=r"(task|topo).csv:\d+: "):
        scenario(task, topo)
