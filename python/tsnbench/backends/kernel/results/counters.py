"""Counters of a kernel's talkers, queues and listeners, in the form of the simulator's counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import Queue, space

if TYPE_CHECKING:
    from tsnbench.backends.kernel.device import Ports
    from tsnbench.backends.kernel.results.returned import Returned
    from tsnbench.foreign import Json
    from tsnbench.linux.readback import ReportedQdisc
    from tsnbench.plan.types import PlanDocument, Stream

COUNTERS = ("drops", "overlimits", "requeues")


def by_port(returned: Returned, plan: PlanDocument) -> dict[int, list[ReportedQdisc]]:
    """The qdiscs of each port at the end."""
    reported = returned.qdiscs()
    return {
        number: [one for one in reported.get(space(port["node"]), ()) if one.device == f"p{number}"]
        for number, port in enumerate(plan["ports"])
    }


def by_qdisc(returned: Returned, plan: PlanDocument) -> dict[str, dict[str, dict[str, int]]]:
    """By port and qdisc: dropped, overlimit and requeued frames; qdiscs without any are left out.

    Frames that filters drop before the queues (see :mod:`multicast`) are not counted at a port.
    """
    found: dict[str, dict[str, dict[str, int]]] = {}
    for number, listed in by_port(returned, plan).items():
        for one in listed:
            # Qdiscs without a handle are identified by their parent.
            handle = one.handle if one.handle != "0:" else one.parent or "0:"
            counts = {name: one.counters[name] for name in COUNTERS if one.counters.get(name)}
            if counts and one.kind != "clsact":
                found.setdefault(plan["ports"][number]["name"], {})[f"{one.kind} {handle}"] = counts
    return found


def counters(
    returned: Returned,
    plan: PlanDocument,
    frames: list[list[int]],
    device: Ports,
    gates: dict[int, Json],
) -> Json:
    """All counters of a run.

    ``frames``: number of captured frames by tap and stream; ``gates``: of ports whose lists change.
    """
    ports: list[Json] = [
        {"port": port["name"], "dropped_faults": 0, "classes": list(map(_class, range(len(own)), own))}
        for port, own in zip(plan["ports"], device.queues(plan, by_port(returned, plan)), strict=True)
    ]
    told = {number: text for number in range(len(ports)) if (text := returned.text(f"faults-{number}"))}
    planned = plan.get("faults", []) if told else []
    affected, lost_at = _affected(len(planned), told)
    for number, lost in lost_at.items():
        ports[number]["dropped_faults"] = lost
    for number, own in gates.items():
        ports[number]["gates"] = own
    kinds = [fault["kind"] for fault in planned]
    taps: dict[tuple[int, str], int] = {
        (tap["port"], tap["stage"]): number for number, tap in enumerate(plan["taps"])
    }
    return {
        "simulated_ns": plan["duration_ns"] + plan["drain_ns"],
        "events": 0,
        "frame_hops": sum(one["sent_frames"] for port in ports for one in port["classes"]),
        "interrupted": False,
        "in_network_at_end": 0,
        **(
            {"faults": [{"kind": kind, "frames": n} for kind, n in zip(kinds, affected, strict=True)]}
            if told
            else {}
        ),
        "ports": ports,
        "streams": [
            _stream(returned, plan, number, stream, frames, taps)
            for number, stream in enumerate(plan["streams"])
        ],
    }


def _class(place: int, queue: Queue) -> dict[str, int]:
    """The queue of one class."""
    packets, octets = queue.counters.get("packets", 0), queue.counters.get("bytes", 0)
    # The kernel's count may include the whole overhead on the wire; only the FCS belongs to the frame.
    frame = octets + (4 - queue.overhead) * packets
    return {
        "class": place,
        "enqueued_frames": packets + queue.counters.get("qlen", 0),
        "enqueued_octets": frame,
        "dropped_frames": queue.counters.get("drops", 0),
        "dropped_octets": 0,
        "sent_frames": packets,
        "sent_octets": frame,
        "most_frames": 0,
        "most_octets": 0,
    }


def _stream(
    returned: Returned,
    plan: PlanDocument,
    number: int,
    stream: Stream,
    frames: list[list[int]],
    taps: dict[tuple[int, str], int],
) -> Json:
    talked = returned.talked.get(number)
    released, refused = (talked.frames, talked.refused) if talked else (0, 0)
    delivered = {}
    for listener in stream["listeners"]:
        last = plan["ports"][stream["route"][listener["route"]]["port"]]["peer"]
        if (last, "rx") in taps:
            delivered[plan["nodes"][listener["node"]]["name"]] = frames[taps[last, "rx"]][number]
    # Only the talker's own streams use its port, so a tap there counts the frames that left the talker.
    first = taps.get((stream["route"][0]["port"], "tx"))
    gone = released - frames[first][number] if first is not None else refused
    # A frame is lost if it did not arrive at all listeners.
    lost = max(0, released - gone - min(delivered.values())) if delivered else 0
    return {
        "name": stream["name"],
        "released": released,
        "replicated": 0,
        "dropped_at_talker": max(0, gone),
        "dropped_in_network": lost,
        "delivered": delivered,
    }


def _affected(count: int, reported: Mapping[int, str]) -> tuple[list[int], dict[int, int]]:
    """Number of frames that each fault affected, and number of frames lost by each port; from each port's
    file."""
    faults, lost = [0] * count, {}
    for port, text in reported.items():
        first, *rest = text.splitlines() or ["0"]
        lost[port] = int(first)
        for line in rest:
            number, frames = map(int, line.split())
            faults[number] += frames
    return faults, lost
