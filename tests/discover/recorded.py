"""The output of ip, bridge, tc and lldpcli in a guest (Linux 6.12, iproute2 6.1, lldpd 1.0.16).

The hosts of this lab had been configured by the export ``--as tc --taprio full --queues straight`` of
``said/network.yaml``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tsnbench.discover import running
from tsnbench.discover.running import RunningHost
from tsnbench.hosts.remote.answers import Done

SAID = Path(__file__).parent / "said"
LAB = """\
hosts:
  a: {ssh: a, ports: {eth1: eth1}}
  b: {ssh: b, ports: {eth1: eth1}}
  s: {ssh: s, ports: {eth1: eth1, eth2: eth2}}
wires: [a.eth1 - s.eth1, s.eth2 - b.eth1]
"""


def texts(host: str) -> dict[str, str]:
    """The output of each command."""
    found: dict[str, str] = json.loads((SAID / f"{host}.json").read_text())
    # The guest had no network card.
    return found | {"cards": ""}


def state(host: str, outputs: dict[str, str]) -> RunningHost:
    """The state of a host from outputs; a command without output has failed."""
    done = [
        Done(step, 0 if name in outputs else 127, outputs.get(name, ""), "not found", 0, 0)
        for name, step in zip(running.LOOK, running.steps(), strict=True)
    ]
    return running.read(host, "6.12.1", done)


def said(host: str, **other: Any) -> RunningHost:
    """The state of a host as recorded, with some outputs replaced."""
    return state(host, texts(host) | other)
