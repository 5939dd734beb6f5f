"""The records of a run on hosts in its folder: commands, earlier states, confirmations, timestamps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.hosts import devices
from tsnbench.hosts.clocks import stamps
from tsnbench.hosts.clocks.stamps import Stamping
from tsnbench.hosts.state import tuning
from tsnbench.runs import stamps as runs_stamps
from tsnbench.runs.clearing import claim

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.hosts.attempt import Attempt
    from tsnbench.hosts.clocks.synchronisation import Synchronisation
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.job import HostJob
    from tsnbench.hosts.remote.agent import Agent
    from tsnbench.hosts.state.facts import Facts
    from tsnbench.plan.types import PlanDocument

HOSTS = "hosts"
"""Folder of a run with a folder for each host."""


def write_stamps(
    inventory: Inventory,
    facts: Mapping[str, Facts],
    clocks: Synchronisation,
    document: PlanDocument,
    folder: Path,
    done: Attempt,
    jobs: Mapping[str, HostJob],
    dilate: int,
) -> list[str]:
    """Writes the uncertainty of the hosts' timestamps in the Plan's time; returns, in words, the clocks
    without a reading."""
    boots = {name: one.ready.boot for name, one in facts.items()}
    first = {boot: name for name, boot in reversed(boots.items())}
    stamping = {}
    for host, own in jobs.items():
        machine = inventory.hosts[host]
        by = {str(done.captures[one.name].get("stamps")) for one in own.captures}
        by |= {stamps.HARDWARE for one in own.armed if "--hardware" in one.argv}
        handed = {tap["port"] for tap in document["taps"] if tap["stage"] not in ("tx", "rx")}
        # The timestamp at which a talker hands a frame over is read from the system's clock.
        by |= {stamps.SOFTWARE for port in own.names if port in handed}
        if not by:
            continue
        name = document["nodes"][own.node]["name"]
        kernel = first[boots[host]]
        stamping[host] = Stamping(name, kernel, frozenset(by), machine.clock, machine.unseen_ns)
    told, not_seen = stamps.nodes(
        stamping, clocks.readings, clocks.hosts, done.epoch_ns, inventory.sync, dilate
    )
    runs_stamps.write(folder, told, not_seen)
    return not_seen


def described(found: Facts, own: HostJob) -> Json:
    """A host as the manifest of a run describes it."""
    return {
        "node": own.node,
        "kernel": found.ready.kernel,
        "machine": found.ready.machine,
        "hostname": found.ready.hostname,
        "ports": {
            name: one.driver or one.kind or "unknown"
            for name in own.names.values()
            if (one := found.interfaces[name])
        },
        "left_by_a_killed_agent": found.ready.left,
    }


def write(
    folder: Path,
    agents: Mapping[str, Agent],
    facts: Mapping[str, Facts],
    confirmed: Mapping[str, str],
    others: Mapping[str, Mapping[str, bytes]],
) -> None:
    """Writes the logs of all commands, the earlier state, the confirmations for devices, and the files of
    additional programs."""
    names = [f"{HOSTS}/{host}/{file}" for host in agents for file in ("commands.jsonl", "before.json")]
    names += [f"{HOSTS}/{device}/{devices.FILE}" for device in confirmed]
    claim(folder, names)
    for host in agents:
        own = folder / HOSTS / host
        own.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(one) + "\n" for one in agents[host].log)
        (own / "commands.jsonl").write_text(lines, encoding="utf-8")
        settings = tuning.state(facts[host].before)
        before = json.dumps({**facts[host].state, **settings}, indent=1, sort_keys=True)
        (own / "before.json").write_text(before + "\n", encoding="utf-8")
    for device, content in confirmed.items():
        (folder / HOSTS / device).mkdir(parents=True, exist_ok=True)
        (folder / HOSTS / device / devices.FILE).write_text(content, encoding="utf-8")
    for host, files in others.items():
        claim(folder, [f"{HOSTS}/{host}/{name}" for name in files])
        for name, octets in files.items():
            (folder / HOSTS / host / name).write_bytes(octets)
