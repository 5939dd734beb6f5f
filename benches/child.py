"""One measurement in a process of its own, pinned to one core; prints what it found as JSON.

``python child.py simulate plan.json folder | bounds plan.json | measure tx.pcap rx.pcap |
start scenario.yaml folder | plan scenario.yaml``
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

Found = dict[str, float]


class Stopwatch:
    """Wall time, and processor time of all threads: they differ when other programs want the core too."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def seconds(self) -> Found:
        return {"wall_s": time.perf_counter() - self.wall, "cpu_s": time.process_time() - self.cpu}


def native() -> Any:
    """The package's native module, or the one that ``TSNBENCH_NATIVE`` names."""
    if not (path := os.environ.get("TSNBENCH_NATIVE")):
        from tsnbench import _native

        return _native
    loader = ExtensionFileLoader("_native", path)
    module = module_from_spec(spec_from_loader("_native", loader) or sys.exit(f"{path}: no module"))
    loader.exec_module(module)
    return module


def bounds(plan: str) -> Found:
    """Worst-case bounds alone, many times over."""
    text = Path(plan).read_text(encoding="utf-8")
    before, flows, times = _memory(), 0, []
    for _ in range(20):
        took = Stopwatch()
        flows = len(json.loads(native().bounds(text))["flows"])
        times.append(took.seconds())
    return sorted(times, key=lambda one: one["cpu_s"])[10] | {"flows": flows, "before_mb": before}


def plan(scenario: str) -> Found:
    """From the text of a scenario to that of the proved Plan; memory is managed as the command does."""
    from tsnbench.planning.passes import planned
    from tsnbench.scenario import load

    gc.disable()
    took = Stopwatch()
    found = load(scenario)
    read = took.seconds()["cpu_s"]
    octets = len(planned(found).text)
    return took.seconds() | {"read_s": read, "octets": octets}


def simulate(plan: str, folder: str) -> Found:
    """The native simulator alone: reading the Plan, running it, writing observations and counters."""
    text = Path(plan).read_text(encoding="utf-8")
    simulator, before = native(), _memory()
    took = Stopwatch()
    counters = json.loads(simulator.simulate(text, folder, False, None))
    seconds = took.seconds()
    return seconds | {
        "frame_hops": counters["frame_hops"],
        "events": counters["events"],
        "before_mb": before,
    }


def measure(tx: str, rx: str) -> Found:
    """From two captures to the measures of every stream."""
    from tsnbench.measure import measure_captures

    before = _memory()
    took = Stopwatch()
    measures = measure_captures([Path(tx)], [Path(rx)])
    seconds = took.seconds()
    received = sum(path["count"]["received"] for path in measures["paths"])
    return seconds | {"frames": received, "paths": len(measures["paths"]), "before_mb": before}


def start(scenario: str, folder: str) -> Found:
    """``tsnbench run`` until 1 us is simulated: the clock's reading then, for the parent to subtract."""
    from tsnbench import _native

    ended: list[float] = []
    native = _native.simulate

    def simulated(*arguments: Any) -> str:
        native(*arguments)
        ended.append(time.monotonic())
        raise SystemExit

    _native.simulate = simulated
    sys.argv = ["tsnbench", "run", scenario, "--duration", "1us", "--into", folder, "--no-report"]
    from tsnbench.cli.main import main

    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        out, sys.stdout = sys.stdout, nowhere
        try:
            main()
        except SystemExit:
            pass
        finally:
            sys.stdout = out
    return {"ended": ended[0]}


def _memory() -> float:
    """Peak resident memory of this process so far, MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage also counts what the parent held when it forked.
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    commands = {"simulate": simulate, "bounds": bounds, "measure": measure, "start": start, "plan": plan}
    found = commands[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(found | {"peak_mb": _memory()}))


if __name__ == "__main__":
    main()
