"""Hosts as namespaces of this machine: network, mounts, processes and name; an ssh server in each.

They share this machine's kernel, processors and clock. Each has its own interfaces, written files and
processes. Nothing is installed, and nothing can be reached from outside of this machine: the servers listen
on a network of their own, for keys of this lab only.
"""

from __future__ import annotations

import os
import subprocess
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.netns import sandbox
from tsnbench.errors import BackendError
from tsnbench.hosts.lab import access, record
from tsnbench.hosts.lab.inventory import port_name
from tsnbench.hosts.lab.record import Made

if TYPE_CHECKING:
    from tsnbench.plan.network import Network
    from tsnbench.plan.types import PlanDocument

CONTROL = "control"
READY_S = 30
_WORDS = "A lab on this machine: all hosts share its kernel, its processors and its clock."
_SYNC = "{attempts: 3, pause: 500 ms}"
_NET = "192.0.2"
"""Addresses for documentation (RFC 5737), which no network uses."""
_SSHD = f"Port 22\nListenAddress {{address}}\n{access.SSHD.format(folder='/run/lab')}"


def missing(sshd: Path | None = None) -> str:
    """Why a lab is not possible here; empty if it is."""
    return sandbox.unavailable() or access.missing(sshd)


def make(plan: PlanDocument, network: Network, folder: Path, sshd: Path | None, lasts_s: int) -> Made:
    """Makes the namespaces, their network and their ssh servers; they last until the lab is ended.

    Raises:
        BackendError: this machine cannot have a lab.
    """
    tag = _free_tag()
    spaces = {node["name"]: f"{tag}-{number}" for number, node in enumerate(network.nodes)}
    control = f"{tag}-{CONTROL}"
    addresses = {name: f"{_NET}.{number + 2}" for number, name in enumerate(spaces)}
    record.note(folder, list(spaces), [control, *spaces.values()], [])
    _network(network, spaces, control)
    access.keys(folder, {name: (address, 22) for name, address in addresses.items()})
    for name, address in addresses.items():
        (folder / f"{name}.sshd").write_text(_SSHD.format(address=address))
    processes = _servers(folder, spaces, sshd)
    record.note(folder, list(spaces), [control, *spaces.values()], processes)
    _until_ready(folder, list(spaces))
    return Made(f"ip netns exec {control} ssh -F {folder / 'client'}", _WORDS, _SYNC)


def _free_tag() -> str:
    """How the names of this lab's namespaces begin: no other lab has it, not even one of this process."""
    taken = {path.name.partition("-")[0] for path in Path("/run/netns").glob("tsnlab*")}
    return next(tag for number in count(os.getpid()) if (tag := f"tsnlab{number}") not in taken)


def _network(network: Network, spaces: dict[str, str], control: str) -> None:
    """A wire for each link, and a network of its own for ssh."""
    _ip([f"netns add {name}" for name in (control, *spaces.values())])
    own = ["link add br0 type bridge", "link set lo up", "link set br0 up"]
    _ip([*own, f"address add {_NET}.1/24 dev br0"], control)
    for number, space in enumerate(spaces.values()):
        _ip([f"link add name h{number} type veth peer name mgmt netns {space}"], control)
        _ip([f"link set h{number} master br0", f"link set h{number} up"], control)
        _ip(["link set lo up", "link set mgmt up", f"address add {_NET}.{number + 2}/24 dev mgmt"], space)
    names = [node["name"] for node in network.nodes]
    for one, other in network.links():
        ends = [
            (spaces[names[network.ports[port]["node"]]], port_name(network, port)) for port in (one, other)
        ]
        (space, name), (far, peer) = ends
        queues = "numtxqueues 8 numrxqueues 8"
        _ip([f"link add name {name} {queues} type veth peer name {peer} {queues} netns {far}"], space)


def _ip(lines: list[str], space: str | None = None) -> None:
    words = ["ip", *(["-n", space] if space else []), "-batch", "-"]
    done = subprocess.run(
        words, input="\n".join(lines), capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise BackendError(f"no lab can be made here: ip: {done.stderr.strip()}")


def _servers(folder: Path, spaces: dict[str, str], sshd: Path | None) -> list[int]:
    assert sshd is not None
    # An ssh server that was unpacked, not installed, has its libraries in the same tree.
    root = access.root_of(sshd)
    program, libraries = str(sshd), ""
    if root is not None:
        program = f"/run/sshd-root/{sshd.relative_to(root)}"
        libraries = ":".join(f"/run/sshd-root/{path}" for path in access.libraries_of(root))
    script = str(Path(__file__).with_name("cell.sh"))
    processes = []
    for name, space in spaces.items():
        words = ["ip", "netns", "exec", space, "unshare", "--mount", "--pid", "--uts", "--fork"]
        words += ["--kill-child=KILL", "sh", script, str(folder), name, program, str(root or "")]
        made = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(folder / f"{name}.log").open("wb"),
            env=os.environ | {"PATH": sandbox.PATH} | ({"LD_LIBRARY_PATH": libraries} if libraries else {}),
            start_new_session=True,
        )
        processes.append(made.pid)
    return processes


def _until_ready(folder: Path, hosts: list[str]) -> None:
    until = time.monotonic() + READY_S
    for name in hosts:
        while "listening" not in (said := (folder / f"{name}.log").read_text(errors="replace")):
            if time.monotonic() > until:
                raise BackendError(f"the ssh server of {name} has not begun: {said.strip()[-300:]}")
            time.sleep(0.02)
