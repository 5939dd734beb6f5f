"""Two services with one database, and the devices: a leader that stops in the middle writes no more."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")

from cnc.cell import BOUNDED, SCHEDULED, Served, base_of, serving
from cnc.server_of_postgres import running
from support.netconf_server import PASSWORD, USER
from support.two_servers import Two, devices_of, needs_servers, two_servers
from tsnbench.cnc.store import LostStoreError
from tsnbench.deploy.device import DeviceError, connect

pytestmark = needs_servers
PATIENCE_S = 120


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    with two_servers(tmp_path) as both:
        yield both


def answered(served: Served) -> dict[str, Any]:
    """The network of a standby, once it leads."""
    end = time.monotonic() + PATIENCE_S
    while (found := served.ask("GET", "/api/network"))[0] == 503:
        assert time.monotonic() < end, "the standby does not lead"
        time.sleep(0.05)
    return dict(found[1])


def is_keep(piece: bytes) -> bool:
    return b":commit/>" in piece and b"discard" not in piece


def test_messages_of_a_leader_that_was_stopped_change_no_device(
    two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped when one device keeps its commit; what it sends the other arrives when the next leads."""
    monkeypatch.setenv("TSNBENCH_NETCONF_PASSWORD", PASSWORD)
    monkeypatch.chdir(tmp_path)  # records of devices go there
    devices = devices_of(two, tmp_path)
    words: list[Any] = ["--user", USER, "--known-hosts", tmp_path / "known_hosts", "--overwrite"]
    for target in devices.where:
        words += ["--node", f"{target.node}={target.host}:{target.port}"]
    stopped, goes_on = threading.Event(), threading.Event()
    for one in ("a", "b"):
        (tmp_path / one).mkdir()
    with contextlib.ExitStack() as stack:
        words += ["--store", stack.enter_context(running())]
        leader = stack.enter_context(serving(tmp_path / "a", *words))
        stack.callback(leader.process.send_signal, signal.SIGCONT)
        stack.callback(goes_on.set)
        standby = stack.enter_context(serving(tmp_path / "b", *words))
        assert leader.ask("PUT", "/api/streams/x", SCHEDULED)[0] == 201

        def stops(piece: bytes) -> bytes | None:
            if is_keep(piece) and not stopped.is_set():
                os.kill(leader.process.pid, signal.SIGSTOP)
                stopped.set()
                goes_on.wait(PATIENCE_S)
            return None

        two[1].rules = stops
        asking = threading.Thread(target=asked, args=(leader,), daemon=True)
        asking.start()
        assert stopped.wait(PATIENCE_S)
        end_sessions(words[-1])
        network = answered(standby)
        assert network["requested"] == 1
        plan = standby.ask("GET", "/api/plan")[1]
        plan.pop("hash")
        assert devices.differences(plan) == []
        # The message arrives, and the earlier leader goes on.
        goes_on.set()
        os.kill(leader.process.pid, signal.SIGCONT)
        assert leader.process.wait(PATIENCE_S) == 3
        asking.join(PATIENCE_S)
        assert devices.differences(plan) == []
        assert standby.ask("PUT", "/api/streams/z", dict(BOUNDED))[0] == 201
        assert {one["outcome"] for one in standby.ask("GET", "/api/decisions")[1]["decisions"]} == {
            "accepted",
            "devices",
        }


def asked(leader: Served) -> None:
    with contextlib.suppress(OSError, ValueError):
        leader.ask("PUT", "/api/streams/y", {**SCHEDULED, "payload": "100 B"})


def end_sessions(url: str) -> None:
    """The database ends the session of the leader, as after a lost connection."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as line:
        line.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")


def test_who_locks_a_device_later_asks_whether_it_leads(two: Two, tmp_path: Path) -> None:
    devices = devices_of(two, tmp_path)

    def lost() -> None:
        assert all(b"<nc:lock>" in b"".join(one.seen) for one in two)
        raise LostStoreError("another service leads")

    holder = connect("sw1", "127.0.0.1", two[0].port, devices.access)
    holder.lock()
    devices.take_over()
    with pytest.raises(DeviceError):
        holder.stage("<config/>")
    holder.close()
    devices.fence = lost
    document = base_of(tmp_path).plan.document
    with pytest.raises(LostStoreError):
        devices.put(document)
    assert devices.differences(document)
    assert not any(b"edit-config" in piece for one in two for piece in one.seen)
    assert list(tmp_path.glob("deploy*.json")) == []
