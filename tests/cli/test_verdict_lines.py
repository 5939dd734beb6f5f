"""A run on the terminal: a last line with the verdict, and tables that fit the terminal's width."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from support import commands

tsnbench = partial(commands.tsnbench, columns=80)

SENSORS = """\
name: sensors
duration: 20 ms
{extra}
network:
  stations: [{stations}, plc]
  bridges: [sw]
  links: {{rate: 100 Mbit/s, between: [{links}, sw-plc]}}
streams:
{streams}
"""
MANY = 30


def sensors(folder: Path, extra: str = "", limit: str = "300 us") -> Path:
    """Thirty talkers with different offsets; in the worst case all of them send at the same time."""
    names = [f"sensor-of-a-long-name-{n}" for n in range(MANY)]
    text = SENSORS.format(
        extra=extra,
        stations=", ".join(names),
        links=", ".join(f"{name}-sw" for name in names),
        streams="\n".join(
            f"  {name}: {{from: {name}, to: plc, pcp: 6, frame: 300 B, period: 1 ms, offset: {33 * n} us, "
            f"requires: {{delay: {limit}}}}}"
            for n, name in enumerate(names)
        ),
    )
    path = folder / "sensors.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# 30 frames of 320 octets at the same time at one port, and one frame on the first link before them.
BEYOND = (
    "MET IN THIS RUN, WORST CASE BEYOND A LIMIT: 30 of 30 requirements, "
    "worst sensor-of-a-long-name-0 at plc: delay 791.04 us of 300 us in the worst case"
)


def test_a_worst_case_beyond_the_limit_stands_in_the_last_line_and_in_all_files(tmp_path: Path) -> None:
    scenario = sensors(tmp_path)
    done = tsnbench("run", scenario, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *table, last = done.stdout.splitlines()
    assert last == BEYOND
    assert "ALL MET" not in done.stdout
    # Twelve rows are shown and the others counted; no line is wider than the terminal.
    assert sum("met, worst case beyond" in line and "us" in line for line in table) == 12
    assert any("and 18 requirements more" in line for line in table)
    assert max(map(len, table)) <= 80
    verdict = json.loads((tmp_path / "runs/sensors/verdict.json").read_text())
    assert verdict["met"]
    assert {row["proof"] for row in verdict["rows"]} == {"beyond"}
    assert {(row["worst_case"], row["worst_case_margin"]) for row in verdict["rows"]} == {(791_040, -491_040)}
    page = (tmp_path / "runs/sensors/report.html").read_text(encoding="utf-8")
    assert "MET IN THIS RUN, WORST CASE BEYOND A LIMIT" in page
    assert "ALL MET" not in page
    # ``--all`` prints every row, ``-q`` one line.
    everything = tsnbench("run", scenario, "--all", cwd=tmp_path, columns=200)
    assert (
        sum(line.rstrip().endswith("met, worst case beyond") for line in everything.stdout.splitlines())
        >= MANY
    )
    quiet = tsnbench("run", scenario, "-q", cwd=tmp_path)
    assert (quiet.stdout, quiet.stderr) == (f"{BEYOND}\n", "")
    again = tsnbench("measure", "runs/sensors", "-q", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, f"{BEYOND}\n")


@pytest.mark.parametrize(("limit", "code"), [("300 us", 1), ("800 us", 0)])
def test_a_required_worst_case_decides_the_exit_code(tmp_path: Path, limit: str, code: int) -> None:
    scenario = sensors(tmp_path, "requirements: {worst-case: true}", limit)
    done = tsnbench("run", scenario, "--no-report", "-q", cwd=tmp_path)
    assert done.returncode == code, done.stdout
    assert done.stdout.startswith("NOT ALL MET: 30 of 30" if code else "ALL MET (PROVED): 30 requirements")
    planned = tsnbench("plan", scenario, "--bounds", cwd=tmp_path)
    assert planned.returncode == code
    last = planned.stdout.splitlines()[-1]
    assert last.startswith("WORST CASE BEYOND A LIMIT: 30 of 30" if code else "WORST CASE KEEPS EVERY LIMIT")


def test_bounds_are_judged_on_request(tmp_path: Path) -> None:
    scenario = sensors(tmp_path)
    shown = tsnbench("plan", scenario, "--bounds", cwd=tmp_path)
    assert shown.returncode == 0
    assert "300 us" in shown.stdout
    assert "BEYOND" in shown.stdout
    assert max(map(len, shown.stdout.splitlines()[:-1])) <= 80
    judged = tsnbench("plan", scenario, "--bounds", "--judge", "--json", cwd=tmp_path)
    assert judged.returncode == 1
    found = json.loads(judged.stdout)
    assert len(found["flows"]) == MANY
    assert {row["proof"] for row in found["requirements"]} == {"beyond"}


SWEEP = """\
name: sizes
duration: 20 ms
parameters: {limit: [1 ms, 200 us]}
network: {stations: [a, b, c], bridges: [s], links: {rate: 100 Mbit/s, between: [a-s, c-s, s-b]}}
streams:
  first: {from: a, to: b, payload: 1000 B, period: 1 ms, pcp: 3}
  x: {from: c, to: b, payload: 1000 B, period: 1 ms, pcp: 3, requires: {delay: "${limit}", loss: 0}}
"""


def test_a_sweep_is_one_table_and_one_line(tmp_path: Path) -> None:
    scenario = tmp_path / "sizes.yaml"
    scenario.write_text(SWEEP, encoding="utf-8")
    first = tsnbench("run", scenario, "--no-report", cwd=tmp_path)
    assert first.returncode == 1
    rows = [line for line in first.stdout.splitlines() if line.startswith("limit ")]
    assert [row.split("  ")[0] for row in rows] == ["limit 1 ms", "limit 200 us"]
    assert rows[0].rstrip().endswith("met (proved)")
    assert rows[1].rstrip().endswith("FAILED")
    last = first.stdout.splitlines()[-1]
    assert last == "NOT ALL MET in 1 of 2 runs: worst limit 200 us, x at b: delay 254.24 us of 200 us"
    again = tsnbench("run", scenario, "--no-report", "--json", cwd=tmp_path)
    assert [run["reused"] for run in json.loads(again.stdout)["runs"]] == [True, True]
    quiet = tsnbench("run", scenario, "--no-report", "-q", cwd=tmp_path)
    assert quiet.stdout == f"{last}; 2 runs used again\n"
