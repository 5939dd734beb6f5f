"""Comparison of runs: what agrees, what differs, and how the tolerance is computed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support.commands import tsnbench
from tsnbench import Simulation, load
from tsnbench.compare import Side, compare, opened
from tsnbench.compare.agreement import agreements
from tsnbench.compare.gates import conformance
from tsnbench.compare.known import RING, SOFTWARE_GATES
from tsnbench.compare.known import known as known_differences
from tsnbench.compare.plans import differences
from tsnbench.errors import InputError
from tsnbench.report.compare_page import write_comparison

STAR = """
name: star
duration: DURATION
seed: SEED
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: 100 Mbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, offset: 100 us, payload: 100 B}
  files: {from: disk, to: robot, pcp: 0, period: 190 us, payload: 1000 B}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
    gates: {cycle: 1 ms, entries: [{open: [6], for: 200 us}, {open: [0], for: 800 us}]}
taps: [switch -> robot]
FAULTS
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compare")


def _run(folder: Path, name: str, *, duration: str = "20 ms", seed: int = 1, faults: str = "") -> Path:
    into = folder / name
    if not into.exists():
        path = folder / f"{name}.yaml"
        text = STAR.replace("DURATION", duration).replace("SEED", str(seed)).replace("FAULTS", faults)
        path.write_text(text)
        load(path).plan().run(on=Simulation(), into=into)
    return into


def _as_kernel(side: Side, later_ns: int, dilate: int = 1) -> Side:
    """The same frames on a kernel; each arrives later by the given time."""
    measures = json.loads(json.dumps(side.measures))
    for path in measures["paths"]:
        for name in ("min", "median", "p99", "max"):
            path["delay"][name] += later_ns
    frames = side.frames.with_columns(pl.col("delay_ns") + later_ns, pl.col("t_rx_ns") + later_ns)
    manifest = {**(side.manifest or {}), "backend": "vm", "dilate": dilate}
    return replace(side, backend="vm", measures=measures, frames=frames, manifest=manifest, label="kernel")


def test_a_run_agrees_with_itself(folder: Path) -> None:
    side = opened(_run(folder, "one"))
    found = compare([side, side])
    assert found.agrees
    assert found.plans == []
    assert [side.label for side in found.sides] == ["simulator (1)", "simulator (2)"]
    for one in found.joined:
        assert one.delay is not None
        assert (one.delay.min, one.delay.max) == (0, 0)
        assert one.only_first == one.only_second == (0, ())


def test_a_kernel_may_be_later_by_the_tolerance_and_no_more(folder: Path) -> None:
    side = opened(_run(folder, "one"))
    # The tolerance: 15 us for each of two hops, two stamps of each run, 500 ns for repetition on veth
    # interfaces.
    allowed = 2 * 15_000 + 4 + 500
    assert compare([side, _as_kernel(side, allowed)]).agrees
    late = compare([side, _as_kernel(side, allowed + 1)])
    assert [one.quantity for one in late.agreements if not one.agrees] == [
        quantity for _ in range(2) for quantity in ("delay min", "delay median", "delay p99")
    ]
    assert compare([side, _as_kernel(side, -15_504)]).agrees
    assert not compare([side, _as_kernel(side, -15_505)]).agrees
    # Dilated by 10, the kernel's time counts a tenth.
    assert compare([side, _as_kernel(side, 3_054, dilate=10)]).agrees
    assert not compare([side, _as_kernel(side, 3_055, dilate=10)]).agrees
    # The guest's own device has no tolerance for repetition.
    exact = _as_kernel(side, 30_004)
    exact = replace(exact, manifest={**(exact.manifest or {}), "guest": {"wire": "tsnport"}})
    assert compare([side, exact]).agrees
    later = replace(_as_kernel(side, 30_005), manifest=exact.manifest)
    assert not compare([side, later]).agrees


@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_may_differ_by_the_kernels_time_both_ways(folder: Path, sign: int) -> None:
    """Two hops of 15 us; stamps and repetition are those of delays."""
    side = opened(_run(folder, "one"))
    sides = [side, _as_kernel(side, 0)]
    first = compare(sides).intervals[0]
    for more, agrees in ((2 * 15_000 + 4 + 500, True), (2 * 15_000 + 4 + 501, False)):
        other = {key: one and replace(one, median=one.median + sign * more) for key, one in first.items()}
        found = [one for one in agreements(sides, [first, other], None) if one.quantity == "interval median"]
        assert [one.agrees for one in found] == [agrees] * 2
    # The simulator has no time of its own.
    found = list(agreements([side, side], [first, other], None))
    assert [one.above for one in found if one.quantity == "interval median"] == [4, 4]


@pytest.mark.parametrize(("backend", "told"), [("vm", [RING]), ("hosts", [])])
def test_known_differences_are_named_where_they_matter(folder: Path, backend: str, told: list[str]) -> None:
    """A guest loses other frames of a full queue. Without a loss or a difference, nothing is named."""
    side = opened(_run(folder, "one"))
    kernel = replace(_as_kernel(side, 0), backend=backend)
    for path in kernel.measures["paths"]:
        path["count"]["lost"] += path["stream"] == "files"
        path["delay"]["p99"] += 10**6 * (path["stream"] == "loop")
    found = compare([side, kernel])
    wrong = {(one.stream, one.quantity): one for one in found.agreements if not one.agrees}
    assert {key: list(one.known) for key, one in wrong.items()} == {
        ("loop", "delay p99"): [],
        ("files", "lost"): told,
    }
    assert not any(one.known for one in found.agreements if one.agrees)
    assert [reason for reason in found.reasons if reason == RING] == told
    assert len(found.letters(wrong["files", "lost"]).split(", ")) == 1 + len(told)


@pytest.mark.parametrize(("kinds", "known"), [(("vm", "simulation"), True), (("vm", "netns"), False)])
def test_gates_in_software_are_a_known_difference_of_guests(
    folder: Path, kinds: tuple[str, str], known: bool
) -> None:
    side = opened(_run(folder, "one"))
    assert side.plan is not None
    plan = json.loads(json.dumps(side.plan))
    plan["ports"][0]["qdisc"] = {"taprio": {}}
    pair = [replace(side, backend=kind, plan=plan) for kind in kinds]
    found = [list(known_differences(pair, ports, "interval median", False)) for ports in ([0, 1], [1])]
    assert found == [[SOFTWARE_GATES] if known else [], []]


def test_what_clocks_of_hosts_leave_open_is_a_tolerance(folder: Path) -> None:
    """The term is for hosts only: in two runs of a simulator or guest the clocks of a Plan are the same."""
    first = opened(_run(folder, "one"))
    for backend, terms in (("hosts", 1), ("vm", 0)):
        side = replace(_as_kernel(first, 0), backend=backend)
        for path in side.measures["paths"]:
            path["uncertainty"] = {"delay_ns": 700, "difference_ns": 20, "arrivals_ns": 20}
        found = compare([first, side])
        delays = [one for one in found.agreements if one.quantity.startswith("delay")]
        own = [term for one in delays for term in one.terms if "readings of the hosts' clocks" in term.reason]
        assert len(own) == terms * len(delays)
        assert all((term.below_ns, term.above_ns) == (700, 700) for term in own)
        for path in side.measures["paths"]:
            del path["uncertainty"]


def test_repetition_is_measured_where_it_can_be(folder: Path) -> None:
    side = opened(_run(folder, "one"))
    kernels = [_as_kernel(side, 30_000), _as_kernel(side, 31_000)]
    found = compare([side, *kernels])
    again = [term for one in found.agreements for term in one.terms if "measured repetition: " in term.reason]
    assert {term.above_ns for term in again} == {1000, 0}
    assert found.agrees


def test_a_simulator_has_no_time_of_its_own(folder: Path) -> None:
    one, other = opened(_run(folder, "one")), opened(_run(folder, "one"))
    moved = replace(_as_kernel(other, 5), backend="simulation")
    assert not compare([one, moved]).agrees
    assert compare([one, moved], within_ns=5).agrees
    # The number of runs does not matter: a simulation repeats exactly, so a difference means another
    # simulation.
    assert not compare([one, moved, replace(moved, measures=one.measures), moved]).agrees


def test_frames_in_one_run_only_are_named(folder: Path) -> None:
    whole, cut = (
        opened(_run(folder, "one")),
        opened(_run(folder, "cut", faults="faults: [{down: switch -> robot, at: 5 ms, for: 3 ms}]")),
    )
    found = compare([whole, cut])
    loop = next(one for one in found.joined if one.stream == "loop")
    assert loop.only_first == (3, (5, 6, 7))
    assert loop.only_second == (0, ())
    assert loop.both == 17
    lost = next(one for one in found.agreements if (one.stream, one.quantity) == ("loop", "lost"))
    assert (lost.difference, lost.agrees) == (3, False)
    assert any(line.startswith("faults") for line in found.plans[0][1])


def test_what_differs_in_plans_is_said_with_its_place(folder: Path) -> None:
    one, other = opened(_run(folder, "one")), opened(_run(folder, "longer", duration="30 ms"))
    lines = differences(one.plan or {}, other.plan or {})
    assert "duration_ns: 20000000 against 30000000" in lines
    assert "streams loop, stop_ns: 20000000 against 30000000" in lines
    assert differences(one.plan or {}, one.plan or {}) == []
    # A part that one Plan lacks is named, and not printed.
    bare = json.loads(json.dumps(one.plan))
    (gated,) = [port for port in bare["ports"] if port.pop("gates", None)]
    assert differences(one.plan or {}, bare) == [f"ports {gated['name']}, gates: in the first only"]
    assert differences(bare, one.plan or {}) == [f"ports {gated['name']}, gates: in the second only"]


def test_runs_without_a_common_stream_are_refused(folder: Path) -> None:
    side = opened(_run(folder, "one"))
    other = json.loads(json.dumps(side.measures).replace('"loop"', '"a"').replace('"files"', '"b"'))
    with pytest.raises(InputError, match="no stream in common"):
        compare([side, replace(side, measures=other)])
    with pytest.raises(InputError, match="at least two"):
        compare([side])


def test_departures_are_compared_with_gates(folder: Path) -> None:
    side = opened(_run(folder, "one"))
    kept = conformance(0, side)
    assert [(one.traffic_class, one.outside, one.early_ns, one.late_ns) for one in kept] == [
        (0, 0, 0, 0),
        (1, 0, 0, 0),
    ]
    # The same departures under a list that is 300 us later: no urgent frame is in its window.
    plan = json.loads(json.dumps(side.plan))
    for port in plan["ports"]:
        if port.get("gates"):
            port["gates"]["base_time_ns"] += 300_000
    urgent = conformance(0, replace(side, plan=plan))[1]
    assert urgent.outside == urgent.frames == 20
    assert urgent.early_ns > 150_000


def test_the_page_says_who_is_beyond_the_bound(folder: Path, tmp_path: Path) -> None:
    side = opened(_run(folder, "one"))
    found = compare([side, _as_kernel(side, 900_000)])
    text = write_comparison(found, tmp_path, ("svg",)).read_text(encoding="utf-8")
    assert "Later than the worst case:" in text
    assert "kernel was later than the bound by up to" in text
    for section in ("agreement", "streams", "figures", "frames", "gates", "statistics", "provenance"):
        assert f'<h2 id="{section}">' in text
    assert "differs by +900" in text
    assert {path.name for path in (tmp_path / "figures").iterdir()} >= {"ccdf-overlay.svg", "differences.svg"}


def test_single_figures_of_a_comparison_without_the_page(folder: Path, tmp_path: Path) -> None:
    runs = [str(_run(folder, name)) for name in ("first", "second")]
    done = tsnbench(
        "compare", *runs, "--json", "--into", str(tmp_path), "--figure", "differences", "--figures", "csv,svg"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["format"].startswith("tsnbench-compar")
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.glob("**/*.*")) == [
        "figures/differences.csv", "figures/differences.svg"
    ]  # fmt: skip
    assert f"figure: {tmp_path / 'figures/differences.csv'}" in done.stderr
    done = tsnbench("compare", *runs, "--figure", "differences")
    assert done.returncode == 2
    assert "--figure: expected --into" in done.stderr


def test_clocks_of_several_runs_are_in_one_figure(folder: Path, tmp_path: Path) -> None:
    clocks = """
clocks:
  default: {granularity: 8 ns}
  robot: {drift: DRIFT}
"""
    sides = []
    for drift in ("20 ppm", "-10 ppm"):
        path = folder / f"clocks{drift[:3]}.yaml"
        text = STAR.replace("DURATION", "40 ms").replace("SEED", "1").replace("FAULTS", "")
        path.write_text(text + clocks.replace("DRIFT", drift))
        into = folder / path.stem
        load(path).plan().run(on=Simulation(), into=into)
        sides.append(opened(into))
    page = write_comparison(compare(sides), tmp_path).read_text(encoding="utf-8")
    assert "Clock error over time" in page
    assert "Clocks minus true time" in page
    # 20 and 10 ppm for 140 ms, with the node and run of each clock.
    assert re.search(r"robot, simulator \(1\): at most 2\.8\d* µs", page), page.count("robot, simulator")
    assert re.search(r"robot, simulator \(2\): at most 1\.4\d* µs", page)


def test_the_command(folder: Path, tmp_path: Path) -> None:
    one, longer = str(_run(folder, "one")), str(_run(folder, "longer", duration="30 ms"))
    same = tsnbench("compare", one, one, "--into", str(tmp_path))
    assert same.returncode == 0, same.stderr
    assert "10 of 10 quantities agree" in same.stdout
    assert (tmp_path / "compare.html").is_file()
    found = tsnbench("compare", one, longer, "--json")
    document = json.loads(found.stdout)
    assert document["format"] == "tsnbench-compare/1"
    assert document["agrees"] is (found.returncode == 0)
    assert document["plans_differ"][0]["run"] == 1
    assert tsnbench("compare", one).returncode == 2
    assert tsnbench("compare", one, one, "--tolerance", "5").returncode == 2
    assert tsnbench("compare", one, one, "--tx", "x.pcap").returncode == 2
