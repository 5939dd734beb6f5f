"""The streams that CUCs want, and the operations that the writer carries out on them.

A stream of a CUC is planned when it is written, and configured when a computation has admitted it. What is
in the network follows from the network; here is only what the CUC wrote, and why a computation failed.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import time
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.cnc.changes import Change, Decision, Kind, NotAcceptedError
from tsnbench.cnc.devices import NetconfDevices
from tsnbench.cnc.network import Network
from tsnbench.cnc.restconf.mapping import max_latency_ns, name_of, scenario_stream
from tsnbench.cnc.restconf.model import DataError, Model
from tsnbench.cnc.restconf.stations import Stations
from tsnbench.cnc.restconf.status import MOST_NS, RESOURCES, STREAM_ID, failure_code, latency_ns
from tsnbench.cnc.service import Service
from tsnbench.plan.streams import release_ns
from tsnbench.planning.errors import PlanningProblem

if TYPE_CHECKING:
    from tsnbench.foreign import Json

MOST_WANTED = 10_000
MOST_OFFERED = 1_000
MOST_NAME = 64
"""Characters of the name of a CUC."""


class NotAllowedError(ValueError):
    """The client may not change this stream, or it has changed meanwhile; ``status`` is that of HTTP."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Wanted:
    """What a CUC wrote about one stream."""

    cuc: str
    client: str
    stream: Json
    failure: int = 0
    """The failure code of the last computation (IEEE 802.1Q-2022, Table 46-15)."""
    reasons: Sequence[Mapping[str, str]] = field(default_factory=list)
    """Why it failed."""
    admitted: Json = field(default_factory=dict)
    """The stream as it was when it was admitted; empty before."""


class Streams:
    """The streams of all CUCs.

    Args:
        service: the CNC. model: judges the data.
    """

    def __init__(self, service: Service, model: Model) -> None:
        self.service, self.model = service, model
        self.domain = str(service.base.plan.name)
        """The only configuration domain: the name of the scenario."""
        devices = service.devices
        names = devices.interfaces if isinstance(devices, NetconfDevices) else {}
        self.stations = Stations(service.base.plan.document, names)
        self.offered: deque[str] = deque(maxlen=MOST_OFFERED)
        """The last StreamIDs that were told to be free: nobody else is told the same."""
        kept = service.store.wanted() if service.store else {}
        self._wanted: dict[str, Wanted] = {key: Wanted(**one) for key, one in kept.items()}
        self.changed_s = time()
        """When the configuration changed last, or was read from the store: a Unix time."""
        self._tagged: tuple[Mapping[str, Wanted], str] = {}, ""
        """The last configuration whose tag was made, and the tag."""

    def all(self) -> dict[str, Wanted]:
        """Every stream by its identifier, at this moment."""
        return self._wanted.copy()

    @property
    def tag(self) -> str:
        """The entity tag of the whole configuration (RFC 8040, 3.4.1.2); state does not change it."""
        now, (tagged, tag) = self._wanted, self._tagged
        if tagged is not now:
            parts = [f"{key} {one.cuc} {tag_of(one)}\n" for key, one in sorted(now.items())]
            tag = hashlib.sha256("".join(parts).encode()).hexdigest()[:32]
            self._tagged = now, tag
        return tag

    def status(self, stream_id: str, one: Wanted) -> str:
        """planned, configured or modified (IEEE 802.1Q-2022, 46.2.3.8)."""
        if name_of(stream_id) not in self.service.network.requested:
            return "planned"
        return "configured" if one.admitted == one.stream else "modified"

    def write(self, client: str, cuc: str, stream: Json, expected: str = "") -> bool:
        """Writes a stream; returns whether it is new. Only the writer calls it.

        ``expected``: the tag that the client knows; empty if any will do.

        Raises:
            DataError: the model or the service does not allow it. NotAllowedError: it is another client's.
        """
        if not 0 < len(cuc) <= MOST_NAME or not cuc.isprintable():
            raise DataError("", f"a CUC has a name of at most {MOST_NAME} printable characters")
        self.model.check(self.domain, cuc, stream)
        self._in_words(stream)
        key = canonical(stream["stream-id"])
        before = self._wanted.get(key)
        self._check(client, cuc, before, expected)
        if before is None and len(self._wanted) >= MOST_WANTED:
            raise NotAllowedError(507, f"at most {MOST_WANTED} streams")
        most = self.service.rules.most_of(client) if before is None else None
        if most is not None and sum(one.client == client for one in self._wanted.values()) >= most:
            raise NotAllowedError(409, f"at most {most} streams of {client}")
        own = replace(before, stream=stream) if before else Wanted(cuc, client, stream)
        self._keep({key: own})
        return before is None

    def patch(self, client: str, cuc: str, stream_id: str, change: Json, expected: str = "") -> None:
        """Merges values into a stream (RFC 8040, 4.6.1). Only the writer calls it.

        Raises:
            DataError: the model does not allow the result. NotAllowedError: there is no such stream, or it is
                another client's.
        """
        own = self._wanted.get(canonical(stream_id))
        if own is None or own.cuc != cuc:
            raise NotAllowedError(404, f"no stream {canonical(stream_id)} of this CUC")
        self.write(client, cuc, self.model.merged(own.stream, change), expected)

    def remove(self, client: str, cuc: str, ids: Iterable[str], expected: str = "") -> None:
        """Removes streams from the network and from the list: all or none. Only the writer calls it.

        Raises:
            NotAllowedError: there is no such stream, it is another client's, or it cannot be removed.
        """
        keys = [canonical(one) for one in ids]
        for key in keys:
            if key not in self._wanted:
                raise NotAllowedError(404, f"no stream {key} of this CUC")
            self._check(client, cuc, self._wanted[key], expected)
        placed = [name_of(key) for key in keys if name_of(key) in self.service.network.requested]
        if placed:
            decision = self.service.decide(Change(client, {}, placed))
            if not decision.accepted:
                raise NotAllowedError(409, _words(decision))
        self._keep(dict.fromkeys(keys))

    def compute(self, client: str, ids: Iterable[str]) -> dict[str, int]:
        """Computes streams one after the other, those of the least rank first; returns the failure code of
        each. Only the writer calls it.

        IEEE 802.1Q-2022, 46.2.3.2 (StreamRank), 46.2.7.
        """
        keys = sorted({canonical(one) for one in ids} & self._wanted.keys(), key=self._rank)
        return {key: self._compute(client, key) for key in keys}

    def _in_words(self, stream: Json, latest_ns: int | None = None) -> Json:
        return scenario_stream(stream, self.stations, latest_ns, self.service.base.scenario.policy)

    def _rank(self, key: str) -> tuple[int, str]:
        return self._wanted[key].stream["talker"].get("stream-rank", {}).get("rank", 1), key

    def _compute(self, client: str, key: str) -> int:
        own = self._wanted[key]
        if self.status(key, own) == "configured":
            return 0
        name, before = name_of(own.stream["stream-id"]), self.service.network.requested
        change = Change(own.client, {name: self._in_words(own.stream)})
        change = replace(change, remove=(name,) if name in before else ())
        decision = self.service.decide(change, self._early_enough(own, change))
        if decision.accepted:
            self._keep({key: replace(own, failure=0, reasons=[], admitted=own.stream)})
            return 0
        taken = decision.outcome in (Kind.TAKEN.value, Kind.FOREIGN.value)
        code = STREAM_ID if taken else failure_code(decision.reasons) or RESOURCES
        self._keep({key: replace(own, failure=code, reasons=[*decision.reasons])})
        return code

    def _early_enough(self, own: Wanted, change: Change) -> Callable[[Network], Change | None]:
        """Of a time-aware talker, the latency counts from the start of its interval (46.2.5.2).

        The planner limits the delay from the release on. If the release is too late, an earlier one is
        requested once.
        """
        stream, name = own.stream, name_of(own.stream["stream-id"])
        limit, tried = max_latency_ns(stream) or MOST_NS, False

        def fit(after: Network) -> Change | None:
            nonlocal tried
            late = max((latency_ns(after, stream) or {}).values(), default=0)
            if late <= limit:
                return None
            released = max(release_ns(one) if "scheduled" in one else 0 for one in after.flows(name))
            latest = limit - (late - released)
            if tried or latest < 0 or not released:
                found = f"{quantities.time(late)} from the start of the interval"
                expected = f"a max-latency of at least {quantities.time(late)}"
                problem = PlanningProblem(f"streams.{name}.requires", expected, found)
                raise NotAcceptedError(Kind.REFUSED, [problem])
            tried = True
            return replace(change, add={name: self._in_words(stream, latest)})

        return fit

    def _check(self, client: str, cuc: str, own: Wanted | None, expected: str) -> None:
        if own is None:
            if expected:
                raise NotAllowedError(412, "there is no such stream")
            return
        if own.cuc != cuc:
            raise NotAllowedError(409, "the StreamID is that of another CUC's stream")
        if not self.service.rules.may_change(client, own.client):
            raise NotAllowedError(403, "the stream of another client")
        if expected and expected != tag_of(own):
            raise NotAllowedError(412, "the stream has changed")

    def _keep(self, changed: Mapping[str, Wanted | None]) -> None:
        if self.service.store is not None:
            documents = {key: asdict(one) if one else None for key, one in changed.items()}
            self.service.store.keep_wanted(documents)
        made = self._wanted.copy()
        for key, one in changed.items():
            before = made.pop(key, None) if one is None else made.get(key)
            if one is not None:
                made[key] = one
            if one is None or before is None or before.stream != one.stream:
                self.changed_s = time()
        self._wanted = made


def canonical(stream_id: str) -> str:
    """A StreamID in the form in which two of them can be compared."""
    return stream_id.upper()


def tag_of(own: Wanted) -> str:
    """The entity tag of what was written: it changes with each value."""
    return hashlib.sha256(json.dumps(own.stream, sort_keys=True).encode()).hexdigest()[:32]


def _words(decision: Decision) -> str:
    first = decision.reasons[0]
    return f"{first['path']}: expected {first['expected']}, found {first['found']}"
