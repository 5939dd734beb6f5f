"""Gates: devices without a defect pass, and what stamps and clocks leave to decide."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from support.devices import bench, lab, results, verdicts
from support.profile import PROFILE
from tsnbench import Simulation
from tsnbench.conform import budget
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.judge import Error
from tsnbench.conform.run import in_order, judged, prepare
from tsnbench.conform.seen import Seen

CLEAN = 100 if PROFILE == "nightly" else 8


@pytest.mark.parametrize("seed", range(CLEAN))
def test_a_device_without_a_defect_passes(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    rate = draw.choice(["10 Mbit/s", "100 Mbit/s", "1 Gbit/s"])
    scale = {"10 Mbit/s": 10, "100 Mbit/s": 1, "1 Gbit/s": 1}[rate]
    high, low = (draw.randint(150 * scale, 900 * scale) for _ in range(2))
    if rate == "1 Gbit/s":
        high, low = high // 4, low // 4
    text = lab(
        seed=seed + 1, rate=rate, cable=draw.randint(0, 100), base=draw.randint(0, 900), high=high, low=low
    )
    found = results(bench(text), tmp_path, ["gates"])
    assert [(one.test, one.sentence) for one in found if one.verdict not in ("pass", "not-offered")] == []
    assert sum(one.verdict == "pass" for one in found) == 7


@pytest.mark.parametrize(
    ("ns", "possible"),
    [(5, {"pass"}), (6, {"pass", "not-decidable"}), (18, {"not-decidable", "fail"}), (25, {"fail"})],
)
def test_a_shift_between_the_limits_is_not_passed(ns: int, possible: set[str], tmp_path: Path) -> None:
    """U is 6 ns, T is 12 ns: a shift of T / 2 never fails, one of T never passes, T + 2 U is found."""
    device = lab().replace("30 us", f"{30_000 + ns} ns")
    assert verdicts(results(bench(lab(), device), tmp_path, ["gates.edge"]))["gates.edge"] in possible


def test_clocks_that_nobody_knows_leave_what_one_port_shows(tmp_path: Path) -> None:
    free = lab() + "clocks: {default: {drift: 20 ppm}, switch: {drift: -20 ppm, offset: 1 ms}}\n"
    found = results(bench(free), tmp_path, ["gates"])
    assert verdicts(found) == {
        **dict.fromkeys(("gates.active", "gates.guard", "gates.cycle"), "pass"),
        **dict.fromkeys(("gates.order", "gates.edge"), "not-decidable"),
        **dict.fromkeys(("gates.entry", "gates.close"), "pass"),
        **dict.fromkeys(("gates.begin", "gates.change"), "not-offered"),
    }
    assert {one.reason for one in found if one.verdict == "not-decidable"} == {"clocks"}
    guardless = free.replace("entries:", "guard: none, entries:")
    assert verdicts(results(bench(free, guardless), tmp_path / "2", ["gates"]))["gates.guard"] == "fail"


def test_the_error_of_stamps_widens_the_tolerance(tmp_path: Path) -> None:
    error = Error(stamps_ns=32, clock_ns=41, resolution_ns=17)
    own = bench(lab(), lab().replace("30 us", "30200 ns"))
    (edge,) = [one for one in results(own, tmp_path, ["gates"], error) if one.test == "gates.edge"]
    assert (edge.verdict, edge.reason) == ("not-decidable", "clocks")
    wide = replace(error, asked_ns=1_000)
    (edge,) = [one for one in results(own, tmp_path / "2", ["gates"], wide) if one.test == "gates.edge"]
    assert edge.verdict == "pass"


def test_a_port_without_gates_offers_none(tmp_path: Path) -> None:
    found = results(bench(lab("")), tmp_path, ["gates"])
    assert {one.verdict for one in found} == {"not-offered"}


def test_a_device_without_another_neighbour_has_no_tester(tmp_path: Path) -> None:
    text = lab().replace("[talker, robot]", "[robot]").replace("[talker -- switch, switch", "[switch")
    text = text.replace("from: talker, to: robot", "from: robot, to: switch").replace(
        "bridges: [s", "hosts: [s"
    )
    found = results(bench(text), tmp_path, ["gates"])
    assert {(one.verdict, one.reason) for one in found if one.verdict != "not-offered"} == {
        ("not-decidable", "no-stimulus")
    }


GPTP = """\
clocks:
  default: {drift: 20 ppm}
  robot: {drift: -30 ppm, offset: 10 us}
  gptp: {grandmaster: switch, sync-interval: 1/32 s, pdelay-interval: 1/8 s}
"""


@pytest.mark.parametrize(("base", "verdict"), [(30, "pass"), (36, "fail")])
def test_clocks_that_follow_the_device_decide_the_edge(base: int, verdict: str, tmp_path: Path) -> None:
    """Testers wait until the servos have settled; what is left of the difference is in the tolerance."""
    texts = [(lab(base=when) + GPTP).replace("open: [0]", "open: [0, 7]") for when in (30, base)]
    own = bench(*texts)
    ((_, one),) = prepare(own, chosen(["gates"])).stimuli
    run = Simulation().execute(one.plan, tmp_path / "run")
    known = budget.after(
        budget.before(one.plan, "simulation", 0), one.plan, run.folder, "switch", ["talker"], "robot"
    )
    assert known.clock_ns is not None
    assert known.clock_ns < 1_000
    found = verdicts(in_order(judged("gates", own, one, Seen.of(run), known)))
    assert found["gates.edge"] == verdict
    assert {name for name, word in found.items() if word == "fail"} <= {"gates.edge"}


def test_clocks_that_are_far_from_each_other_decide_no_edge(tmp_path: Path) -> None:
    """The gates never open for PTP, so clocks never meet: the tolerance would be greater than a window."""
    own = bench(lab() + GPTP)
    ((_, one),) = prepare(own, chosen(["gates"])).stimuli
    run = Simulation().execute(one.plan, tmp_path / "run")
    known = budget.after(
        budget.before(one.plan, "simulation", 0), one.plan, run.folder, "switch", ["talker"], "robot"
    )
    found = verdicts(in_order(judged("gates", own, one, Seen.of(run), known)))
    assert (found["gates.order"], found["gates.edge"]) == ("not-decidable", "not-decidable")
    assert "fail" not in found.values()
