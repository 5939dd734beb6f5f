"""What ``make bench`` measures: simulating, starting, measuring and scheduling, on one core.

Slow is no failure.

Prints a table and writes all single results as JSON (``runs/bench.json``; another file as first argument).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from grids import SIZES, grid
from page import dragging, editing, percentile, typing
from written import written

from captures import write_families, write_pair
from tsnbench.planning import plan
from tsnbench.scenario import load
from tsnbench.scenario.model import Taps

ROOT = Path(__file__).parents[1]
SCENARIOS = ("star", "line", "grid", "preemption", "frer-ring", "gptp", "thousand")
HOPS, FLOWS = 7, 100
"""Of the Plan whose bounds are timed."""
REPEATS = 3
FRAMES = (1_000_000, 4_000_000)
FAMILY_FRAMES, FAMILY_TURNS = 500_000, 5
WRITTEN = (1_000, 10_000)
Result = dict[str, Any]


def installed(folder: Path) -> None:
    """Python keeps compiled modules for the measurements, as pip does when it installs tsnbench."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "modules")


def child(*arguments: object) -> Result:
    """One measurement in its own process."""
    command = [sys.executable, str(Path(__file__).with_name("child.py")), *map(str, arguments)]
    started = time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: Result = json.loads(done.stdout.splitlines()[-1])
    if "ended" in found:
        found["start_s"] = found.pop("ended") - started
    return found


def repeated(*arguments: object) -> list[Result]:
    return [child(*arguments) for _ in range(REPEATS)]


def median(results: list[Result], key: str) -> float:
    return statistics.median(result[key] for result in results)


def simulating(folder: Path) -> list[Result]:
    """Every benchmark scenario: with taps at the ends, without taps, and at a quarter of its duration."""
    rows = []
    for name in SCENARIOS:
        scenario = load(ROOT / "scenarios/bench" / f"{name}.yaml")
        cases = {
            "full": scenario,
            "quarter": scenario.model_copy(update={"duration": scenario.duration // 4}),
            "untapped": scenario.model_copy(update={"taps": Taps(ends=False)}),
        }
        row: Result = {"scenario": name, "simulated_s": scenario.duration / 1e9}
        for case, changed in cases.items():
            file = folder / f"{name}-{case}.json"
            file.write_text(plan(changed).to_json(), encoding="utf-8")
            into = folder / f"{name}-{case}"
            into.mkdir()
            row[case] = repeated("simulate", file, into)
        file = ROOT / "scenarios/bench" / f"{name}.yaml"
        row["start"] = [child("start", file, folder / f"{name}-start-{n}") for n in range(REPEATS)]
        rows.append(row)
    return rows


def by_size(folder: Path) -> list[Result]:
    """Grids of one kind: what a frame-hop costs in a small network and in a large one."""
    rows = []
    for nodes in SIZES:
        file = folder / f"grid-{nodes}.json"
        file.write_text(plan(grid(nodes, folder)).to_json(), encoding="utf-8")
        into = folder / f"grid-{nodes}"
        into.mkdir()
        rows.append({"nodes": nodes, "runs": repeated("simulate", file, into)})
    return rows


CLOCKS = "clocks: {default: {drift-within: 20 ppm}, within: 5 us, gptp: {grandmaster: first}}"


def bounding(folder: Path, *more: str) -> list[Result]:
    """Bounds of 100 flows over a line of 7 hops: reading the Plan, the analysis, and its result as JSON."""
    scenario = folder / "bounds.yaml"
    streams = [
        f"  s{n}: {{from: first, to: last, pcp: {pcp}, frame: {100 + 11 * n} B, period: {period} us}}"
        for n in range(FLOWS)
        for pcp, period in [((7, 3, 2, 1, 0)[n % 5], (1_000, 2_000, 4_000, 5_000)[n % 4])]
    ]
    line = f"network: {{rate: 1 Gbit/s, line: {{hops: {HOPS}, kind: host}}}}"
    head = ["name: bounds", "duration: 1 ms", line, *more, "streams:"]
    scenario.write_text("\n".join([*head, *streams]) + "\n", encoding="utf-8")
    file = folder / "bounds.json"
    file.write_text(plan(load(scenario)).to_json(), encoding="utf-8")
    return repeated("bounds", file)


def planning(folder: Path) -> list[Result]:
    """Scenarios of scheduled streams, one line or one row each: from the text to the proved Plan."""
    return [
        {"streams": streams, "table": table, "runs": repeated("plan", written(streams, folder, table))}
        for table in (False, True)
        for streams in WRITTEN
    ]


def measuring(folder: Path) -> list[Result]:
    """Pairs of captures of two sizes: speed, and whether memory grows with the file."""
    rows = []
    for frames, payload in (*((each, b"TSN") for each in FRAMES), (FRAMES[0], b"???")):
        tx, rx = write_pair(folder, frames, payload)
        known = "test payload" if payload == b"TSN" else "of no known kind"
        row = {"frames": frames, "known": known, "file_mb": tx.stat().st_size / 1e6}
        rows.append(row | {"runs": repeated("measure", tx, rx)})
        tx.unlink()
        rx.unlink()
    return rows


def families(folder: Path) -> list[Result]:
    """What frames of every industrial protocol cost, and frames of no known kind, on which each is tried.

    They are measured in turns with frames that have the test payload, because the speed of a machine changes.
    """
    pairs = {
        "test payload": write_pair(folder, FAMILY_FRAMES),
        "every protocol in turn": write_families(folder, FAMILY_FRAMES),
        "of no known kind": write_pair(folder, FAMILY_FRAMES + 1, b"???"),
    }
    runs: dict[str, list[Result]] = {name: [] for name in pairs}
    for _ in range(FAMILY_TURNS):
        for name, pair in pairs.items():
            runs[name].append(child("measure", *pair))
    for pair in pairs.values():
        for file in pair:
            file.unlink()
    return [{"known": name, "frames": FAMILY_FRAMES, "runs": own} for name, own in runs.items()]


def scheduling(which: str = "") -> list[Result]:
    """Schedules with gate lists and proof, by families of problems (an example of ``crates/verify``)."""
    cargo = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "tsn-verify",
        "--example",
        "schedules",
    ]
    subprocess.run([*cargo, "--example", "schedules", "--target-dir", "target"], check=True, cwd=ROOT)
    core = ["taskset", "-c", "0"] if shutil.which("taskset") else []
    command = [*core, str(ROOT / "target/release/examples/schedules"), *([which] if which else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def schedule_lines(targets: list[list[Result]], families: list[Result]) -> list[str]:
    """What has a target, medians; and every family, with the share of streams that was placed."""
    lines = ["", "Scheduling, one core: search, gate lists, proof by the independent checker"]
    lines.append(
        f"{'network':14} {'streams':>8} {'placed':>8} {'search s':>9} {'gates s':>8} {'proof s':>8} "
        f"{'together s':>11} {'one more us':>12} {'explained us':>13}"
    )
    for runs in zip(*targets, strict=True):
        own = list(runs)
        parts = [median(own, key) for key in ("solve_s", "gates_s", "proof_s")]
        lines.append(
            f"{own[0]['shape']:8} {own[0]['bridges']:>5,} {own[0]['streams']:>8,} {own[0]['placed']:>8,} "
            f"{parts[0]:>9.3f} {parts[1]:>8.3f} {parts[2]:>8.3f} {sum(parts):>11.3f} "
            f"{1e6 * median(own, 'add_s'):>12.0f} {1e6 * median(own, 'explain_s'):>13.0f}"
        )
    lines += [
        "",
        "Families on 64 bridges, 8 stations each: streams, share placed, busiest link, and the time of "
        "search, gates and proof",
        f"{'':36} {'1,000 streams':>25}   {'links of up to 90 %':>33}",
    ]
    for few, many in zip(families[::2], families[1::2], strict=True):
        periods = "-".join(f"{ns / 1e6:g}" for ns in (few["periods_ns"][0], few["periods_ns"][-1]))
        octets = "-".join(map(str, few["octets"]))
        cells = (_placed(one) for one in (few, many))
        slack = "period" if few["deadline"] == "period" else "none"
        lines.append(f"{few['shape']:5} {periods:>7} ms {octets:>8} B slack {slack:6} {'  '.join(cells)}")
    wrong = sum(one["violations"] + one["links_without_a_list"] for one in families)
    lines.append(f"links without a gate list, and what the checker found wrong, over all: {wrong}")
    return lines


def _placed(one: Result) -> str:
    seconds = one["solve_s"] + one["gates_s"] + one["proof_s"]
    share = 100 * one["placed"] / one["streams"]
    return f"{one['streams']:>7,} {share:>6.1f} % {one['busiest_ppm'] / 1e4:>4.0f} % {seconds:>6.3f} s"


def machine() -> Result:
    """What the figures depend on; no name of the machine."""
    model = "unknown"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        model = next(
            (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model
        )
    return {
        "cpu": model,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def tables(results: Result) -> str:
    lines = [
        "Simulating, one core, observations of both ends to Parquet",
        f"{'':10} {'simulated':>10} {'frame-hops':>12} {'M/s':>7} {'M/s untapped':>13} {'events each':>12} "
        f"{'peak MB':>8} {'at 1/4':>7} {'start s':>8}",
    ]
    for row in results["simulating"]:
        full, hops = row["full"], row["full"][0]["frame_hops"]
        lines.append(
            f"{row['scenario']:10} {row['simulated_s']:>8g} s {hops:>12,} "
            f"{hops / median(full, 'cpu_s') / 1e6:>7.2f} "
            f"{hops / median(row['untapped'], 'cpu_s') / 1e6:>13.2f} {full[0]['events'] / hops:>12.2f} "
            f"{median(full, 'peak_mb'):>8.1f} {median(row['quarter'], 'peak_mb'):>7.1f} "
            f"{median(row['start'], 'start_s'):>8.2f}"
        )
    lines += [
        "",
        "Measuring, one core, two captures (pcap, 60 octets a frame) to the measures of every stream",
    ]
    lines.append(f"{'frames':>10} {'MB a file':>10} {'M frames/s':>11} {'peak MB':>8}")
    for row in results["measuring"]:
        rate = row["frames"] / median(row["runs"], "cpu_s") / 1e6
        peak = median(row["runs"], "peak_mb")
        lines.append(
            f"{row['frames']:>10,} {row['file_mb']:>10.0f} {rate:>11.2f} {peak:>8.1f}  {row['known']}"
        )
    lines += ["", "Measuring frames of several kinds in turns: what a frame costs, against the test payload"]
    first = median(results["by_protocol"][0]["runs"], "cpu_s")
    lines += [
        f"{median(row['runs'], 'cpu_s') / first:>10.2f}x  {row['known']}" for row in results["by_protocol"]
    ]
    lines += ["", "Simulating grids of one kind (6 hops each): what a frame-hop costs"]
    lines.append(f"{'nodes':>10} {'M/s':>7} {'cost of the smallest':>21} {'peak MB':>8}")
    cost = [median(row["runs"], "cpu_s") / row["runs"][0]["frame_hops"] for row in results["by_size"]]
    for row, own in zip(results["by_size"], cost, strict=True):
        peak = median(row["runs"], "peak_mb")
        lines.append(f"{row['nodes']:>10,} {1e-6 / own:>7.2f} {own / cost[0]:>20.2f}x {peak:>8.1f}")
    lines += ["", "Planning scheduled streams of one line or row each: from the text to the proved Plan"]
    lines.append(f"{'streams':>10} {'s':>7} {'reading s':>10} {'Plan MB':>8} {'peak MB':>8}")
    for row in results["planning"]:
        whole, read = median(row["runs"], "cpu_s"), median(row["runs"], "read_s")
        peak, size = median(row["runs"], "peak_mb"), median(row["runs"], "octets") / 1e6
        lines.append(f"{row['streams']:>10,} {whole:>7.2f} {read:>10.2f} {size:>8.1f} {peak:>8.1f}")
        lines[-1] += "  table" * row["table"]
    own = 1e3 * median(results["bounding"], "cpu_s")
    clocks = 1e3 * median(results["bounding_with_clocks"], "cpu_s")
    lines += ["", f"Worst-case bounds of {FLOWS} flows over {HOPS} hops, JSON to JSON: {own:.1f} ms"]
    lines[-1] += f"; with gPTP and a promise of its clocks: {clocks:.1f} ms"
    for row in results["typing"]:
        middle, high = (percentile(row["ms"], share) for share in (0.5, 0.95))
        keys = f"{row['streams']:,} streams: median {middle:.0f} ms, 95th percentile {high:.0f} ms"
        lines.append(f"From a key to new bars in the page, {keys}")
    if drag := results["dragging"]:
        frames = 1e3 * len(drag["ms"]) / sum(drag["ms"])
        lines.append(
            f"One of 200 nodes dragged: {frames:.0f} frames/s, own code {drag['worked']:.2f} ms a frame"
        )
    heaps = [f"{row['heap'] / 1e6:.2f} MB after {row['edits']:,} edits" for row in results["editing"]]
    lines += [f"Heap of the page: {', '.join(heaps)}"] if heaps else []
    timed = [run for row in results["simulating"] for run in row["full"]]
    timed += [run for row in results["measuring"] for run in row["runs"]]
    waited = sum(run["wall_s"] for run in timed) / sum(run["cpu_s"] for run in timed) - 1
    lines += ["", f"per second of processor time; wall time was {100 * waited:.0f} % longer"]
    lines += schedule_lines(results["scheduling"], results["families"])
    lines += [f"medians of {REPEATS}; {results['machine']['cpu']}, Python {results['machine']['python']}"]
    return "\n".join(lines)


def main() -> None:
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "runs/bench.json"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        installed(folder)
        results = {
            "machine": machine(),
            "simulating": simulating(folder),
            "by_size": by_size(folder),
            "bounding": bounding(folder),
            "bounding_with_clocks": bounding(folder, CLOCKS),
            "planning": planning(folder),
            "measuring": measuring(folder),
            "by_protocol": families(folder),
            "typing": typing(folder),
            "dragging": dragging(folder),
            "editing": editing(folder),
            "scheduling": [scheduling() for _ in range(REPEATS)],
            "families": scheduling("all"),
        }
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(tables(results))


if __name__ == "__main__":
    main()
