"""How much longer a run on hosts takes than its Plan, in a lab of namespaces on this machine (as root).

    make bench-hosts

Prints wall time beyond the Plan's duration, and processor time of the controller and of its ssh clients, for
single runs and for the later runs of a campaign.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tsnbench.hosts import lab, load_inventory
from tsnbench.hosts.backend import Hosts
from tsnbench.scenario import read_scenario

UNPACKED = Path(__file__).parents[1] / ".venv/unpacked/usr/sbin/sshd"
TIMES = 5
SCENARIO = """\
name: overhead
duration: 1 s
network:
  stations: [camera, computer]
  bridges: [bridge]
  links: {rate: 100 Mbit/s, between: [camera -- bridge, bridge -- computer]}
streams:
  video: {from: camera, to: computer, payload: 1000 B, period: 1 ms, pcp: 3}
"""


def processor_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    sshd = UNPACKED if UNPACKED.is_file() else None
    if why := lab.cells.missing(sshd):
        sys.exit(why)
    plan = read_scenario(SCENARIO)[0].plan()
    whole_s = (plan.document["duration_ns"] + plan.document["drain_ns"]) / 1e9
    with tempfile.TemporaryDirectory(prefix="tsnbench-bench-") as folder:
        made = lab.up(plan.document, Path(folder) / "lab", sshd)
        os.environ["TSNBENCH_SSH"] = made.ssh
        try:
            inventory = load_inventory(made.inventory)
            print(f"{len(inventory.hosts)} hosts, {whole_s:g} s; load {os.getloadavg()[0]:.1f}")
            measure("single runs", Path(folder), plan, whole_s, lambda: Hosts(inventory))
            shared = Hosts(inventory, campaign=True)
            try:
                plan.run(on=shared, into=Path(folder) / "first")
                measure("later runs of a campaign", Path(folder), plan, whole_s, lambda: shared)
            finally:
                shared.close()
        finally:
            lab.down(made.folder)


def measure(name, folder, plan, whole_s, hosts) -> None:
    walls, processors = [], []
    for number in range(TIMES):
        began, used = time.monotonic(), processor_s()
        plan.run(on=hosts(), into=folder / f"{name}-{number}")
        walls.append(time.monotonic() - began - whole_s)
        processors.append(processor_s() - used)
    median = statistics.median
    beyond = f"{median(walls):.2f} s ({min(walls):.2f} to {max(walls):.2f})"
    print(f"{name}: {beyond} of wall time beyond the Plan's, {median(processors):.2f} s of processors")


if __name__ == "__main__":
    main()
