"""A sandbox on this machine's kernel: everything in it ends with its first process.

unshare(1): new namespaces for the network (without any interface of the machine), mounts (names of namespaces
are files of this sandbox alone) and processes (when the first one ends, the kernel kills the others).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO

MARK = "TSNBENCH_CELL"
"""A variable in the environment of every process of a run."""
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin"
TOOLS = {
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "mount": "mount",
    "sh": "dash",
    "ip": "iproute2",
    "tc": "iproute2",
    "bridge": "iproute2",
    "tcpdump": "tcpdump",
}
"""Each program with the package that contains it."""
INSIDE = "/run/tsnbench"
"""The path of a run's own folder in its shell: a constant, so that no path of a user gets into a script."""
_FIRST = f"""cd -- "$1" && mount -t tmpfs tmpfs /run && mkdir /run/netns {INSIDE} &&
mount --no-canonicalize --bind . {INSIDE} && cd / && exec sh "{INSIDE}/$2"
"""


def missing_tools() -> dict[str, str]:
    """Missing programs, and their packages."""
    return {tool: package for tool, package in TOOLS.items() if shutil.which(tool, path=PATH) is None}


def unavailable() -> str:
    """Why this machine can make no sandbox; empty if it can."""
    if gone := sorted(set(missing_tools().values())):
        return f"packages are missing: {', '.join(gone)}"
    return "" if privileged() else "namespaces need root (CAP_SYS_ADMIN, CAP_NET_ADMIN)"


def privileged() -> bool:
    """Whether this process may make network namespaces: CAP_SYS_ADMIN, bit 21 (capabilities(7))."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("CapEff:"):
                    return bool(int(line.split()[1], 16) >> 21 & 1)
    except (OSError, ValueError):
        pass
    return False


def start(folder: Path, script: str, mark: str, output: IO[bytes] | int) -> subprocess.Popen[bytes]:
    """Runs a shell script of a folder in a new sandbox, where the folder is :data:`INSIDE`.

    When this process is killed, the whole sandbox is killed.
    """
    environment: Mapping[str, str] = {**os.environ, "PATH": PATH, MARK: mark, "LC_ALL": "C"}
    return subprocess.Popen(
        [
            *("setpriv", "--pdeathsig", "KILL"),
            *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"),
            *("sh", "-c", _FIRST, "sh", os.fspath(folder), script),
        ],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=environment,
        # Ctrl-C must reach only this process.
        start_new_session=True,
    )
