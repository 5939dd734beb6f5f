"""The taps: the ends by default, and every port that the scenario names.

A tap is named after the link and the direction of its frames: ``a -> b tx`` where they leave a, ``a -> b rx``
where they reach b. IEEE 802.3-2022, 90.7.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Flow, Port, Tap
from tsnbench.planning.select import select
from tsnbench.scenario import model
from tsnbench.scenario.model.hosts import STAGES

if TYPE_CHECKING:
    from tsnbench.plan.types import Stage


def place_taps(draft: Draft) -> None:
    """Fills ``taps``; a tap that is requested twice occurs once."""
    taps = draft.scenario.taps
    wanted = _at_ends(draft, draft.flows)
    for place, text in enumerate(taps.ports):
        for port in select(draft, text, f"taps.ports[{place}]"):
            wanted.add(_tap(port, "tx", taps))
            wanted.add(_tap(port, "rx", taps))
            _host_taps(draft, port, taps, ("qdisc", "driver", "kernel-rx"), wanted)
    if taps.stages and not any(tap.stage in taps.stages for tap in wanted):
        hint = "give nodes software: hosts: {default: low-latency}"
        draft.problem("taps.stages", "stages of hosts with software", "no host has them", hint)
    draft.taps = sorted(wanted, key=lambda tap: _order(draft, tap))


TapChange = tuple[int, Tap | None]
"""A place in a list of taps, and the tap that is inserted there; None: the one there leaves."""


def place_taps_beside(
    draft: Draft, earlier: list[Tap], left: Sequence[Flow], near: Sequence[Flow], joined: Sequence[Flow]
) -> list[TapChange]:
    """Fills ``taps`` as :func:`place_taps` does, where flows left an earlier draft, and others joined; with
    ``earlier`` itself if nothing changes.

    Returns:
        What makes them of ``earlier``, one change after the other.

    Args:
        draft: its scenario requests no stages of hosts. earlier: the taps of the earlier draft.
            left, joined: the flows. near: at least all flows that begin or end where one of ``left`` did.
    """
    stay = _at_ends(draft, [*near, *joined])
    if draft.scenario.taps.ports:
        named = draft.alike(draft.scenario, draft.ports, [])
        place_taps(named)
        stay.update(named.taps)
    taps, changes = earlier, list[TapChange]()
    for tap in [*(_at_ends(draft, left) - stay), *stay]:
        order = _order(draft, tap)
        place = bisect_left(taps, order, key=lambda own: _order(draft, own))
        there = place < len(taps) and _order(draft, taps[place]) == order
        if there != (tap in stay):
            # Lists that others have stay as they are.
            taps = [*taps[:place], *([] if there else [tap]), *taps[place + there :]]
            changes.append((place, None if there else tap))
    draft.taps = taps
    return changes


def _at_ends(draft: Draft, flows: Sequence[Flow]) -> set[Tap]:
    """The taps where these flows begin and end."""
    taps = draft.scenario.taps
    wanted: set[Tap] = set()
    begun: set[tuple[int, bool]] = set()
    ended: set[int] = set()
    for flow in flows:
        released = flow.stream.requires.release_delay is not None
        if len(flow.ends) == 1 and not flow.redundancy:
            # Thousands of streams begin and end at the same few ports.
            begin, end = (flow.route[0].port, released), flow.route[flow.ends[0]].port
            if begin in begun and end in ended:
                continue
            begun.add(begin)
            ended.add(end)
        first = {hop.port for hop in flow.route if hop.parent is None}
        meeting = [merge["from"] for merge in flow.redundancy.get("merges", ())]
        entries = {end for last in flow.ends for end in next((m for m in meeting if last in m), [last])}
        last = {flow.route[end].port for end in entries}
        for number in sorted(first):
            if taps.send or released:
                wanted.add(_tap(draft.ports[number], "send", taps))
            if taps.ends:
                wanted.add(_tap(draft.ports[number], "tx", taps))
        for number in sorted(last) if taps.ends else ():
            wanted.add(_tap(draft.ports[number], "rx", taps))
        for number in sorted(first):
            _host_taps(draft, draft.ports[number], taps, _SENDING, wanted)
        for number in sorted(last):
            _host_taps(draft, draft.ports[number], taps, _RECEIVING, wanted)
    return wanted


_SENDING: tuple[Stage, ...] = ("interval-start", "wakeup", "send", "qdisc", "driver")
_RECEIVING: tuple[Stage, ...] = ("kernel-rx", "app-rx")


def _host_taps(
    draft: Draft, port: Port, taps: model.Taps, stages: tuple[Stage, ...], wanted: set[Tap]
) -> None:
    """The requested ones of these stages that the software at their end of the link has."""
    for stage in stages:
        node = port.to if stage in _RECEIVING else port.node
        if stage in taps.stages and (stage == "send" or draft.nodes[node].host is not None):
            wanted.add(_tap(port, stage, taps))


def _tap(port: Port, stage: Stage, taps: model.Taps) -> Tap:
    inbound = stage == "rx" or stage in _RECEIVING
    point = taps.rx_point if inbound else taps.tx_point
    at = port.peer if inbound else port.number
    return Tap(f"{port.name} {stage}", at, stage, point, taps.granularity)


def _order(draft: Draft, tap: Tap) -> tuple[int, int]:
    """By link and direction, in the order in which a frame passes."""
    inbound = tap.stage == "rx" or tap.stage in _RECEIVING
    port = draft.ports[tap.port].peer if inbound else tap.port
    return port, STAGES.index(tap.stage)
