"""The store on PostgreSQL: what is there, who leads, and that nobody else writes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cnc.cell import BOUNDED, SCHEDULED, Served, base_of, serving
from cnc.server_of_postgres import running
from cnc.test_store import after, killed
from tsnbench.cnc.changes import Change, SettingError
from tsnbench.cnc.client import Connection
from tsnbench.cnc.network import Base
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import LostStoreError, Store
from tsnbench.errors import BackendError, ContentError, InputError

PATIENCE_S = 60


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running() as address:
        yield address


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> str:
    """A schema of its own for each test."""
    import psycopg

    schema = request.node.name.partition("[")[0][:60].lower()
    with psycopg.connect(server, autocommit=True) as line:
        line.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")
    return f"{server}&options=-csearch_path%3D{schema}"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return base_of(tmp_path_factory.mktemp("cell"))


def session(url: str) -> Any:
    from tsnbench.cnc.store.postgres import Postgres

    return Postgres(url)


def leading(url: str) -> Any:
    """A session that leads, when the server has seen the end of the one before."""
    found, end = session(url), time.monotonic() + PATIENCE_S
    while not found.lead():
        assert time.monotonic() < end, "nobody gave the lock back"
        time.sleep(0.02)
    return found


def test_what_was_accepted_is_there_again(base: Base, url: str) -> None:
    first = Service(base, Store(leading(url), base.digest))
    for change in (Change("a", {"x": SCHEDULED}), Change("b", {"y": BOUNDED})):
        assert first.ask(change).result(30).accepted
    assert first.store is not None
    first.store.keep_wanted({"b": {"n": 1}, "a": {"n": 2}})
    first.store.keep_wanted({"b": {"n": 3}})
    first.store.intend([first.decisions[-1]], first.network)
    first.close()
    second = Store(leading(url), base.digest)
    found, pending = second.network(), second.pending()
    assert found is not None
    assert (found.text, found.requested, found.bounds) == (
        first.network.text,
        first.network.requested,
        first.network.bounds,
    )
    assert [(one.number, one.plan) for one in second.decisions(9)] == [
        (one.number, one.plan) for one in first.decisions
    ]
    assert pending is not None
    assert (pending[0][0].number, pending[1].text) == (2, first.network.text)
    assert list(second.wanted().items()) == [("b", {"n": 3}), ("a", {"n": 2})]
    second.close()


def test_one_leads_and_the_next_one_when_it_has_ended(base: Base, url: str) -> None:
    one, other = leading(url), session(url)
    kept = Store(one, base.digest)
    assert not other.lead()
    one.announce("http://first:1")
    assert other.leader() == "http://first:1"
    kept.close()
    assert leading(url).leader() == "http://first:1"


def test_an_earlier_leader_writes_nothing(base: Base, url: str) -> None:
    """A pooler can give the lock back while a session goes on: the number of the leader is compared."""
    first = Service(base, Store(leading(url), base.digest))
    assert first.ask(Change("a", {"x": SCHEDULED})).result(30).accepted
    assert first.store is not None
    ended: list[str] = []
    first.when_lost(lambda: ended.append(first.lost))
    first.store.database.rows("SELECT pg_advisory_unlock_all()")
    second = Service(base, Store(leading(url), base.digest))
    with pytest.raises(LostStoreError, match="another service leads"):
        first.ask(Change("a", {"y": BOUNDED})).result(30)
    assert ended == [first.lost]
    assert set(first.network.requested) == {"x"}
    assert second.ask(Change("b", {"z": BOUNDED})).result(30).accepted
    assert second.store is not None
    assert set(second.network.requested) == {"x", "z"}
    found = second.store.network()
    assert found is not None
    assert set(found.requested) == {"x", "z"}
    assert [one.change["add"].keys() for one in second.store.decisions(9)] == [{"x"}, {"z"}]
    first.close()
    second.close()


def test_a_lost_connection_ends_the_service(base: Base, url: str, server: str) -> None:
    import psycopg

    service = Service(base, Store(leading(url), base.digest))
    assert service.store is not None
    ((process,),) = service.store.database.rows("SELECT pg_backend_pid()")
    with psycopg.connect(server, autocommit=True) as line:
        line.execute("SELECT pg_terminate_backend(%s)", (process,))
    with pytest.raises(LostStoreError, match="the connection is lost, so another service may lead"):
        service.ask(Change("a", {"x": SCHEDULED})).result(30)
    assert service.lost
    assert not service.network.requested
    service.close()


def test_what_is_no_store_of_this_scenario_is_refused(base: Base, url: str) -> None:
    Store(leading(url), base.digest).close()
    with pytest.raises(SettingError, match="found one of another scenario"):
        Store(leading(url), "another")
    other = leading(url)
    other.rows("DROP TABLE about")
    with pytest.raises(ContentError, match='expected a store of tsnbench cnc, found relation "about"'):
        Store(other, base.digest)
    for wrong, kind in (
        ("postgresql://u:secret@[h/d", InputError),
        ("postgresql://u:secret@/d?host=/no", BackendError),
    ):
        with pytest.raises(kind) as error:
            session(wrong)
        assert "secret" not in str(error.value)


@pytest.mark.parametrize("kills", [1, pytest.param(100, marks=pytest.mark.nightly)])
def test_killed_at_any_moment_the_old_or_the_new_network_is_there(
    tmp_path: Path, base: Base, url: str, kills: int
) -> None:
    base_of(tmp_path)
    before: set[str] = set()
    for number in range(kills):
        told, lines = killed(tmp_path / "cell.yaml", url, 0.1 + 0.3 * (number % 3))
        assert lines is not None
        kept = Store(leading(url), base.digest)
        found, last = kept.network(), kept.decisions(1)
        kept.close()
        there = set(found.requested) if found else set()
        assert there in after(told, lines, before)
        assert not found or last[0].plan == found.hash
        before = there


def names(served: Served) -> set[str]:
    return {one["stream"] for one in served.ask("GET", "/api/streams")[1]["streams"] if one["client"]}


def test_a_standby_takes_over_when_the_leader_is_killed(tmp_path: Path, url: str) -> None:
    for one in ("a", "b"):
        (tmp_path / one).mkdir()
    with (
        serving(tmp_path / "a", "--store", url) as leader,
        serving(tmp_path / "b", "--store", url) as standby,
    ):
        assert leader.ask("PUT", "/api/streams/x", dict(SCHEDULED))[0] == 201
        status, told, head = standby.ask("PUT", "/api/streams/y", dict(BOUNDED))
        assert (status, head["retry-after"]) == (503, "1")
        assert told["leader"] == leader.address
        assert leader.address in told["detail"]
        both = Connection(f"{standby.address},{leader.address}")
        assert both.ask("GET", "/api/streams/x").status == 200
        os.kill(leader.process.pid, signal.SIGKILL)
        end = time.monotonic() + PATIENCE_S
        while standby.ask("GET", "/api/streams")[0] == 503:
            assert time.monotonic() < end, "the standby does not lead"
            time.sleep(0.02)
        assert names(standby) == {"x"}
        assert standby.ask("PUT", "/api/streams/y", dict(BOUNDED))[0] == 201
        assert names(standby) == {"x", "y"}
        assert Connection(f"{leader.address},{standby.address}").ask("GET", "/api/streams/y").status == 200
