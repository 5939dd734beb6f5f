"""The store: what is there after the end of a process, whatever ended it."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from cnc.cell import BOUNDED, GREEDY, SCHEDULED, base_of
from cnc.test_beside import GRID, drawn
from tsnbench.cnc.admission import Rules, decide, first
from tsnbench.cnc.changes import Change, Decision, NotAcceptedError
from tsnbench.cnc.changing.writer import MOST_TOGETHER, MOST_WAITING, BusyError
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import BusyStoreError, FullStoreError, Store
from tsnbench.cnc.store.difference import difference
from tsnbench.cnc.store.sqlite import NAME
from tsnbench.errors import ContentError, InputError

LOADED = """
import sys
from pathlib import Path
from tsnbench.cnc.changes import Change
from tsnbench.cnc.network import Base
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store

base = Base(Path(sys.argv[1]))
place = Path(sys.argv[2])
if sys.argv[2].startswith("postgresql:"):
    from tsnbench.cnc.store.postgres import Postgres

    place = Postgres(sys.argv[2])
    assert place.lead()
service = Service(base, Store(place, base.digest))
stream = {"from": "cam2", "to": "ctl", "pcp": 3, "period": "1 ms", "payload": "60 B"}
print("ready", flush=True)
for number in range(100_000):
    there = sorted(service.network.requested)
    change = Change("a", {f"s{number}": stream}, tuple(there[:-3]))
    print("asked", change.remove, f"s{number}", flush=True)
    assert service.ask(change).result().accepted
    print("done", ",".join(sorted(service.network.requested)), flush=True)
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return base_of(tmp_path_factory.mktemp("cell"))


@pytest.fixture
def service(base: Base, tmp_path: Path) -> Iterator[Service]:
    made = Service(base, Store(tmp_path / "store", base.digest))
    yield made
    made.close()


def asked(service: Service, *changes: Change) -> list[Decision]:
    return [service.ask(change).result(30) for change in changes]


def test_what_was_accepted_is_there_again(base: Base, tmp_path: Path) -> None:
    first = Service(base, Store(tmp_path, base.digest))
    made = asked(
        first, Change("a", {"x": SCHEDULED}), Change("b", {"y": BOUNDED}), Change("a", {"z": GREEDY})
    )
    assert [one.outcome for one in made] == ["accepted", "accepted", "refused"]
    first.close()
    second = Service(base, Store(tmp_path, base.digest))
    assert second.network.text == first.network.text
    assert second.network.requested == first.network.requested
    assert second.network.bounds == first.network.bounds
    assert [one.outcome for one in second.decisions] == ["accepted", "accepted", "refused"]
    # The number of decisions goes on.
    assert asked(second, Change("a", {}, ("x",)))[0].number == 4
    second.close()


def told(number: int, network: Network) -> Decision:
    return Decision(number, "2026-11-29T00:00:00.000Z", "a", {}, "accepted", network.hash)


def test_of_a_change_only_what_differs_is_written_until_the_network_is_written_as_a_whole(
    tmp_path: Path,
) -> None:
    base, draw = base_of(tmp_path, GRID), random.Random(3)
    store, now, whole = Store(tmp_path / "store", base.digest), first(base), 0

    def rows() -> int:
        return int(store.database.rows("SELECT count(*) FROM changes")[0][0])

    for number in range(1, 31):
        try:
            made = decide(base, now, drawn(draw, now, number), Rules())
        except NotAcceptedError:
            continue
        differs = difference(now, made) is not None and whole > 0
        before = rows()
        store.keep([told(number, made)], made, now)
        # A change that everything was planned for is written as a whole.
        assert rows() == (before + 1 if differs else 0)
        now, whole = made, whole + (not differs)
    assert rows() > 10
    assert whole < 5
    for _ in range(2):
        store.close()
        store = Store(tmp_path / "store", base.digest)
        found = store.network()
        assert found is not None
        assert (found.number, found.hash, found.text) == (now.number, now.hash, now.text)
        assert list(found.requested.items()) == list(now.requested.items())
        assert found.bounds == now.bounds
        store.settle(found)
        assert rows() == 0
    store.close()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"offset_ns":', '"offset_ns":1'),
        ('"gone":[', '"gone":[0,'),
        ('"ports":{"', '"ports":{"9'),
        ('"streams":[', '"flows":['),
    ],
)
def test_a_change_that_was_changed_is_refused(tmp_path: Path, old: str, new: str) -> None:
    base = base_of(tmp_path)
    store, now = Store(tmp_path / "store", base.digest), first(base)
    for number, name in enumerate(("x", "y"), 1):
        made = decide(base, now, Change("a", {name: {**SCHEDULED, "payload": "100 B"}}), Rules())
        store.keep([told(number, made)], made, now)
        now = made
    store.close()
    line = sqlite3.connect(tmp_path / "store" / NAME)
    (text,) = line.execute("SELECT document FROM changes").fetchone()
    assert old in text
    line.execute("UPDATE changes SET document = ?", (text.replace(old, new, 1),))
    line.commit()
    line.close()
    store = Store(tmp_path / "store", base.digest)
    with pytest.raises(ContentError, match="expected a Plan that holds"):
        store.network()
    store.close()


def test_the_log_has_the_first_parts_of_a_large_change(service: Service) -> None:
    small = {**BOUNDED, "payload": "40 B", "requires": {}, "period": "10 ms"}
    told = asked(service, Change("a", {f"s{number}": small for number in range(60)}))[0]
    assert told.accepted
    assert len(told.streams) == 60
    assert len(service.decisions[-1].streams) == 20
    assert len(service.decisions[-1].change["add"]) == 20
    assert service.decisions[-1].change["more"] == 40
    limit = {"delay from release": "400 us"}
    late = {f"t{number}": {**small, "requires": limit} for number in range(60)}
    refused = asked(service, Change("a", late))[0]
    assert refused.outcome == "refused"
    assert len(refused.reasons) == 21
    assert "more reasons" in refused.reasons[-1]["found"]


def test_a_second_process_is_refused_and_a_store_of_another_scenario(base: Base, tmp_path: Path) -> None:
    kept = Store(tmp_path, base.digest)
    with pytest.raises(BusyStoreError, match="another process serves this store"):
        Store(tmp_path, base.digest)
    kept.close()
    with pytest.raises(InputError, match="found one of another scenario"):
        Store(tmp_path, "another")
    Store(tmp_path, base.digest).close()


def test_other_files_are_refused_and_stay(base: Base, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no database, but long enough to be taken for one" * 100)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(ContentError, match="expected a store of tsnbench cnc"):
        Store(tmp_path, base.digest)
    assert (tmp_path / NAME).read_bytes() == before


def test_a_plan_that_was_changed_is_refused(base: Base, tmp_path: Path) -> None:
    first = Service(base, Store(tmp_path, base.digest))
    asked(first, Change("a", {"x": SCHEDULED}))
    first.close()
    line = sqlite3.connect(tmp_path / NAME)
    (text,) = line.execute("SELECT plan FROM network").fetchone()
    line.execute("UPDATE network SET plan = ?", (text.replace('"offset_ns":', '"offset_ns":1', 1),))
    line.commit()
    line.close()
    with pytest.raises(ContentError, match="expected a Plan that holds"):
        Service(base, Store(tmp_path, base.digest))


def test_a_full_disk_refuses_the_change_and_the_service_goes_on(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.store is not None
    asked(service, Change("a", {"x": SCHEDULED}))
    # SQLite's own limit: the error is that of a full disk.
    line = service.store.database._line
    pages = line.execute("PRAGMA page_count").fetchone()[0]
    line.execute(f"PRAGMA max_page_count={pages}")
    before = service.network
    streams = {f"s{number}": {**BOUNDED, "payload": "40 B", "requires": {}} for number in range(30)}
    with pytest.raises(FullStoreError, match="full"):
        asked(service, Change("a", streams))
    assert service.network is before
    line.execute(f"PRAGMA max_page_count={pages + 10_000}")
    assert asked(service, Change("a", streams))[0].accepted


def test_too_many_changes_are_told_to_come_again(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: Future[Any] = Future()
    monkeypatch.setattr("tsnbench.cnc.service.decide", lambda *words: waiting.result())
    held: list[Future[Decision]] = []

    def ask() -> None:
        for _ in range(MOST_WAITING + MOST_TOGETHER + 1):
            held.append(service.ask(Change("a", {"x": BOUNDED})))

    with pytest.raises(BusyError):
        ask()
    assert len(held) >= MOST_WAITING
    waiting.set_result(service.network)
    assert {one.result(30).outcome for one in held} == {"accepted"}


def killed(base_file: Path, store: Path, after_s: float) -> tuple[list[str], list[str] | None]:
    """Streams that a loaded service told last, and those that it was asked for then; it was killed."""
    words = [sys.executable, "-c", LOADED, str(base_file), str(store)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.kill()
        # The last line may be cut short, where the pipe was full.
        lines = process.stdout.read().split("\n")[:-1]
    done = [line.split()[1].split(",") for line in lines if line.startswith("done")]
    return (done[-1] if done else []), lines


def after(told: list[str], lines: list[str], before: set[str]) -> list[set[str]]:
    """The streams after the last answer, and after the change that was asked then: never a third state."""
    old = set(told) or before
    if not lines or not lines[-1].startswith("asked"):
        return [old]
    _, rest = lines[-1].split(" ", 1)
    removed, name = rest.rsplit(" ", 1)
    return [old, (old - {part.strip(" '(),") for part in removed.split(",")}) | {name}]


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_killed_at_any_moment_the_old_or_the_new_network_is_there(tmp_path: Path, kills: int) -> None:
    base = base_of(tmp_path)
    moments = random.Random(kills)
    before: set[str] = set()
    reached = 0
    for _ in range(kills):
        told, lines = killed(tmp_path / "cell.yaml", tmp_path / "store", moments.uniform(0.0, 0.6))
        assert lines is not None
        kept = Store(tmp_path / "store", base.digest)
        found = kept.network()
        last = kept.decisions(1)
        kept.close()
        there = set(found.requested) if found else set()
        assert there in after(told, lines, before)
        assert not found or last[0].plan == found.hash
        before = there
        reached += bool(lines)
    assert reached
