"""A PostgreSQL server of its own: on a socket in a folder, without the network, as a user without rights."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

USER = "cnc"
PATIENCE_S = 60


def programs() -> Path | None:
    """The folder of the newest server of Debian, or of any in the path."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda path: float(path.parent.name))
    there = shutil.which("initdb")
    return Path(there).parent if there else None


@contextmanager
def running() -> Iterator[str]:
    """The server; yields the address of its database."""
    place = programs()
    if place is None:
        pytest.skip("postgresql is missing")
    psycopg = pytest.importorskip("psycopg", reason="psycopg is missing (tsnbench[postgres])")
    folder = Path(tempfile.mkdtemp(prefix="tsnb-pg-", dir="/tmp"))
    # The server refuses root.
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        if user:
            shutil.chown(folder, "nobody", "nogroup")
        words = [place / "initdb", "-D", folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8"]
        subprocess.run([*words, "--locale=C", "--no-sync"], check=True, capture_output=True, cwd="/", **user)
        # The disk need not survive this machine: processes are killed here, never the machine.
        options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB"]
        with (
            (folder / "log").open("wb") as log,
            subprocess.Popen(
                [place / "postgres", "-D", folder / "data", "-k", folder, *options],
                stdout=log, stderr=log, cwd="/", **user,
            ) as server,
        ):  # fmt: skip
            try:
                address = f"postgresql://{USER}@/postgres?host={folder}"
                end = time.monotonic() + PATIENCE_S
                while True:
                    try:
                        psycopg.connect(address).close()
                        break
                    except psycopg.OperationalError:
                        assert time.monotonic() < end, (folder / "log").read_text()
                        assert server.poll() is None, (folder / "log").read_text()
                        time.sleep(0.05)
                yield address
            finally:
                # Sessions that a failed test left open would keep the server (SIGTERM waits for them).
                server.send_signal(signal.SIGINT)
                server.wait(PATIENCE_S)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
