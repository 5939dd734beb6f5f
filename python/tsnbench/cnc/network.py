"""The network of a CNC: the scenario with its own streams, and the streams that clients requested.

The scenario at any moment is the file's text with the requested streams added: its Plan is the Plan of a
scenario that a person could write.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tsnbench import foreign
from tsnbench._native import BoundsMemory, ReadPlan
from tsnbench.cnc.requests import tree_of
from tsnbench.planning.beside import is_separable, without_gates
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.passes import planned
from tsnbench.planning.topology.addressing import FIRST_UDP_PORT, multicast_ipv4
from tsnbench.scenario import ScenarioErrors, load
from tsnbench.scenario.loader import runs_of
from tsnbench.scenario.model import Periodic
from tsnbench.scenario.run import read_known, read_streams
from tsnbench.scenario.text.place import ELSEWHERE, Place
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.tree import Mapping as Tree
from tsnbench.scenario.text.tree import Scalar

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import Bounds
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import Stream as PlanStream
    from tsnbench.planning.draft import Draft
    from tsnbench.scenario import Scenario, model

MOST_SLOTS = 50_000
"""Streams that can have addresses of their own beside those of the scenario."""
_PLACE = Place(ELSEWHERE + 1, 1)
Part = TypeVar("Part", bound=foreign.Part)


@dataclass(frozen=True)
class Requested:
    """A stream that a client requested, as it was written in the language of scenarios."""

    client: str
    written: foreign.Json
    slot: int
    """From this number its addresses follow: they stay when other streams leave."""

    def completed(self, policy: model.Policy) -> foreign.Json:
        """The stream with the policy's PCP and VLAN if it has none, and with addresses that do not depend on
        its place among others."""
        own = {**self.written, "udp-port": FIRST_UDP_PORT + self.slot % (65_536 - FIRST_UDP_PORT)}
        pcp = policy.scheduled_pcp if self.written.get("scheduled") in (True, "true") else policy.pcp
        # The PCP is a part of the tag.
        if pcp is not None and not own.keys() & {"pcp", "class"} and own.get("vlan") != "none":
            own["pcp"] = pcp
        if policy.vlan is not None:
            own.setdefault("vlan", policy.vlan)
        to = self.written.get("to")
        return {**own, "address": multicast_ipv4(self.slot)} if isinstance(to, list) and len(to) > 1 else own


@dataclass(frozen=True)
class Network:
    """The network at one moment; it never changes: an accepted change makes another one."""

    number: int
    """How many changes were accepted before."""
    requested: Mapping[str, Requested]
    plan: Plan
    bounds: Bounds
    """Without the hash of the Plan."""
    read: ReadPlan = field(repr=False, compare=False)
    """The Plan as the native module read it."""
    draft: Draft | None = field(default=None, repr=False, compare=False)
    """The decisions of the Plan, typed; None if it was read from a store and planning finds another one."""

    @property
    def hash(self) -> str:
        """The hash of the Plan. The first one who asks may have to wait: a decision does not."""
        return self.read.hash() or ""

    @property
    def text(self) -> str:
        """The Plan as canonical JSON, with its hash: made anew each time."""
        return self.plan.to_json()

    def flows(self, name: str) -> list[PlanStream]:
        """The flows of a stream of the scenario or of a client; empty if there is none."""
        return [one for one in self.plan.document["streams"] if one["group"] == name]


def at_any_phase(streams: Mapping[str, model.Stream]) -> dict[str, model.Stream]:
    """Streams that have a phase only if somebody wrote it, or the planner chooses it.

    Nobody tells the talker of another stream when to begin, and many have no clock that could.
    """
    found = dict(streams)
    for name, stream in streams.items():
        pattern = stream.pattern
        told = stream.scheduled or "offset" in pattern.model_fields_set
        if isinstance(pattern, Periodic) and not told:
            found[name] = stream.model_copy(update={"pattern": _any_phase(pattern)})
    return found


@lru_cache(maxsize=4096)
def _any_phase(pattern: Periodic) -> Periodic:
    """Thousands of streams share a few patterns."""
    return pattern.model_copy(update={"offset": None})


class Base:
    """The scenario that the service was started with.

    Raises:
        InputError: the file cannot be read or planned, or describes several runs.
    """

    def __init__(self, file: Path) -> None:
        written = load(file)
        self.scenario = written.model_copy(update={"streams": at_any_phase(written.streams)})
        self._origin = written.as_read()
        made = planned(self.scenario)
        self.plan, self.draft = made.plan, made.draft
        self._read: ReadPlan | None = made.read
        flows = [stream["name"] for stream in self.plan.document["streams"]]
        self.names = {*self.scenario.streams, *flows}
        """Names that no client can use."""
        self.separable = is_separable(self.draft, self.plan.document)
        """Whether a change touches only the streams that share a port with its own."""
        self.bare = [without_gates(port) for port in self.draft.ports]
        """The ports without the gates that are planned."""
        self.memory = BoundsMemory()
        """What the bounds of one Plan know for the next one."""
        self.memory_around = BoundsMemory()
        """What the bounds around one change know for those around the next one."""
        self.answers = any("answers" in one for one in self.plan.document["streams"])
        """Whether streams answer others; no requested one does."""
        self._first_slot = len(flows)
        self._known = read_known(self._origin.tree, self._reading()) if self.separable else None
        parts = [self._origin.text.encode(), *(Path(one).read_bytes() for one in self._origin.tables)]
        self.digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
        """Of the text of the scenario and of the tables beside it."""

    def read(self) -> ReadPlan:
        """The Plan of the scenario as the native module reads it; nobody else has it.

        While it is used, all that differs between it and later Plans stays in memory.
        """
        read, self._read = self._read, None
        return read or ReadPlan(self.plan.to_json())

    def _reading(self) -> Reading:
        return Reading(self._origin.file, {}, tables=self._origin.tables)

    def streams(self, requested: Mapping[str, Requested]) -> dict[str, model.Stream] | None:
        """These streams in the scenario's network, if it is separable. None after a mistake:
        :meth:`with_streams` tells it."""
        assert self._known is not None
        added = self._added(requested)
        section = Tree(_PLACE, added, 1 + sum(value.weight for _, value in added))
        try:
            read = read_streams(section, self._reading(), self._known)
        except ScenarioErrors:
            return None
        return None if read is None else at_any_phase(read)

    def with_streams(self, requested: Mapping[str, Requested]) -> Scenario:
        """The scenario with these streams added.

        Raises:
            ScenarioErrors: mistakes of the streams.
            PlanningErrors: a list stands where one value belongs.
        """
        tree, added = self._origin.tree, self._added(requested)
        entries = tuple(
            (key, _joined(value, added) if key.text == "streams" else value) for key, value in tree.entries
        )
        merged = Tree(tree.place, entries, tree.weight + sum(value.weight for _, value in added))
        runs = runs_of(merged, self._origin.file, self._origin.tables)
        if len(runs) != 1:
            paths = runs[0].as_read().swept.values()
            raise PlanningErrors([PlanningProblem(path, "one value", "a list of values") for path in paths])
        return runs[0].model_copy(update={"streams": at_any_phase(runs[0].streams)})

    def _added(self, requested: Mapping[str, Requested]) -> tuple[tuple[Scalar, Tree], ...]:
        """Requested streams as entries of a section."""
        policy = self.scenario.policy
        return tuple(
            (Scalar(_PLACE, name), tree_of(one.completed(policy), _PLACE)) for name, one in requested.items()
        )

    def free_slots(self, requested: Mapping[str, Requested]) -> Iterator[int]:
        """Numbers for addresses that no stream has, the least first."""
        used = {one.slot for one in requested.values()}
        slots = range(self._first_slot, self._first_slot + MOST_SLOTS)
        yield from (slot for slot in slots if slot not in used)


def _joined(streams: object, added: tuple[tuple[Scalar, Tree], ...]) -> Tree:
    """The section of streams with further ones."""
    assert isinstance(streams, Tree)
    weight = streams.weight + sum(value.weight for _, value in added)
    return Tree(streams.place, (*streams.entries, *added), weight)


def of_groups(parts: Sequence[Part], groups: Collection[str]) -> list[Part]:
    """The parts of these groups. Each group is in one piece, and those that joined are at the end."""
    found: list[Part] = []
    unseen = set(groups)
    for part in reversed(parts):
        if part["group"] in groups:
            found.append(part)
            unseen.discard(part["group"])
        elif not unseen:
            break
    return found[::-1]
