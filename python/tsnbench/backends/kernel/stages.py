"""When frames pass the stages of a host: what talkers and listeners are asked to note, and where it is found.

The kernel's documentation, networking/timestamping.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tsnbench.backends.kernel.site import Site
from tsnbench.backends.kernel.topology import name
from tsnbench.errors import BackendError

TALKERS = {"interval-start", "wakeup", "send", "qdisc", "driver"}
LISTENERS = {"kernel-rx", "app-rx"}
LISTENING = 40
"""Priority under ``SCHED_FIFO``: less than that of talkers, which have a time to keep."""


def sights(plan: dict[str, Any], node: int, site: Site) -> str:
    """The option of a node's talker, where somebody wants to know."""
    wanted = any(
        tap["stage"] in TALKERS and plan["ports"][tap["port"]]["node"] == node for tap in plan["taps"]
    )
    return f" --sights {site.results}/sights-{node}" if wanted else ""


def listeners(plan: dict[str, Any], dilate: int, whole_us: int, site: Site) -> list[str]:
    """Lines that begin a listener per port where somebody wants to know; they end by themselves."""
    ports = sorted({tap["port"] for tap in plan["taps"] if tap["stage"] in LISTENERS})
    ends = f"--until $((EPOCH + {whole_us * 1000})) --priority {LISTENING}"
    return [
        f"{site.ip} netns exec {name(plan['ports'][port]['node'])} {site.talker} listen {site.job}/plan.json"
        f" --wake --epoch $EPOCH --dilate {dilate} --port {port}=p{port} {ends}"
        f" --log {site.results}/heard-{port}.json --sights {site.results}/sights-port-{port}"
        ' & talkers="$talkers $!"'
        for port in ports
    ]


def names(back: dict[str, bytes]) -> list[str]:
    """Of the files that :func:`logs` writes."""
    return sorted(own for own in back if own.startswith("sights-"))


def logs(back: dict[str, bytes], into: Path) -> list[str]:
    """What they noted, as files."""
    found = []
    for own in names(back):
        path = into / own
        path.write_bytes(back[own])
        found.append(str(path))
    return found


def check(back: dict[str, bytes]) -> None:
    """Every listener kept up.

    Raises:
        BackendError: one did not.
    """
    for own in sorted(back):
        if own.startswith("heard-"):
            for one in json.loads(back[own])["interfaces"]:
                if one["dropped_by_listener"]:
                    lost = one["dropped_by_listener"]
                    raise BackendError(
                        f"the listener at {one['name']} did not keep up: {lost} frames had no room"
                    )
