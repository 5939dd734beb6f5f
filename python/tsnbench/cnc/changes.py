"""Changes that clients request, and what the CNC decided about each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.planning.errors import PlanningProblem
from tsnbench.scenario.errors import Problem
from tsnbench.scenario.text.tree import shown

if TYPE_CHECKING:
    from tsnbench.foreign import Json, Part

LARGEST_LOGGED = 1 << 12
"""Octets of a change in the log."""
MOST_LOGGED = 20
"""Names of a larger change; flows, listeners and reasons of any decision."""
Reason = PlanningProblem | Problem
"""Why a change is wrong or refused: path, expected, found and a hint."""


@dataclass(frozen=True)
class Change:
    """Streams to remove and to add, all or none. A name in both replaces that stream."""

    client: str
    add: Part = field(default_factory=dict)
    """By name, in the language of scenarios; not yet checked."""
    remove: Sequence[str] = ()
    expected: str = ""
    """The hash of the Plan that the client knows; empty if any will do."""
    tidy: Sequence[str] = ()
    """Streams that may get another place; then nothing is added or removed."""

    def document(self) -> Json:
        """The change for JSON; of a large one the first names alone."""
        found = {"add": dict(self.add), "remove": list(self.remove)}
        if self.tidy:
            found["tidy"] = list(self.tidy[:MOST_LOGGED])
        if len(json.dumps(found)) <= LARGEST_LOGGED:
            return found
        return {
            "add": {shown(name): None for name in islice(self.add, MOST_LOGGED)},
            "remove": [shown(name) for name in self.remove[:MOST_LOGGED]],
            "more": max(0, len(self.add) - MOST_LOGGED) + max(0, len(self.remove) - MOST_LOGGED),
        }


class Kind(Enum):
    """What is wrong with a change that is not accepted."""

    WRONG = "wrong"
    """It cannot be read."""
    FOREIGN = "foreign"
    """It concerns a stream of another client, or of the scenario."""
    TAKEN = "taken"
    """Another stream has the name."""
    CHANGED = "changed"
    """The network is not the one that the client knows."""
    UNKNOWN = "unknown"
    """It removes a stream that is not there."""
    REFUSED = "refused"
    """The network has no room for it."""
    DEVICES = "devices"
    """A device did not take the configuration; all have their earlier one."""
    HALTED = "halted"
    """The Plan in force is not the one that planning everything finds: nothing is admitted any more."""


class NotAcceptedError(InputError):
    """A change that is not accepted: the network is as it was.

    Example:
        >>> from tsnbench.cnc.changes import Kind, NotAcceptedError
        >>> from tsnbench.planning.errors import PlanningProblem
        >>> problem = PlanningProblem("streams.cam", "a stream that was requested", "none of this name")
        >>> print(NotAcceptedError(Kind.UNKNOWN, [problem]))
        streams.cam: expected a stream that was requested, found none of this name
    """

    def __init__(self, kind: Kind, problems: Sequence[Reason]) -> None:
        self.kind = kind
        # Without their places, which are those of the scenario's file: the stream is in no file.
        self.problems = tuple(
            PlanningProblem(one.path, one.expected, one.found, one.hint) for one in problems
        )
        super().__init__("\n".join(str(problem) for problem in self.problems))


class SettingError(InputError):
    """A store or a file of clients that a service cannot use, or a certificate that a client cannot use.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench.cnc.changes import SettingError
        >>> from tsnbench.cnc.server.clients import read_clients
        >>> _ = Path("tokens.toml").write_text("[camera]", encoding="utf-8")
        >>> try:
        ...     read_clients(Path("tokens.toml"))
        ... except SettingError as error:
        ...     print(error)
        tokens.toml: camera: expected a client with token or certificate, and scope, found other keys
    """


def reasons_of(problems: Sequence[PlanningProblem]) -> list[dict[str, str]]:
    """Reasons for JSON: the first ones, and how many more there are."""
    if len(problems) > MOST_LOGGED:
        more = f"{len(problems) - MOST_LOGGED} more reasons"
        last = PlanningProblem(problems[0].path, "none of them", more)
        problems = [*problems[:MOST_LOGGED], last]
    return [
        {
            "path": one.path,
            "expected": one.expected,
            "found": one.found,
            "hint": one.hint or "",
            "code": one.code,
        }
        for one in problems
    ]


@dataclass(frozen=True)
class Decision:
    """What was decided about a change, for the client, the log and the page."""

    number: int
    """Of all decisions, from 1."""
    at: str
    """ISO 8601, UTC."""
    client: str
    change: Json
    outcome: str
    """``accepted``, or the kind of :class:`NotAcceptedError`."""
    plan: str
    """The hash of the Plan in force afterwards."""
    reasons: Sequence[Mapping[str, str]] = ()
    streams: Sequence[Part] = ()
    """Of accepted streams the facts: offset, worst case, margin."""
    parts_ms: Mapping[str, float] = field(default_factory=dict)
    """The time of each part of the decision."""
    notes: Sequence[str] = ()
    """Of the devices."""
    in_force_ns: int | None = None
    """From this instant on (TAI), all devices have the Plan's gate control lists: talkers begin after it.
    None: the service has no devices, or these have no lists."""
    transition: Mapping[str, int | None] | None = None
    """Of an accepted change: ``drain_ns``, how long after its talker stopped the last frame of a stream that
    leaves is gone at most; ``until_ns``, when it is gone at the latest (TAI) if talkers go on until
    ``in_force_ns``."""
    together: Sequence[Part] = ()
    """All changes that were planned at once with this one, if that admitted more than one after the other; of
    each its decision's ``number``, ``client``, first ``streams``, and whether it is admitted
    ``only_together``. Empty: it was decided alone."""

    @property
    def accepted(self) -> bool:
        return self.outcome == "accepted"

    def logged(self) -> Decision:
        """The decision for the log, where a client's request may not take any room it likes."""
        flows = [{**one, "listeners": one["listeners"][:MOST_LOGGED]} for one in self.streams[:MOST_LOGGED]]
        return replace(self, streams=flows)

    def document(self) -> Json:
        """The decision for JSON."""
        return {
            "number": self.number,
            "at": self.at,
            "client": self.client,
            "change": self.change,
            "outcome": self.outcome,
            "plan": self.plan,
            "reasons": list(self.reasons),
            "streams": list(self.streams),
            "parts_ms": dict(self.parts_ms),
            "notes": list(self.notes),
            "in_force_ns": self.in_force_ns,
            "transition": None if self.transition is None else dict(self.transition),
            "together": list(self.together),
        }
