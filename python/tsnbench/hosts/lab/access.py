"""The access to a lab's hosts: an ssh server that need not be installed, and keys for this lab only."""

from __future__ import annotations

import os
import shlex
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
KexAlgorithms curve25519-sha256
Ciphers aes128-ctr
MACs umac-64@openssh.com
"""
"""The common configuration of all servers.

Connections do not leave this machine, and need no key exchange that withstands quantum computers. With
that of OpenSSH, a connection takes three times as much of the processor.
"""


def missing(sshd: Path | None = None) -> str:
    """Why ssh to hosts of a lab is not possible here; empty if it is."""
    gone = []
    if server(sshd) is None:
        gone.append("openssh-server (unpacked is enough: name its sshd in TSNBENCH_SSHD)")
    if not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        gone.append("openssh-client")
    return f"packages are missing: {', '.join(gone)}" if gone else ""


def server(sshd: Path | None = None) -> Path | None:
    """The ssh server: the given one, that of ``TSNBENCH_SSHD``, or this machine's."""
    named = sshd or (Path(os.environ["TSNBENCH_SSHD"]) if os.environ.get("TSNBENCH_SSHD") else None)
    found = named or Path(shutil.which("sshd", path=sandbox.PATH) or "/usr/sbin/sshd")
    return found.resolve() if found.is_file() else None


def root_of(sshd: Path) -> Path | None:
    """The folder of an unpacked server that also contains its libraries; None for an installed server."""
    return next((up for up in sshd.parents if (up / "usr/lib").is_dir() and up != Path("/")), None)


def libraries_of(root: Path) -> list[Path]:
    """Folders of libraries in such a folder, relative to it."""
    return sorted({path.parent.relative_to(root) for path in root.glob("usr/lib/*/lib*.so*")})


def keys(folder: Path, hosts: Mapping[str, tuple[str, int]]) -> None:
    """Writes the keys, and the client's files.

    Args:
        folder: the folder of the lab.
        hosts: address and port by name.
    """
    for name in ("key", "host-key"):
        if (folder / name).exists():
            continue
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


def client(folder: Path) -> str:
    """The ssh client for hosts that this machine's own network reaches."""
    return f"ssh -F {shlex.quote(str(folder / 'client'))}"
