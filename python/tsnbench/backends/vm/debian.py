"""One Debian package as a file: downloaded, never installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tsnbench.errors import BackendError


def download(folder: Path, name: str, hint: str) -> Path:
    """The package's file in ``folder``, complete or not at all. ``hint``: what the user can do after an
    error.

    Raises:
        BackendError: apt-get is missing, or cannot download it.
    """
    if not shutil.which("apt-get"):
        raise BackendError(f"{name} cannot be downloaded: apt-get is missing\nhint: {hint}")
    with tempfile.TemporaryDirectory(dir=folder, prefix="part-") as part:
        got = subprocess.run(
            ["apt-get", "-qq", "download", name], cwd=part, capture_output=True, text=True, check=False
        )
        files = list(Path(part).glob("*.deb"))
        if got.returncode or not files:
            raise BackendError(
                f"{name} cannot be downloaded: {got.stderr.strip()}\nhint: apt-get update, or {hint}"
            )
        return Path(files[0].replace(folder / files[0].name))


def unpack(package: Path, into: Path) -> None:
    """Unpacks a package's files into a folder.

    Raises:
        BackendError: it is no package.
    """
    done = subprocess.run(["dpkg-deb", "-x", package, into], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BackendError(f"{package}: cannot be unpacked: {done.stderr.strip()}\nhint: delete it")
