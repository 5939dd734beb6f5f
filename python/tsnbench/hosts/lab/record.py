"""The record of a lab in its folder, so that anybody with that folder can end the lab."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tsnbench.errors import BackendError, InputError

MARK = "tsnbench-lab.json"
"""The name of the record. :func:`down` does not touch a folder without it."""
PROCESS = "process"
"""The file with the process number of a guest. If each host is a guest: the end of the name of this file."""
WIRE = "wire-"
"""How the names of sockets between guests begin."""
CONSOLE = "console.log"
_OURS = (MARK, "lab.yaml", "client", "key", "key.pub", "host-key", "host-key.pub", "allowed", "known")
_OURS_OF_A_GUEST = (PROCESS, CONSOLE)
_OF_A_HOST = ("sshd", "log", PROCESS)


@dataclass(frozen=True)
class Lab:
    """A running lab."""

    folder: Path
    ssh: str
    """The value for ``TSNBENCH_SSH``: the client with its options for the lab's hosts."""

    @property
    def inventory(self) -> Path:
        return self.folder / "lab.yaml"


@dataclass(frozen=True)
class Made:
    """What a kind of hosts says of the lab that it made."""

    ssh: str
    """The ssh client with its options for the lab's hosts."""
    words: str
    """The first comment of ``lab.yaml``."""
    sync: str
    """The bounds of clocks in ``lab.yaml``."""
    clock: str = ""
    """The kind of all hosts' clocks, if it is not the usual one."""


def begun(folder: Path, why_not: str) -> Path:
    """The whole path of a new folder for a lab, which is made; ``why_not``: why this machine has no lab.

    Raises:
        InputError: the folder has a lab, or other files.
        BackendError: this machine cannot have a lab.
    """
    folder = folder.resolve()
    if (folder / MARK).exists():
        raise InputError(f"{folder}: a lab is up there\nhint: tsnbench lab down {folder}")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: expected a folder that is empty or not there, found files")
    if why_not:
        raise BackendError(f"no lab can be made here: {why_not}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def note(folder: Path, hosts: list[str], spaces: list[str], processes: list[int]) -> None:
    """Writes the record for :func:`down`."""
    noted = {
        "hosts": hosts,
        "namespaces": spaces,
        "processes": [{"pid": pid, "began": began(pid)} for pid in processes],
    }
    part = folder / f"{MARK}.part"
    part.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / MARK)


def began(pid: int) -> str:
    """The start time of a process, which distinguishes it from another one with its number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def down(folder: Path) -> bool:
    """Ends a lab and removes its parts; returns whether there was one. Other files in the folder stay."""
    try:
        noted = json.loads((folder / MARK).read_text(encoding="utf-8"))
        spaces, processes = list(noted["namespaces"]), list(noted["processes"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    for one in processes:
        if began(one["pid"]) == one["began"]:
            _kill(one["pid"])
    # Anybody can edit the record: a host must be a name, not a path.
    hosts = [name for name in map(str, noted.get("hosts", ())) if Path(name).name == name]
    for name in (PROCESS, *(f"{host}.{PROCESS}" for host in hosts)):
        _kill_guest(folder, name)
    for name in spaces:
        if str(name).startswith("tsnlab"):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=30)
    ours = [*_OURS, *_OURS_OF_A_GUEST, *(f"{host}.{kind}" for host in hosts for kind in _OF_A_HOST)]
    for own in ours:
        (folder / own).unlink(missing_ok=True)
    for wire in folder.glob(f"{WIRE}*"):
        if wire.is_socket():
            wire.unlink()
    with suppress(OSError):
        folder.rmdir()
    return True


def _kill(pid: int) -> None:
    """Kills a process with its children, which are a group; unshare ignores SIGTERM."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def _kill_guest(folder: Path, name: str) -> None:
    """Kills a guest without a record, whose controller was killed before: its command names this file."""
    try:
        pid = int((folder / name).read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        there = Path(f"/proc/{pid}/cwd").resolve(strict=True)
    except (OSError, ValueError):
        return
    if any(there / os.fsdecode(word) == folder.resolve() / name for word in words):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
