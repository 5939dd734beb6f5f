"""Reports of runs that were simulated and measured: their figures agree with the measures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.html_page import read
from tsnbench import report
from tsnbench.report.data import gather
from tsnbench.report.parts.curves import curve_of
from tsnbench.report.parts.ports import loads, over_time
from tsnbench.report.parts.provenance import command
from tsnbench.report.parts.schedule import folded

TUTORIAL = Path(__file__).parents[2] / "scenarios" / "tutorial"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Every run of every tutorial scenario, shortened."""
    from tsnbench.campaign.campaign import Options, folder_of, run_one
    from tsnbench.scenario import load_variants
    from tsnbench.scenario.selection import shortened

    into = tmp_path_factory.mktemp("tutorial")
    found: dict[str, list[Path]] = {}
    for file in sorted(TUTORIAL.glob("*.yaml")):
        for scenario in load_variants(file)[:3]:
            short = shortened(scenario, 50_000_000, None)
            folder = folder_of(short, into / file.stem)
            run_one(short.plan(), folder, Options(report=False))
            found.setdefault(file.stem, []).append(folder)
    return found


def test_distributions_agree_with_the_measures(runs: dict[str, list[Path]]) -> None:
    seen = 0
    for folder in (folder for folders in runs.values() for folder in folders):
        run = gather(folder)
        for measure in (*run.flows, *run.groups):
            curve = curve_of(run, measure)
            if measure.delay is None:
                assert curve is None
                continue
            assert curve is not None
            stat, box = measure.delay, curve.box
            assert (box.low, box.median, box.p99, box.high) == (
                stat["min"] / 1e3, stat["median"] / 1e3, stat["p99"] / 1e3, stat["max"] / 1e3
            )  # fmt: skip
            step = measure.jitter["delay-step-abs"]
            assert (curve.jitter is None) == (step is None)
            if curve.jitter and step:
                assert (curve.jitter.x[0], curve.jitter.x[-1]) == (step["min"] / 1e3, step["max"] / 1e3)
            seen += 1
    assert seen > 5


def test_no_departure_leaves_a_closed_gate(runs: dict[str, list[Path]]) -> None:
    ports = [one for folder in runs["2-gates"] for one in folded(gather(folder))]
    assert any(one.tapped and one.departures > 100 for one in ports)
    assert all(one.outside == 0 for one in ports)


def test_loads_from_counters_and_from_sightings_agree(runs: dict[str, list[Path]]) -> None:
    for folder in (folder for folders in runs.values() for folder in folders):
        run = gather(folder)
        counted = {load.port["name"]: load.total * load.port["rate_bps"] / 1e6 for load in loads(run)}
        for flowed in over_time(run):
            if counted[flowed.port["name"]] > 0.9 * flowed.port["rate_bps"] / 1e6:
                continue  # The rest of a full queue is sent after the last instant of the figure.
            seen = sum(sum(rates) / len(rates) for rates in flowed.by_class.values())
            assert seen == pytest.approx(counted[flowed.port["name"]], rel=0.06), flowed.port["name"]


@pytest.mark.filterwarnings("error:constrained_layout not applied")
def test_pages_are_whole(runs: dict[str, list[Path]], tmp_path: Path) -> None:
    for name, folders in runs.items():
        page = report.write(folders[-1])
        assert "ccdf-title" in read(page).ids
        assert "mathdefault" not in page.read_text(encoding="utf-8"), name
        if len(folders) > 1:
            found = read(report.write(folders, into=tmp_path / name))
            assert "delay-along-axis-title" in found.ids


def test_the_command_repeats_the_run(runs: dict[str, list[Path]], tmp_path: Path) -> None:
    folder = runs["1-first-link"][0]
    line = (
        command(gather(folder)).replace("python", sys.executable, 1).replace("again", str(tmp_path / "again"))
    )
    subprocess.run(line, shell=True, cwd=folder, check=True, timeout=60)
    again = tmp_path / "again" / "observations.parquet"
    assert again.read_bytes() == (folder / "observations.parquet").read_bytes()
