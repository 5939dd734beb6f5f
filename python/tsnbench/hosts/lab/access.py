"""How a lab's hosts are reached: an ssh server that need not be installed, and keys of one use."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tsnbench.backends.netns import sandbox

_CLIENT = """\
Host {name}
  HostName {address}
  Port {port}
  User root
  IdentitiesOnly yes
  IdentityFile {folder}/key
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking yes
"""
SSHD = """\
AuthorizedKeysFile {folder}/allowed
HostKey {folder}/host-key
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
PermitRootLogin prohibit-password
MaxSessions 100
"""
"""What the servers of all labs have in common."""


def missing(sshd: Path | None = None) -> str:
    """Why there can be no ssh to hosts of a lab; empty where there can."""
    if server(sshd) is None or not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        return "packages are missing: openssh-server (unpacked is enough: TSNBENCH_SSHD), openssh-client"
    return ""


def server(sshd: Path | None = None) -> Path | None:
    """The ssh server: given, of ``TSNBENCH_SSHD``, or this machine's."""
    named = sshd or (Path(os.environ["TSNBENCH_SSHD"]) if os.environ.get("TSNBENCH_SSHD") else None)
    found = named or Path(shutil.which("sshd", path=sandbox.PATH) or "/usr/sbin/sshd")
    return found.resolve() if found.is_file() else None


def root_of(sshd: Path) -> Path | None:
    """Of a server that is unpacked and not installed, the folder in which its own libraries are, too."""
    return next((up for up in sshd.parents if (up / "usr/lib").is_dir() and up != Path("/")), None)


def libraries_of(root: Path) -> list[Path]:
    """Folders of libraries below such a folder, relative to it."""
    return sorted({path.parent.relative_to(root) for path in root.glob("usr/lib/*/lib*.so*")})


def keys(folder: Path, hosts: Mapping[str, tuple[str, int]]) -> None:
    """Keys, and the client's files.

    Args:
        folder: of the lab.
        hosts: by name, address and port.
    """
    for name in ("key", "host-key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "tsnbench lab"]
        subprocess.run([*words, "-f", str(folder / name)], check=True, timeout=30)
    (folder / "allowed").write_text((folder / "key.pub").read_text())
    public = (folder / "host-key.pub").read_text()
    known, client = [], []
    for name, (address, port) in hosts.items():
        known.append(f"{address} {public}" if port == 22 else f"[{address}]:{port} {public}")
        client.append(_CLIENT.format(name=name, address=address, port=port, folder=folder))
    (folder / "known").write_text("".join(known))
    (folder / "client").write_text("".join(client))
