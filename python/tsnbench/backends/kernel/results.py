"""What a kernel brought back, as a run folder has it: observations, counters, and whether to trust them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench.backends.kernel import harm, lists, ports, readback, shaping, stages
from tsnbench.backends.kernel.site import GUEST as ABLE
from tsnbench.backends.kernel.site import Abilities
from tsnbench.backends.kernel.wire import Wire, dilated
from tsnbench.errors import BackendError
from tsnbench.linux import compare, explain, qdiscs, read_qdiscs
from tsnbench.runs.clearing import claim
from tsnbench.runs.errors import DISK, unwritable

BUSIEST = 0.9
"""Of the guest's one processor: above this, delays are those of the processor."""
SHORTEST_S = 0.2
"""Of a shorter run it is not said; late talkers and lost frames are."""
LATEST_NS = 1_000_000
"""A talker that is later than this in the Plan's time was kept from its work; in the kernel's: a warning."""
HOPELESS_NS = 50_000_000
"""So late, a talker that shares the machine was not kept from its work: it had none of it."""
NO_SEND = "only a node's own talkers and listeners say when frames pass its stages, and none did here"


@dataclass(frozen=True)
class Kernel:
    """Whose results these are: a guest has its processor to itself, a machine is shared with others."""

    words: str
    latest_ns: int
    alone: bool
    can: Abilities = ABLE


GUEST = Kernel("the guest's kernel", LATEST_NS, True)
SHARED = Kernel("this machine's kernel", HOPELESS_NS, False)


def check(
    back: dict[str, bytes],
    plan: dict[str, Any],
    dilate: int,
    wire: Wire = Wire.VETH,
    kernel: Kernel = GUEST,
) -> dict[str, Any]:
    """How busy the kernel was, how late talkers and steps were, and what its qdiscs counted.

    Raises:
        BackendError: the set-up was refused, frames were lost uncounted, or the processor was saturated.
    """
    log = _text(back, "job.log").strip()
    if _text(back, "job.status").strip() != "0":
        raise BackendError(f"{kernel.words} did not do what was asked:\n{log[-1500:]}{_meaning(log)}")
    if wire is Wire.TSNPORT:
        _compare(back, dilated(plan, dilate))
        gates(back, plan, dilate)
    else:
        _read_back(back, plan, dilate, kernel)
    busy = _busy(back, plan["duration_ns"] * dilate / 1e9) if kernel.alone else None
    if busy is not None and busy > BUSIEST:
        raise BackendError(
            f"the guest's processor was busy {busy:.0%} of the time: its delays would be the processor's\n"
            "hint: stretch time with --dilate 10, or let talkers talk less"
        )
    dropped = _softnet(back, "after") - _softnet(back, "before")
    if dropped:
        raise BackendError(f"{kernel.words} dropped {dropped} frames before its qdiscs saw them")
    for number, tap in enumerate(plan["taps"]):
        if f"tap-{number}.pcap" not in back:
            continue
        said = _text(back, f"tap-{number}.log")
        if _captured(said) is None or "No space" in said:
            raise BackendError(f"the capture at {tap['name']} broke off: {said.strip()[-200:]}")
        lost = re.search(r"(\d+) packets? dropped by kernel", said)
        if lost and int(lost[1]):
            raise BackendError(f"the capture at {tap['name']} lost {lost[1]} frames")
        received = re.search(r"(\d+) packets? received by filter", said)
        if received and int(received[1]) > (_captured(said) or 0):
            raise BackendError(
                f"the capture at {tap['name']} wrote {_captured(said)} of {received[1]} frames"
            )
    late = {
        plan["streams"][int(stream)]["name"]: {"most_ns": int(most), "mean_ns": int(mean)}
        for stream, (_, _, most, mean, _) in _talked(back).items()
    }
    stages.check(back)
    for stream, facts in late.items():
        if facts["most_ns"] > kernel.latest_ns * dilate:
            raise BackendError(
                f"the talker of {stream} was up to {facts['most_ns'] / 1e6:.1f} ms late\n"
                "hint: stretch time with --dilate 10, or let talkers talk less"
            )
    warnings = [
        f"the talker of {stream} was up to {facts['most_ns'] / 1e6:.1f} ms late"
        for stream, facts in late.items()
        if facts["most_ns"] > LATEST_NS
    ]
    missed = {plan["streams"][int(one)]["name"]: n for one, (*_, n) in _talked(back).items() if n}
    found: dict[str, Any] = {"processor_busy": busy, "talkers_late": late, "qdiscs": counted(back, plan)}
    if done := steps(back):
        found["steps"] = done
    if missed:
        found["launch_times_missed"] = missed
    return found | ({"warnings": warnings} if warnings else {})


def _read_back(back: dict[str, bytes], plan: dict[str, Any], dilate: int, kernel: Kernel) -> None:
    """What ``tc`` was told is what the kernel does at the end.

    Raises:
        BackendError: it is not.
    """
    listed = {
        name.removeprefix("qdisc-").removesuffix(".json"): json.dumps(read_json(_text(back, name)))
        for name in back
        if name.startswith("qdisc-")
    }
    if wrong := readback.differences(plan, listed, dilate, kernel.can):
        words = "\n".join(f"  {one}" for one in wrong[:12])
        raise BackendError(f"{kernel.words} does not do what it was told:\n{words}")


def _meaning(log: str) -> str:
    """What the kernel's words mean, where that is known."""
    found = explain(log)
    return f"\nthat is: {found.reason}\nhint: {found.remedy}" if found else ""


def steps(back: dict[str, bytes]) -> list[dict[str, int]]:
    """What was done to the network at run time, and how late (ns)."""
    said = (_text(back, name) for name in sorted(back) if name == "steps" or name.startswith("steps-n"))
    rows = (map(int, line.split()) for text in said for line in text.splitlines())
    return [{"at_ns": at, "late_ns": late} for at, late in rows]


def counted(back: dict[str, bytes], plan: dict[str, Any]) -> dict[str, dict[str, dict[str, int]]]:
    """By port and qdisc: what was dropped, held back or sent again; those that counted nothing are left out.

    What filters drop before the queues (see :mod:`groups`) is no port's.
    """
    found: dict[str, dict[str, dict[str, int]]] = {}
    for number, port in enumerate(plan["ports"]):
        for handle, one in _qdiscs(back, plan, number).items():
            counts = {
                name: int(one.get(name, 0)) for name in ("drops", "overlimits", "requeues") if one.get(name)
            }
            if counts and one["kind"] != "clsact":
                found.setdefault(port["name"], {})[f"{one['kind']} {handle}"] = counts
    return found


def _compare(back: dict[str, bytes], plan: dict[str, Any]) -> None:
    """The same for the device's own qdiscs, to the last number.

    Raises:
        BackendError: something is not as it was meant.
    """
    how = ports.profile(plan, int(_text(back, "epoch")))
    for node in range(len(plan["nodes"])):
        found = read_qdiscs(json.dumps(read_json(_text(back, f"qdisc-n{node}.json"))))
        for number, port in enumerate(plan["ports"]):
            if port["node"] != node:
                continue
            own = ports.port(plan, number)
            asked = lists.asked(plan, number)
            root = qdiscs.root(own, how, asked[-1] if asked else None)
            if unlike := compare(f"p{number}", root, qdiscs.children(own, how), found):
                raise BackendError(f"{port['name']}: " + "; ".join(map(str, unlike)))
            there = [one.options for one in found if one.device == f"p{number}" and one.kind == "taprio"]
            if root.flags is None and any("admin" in options for options in there):
                # A list that never came into force: whatever resets taprio stops its timer.
                raise BackendError(f"{port['name']}: the kernel's gates did not run")


def gates(back: dict[str, bytes], plan: dict[str, Any], dilate: int) -> dict[int, dict[str, Any]]:
    """Of each port whose gates change: what came into force when.

    Raises:
        BackendError: other than the Plan has it.
    """
    epoch = int(_text(back, "epoch"))
    return {
        number: lists.counted(plan, number, _text(back, f"lists-{number}"), epoch, dilate)
        for number in lists.changing(plan)
    }


def observe(
    back: dict[str, bytes],
    plan: dict[str, Any],
    text: str,
    folder: Path,
    dilate: int,
    pcap: bool,
    wire: Wire = Wire.VETH,
    clock: str = "guest",
) -> None:
    """Writes ``observations.parquet`` and ``counters.json``; the captures stay where they are asked for.

    Raises:
        BackendError: they cannot be read.
    """
    from tsnbench import _native

    captures = folder / "captures"
    names = {}
    for number, tap in enumerate(plan["taps"]):
        if f"tap-{number}.pcap" in back:
            words = "-".join(re.findall(r"[\w.]+", tap["name"]))[:60]
            names[number] = f"{number:02}-{words}.pcap"
    claim(folder, [f"captures/{name}" for name in (*names.values(), *stages.names(back))])
    captures.mkdir()
    files = []
    for number, name in names.items():
        path = captures / name
        path.write_bytes(back[f"tap-{number}.pcap"])
        files.append((number, str(path)))
    noted = stages.logs(back, captures)
    asked = {"epoch_ns": int(_text(back, "epoch")), "dilate": dilate, "files": files, "logs": noted}
    try:
        sighted = json.loads(
            _native.observe_captures(
                text, json.dumps(asked), str(folder / "observations.parquet"), clock, NO_SEND
            )
        )
    except OSError as error:
        if error.errno in DISK:
            raise unwritable(folder, error) from error
        raise BackendError(f"the {clock}'s captures cannot be used: {error}") from error
    except ValueError as error:
        raise BackendError(f"the {clock}'s captures cannot be used: {error}") from error
    for written in noted:
        Path(written).unlink()
    read = sum(sum(sighted["frames"][number]) for number, _ in files) + sighted["foreign"]
    captured = sum(_captured(_text(back, f"tap-{number}.log")) or 0 for number, _ in files)
    if read != captured:
        raise BackendError(f"of {captured} captured frames {read} can be read")
    if not pcap:
        for _, written in files:
            Path(written).unlink()
        captures.rmdir()
    counted = counters(back, plan, sighted["frames"], wire)
    for number, found in gates(back, plan, dilate).items() if wire is Wire.TSNPORT else ():
        counted["ports"][number]["gates"] = found
    (folder / "counters.json").write_text(json.dumps(counted, indent=2) + "\n", encoding="utf-8")


def counters(
    back: dict[str, bytes], plan: dict[str, Any], frames: list[list[int]], wire: Wire = Wire.VETH
) -> dict[str, Any]:
    """As the simulator's: what talkers, queues and listeners counted."""
    talked = _talked(back)
    listed = [_port(back, plan, number, wire) for number in range(len(plan["ports"]))]
    said = {number: text for number in range(len(listed)) if (text := _text(back, f"faults-{number}"))}
    struck, lost_at = harm.struck(plan, said)
    for number, frames_lost in lost_at.items():
        listed[number]["dropped_faults"] = frames_lost
    taps = {(tap["port"], tap["stage"]): number for number, tap in enumerate(plan["taps"])}
    streams = []
    for number, stream in enumerate(plan["streams"]):
        released, refused, _, _, _ = talked.get(str(number), (0, 0, 0, 0, 0))
        delivered = {}
        for listener in stream["listeners"]:
            last = plan["ports"][stream["route"][listener["route"]]["port"]]["peer"]
            if (last, "rx") in taps:
                delivered[plan["nodes"][listener["node"]]["name"]] = frames[taps[last, "rx"]][number]
        # At the talker's port only its own streams are, so what left there is known where there is a tap.
        first = taps.get((stream["route"][0]["port"], "tx"))
        gone = released - frames[first][number] if first is not None else refused
        # Frames that did not come to every listener.
        lost = max(0, released - gone - min(delivered.values())) if delivered else 0
        streams.append(
            {
                "name": stream["name"],
                "released": released,
                "replicated": 0,
                "dropped_at_talker": max(0, gone),
                "dropped_in_network": lost,
                "delivered": delivered,
            }
        )
    kinds = [fault["kind"] for fault in plan.get("faults", ())] if said else []
    faults = (
        {"faults": [{"kind": kind, "frames": n} for kind, n in zip(kinds, struck, strict=True)]}
        if said
        else {}
    )
    return {
        "simulated_ns": plan["duration_ns"] + plan["drain_ns"],
        "events": 0,
        "frame_hops": sum(own["sent_frames"] for port in listed for own in port["classes"]),
        "interrupted": False,
        "in_network_at_end": 0,
        **faults,
        "ports": listed,
        "streams": streams,
    }


def _port(back: dict[str, bytes], plan: dict[str, Any], number: int, wire: Wire) -> dict[str, Any]:
    """The queues of a port by class: by handles from 20: up (see :mod:`shaping`), or by parent."""
    port = plan["ports"][number]
    there = _qdiscs(back, plan, number)
    by_parent = {one["parent"].rpartition(":")[2]: one for one in there.values() if _below_root(one)}
    classes = []
    for place in range(len(port["classes"])):
        if wire is Wire.TSNPORT:
            one = by_parent.get(f"{place + 1:x}", {})
            counted = ports.added(plan, number, one.get("kind", ""))
        else:
            one = there.get(f"{0x20 + place:x}:", {})
            counted = shaping.OVERHEAD
        packets, octets = one.get("packets", 0), one.get("bytes", 0)
        dropped = one.get("drops", 0)
        # What the kernel counted may hold all that a frame costs on the wire; only FCS belongs to the frame.
        frame = octets + (4 - counted) * packets
        classes.append(
            {
                "class": place,
                "enqueued_frames": packets + one.get("qlen", 0),
                "enqueued_octets": frame,
                "dropped_frames": dropped,
                "dropped_octets": 0,
                "sent_frames": packets,
                "sent_octets": frame,
                "most_frames": 0,
                "most_octets": 0,
            }
        )
    return {"port": port["name"], "dropped_faults": 0, "classes": classes}


def _qdiscs(back: dict[str, bytes], plan: dict[str, Any], number: int) -> dict[str, Any]:
    """A port's qdiscs by handle; those that nobody named, by parent."""
    listed = read_json(_text(back, f"qdisc-n{plan['ports'][number]['node']}.json"))
    mine = [one for one in listed if one.get("dev") == f"p{number}"]
    return {one["handle"] if one["handle"] != "0:" else one.get("parent", "0:"): one for one in mine}


def _below_root(one: dict[str, Any]) -> bool:
    major, _, minor = str(one.get("parent", "")).partition(":")
    return major in ("", str(qdiscs.HANDLE)) and bool(minor)


def read_json(text: str) -> Any:
    """What ``tc -j`` or ``ip -j`` printed; iproute2 6.1 gives a taprio list to come no key."""
    return json.loads(re.sub(r'((?:":-?\d+|\]),)\{"base_time"', r'\1"admin":{"base_time"', text) or "[]")


def _talked(back: dict[str, bytes]) -> dict[str, tuple[int, int, int, int, int]]:
    """By stream: frames, of which refused, latest and mean lateness in ns, and how many missed their launch
    times."""
    found = {}
    for name, content in back.items():
        if name.startswith("talk-"):
            for line in content.decode().splitlines():
                stream, frames, refused, most, mean, missed, invalid = line.split()
                found[stream] = (int(frames), int(refused), int(most), int(mean), int(missed) + int(invalid))
    return found


def _captured(said: str) -> int | None:
    """How many frames tcpdump says that it took."""
    found = re.search(r"(\d+) packets? captured", said)
    return int(found[1]) if found else None


def _busy(back: dict[str, bytes], talking_s: float) -> float | None:
    """The share of the time in which talkers talk that the processor worked; rather too little than too much.

    Both readings are taken a second before that time and after it, in steps of 10 ms: None for short runs.
    """
    if talking_s < SHORTEST_S:
        return None
    before, after = (
        [float(word) for word in _text(back, f"cpu-{when}").split()] for when in ("before", "after")
    )
    passed, idle = (late - early for early, late in zip(before, after, strict=True))
    return round(max(0.0, passed - idle - 0.03) / talking_s, 3)


def _softnet(back: dict[str, bytes], when: str) -> int:
    """Second column: dropped because the backlog was full."""
    return sum(int(line.split()[1], 16) for line in _text(back, f"softnet-{when}").splitlines())


def _text(back: dict[str, bytes], name: str) -> str:
    return back.get(name, b"").decode(errors="replace")
