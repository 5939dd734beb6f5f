"""Requests that wait at the same time: more of them are admitted, none is refused because of a later one."""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")

from cnc.cell import BOUNDED, SCHEDULED, after, base_of
from support.commands import tsnbench
from tsnbench.cnc.admission import Rules, decide, disagreement, first
from tsnbench.cnc.changes import Change, Decision, NotAcceptedError
from tsnbench.cnc.changing import at_once
from tsnbench.cnc.changing.at_once import tried
from tsnbench.cnc.changing.writer import MOST_TOGETHER
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.server.server import serve
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import FullStoreError, Store
from tsnbench.errors import BackendError
from tsnbench.planning.passes import prove
from tsnbench.planning.scheduling.hints import patience

LONG: Mapping[str, Any] = {**SCHEDULED, "to": "cam", "payload": "700 B"}
"""Three of these fill the first quarter of the period, one behind the other."""
OFTEN: Mapping[str, Any] = {**SCHEDULED, "to": "cam", "period": "250 us", "payload": "1200 B"}
"""It needs a gap in each quarter."""
CHANGES = [Change(f"c{number}", {f"s{number}": LONG}) for number in range(3)] + [
    Change("d", {"often": OFTEN})
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return base_of(tmp_path_factory.mktemp("cell"))


@contextmanager
def serviced(base: Base, folder: Path | None = None, devices: Any = None) -> Iterator[Service]:
    made = Service(base, Store(folder, base.digest) if folder else None, devices)
    try:
        yield made
    finally:
        made.close()


def waiting(service: Service, changes: Sequence[Change]) -> list[Future[Decision]]:
    """The decisions about changes that wait while the writer is busy."""
    goes_on = threading.Event()
    service.soon(goes_on.wait)
    found = [service.ask(change) for change in changes]
    goes_on.set()
    for one in found:
        one.exception(60)
    return found


def decisions(service: Service, changes: Sequence[Change]) -> list[Decision]:
    return [one.result() for one in waiting(service, changes)]


@patience(0)
def in_order(base: Base, now: Network, changes: Sequence[Change]) -> tuple[Network, list[Change]]:
    """The network after changes one after the other, and those that were admitted."""
    admitted = []
    for change in changes:
        try:
            now = decide(base, now, change, Rules())
        except NotAcceptedError:
            continue
        admitted.append(change)
    return now, admitted


def test_waiting_requests_are_admitted_together_where_in_order_one_is_refused(base: Base) -> None:
    with serviced(base) as service:
        asked = [service.ask(change).result(60) for change in CHANGES]
    assert [one.accepted for one in asked] == [True, True, True, False], "one after the other"
    assert not any(one.together for one in asked)
    with serviced(base) as service:
        own = service.ask(Change("a", {"there": {**BOUNDED, "payload": "100 B"}})).result(60)
        before = {name: service.network.flows(name) for name in ("loop", "log", "there")}
        made = decisions(service, CHANGES)
        assert [one.accepted for one in made] == [True] * 4
        assert {name: service.network.flows(name) for name in before} == before
        assert prove(service.network.plan, service.network.text) == []
        assert disagreement(base, service.network)[0] == ""
        assert [one.number for one in made] == [own.number + number for number in range(1, 5)]
        told = [
            (one["number"], one["client"], one["streams"], one["only_together"]) for one in made[0].together
        ]
        assert told == [
            *((own.number + 1 + place, f"c{place}", [f"s{place}"], False) for place in range(3)),
            (own.number + 4, "d", ["often"], True),
        ]
        assert all(one.together == made[0].together and one.plan == service.network.hash for one in made)
        # Each answer is about its own stream.
        assert [[flow["stream"] for flow in one.streams] for one in made] == [
            ["s0"],
            ["s1"],
            ["s2"],
            ["often"],
        ]
        assert service.network.number == 2, "one change of the network"


def test_who_is_admitted_in_order_is_told_alone_and_who_has_no_room_is_refused(base: Base) -> None:
    tight = Change("e", {"tight": {**SCHEDULED, "requires": {"delay": "200 us"}}})
    wrong = Change("e", {"wrong": {**SCHEDULED, "period": 3}})
    with serviced(base) as service:
        made = decisions(
            service, [CHANGES[0], tight, wrong, Change("x", {"s0": LONG}), CHANGES[0], CHANGES[1]]
        )
        outcomes = ["accepted", "refused", "wrong", "taken", "accepted", "accepted"]
        assert [one.outcome for one in made] == outcomes
        assert not any(one.together for one in made)
        assert "338560 ns" in made[1].reasons[0]["hint"], "the refusal has its hint"
        assert service.network.number == 2
        assert made[4].plan == made[3].plan, "the same words again change nothing"
    with serviced(base) as service:
        made = decisions(service, [tight, *CHANGES])
        assert [one.outcome for one in made] == ["refused", *["accepted"] * 4]
        assert made[0].together == ()
        assert [one["streams"] for one in made[4].together] == [["s0"], ["s1"], ["s2"], ["often"]]


def test_changes_that_remove_or_know_the_network_keep_their_turn(base: Base) -> None:
    with serviced(base) as service:
        now = service.ask(CHANGES[0]).result(60).plan
        small = {**OFTEN, "payload": "300 B"}
        known, last = Change("d", {"often": small}, expected=now), Change("d", {"often": small})
        made = decisions(service, [*CHANGES[1:3], Change("c1", {}, ["s1"]), known, last])
        assert [one.outcome for one in made] == ["accepted"] * 3 + ["changed", "accepted"]
        assert not any(one.together for one in made)
    with serviced(base) as service:
        # What the service is asked between changes is done between them.
        goes_on = threading.Event()
        service.soon(goes_on.wait)
        first, seen = service.ask(CHANGES[0]), service.soon(lambda: [*service.network.requested])
        second = service.ask(CHANGES[1])
        goes_on.set()
        assert first.result(60).accepted
        assert second.result(60).accepted
        assert seen.result(60) == ["s0"]


def test_a_number_and_a_time_limit_what_is_tried(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {**BOUNDED, "payload": "40 B", "requires": {}}
    many = [Change("a", {f"m{number}": small}) for number in range(MOST_TOGETHER - 3)]
    with serviced(base) as service:
        # The last one is the first of the next that wait.
        assert [one.accepted for one in decisions(service, [*many, *CHANGES])][-4:] == [
            True,
            True,
            True,
            False,
        ]
    monkeypatch.setattr(at_once, "BUDGET_S", -1.0)
    assert tried(base, first(base), CHANGES, Rules()).ready == {}
    with serviced(base) as service:
        assert [one.accepted for one in decisions(service, CHANGES)] == [True, True, True, False]


def drawn(draw: random.Random) -> list[Change]:
    """A few requests of one or two streams that together ask for about what a link has."""

    def stream() -> dict[str, Any]:
        period = draw.choice([250, 500, 500, 1000, 1000, 1000, 1000])
        written = {**SCHEDULED, "period": f"{period} us", "payload": f"{draw.randint(300, 1400)} B"}
        return {**written, "requires": {"delay": f"{draw.choice([600, 1000])} us"}}

    numbers = range(draw.randint(3, 4))
    return [
        Change(f"c{number}", {f"s{number}.{one}": stream() for one in range(draw.choice([1, 1, 2]))})
        for number in numbers
    ]


@pytest.mark.parametrize("seeds", [12, pytest.param(150, marks=pytest.mark.nightly)])
def test_as_many_are_admitted_as_in_the_best_order(base: Base, monkeypatch: Any, seeds: int) -> None:
    """Every order is tried: none that keeps who is admitted in order of arrival admits more."""
    monkeypatch.setattr(at_once, "BUDGET_S", 60.0)
    # First fit alone: the exact engine would take seconds for each order.
    monkeypatch.setattr("tsnbench.planning.scheduling.engines.find_spec", lambda name: None)
    now = after(base, Change("a", {"there": {**SCHEDULED, "payload": "400 B"}}))
    gained = 0
    for seed in range(seeds):
        changes = drawn(random.Random(seed))
        own = in_order(base, now, changes)[1]
        found = tried(base, now, changes, Rules())
        assert [changes[place] for place in found.ready] == own
        admitted = [changes[place] for place in found.group] or own
        orders = (
            [in_order(base, now, order)[1] for order in permutations(changes)]
            if len(own) < len(changes)
            else []
        )
        most = max((len(one) for one in orders if all(change in one for change in own)), default=len(own))
        assert len(admitted) >= most, seed
        assert all(change in admitted for change in own), seed
        gained += len(admitted) - len(own)
        if found.whole:
            assert {*found.whole.after.requested} == {
                "there",
                *(name for one in admitted for name in one.add),
            }
            assert found.whole.after.flows("there") == now.flows("there")
            assert disagreement(base, found.whole.after)[0] == ""
    assert gained


def test_the_store_has_all_of_them_or_none(base: Base, tmp_path: Path) -> None:
    with serviced(base, tmp_path) as service:
        small = {**BOUNDED, "payload": "100 B"}
        assert service.ask(Change("a", {"there": small})).result(60).accepted
        assert service.store is not None
        line: Any = service.store.database
        pages = line._line.execute("PRAGMA page_count").fetchone()[0]
        line._line.execute(f"PRAGMA max_page_count={pages}")
        before, asked = service.network, waiting(service, CHANGES)
        assert {type(one.exception()) for one in asked} == {FullStoreError}
        assert service.network is before
        assert len(service.decisions) == 1
        line._line.execute(f"PRAGMA max_page_count={pages + 10_000}")
        made = decisions(service, CHANGES)
        assert all(one.accepted for one in made)
        text = service.network.text
    with serviced(base, tmp_path) as service:
        assert service.network.text == text
        assert [one.together for one in service.decisions][-4:] == [list(made[0].together)] * 4


TESTS = Path(__file__).parents[1]
LOADED = """
import sys
import threading
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from cnc.test_at_once import CHANGES
from tsnbench.cnc.changes import Change
from tsnbench.cnc.network import Base
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store

base = Base(Path(sys.argv[1]))
service = Service(base, Store(Path(sys.argv[2]), base.digest))
service.rules = type(service.rules)(may_change=lambda client, owner: True)
print("ready", flush=True)
while True:
    if there := [*service.network.requested]:
        assert service.ask(Change("a", {}, there)).result().accepted
    goes_on = threading.Event()
    service.soon(goes_on.wait)
    asked = [service.ask(change) for change in CHANGES]
    goes_on.set()
    assert all(one.result().together for one in asked)
    print("done", flush=True)
"""


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.nightly)])
def test_killed_at_any_moment_all_of_them_or_none_are_there(tmp_path: Path, kills: int) -> None:
    base, moments, reached = base_of(tmp_path), random.Random(kills), 0
    for _ in range(kills):
        folders = [str(tmp_path / "cell.yaml"), str(tmp_path / "store"), str(TESTS)]
        words = [sys.executable, "-c", LOADED, *folders]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(moments.uniform(0.1, 0.5))
            assert process.poll() is None
            process.kill()
            reached += process.stdout.read().count("done")
        kept = Store(tmp_path / "store", base.digest)
        found, last = kept.network(), kept.decisions(4)
        kept.close()
        there = set(found.requested) if found else set()
        assert there in ({"s0", "s1", "s2", "often"}, set())
        if found and there:
            assert [one.plan for one in last] == [found.hash] * 4
    assert reached


class Fails:
    """Devices that take no Plan, or that have one already."""

    lists_from_ns = None

    def __init__(self, there: str = "") -> None:
        self.there, self.puts = there, 0

    def put(self, document: Any, *, together: bool = False, drain_ns: int = 0) -> Sequence[str]:
        self.puts += 1
        if not self.there:
            raise BackendError("sw1: no answer")
        return ()

    def differences(self, document: Any) -> Sequence[str]:
        names = {one["name"] for one in document["streams"]}
        return () if self.there in names else ["other streams"]

    def close(self) -> None:
        """Nothing is open."""


def test_devices_have_all_of_them_or_none(base: Base, tmp_path: Path) -> None:
    devices = Fails()
    with serviced(base, tmp_path, devices) as service:
        before = service.network
        made = decisions(service, CHANGES)
        assert {one.outcome for one in made} == {"devices"}
        assert {one.reasons[0]["found"] for one in made} == {"sw1: no answer"}
        assert not any(one.streams or one.together for one in made)
        assert service.network is before
        assert devices.puts == 1, "one transaction of all devices"


@pytest.mark.parametrize(("there", "outcome"), [("often", "accepted"), ("nobody", "devices")])
def test_a_service_that_ended_while_devices_changed_tells_all_of_them(
    base: Base, tmp_path: Path, there: str, outcome: str
) -> None:
    with serviced(base) as service:
        made = decisions(service, CHANGES)
        whole = service.network
    store = Store(tmp_path, base.digest)
    store.start(first(base))
    store.intend(made, whole)
    store.close()
    with serviced(base, tmp_path, Fails(there)) as service:
        assert [(one.number, one.outcome) for one in service.decisions] == [
            (number, outcome) for number in range(1, 5)
        ]
        assert set(service.network.requested) == (set(whole.requested) if outcome == "accepted" else set())
        assert service.ask(Change("a", {"next": BOUNDED})).result(60).number == 5


def test_clients_at_the_same_time_have_answers_of_their_own(base: Base) -> None:
    opened: Future[str] = Future()
    with serviced(base) as service:
        served = threading.Thread(target=serve, args=(service, "127.0.0.1", 0, opened.set_result))
        served.start()
        address = opened.result(30)
        goes_on = threading.Event()
        service.soon(goes_on.wait)
        while service._writer._jobs.qsize():
            time.sleep(0.001)

        def ask(name: str, stream: Mapping[str, Any]) -> tuple[int, Any]:
            line = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
            body = json.dumps(stream)
            line.request("PUT", f"/api/streams/{name}", body, {"content-type": "application/json"})
            answer = line.getresponse()
            found = answer.status, json.loads(answer.read())
            line.close()
            return found

        asked = []
        with ThreadPoolExecutor(4) as pool:
            for count, change in enumerate(CHANGES, 1):
                ((name, stream),) = change.add.items()
                asked.append(pool.submit(ask, name, stream))
                while service._writer._jobs.qsize() < count:
                    time.sleep(0.001)
            goes_on.set()
            found = [one.result() for one in asked]
        assert [status for status, _ in found] == [201] * 4
        assert [[flow["stream"] for flow in told["streams"]] for _, told in found] == [
            ["s0"],
            ["s1"],
            ["s2"],
            ["often"],
        ]
        assert [[one["only_together"] for one in told["together"]] for _, told in found] == [
            [False, False, False, True]
        ] * 4
        done = tsnbench("cnc", "explain", "often", "--at", address)
        words = "planned at once with 1 (s0), 2 (s1), 3 (s2); one after the other, without room: 4 (often)"
        assert words in done.stdout
        for end in service._when_lost:
            end()
        served.join(30)
    assert not served.is_alive()
