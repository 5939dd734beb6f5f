"""What makes a network of the one before it: kilobytes, where a Plan of many streams has megabytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from tsnbench.cnc.network import Network, Requested

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument


def difference(before: Network, after: Network) -> Json | None:
    """The parts of a network that the one before it has not, for JSON; None if that is more than the gates of
    ports, the taps, streams that left, and streams at the end.

    Of Plans that were planned one beside the other, the native module found what differs.
    """
    found = after.read.differs(before.read)
    was, now = before.plan.document, after.plan.document
    if found is None:
        return None
    ports, gone, joined = found
    first = len(now["streams"]) - len(joined)
    if joined and joined[0] != first:
        return None
    own, known = after.requested, before.requested
    return {
        "plan": after.hash,
        "ports": {str(place): now["ports"][place] for place in ports},
        "gone": gone,
        "streams": now["streams"][first:],
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
