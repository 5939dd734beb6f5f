"""What makes a network of the one before it: kilobytes, where a Plan of many streams has megabytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from operator import is_
from typing import TYPE_CHECKING

from tsnbench.cnc.network import Network, Requested, places_of_others

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument

_CHANGED = ("ports", "streams", "taps")
"""The members of a Plan that a stream changes that joins or leaves."""


def difference(before: Network, after: Network) -> Json | None:
    """The parts of a network that the one before it has not, for JSON; None if that is more than the gates of
    ports, the taps, streams that left, and streams at the end.

    Of Plans that were planned one beside the other, the parts that stay are the same objects.
    """
    was: Mapping[str, object] = before.plan.document
    now: Mapping[str, object] = after.plan.document
    if was.keys() != now.keys() or any(now[key] is not was[key] for key in was.keys() - {*_CHANGED}):
        return None
    ports = [before.plan.document["ports"], after.plan.document["ports"]]
    earlier, streams = before.plan.document["streams"], after.plan.document["streams"]
    gone = places_of_others(streams, earlier)
    stay = list(earlier)
    for place in reversed(gone):
        del stay[place]
    if len(ports[0]) != len(ports[1]) or not all(map(is_, stay, streams)):
        return None
    own, known = after.requested, before.requested
    return {
        "plan": after.hash,
        "ports": {str(place): ports[1][place] for place in places_of_others(*ports)},
        "gone": gone,
        "streams": streams[len(stay) :],
        "taps": None if was["taps"] is now["taps"] else now["taps"],
        "left": [name for name, one in known.items() if own.get(name) is not one],
        "requested": {name: asdict(one) for name, one in own.items() if known.get(name) is not one},
    }


def differing(
    document: PlanDocument, requested: Mapping[str, Requested], found: Json
) -> tuple[PlanDocument, dict[str, Requested]]:
    """The Plan and the requested streams after a difference.

    Raises:
        LookupError, TypeError, ValueError: it is no difference of this network.
    """
    gone, left = {*found["gone"]}, {*found["left"]}
    ports = list(document["ports"])
    for number, port in found["ports"].items():
        ports[int(number)] = port
    stay = [stream for place, stream in enumerate(document["streams"]) if place not in gone]
    taps = document["taps"] if found["taps"] is None else found["taps"]
    made: PlanDocument = {**document, "ports": ports, "streams": [*stay, *found["streams"]], "taps": taps}
    streams = {name: one for name, one in requested.items() if name not in left}
    return made, {**streams, **{name: Requested(**one) for name, one in found["requested"].items()}}
