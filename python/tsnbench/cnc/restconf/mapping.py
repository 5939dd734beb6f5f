"""A stream of the module as a stream in the language of scenarios.

IEEE 802.1Q-2022, 46.2.3: what a talker sends and what it and its listeners require. What has no
counterpart here is refused with its path; nothing is left out in silence.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench.cnc.restconf.model import DataError
from tsnbench.cnc.restconf.stations import Interface, Stations
from tsnbench.scenario.model import Policy

if TYPE_CHECKING:
    from tsnbench.foreign import Json

HEADERS = 22
"""Octets of a frame beside MaxFrameSize (46.2.3.5.3): addresses, VLAN tag, type, FCS."""
IP_AND_UDP = 28
SHORTEST_PAYLOAD = 14
"""Octets of UDP payload that fill the shortest tagged frame."""
SHORTEST_FRAME = 64
BOUNDED_PCP, TIME_AWARE_PCP = 5, 7
"""Without a VLAN tag in the request, IEEE 802.1Q-2022, 46.2.3.4.2."""
STRICT_PRIORITY, CREDIT_BASED, ATS = 0, 1, 3
"""IEEE 802.1Q-2022, Table 8-5."""


def name_of(stream_id: str) -> str:
    """The name of a stream in the scenario: a StreamID has a colon, and may begin with a digit."""
    return f"s{stream_id.lower().replace(':', '.')}"


def scenario_stream(
    stream: Json, stations: Stations, latest_ns: int | None = None, policy: Policy | None = None
) -> Json:
    """The stream in the language of scenarios.

    Args:
        stream: data that the model allows. stations: where its ends are.
        latest_ns: of a time-aware talker the latest release, if it is earlier than the request's.
        policy: gives the PCP of a stream without a VLAN tag, if it has one.

    Raises:
        DataError: it asks for something that the service does not have.
    """
    talker = _given(stream, "talker", "talker")
    listeners: list[Json] = stream.get("listener", [])
    if not listeners:
        raise DataError("listener", "it is missing, and nothing can be planned without it")
    tspec = _given(talker, "traffic-specification", "talker/traffic-specification")
    made: Json = {
        "from": _one(talker, "talker", stations).node,
        "to": [
            _one(one, f"listener[{one['index']}]", stations).node
            for one in sorted(listeners, key=lambda one: int(one["index"]))
        ],
        "period": f"{_period_ns(tspec)} ns",
        **_size(tspec),
        **_priority(talker, tspec, policy or Policy()),
    }
    limit = max_latency_ns(stream)
    if limit:
        made["requires"] = {"delay from release": f"{limit} ns"}
    trees = max([_requirement(one, "num-seamless-trees", 1) for one in (talker, *listeners)])
    if trees > 1:
        made["frer"] = {"disjoint": trees}
    if "time-aware" in tspec:
        made |= {"scheduled": True, "release": _window(tspec["time-aware"], latest_ns)}
    return made


def max_latency_ns(stream: Json) -> int:
    """The least limit of talker and listeners (46.2.3.6.2); 0 without one."""
    ends = (stream["talker"], *stream["listener"])
    return min([ns for one in ends if (ns := _requirement(one, "max-latency", 0))], default=0)


def interfaces(stream: Json, stations: Stations) -> tuple[Interface, dict[int, Interface]]:
    """The interface of the talker, and of each listener by its index."""
    ends = {int(one["index"]): _one(one, f"listener[{one['index']}]", stations) for one in stream["listener"]}
    return _one(stream["talker"], "talker", stations), ends


def _given(data: Json, key: str, path: str) -> Json:
    """A part without which nothing can be planned; the module lets it be missing."""
    found: Json | None = data.get(key)
    if not found:
        raise DataError(path, "it is missing, and nothing can be planned without it")
    return found


def _one(end: Json, path: str, stations: Stations) -> Interface:
    named = end["end-station-interfaces"]
    path = f"{path}/end-station-interfaces"
    if len(named) != 1:
        raise DataError(path, f"one interface is supported, {len(named)} are named")
    return stations.of(path, named[0])


def _requirement(end: Json, key: str, default: int) -> int:
    return int(end.get("user-to-network-requirements", {}).get(key, default))


def _period_ns(tspec: Json) -> int:
    path = "talker/traffic-specification/interval"
    interval = tspec.get("interval", {})
    above, below = interval.get("numerator", 0), interval.get("denominator", 0)
    if not above or not below:
        raise DataError(path, "numerator and denominator have to be greater than 0")
    period = Fraction(above, below) * 10**9
    if period.denominator != 1:
        raise DataError(path, f"{above}/{below} s is no whole number of nanoseconds")
    return int(period)


def _size(tspec: Json) -> Json:
    """The frames of one interval; several follow each other back to back."""
    path = "talker/traffic-specification"
    octets, frames = tspec.get("max-frame-size", 0), tspec.get("max-frames-per-interval", 0)
    if not octets:
        raise DataError(f"{path}/max-frame-size", "it has to be greater than 0")
    if not frames:
        raise DataError(f"{path}/max-frames-per-interval", "it has to be greater than 0")
    if frames == 1:
        return {"frame": f"{max(octets + HEADERS, SHORTEST_FRAME)} B"}
    payload = max(octets - IP_AND_UDP, SHORTEST_PAYLOAD)
    return {"units": {"sizes": [f"{frames * payload} B"], "most-per-frame": f"{payload} B"}}


def _priority(talker: Json, tspec: Json, policy: Policy) -> Json:
    """VLAN and priority: those of the request, or the service's own where the policy has none."""
    tag: Json = {}
    for one in talker.get("data-frame-specification", ()):
        path = f"talker/data-frame-specification[{one['index']}]"
        if "ipv4-tuple" in one or "ipv6-tuple" in one:
            raise DataError(path, "streams are identified by MAC addresses and VLAN, not by IP")
        tag = one.get("ieee802-vlan-tag", tag)
    how = tspec.get("transmission-selection", STRICT_PRIORITY)
    if how not in (STRICT_PRIORITY, CREDIT_BASED, ATS):
        path = "talker/traffic-specification/transmission-selection"
        raise DataError(path, "0 (strict priority), 1 (credit-based) and 3 (ATS) are supported")
    made: Json = {}
    if vid := tag.get("vlan-id", 0):
        made["vlan"] = str(vid)
    if "priority-code-point" in tag:
        made["pcp"] = tag["priority-code-point"]
    elif how == CREDIT_BASED:
        made["class"] = "sr/A"
    else:
        aware = "time-aware" in tspec
        own = policy.scheduled_pcp if aware else policy.pcp
        made |= {"pcp": TIME_AWARE_PCP if aware else BOUNDED_PCP} if own is None else {}
    return made


def _window(aware: Json, latest_ns: int | None) -> Json:
    """Earliest and latest release (46.2.3.5.5 to 46.2.3.5.6)."""
    if aware.get("jitter", 0):
        path = "talker/traffic-specification/time-aware/jitter"
        raise DataError(path, "releases are planned without jitter: the scenario's schedule.margin is for it")
    window = {"earliest": f"{aware.get('earliest-transmit-offset', 0)} ns"}
    latest = [ns for ns in (aware.get("latest-transmit-offset") or None, latest_ns) if ns is not None]
    return {**window, "latest": f"{min(latest)} ns"} if latest else window
