"""Two native builds on the same Plans, taken in turn in one run: ``compare.py --against PATH_OR_GITREV``.

What else the machine does hits both alike, so that their ratio says more than two runs of ``make bench``. A
native module (``*.so``) is used as it is; a revision is compiled into ``runs/builds`` first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from grids import grid

from tsnbench.planning import plan
from tsnbench.scenario import load

ROOT = Path(__file__).parents[1]
SCENARIOS = ("star", "line", "grid")
"""Unless others are named: those of the benchmark table that use no late mechanism."""
MODULE = "_native.abi3.so"


def built(revision: str) -> Path:
    """The native module of a revision, compiled once."""
    found = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--verify", f"{revision}^{{commit}}"],
        capture_output=True,
        text=True,
    )
    if found.returncode:
        sys.exit(f"{revision}: neither a native module nor a revision")
    builds = ROOT / "runs/builds"
    module = builds / f"{found.stdout.strip()}.so"
    if module.exists():
        return module
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        subprocess.run(
            ["git", "-C", str(ROOT), "worktree", "add", "--detach", str(source), revision], check=True
        )
        try:
            # Its own target folder, with the profile that the revision says.
            environment = {**os.environ, "CARGO_TARGET_DIR": str(builds / "target")}
            environment["PYO3_BUILD_EXTENSION_MODULE"] = "1"
            subprocess.run(
                ["cargo", "build", "--release", "--locked", "-p", "tsn-python"],
                cwd=source,
                env=environment,
                check=True,
            )
            library = next(
                path
                for ending in ("so", "dylib")
                if (path := builds / "target/release" / f"lib_native.{ending}").exists()
            )
            module.write_bytes(library.read_bytes())
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(source)], check=True)
    return module


def simulated(module: Path, file: Path) -> tuple[float, float, str]:
    """Seconds of processor time, frame-hops, and why it could not be done."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(Path(__file__).with_name("child.py")), "simulate", str(file), folder]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "TSNBENCH_NATIVE": str(module)},
        )
    if done.returncode:
        return 0, 0, (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    found = json.loads(done.stdout.splitlines()[-1])
    return found["cpu_s"], found["frame_hops"], ""


def compared(name: str, file: Path, modules: tuple[Path, Path], repeats: int) -> str:
    """One line of the table."""
    times: tuple[list[float], list[float]] = ([], [])
    hops = 0.0
    for turn in range(repeats):
        # Who goes first changes, too.
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            seconds, hops, problem = simulated(modules[which], file)
            if problem:
                return f"{name:12} not compared: {'this' if which == 0 else 'the other'} build says {problem}"
            times[which].append(seconds)
    this, other = (statistics.median(part) for part in times)
    pairs = statistics.median(a / b for a, b in zip(*times, strict=True))
    return (
        f"{name:12} {hops / this / 1e6:>8.2f} {hops / other / 1e6:>8.2f} {this / other:>8.3f} {pairs:>8.3f} "
        f"{min(times[0]) / min(times[1]):>8.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", required=True, metavar="PATH_OR_GITREV")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "scenarios", nargs="*", default=list(SCENARIOS), help="of scenarios/bench, grid-NODES, or files"
    )
    arguments = parser.parse_args()
    given = Path(arguments.against)
    this = ROOT / "python/tsnbench" / MODULE
    modules = (
        this,
        given.resolve() if given.suffix == ".so" and given.exists() else built(arguments.against),
    )
    print(f"{'':12} {'this M/s':>8} {'other':>8} {'medians':>8} {'pairs':>8} {'fastest':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for number, name in enumerate(arguments.scenarios):
            kind, _, nodes = name.partition("-")
            if kind == "grid" and nodes.isdigit():
                scenario = grid(int(nodes), Path(scratch))
            else:
                file = Path(name)
                scenario = load(file if file.exists() else ROOT / "scenarios/bench" / f"{name}.yaml")
            made = Path(scratch) / f"{number}.json"
            made.write_text(plan(scenario).to_json(), encoding="utf-8")
            print(compared(name, made, modules, arguments.repeats), flush=True)
    print(
        f"time of this build over time of the other, of {arguments.repeats} runs each in turn; "
        "less than 1 is faster"
    )


if __name__ == "__main__":
    main()
