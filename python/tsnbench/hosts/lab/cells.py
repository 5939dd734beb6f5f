"""Hosts as namespaces of this machine: network, mounts, processes and name; an ssh server in each.

They share this kernel, its processors and its clock. What they have of their own are interfaces, files that
they write, and processes. Nothing is installed, and nothing can be reached from outside of this machine: the
servers listen on a network of their own, for keys of one use.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.netns import sandbox
from tsnbench.errors import BackendError, InputError
from tsnbench.plan.network import Network

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

MARK = "tsnbench-lab.json"
"""The file that says what is up. A folder without it is not touched by :func:`down`."""
CONTROL = "control"
READY_S = 30
_NET = "192.0.2"
"""Addresses for documentation (RFC 5737): no network has them."""
_SSHD = """\
Port 22
ListenAddress {address}
HostKey /run/lab/host-key
AuthorizedKeysFile /run/lab/allowed
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
PermitRootLogin prohibit-password
MaxSessions 100
"""
_CLIENT = """\
Host {name}
  HostName {address}
  User root
  IdentitiesOnly yes
  IdentityFile {folder}/key
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking yes
"""


@dataclass(frozen=True)
class Lab:
    """A lab that is up."""

    folder: Path
    ssh: str
    """For ``TSNBENCH_SSH``: the client, within the lab's own network."""

    @property
    def inventory(self) -> Path:
        return self.folder / "lab.yaml"


def missing(sshd: Path | None = None) -> str:
    """Why there can be no lab here; empty where there can."""
    if not sandbox.privileged():
        return "namespaces need root (CAP_SYS_ADMIN, CAP_NET_ADMIN)"
    if gone := sorted(set(sandbox.missing_tools().values())):
        return f"packages are missing: {', '.join(gone)}"
    if server(sshd) is None or not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        return "packages are missing: openssh-server (unpacked is enough: TSNBENCH_SSHD), openssh-client"
    return ""


def server(sshd: Path | None = None) -> Path | None:
    """The ssh server: given, of ``TSNBENCH_SSHD``, or this machine's."""
    named = sshd or (Path(os.environ["TSNBENCH_SSHD"]) if os.environ.get("TSNBENCH_SSHD") else None)
    found = named or Path(shutil.which("sshd", path=sandbox.PATH) or "/usr/sbin/sshd")
    return found.resolve() if found.is_file() else None


def up(plan: PlanDocument, folder: Path, sshd: Path | None = None) -> Lab:
    """A host for each node of a Plan, a wire for each link, and ``lab.yaml`` about them.

    Args:
        plan: whose network the lab has; it may be any of the same network.
        folder: where the lab keeps its keys and says what is up; it is made.
        sshd: the ssh server, where it is not installed; its libraries are looked for beside it.

    Raises:
        InputError: the folder has a lab, or other files.
        BackendError: this machine cannot have a lab.
    """
    folder = folder.resolve()
    if (folder / MARK).exists():
        raise InputError(f"{folder}: a lab is up there\nhint: tsnbench lab down {folder}")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: expected a folder that is empty or not there, found files")
    if why := missing(sshd):
        raise BackendError(f"no lab can be made here: {why}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    network = Network(plan)
    tag = f"tsnlab{os.getpid() % 100_000}"
    spaces = {node["name"]: f"{tag}-{number}" for number, node in enumerate(network.nodes)}
    control = f"{tag}-{CONTROL}"
    _note(folder, [control, *spaces.values()], [], list(spaces))
    try:
        _network(network, spaces, control)
        _keys(folder, list(spaces))
        processes = _servers(folder, spaces, server(sshd))
        _note(folder, [control, *spaces.values()], processes, list(spaces))
        _until_ready(folder, list(spaces))
    except BaseException:
        down(folder)
        raise
    (folder / "lab.yaml").write_text(_inventory(network), encoding="utf-8")
    client = folder / "client"
    return Lab(folder, f"ip netns exec {control} ssh -F {client}")


def down(folder: Path) -> bool:
    """Ends a lab and removes what it made; whether there was one. Files of others in the folder stay."""
    try:
        noted = json.loads((folder / MARK).read_text(encoding="utf-8"))
        spaces, processes = list(noted["namespaces"]), list(noted["processes"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    for one in processes:
        if _began(one["pid"]) == one["began"]:
            with suppress(ProcessLookupError):
                # unshare ignores SIGTERM; its children end with it.
                os.kill(one["pid"], signal.SIGKILL)
    for name in spaces:
        if str(name).startswith("tsnlab"):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=30)
    # The note is a file that anybody can edit: a host is a name, and no path.
    hosts = [name for name in map(str, noted.get("hosts", ())) if Path(name).name == name]
    ours = [MARK, "lab.yaml", "client", "key", "key.pub", "host-key", "host-key.pub", "allowed", "known"]
    ours += [f"{host}.{kind}" for host in hosts for kind in ("sshd", "log")]
    for own in ours:
        (folder / own).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()
    return True


def _note(folder: Path, spaces: list[str], processes: list[int], hosts: list[str]) -> None:
    noted = {
        "hosts": hosts,
        "namespaces": spaces,
        "processes": [{"pid": pid, "began": _began(pid)} for pid in processes],
    }
    part = folder / f"{MARK}.part"
    part.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / MARK)


def _began(pid: int) -> str:
    """When a process began, so that another one of its number is not taken for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _network(network: Network, spaces: dict[str, str], control: str) -> None:
    """A wire for each link, and a network of its own for ssh."""
    lines = [f"netns add {name}" for name in (control, *spaces.values())]
    told = _ip(lines)
    own = ["link add br0 type bridge", "link set lo up", "link set br0 up"]
    own.append(f"address add {_NET}.1/24 dev br0")
    told += _ip(own, control)
    for number, space in enumerate(spaces.values()):
        _ip([f"link add name h{number} type veth peer name mgmt netns {space}"], control)
        _ip([f"link set h{number} master br0", f"link set h{number} up"], control)
        _ip(["link set lo up", "link set mgmt up", f"address add {_NET}.{number + 2}/24 dev mgmt"], space)
    names = [node["name"] for node in network.nodes]
    for one, other in network.links():
        ends = [(spaces[names[network.ports[port]["node"]]], _port(network, port)) for port in (one, other)]
        (space, name), (far, peer) = ends
        queues = "numtxqueues 8 numrxqueues 8"
        _ip([f"link add name {name} {queues} type veth peer name {peer} {queues} netns {far}"], space)


def _ip(lines: list[str], space: str | None = None) -> str:
    words = ["ip", *(["-n", space] if space else []), "-batch", "-"]
    done = subprocess.run(
        words, input="\n".join(lines), capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise BackendError(f"no lab can be made here: ip: {done.stderr.strip()}")
    return done.stdout


def _port(network: Network, port: int) -> str:
    return f"eth{network.place(port) + 1}"


def _keys(folder: Path, hosts: list[str]) -> None:
    for name in ("key", "host-key"):
        words = [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            "tsnbench lab",
            "-f",
            str(folder / name),
        ]
        subprocess.run(words, check=True, timeout=30)
    (folder / "allowed").write_text((folder / "key.pub").read_text())
    public = (folder / "host-key.pub").read_text()
    known, client = [], []
    for number, name in enumerate(hosts):
        address = f"{_NET}.{number + 2}"
        known.append(f"{address} {public}")
        client.append(_CLIENT.format(name=name, address=address, folder=folder))
        (folder / f"{name}.sshd").write_text(_SSHD.format(address=address))
    (folder / "known").write_text("".join(known))
    (folder / "client").write_text("".join(client))


def _servers(folder: Path, spaces: dict[str, str], sshd: Path | None) -> list[int]:
    assert sshd is not None
    # One that is unpacked and not installed has its libraries beside it.
    root = next((up for up in sshd.parents if (up / "usr/lib").is_dir() and up != Path("/")), None)
    program, libraries = str(sshd), ""
    if root is not None:
        program = f"/run/sshd-root/{sshd.relative_to(root)}"
        found = {path.parent.relative_to(root) for path in root.glob("usr/lib/*/lib*.so*")}
        libraries = ":".join(f"/run/sshd-root/{path}" for path in sorted(found))
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


def _inventory(network: Network) -> str:
    names = [node["name"] for node in network.nodes]
    lines = ["# A lab on this machine: all hosts share its kernel, its processors and its clock.", "hosts:"]
    for number, name in enumerate(names):
        ports = ", ".join(
            f"{_port(network, port)}: {_port(network, port)}" for port in network.ports_of(number)
        )
        lines.append(f"  {name}: {{ssh: {name}, ports: {{{ports}}}}}")
    wires = [
        " - ".join(f"{names[network.ports[port]['node']]}.{_port(network, port)}" for port in link)
        for link in network.links()
    ]
    lines += ["wires:", *(f"  - {wire}" for wire in wires)]
    lines += ["sync: {attempts: 3, pause: 2 s}"]
    return "\n".join(lines) + "\n"
