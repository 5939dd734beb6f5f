"""A study of 200 runs whose workers are killed (SIGKILL) at random moments, again and again.

    python benches/kills.py [KILLS [SEED]]

Afterwards the tables must be those of an undisturbed study, byte for byte. A run that is finished is
never begun again; runs that were under way at a kill are begun twice. ``docs/performance.md`` has results.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCENARIO = """name: port
duration: 1 s
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: 1 Gbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
  queues: {classes: {6: 1, 0: 0}}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B, requires: {delay: 100 us}}
  files: {from: disk, to: robot, pcp: 0, poisson: 100 Mbit/s, payload: 1472 B}
"""
STUDY = """study: killed
scenario: port.yaml
vary: {streams.loop.period: [100 us, 200 us, 250 us, 500 us]}
repeat: 50
"""
RUNS = 200
TABLES = ("results.parquet", "results.csv", "intervals.csv", "differences.csv")


def command(place: Path, into: str) -> subprocess.Popen[str]:
    words = ["study", "run", "study.yaml", "--into", into, "--workers", "2", "--no-report", "--quiet"]
    return subprocess.Popen(
        [sys.executable, "-m", "tsnbench", *words], cwd=place, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def made(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.glob("killed/runs/*.json")}


def main(kills: int = 20, seed: int = 1) -> int:
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        place = Path(folder)
        (place / "port.yaml").write_text(SCENARIO, encoding="utf-8")
        (place / "study.yaml").write_text(STUDY, encoding="utf-8")
        began = time.monotonic()
        if command(place, "whole").wait() != 0:
            return 1
        whole = time.monotonic() - began
        kept: dict[str, bytes] = {}
        twice = lost = 0
        for number in range(kills):
            begun = command(place, "killed")
            # The runs that are left are spread over the kills that are left.
            wanted = len(kept) + moments.randint(1, max(1, (RUNS - len(kept)) // (kills - number)))
            while len(made(place)) < wanted and begun.poll() is None:
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.3))
            os.killpg(begun.pid, signal.SIGKILL)
            begun.wait()
            found = made(place)
            lost += sum(found.get(name) != content for name, content in kept.items())
            twice += sum("." not in path.name for path in place.glob("killed/leases/*"))
            kept = found
        last = command(place, "killed")
        said, _ = last.communicate()
        both = [[(place / into / one).read_bytes() for one in TABLES] for into in ("killed", "whole")]
        same = [one == other for one, other in zip(*both, strict=True)]
        left = [
            str(path.relative_to(place))
            for kind in ("scratch/*", "leases/*", "**/*.part")
            for path in place.glob(f"killed/{kind}")
        ]
    print(f"{RUNS} runs, {kills} kills; undisturbed {whole:.0f} s")
    print(f"finished before the last command: {len(kept)}; finished runs that were made again: {lost}")
    print(f"leases of killed workers, so runs begun twice: {twice}")
    print(f"equal tables: {sum(same)} of {len(TABLES)}; files left behind: {left}; {said.strip()}")
    return 0 if all(same) and not lost else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
