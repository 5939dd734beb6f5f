"""All devices replace their gate control lists at one instant, or keep the earlier ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")

from support.gate_state import GateState, tai_ns
from support.netconf_server import PASSWORD, USER
from support.planned import document_of
from support.two_servers import Two, needs_servers, two_servers
from tsnbench.deploy import Access, Outcome, Target, deploy
from tsnbench.deploy.changes import Has, changes
from tsnbench.deploy.cut_over import LONGEST_WAIT_NS, CutOver, instant, starting, starts
from tsnbench.deploy.device import DeviceError, connect
from tsnbench.deploy.transaction import RefusedError
from tsnbench.deploy.tree import Node, read
from tsnbench.exports import export

LATER = 1_900_000_000 * 10**9 + 123
CELL = """\
name: cell
duration: 10 ms
network: {stations: [a, b], bridges: [s1, s2], links: {rate: 100 Mbit/s, between: [a-s1, s1-s2, s2-b]}}
streams:
  loop:
    {from: a, to: b, period: 1 ms, payload: 100 B, pcp: 7, scheduled: true,
     release: {earliest: OFFSET, latest: OFFSET}}
"""


def cell(offset: str) -> Any:
    return document_of(CELL.replace("OFFSET", offset))


def tree(document: Any, node: str) -> Node:
    return read(export(document, ["yang"]).files[f"{node}/yang.xml"])


def test_lists_begin_at_the_first_cycle_after_the_instant_and_are_the_same_schedule() -> None:
    document = cell("100 us")
    cycle = 1_000_000
    assert sum("gates" in port for port in document["ports"]) > 1
    timed = starting(document, LATER)
    for port, own in zip(document["ports"], timed["ports"], strict=True):
        if "gates" in port:
            at = own["gates"]["base_time_ns"]
            assert LATER <= at < LATER + cycle
            assert (at - port["gates"]["base_time_ns"]) % cycle == 0
            assert own["gates"] == {**port["gates"], "base_time_ns": at}
    has = tree(timed, "s1")
    assert changes(tree(document, "s1"), Has(has, has)) == []
    shifted = copy.deepcopy(document)
    for port in shifted["ports"]:
        if "gates" in port:
            port["gates"]["base_time_ns"] += 1_000
    assert [one.path[-1][1] for one in changes(tree(shifted, "s1"), Has(has, has))] == [
        "gate-parameter-table"
    ]


def test_base_times_that_cannot_be_read_are_another_schedule() -> None:
    document = cell("100 us")
    has = tree(starting(document, LATER), "s1")
    for text in ("", "x", "1" * 5_000):
        broken = copy.deepcopy(has)
        for one in _every(broken, "admin-base-time"):
            one.children[0].text = text
        assert changes(tree(document, "s1"), Has(broken, broken))
    for one in _every(broken, "admin-cycle-time"):
        one.children[1].text = "0"
    assert changes(tree(document, "s1"), Has(broken, broken))


def _every(node: Node, name: str) -> Iterator[Node]:
    for one in node.children:
        if one.name == name:
            yield one
        yield from _every(one, name)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("two")
    with two_servers(folder) as both:
        yield both


def access(two: Two) -> Access:
    known = two[0].folder / "all_hosts"
    known.write_text("".join(one.known_hosts.read_text() for one in two))
    return Access(USER, PASSWORD, known_hosts=known, timeout_s=60)


def put(two: Two, document: Any, folder: Path, cut: CutOver | None, **more: Any) -> Outcome:
    where = [Target(f"s{n + 1}", "127.0.0.1", one.port) for n, one in enumerate(two)]
    return deploy(document, where, access(two), folder / "before.json", cut=cut, **more)


def lists(two: Two) -> list[dict[str, int]]:
    """The base times of both devices."""
    found = []
    for server in two:
        device = connect("a", "127.0.0.1", server.port, access(two))
        try:
            found.append(starts(device.has().told))
        finally:
            device.close()
    return found


def test_the_time_that_devices_need_counts_from_the_choice() -> None:
    """The instant is a begin of a cycle: up to half a second after the lead is over."""
    slow = CELL.replace("OFFSET", "0 us").replace("10 ms", "1 s").replace("period: 1 ms", "period: 500 ms")
    cut = CutOver(lead_ns=0)
    cut.choose(document_of(slow), [], {})
    assert cut.check({}) == {}
    assert cut.took_ns > 0


@needs_servers
def test_devices_get_one_instant_or_nothing(two: Two, tmp_path: Path) -> None:
    first, second = GateState(), GateState()
    two[0].rules, two[1].rules = first, second
    cut = CutOver(100 * 10**9)
    done = put(two, cell("100 us"), tmp_path, cut)
    assert done.done
    assert not cut.late
    assert cut.instant_ns % 1_000_000 == 0
    there = lists(two)
    assert all(there)
    times = [at for one in there for at in one.values()]
    assert all(cut.instant_ns <= at < cut.instant_ns + 1_000_000 for at in times)
    assert done.lists_from_ns == max(times)
    assert (first.questions, second.questions) == (2, 2)
    # The instant is in the future still, and the Plan is there: nothing else has to be given.
    assert not any(put(two, cell("100 us"), tmp_path, None, dry_run=True).changes.values())

    # All are ready, and one says another time: both keep what they had.
    second.shift_ns = 1_000_000
    assert put(two, cell("100 us"), tmp_path, None, dry_run=True).lists_from_ns == max(times)
    other = Waiting(100 * 10**9)
    with pytest.raises(RefusedError, match=r"(?s)s2: eth2: its list changes at .*every device has again"):
        put(two, cell("300 us"), tmp_path, other)
    assert other.waited
    assert not other.late
    assert lists(two) == there

    # It would change all the same, until it gets its earlier lists once more; or even then.
    second.keeps = 1
    with pytest.raises(RefusedError, match="every device has again"):
        put(two, cell("300 us"), tmp_path, Waiting(100 * 10**9))
    second.keeps = 2
    with pytest.raises(Exception, match=r"(?s)s2: not brought back: .*its list still waits") as told:
        put(two, cell("300 us"), tmp_path, Waiting(100 * 10**9, together=True))
    assert "tsnbench deploy --restore" in str(told.value)
    second.shift_ns, second.keeps = 0, 0

    # A device that was not ready before the instant.
    first.late = True
    late = Waiting(10**9)
    with pytest.raises(RefusedError):
        put(two, cell("300 us"), tmp_path, late)
    assert late.late
    assert lists(two) == there


class Waiting(CutOver):
    """Earlier lists are in force at once: the test does not wait."""

    waited = False

    def choose(self, document: Any, devices: Any, has: Any) -> Any:
        self.waited = max(at for one in has.values() for at in starts(one.told).values()) > tai_ns()
        return super().choose(document, devices, {})


@needs_servers
def test_without_what_it_tells_a_device_gets_no_streams_that_move(two: Two, tmp_path: Path) -> None:
    two[0].rules = two[1].rules = None
    before = lists(two)
    with pytest.raises(RefusedError, match=r"s1: .*does not tell when its list changes"):
        put(two, cell("500 us"), tmp_path, Waiting(100 * 10**9, together=True))
    assert lists(two) == before
    cut = Waiting(100 * 10**9)
    assert put(two, cell("500 us"), tmp_path, cut).done
    assert "s1 does not tell when its lists change; it has their base times" in cut.notes


def test_lists_that_wait_for_long_are_not_waited_for() -> None:
    document = cell("100 us")
    has = tree(starting(document, tai_ns() + 2 * LONGEST_WAIT_NS), "s1")
    with pytest.raises(DeviceError, match="s1: a gate control list waits for its base time, 20"):
        CutOver(10**9).choose(document, [], {"s1": Has(has, has)})


def test_an_earlier_list_is_in_force_before_the_next_instant_is_chosen() -> None:
    document = cell("100 us")
    earlier = tai_ns() + 30_000_000
    has = tree(starting(document, earlier), "s1")
    cut = CutOver(10**9)
    cut.choose(document, [], {"s1": Has(has, has)})
    assert cut.instant_ns > earlier + 10**9
    assert instant(None) == "no time"
