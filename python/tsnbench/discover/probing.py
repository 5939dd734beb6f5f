"""Probe frames from one port to its peer: one host sends, the other one captures. Nothing is configured."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.discover.asking import agents
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.answers import AgentLost
from tsnbench.plan.document import Plan

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.inventory.types import End
    from tsnbench.hosts.remote.answers import Program

PROGRAM = "PROGRAM"
CAPTURE, TALK, FILE = "capture", "talk", "probes.pcap"
READY_S, SPARE_S = 10.0, 20.0
LEAD_NS = 300_000_000
"""From the order to the first probe."""
BEHIND_S = 0.5
"""For which frames are captured behind the last one."""
SNAP = 64


def peer_of(inventory: Inventory, host: str, port: str) -> End:
    """The port of another host at the other end of a port's wire.

    Args:
        inventory: the lab.
        host: one of its hosts.
        port: the lab's name of its port.

    Raises:
        InputError: the lab has no such wire, or a device is at its other end.
    """
    for wire in inventory.wires:
        for end, other in (wire.ends, wire.ends[::-1]):
            if (end.machine, end.port) == (host, port):
                if other.machine in inventory.hosts:
                    return other
                raise InputError(f"--probe: {other} is a device, which cannot capture")
    raise InputError(
        f"--probe: {inventory.file} has no wire of {host}.{port}\n"
        f"hint: write the wire to the host that receives its frames: wires: [{host}.{port} - …]"
    )


def probe(inventory: Inventory, sender: End, listener: End, plan: Plan, folder: Path) -> Path:
    """Sends the frames of a Plan's node 0 by a port, and returns their capture at the peer.

    Args:
        inventory: the lab.
        sender: the port.
        listener: its peer.
        plan: of a talker and a listener.
        folder: for the capture.

    Raises:
        BackendError: a host does not answer, or a program fails there.
    """
    one, other = (agents(inventory, [end.machine])[0] for end in (sender, listener))
    try:
        run_all([one, other], Agent.open)
        until = time.monotonic() + READY_S
        words = [PROGRAM, "capture", inventory.interface(listener), "--direction", "in"]
        _start(other, CAPTURE, [*words, "--file", FILE, "--snap", str(SNAP)])
        other.wait_for_line(CAPTURE, "capturing", until)
        one.put("plan.json", plan.to_json().encode())
        port = f"0={inventory.interface(sender)}"
        words = [PROGRAM, "talk", "plan.json", "--node", "0", "--epoch-from", "-", "--port", port]
        _start(one, TALK, [*words, "--log", "talk.json"])
        one.wait_for_line(TALK, "armed", until)
        one.measure_clock()
        one.tell(TALK, str(one.now_ns() + LEAD_NS))
        done = _ended(one, one.now_ns() + LEAD_NS + plan.document["duration_ns"])
        if done.code:
            raise BackendError(f"{sender.machine}: no probe could be sent: {done.err.strip()[-300:]}")
        time.sleep(BEHIND_S)
        other.signal(CAPTURE)
        other.wait_for_end(CAPTURE, time.monotonic() + READY_S)
        file = folder / FILE
        file.write_bytes(other.get(FILE))
        return file
    finally:
        run_all([one, other], Agent.restore)


def _ended(agent: Agent, end_ns: int) -> Program:
    """The talker behind its end on the host's clock, which is slower than ours on emulated hosts."""
    while agent.now_ns() < end_ns + int(SPARE_S * 1e9):
        try:
            return agent.wait_for_end(TALK, time.monotonic() + SPARE_S)
        except AgentLost:
            raise
        except BackendError:
            agent.measure_clock()
    return agent.wait_for_end(TALK, time.monotonic())


def _start(agent: Agent, name: str, words: list[str]) -> None:
    agent.start(name, [agent.path(word) for word in words])
