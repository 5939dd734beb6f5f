"""What is up, as a file in the lab's folder: so a lab can be ended by anybody who has that folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tsnbench.errors import InputError

MARK = "tsnbench-lab.json"
"""The file that says what is up. A folder without it is not touched by :func:`down`."""
PROCESS = "process"
"""The file in which a guest's own process writes its number."""
CONSOLE = "console.log"
_OURS = (MARK, "lab.yaml", "client", "key", "key.pub", "host-key", "host-key.pub", "allowed", "known")
_OURS_OF_A_GUEST = (PROCESS, CONSOLE)


@dataclass(frozen=True)
class Lab:
    """A lab that is up."""

    folder: Path
    ssh: str
    """For ``TSNBENCH_SSH``: the client, with what it takes to find the lab's hosts."""

    @property
    def inventory(self) -> Path:
        return self.folder / "lab.yaml"


def unused(folder: Path) -> Path:
    """The whole path of a folder that can be a lab's; it is not made yet.

    Raises:
        InputError: it has a lab, or other files.
    """
    folder = folder.resolve()
    if (folder / MARK).exists():
        raise InputError(f"{folder}: a lab is up there\nhint: tsnbench lab down {folder}")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: expected a folder that is empty or not there, found files")
    return folder


def note(folder: Path, hosts: list[str], spaces: list[str], processes: list[int]) -> None:
    """Writes down what :func:`down` has to end."""
    noted = {
        "hosts": hosts,
        "namespaces": spaces,
        "processes": [{"pid": pid, "began": began(pid)} for pid in processes],
    }
    part = folder / f"{MARK}.part"
    part.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / MARK)


def began(pid: int) -> str:
    """When a process began, so that another one of its number is not taken for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def down(folder: Path) -> bool:
    """Ends a lab and removes what it made; whether there was one. Files of others in the folder stay."""
    try:
        noted = json.loads((folder / MARK).read_text(encoding="utf-8"))
        spaces, processes = list(noted["namespaces"]), list(noted["processes"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    for one in processes:
        if began(one["pid"]) == one["began"]:
            _kill(one["pid"])
    _kill_guest(folder)
    for name in spaces:
        if str(name).startswith("tsnlab"):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=30)
    # The note is a file that anybody can edit: a host is a name, and no path.
    hosts = [name for name in map(str, noted.get("hosts", ())) if Path(name).name == name]
    ours = [*_OURS, *_OURS_OF_A_GUEST, *(f"{host}.{kind}" for host in hosts for kind in ("sshd", "log"))]
    for own in ours:
        (folder / own).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()
    return True


def _kill(pid: int) -> None:
    """A process with its children: each was made with a group of its own; unshare ignores SIGTERM."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def _kill_guest(folder: Path) -> None:
    """A guest of which nothing is noted, as whoever began it was killed before: it names this folder."""
    try:
        pid = int((folder / PROCESS).read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return
    if os.fsencode(folder.resolve() / PROCESS) in words:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
