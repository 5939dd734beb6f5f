"""TSN configurations of EnGINE as queues, shapers and gates of ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tsnbench.errors import ContentError
from tsnbench.exports.engine.files import NETWORK, TRUE, whole_number
from tsnbench.exports.engine.links import End, Links
from tsnbench.exports.scenario_text import Notes, flow
from tsnbench.foreign import Part, mapping_of, shown
from tsnbench.quantities import exact


@dataclass(frozen=True)
class Queue:
    """One queue of a TSN configuration, and the PCPs that lead to it."""

    number: int
    mode: str
    pcps: tuple[int, ...]
    settings: Part


def port_settings(
    network: Part, document: Part, links: Links, used: set[End], notes: Notes
) -> dict[str, dict[str, str]]:
    """The settings of every port that has a TSN configuration."""
    configurations = mapping_of(document.get("tsnconfigs"))
    chosen: dict[End, str] = {}
    for name, places in mapping_of(network.get("tsn")).items():
        for place in places if isinstance(places, list) else ():
            node, _, interfaces = str(place).partition(":")
            for end, _ in links.ports():
                if end[0] == node and (not interfaces or end[1] in interfaces.replace(" ", "").split(",")):
                    chosen[end] = str(name)
    found: dict[str, dict[str, str]] = {}
    for end, port in links.ports():
        if end not in chosen:
            if end in used:
                notes.add("queues of ports without a TSN configuration", port)
            continue
        name = chosen[end]
        if name not in configurations:
            raise ContentError(f"{NETWORK}: expected {name} in tsnconfigs, found none")
        found[port] = _settings(name, mapping_of(configurations[name]), notes)
    return found


def _settings(name: str, configuration: Part, notes: Notes) -> dict[str, str]:
    """Queues, shapers and gates of one TSN configuration."""
    queues = _queues(name, configuration)
    classes = {str(pcp): len(queues) - 1 - n for n, queue in enumerate(queues) for pcp in queue.pcps}
    settings = {"queues": flow({"classes": flow(dict(sorted(classes.items())))})}
    slopes: dict[str, str] = {}
    launch: dict[str, str] = {}
    for queue in queues:
        where = f"{name} queue {queue.number}"
        if queue.mode == "cbs" and queue.pcps:
            slopes[str(queue.pcps[0])] = _shaper(queue, where)
            if len(queue.pcps) > 1:
                notes.add("shapers of several priorities; written: for the first", where)
        elif queue.mode == "etf" and queue.pcps:
            delta = exact(whole_number(NETWORK, queue.settings.get("delta", 0), f"{where}: delta"))
            flags = {key: "true" for key in ("deadline", "offload") if queue.settings.get(key) in TRUE}
            launch |= {str(pcp): flow({"delta": delta, **flags}) for pcp in queue.pcps}
        elif queue.mode not in ("be", "cbs", "etf"):
            notes.add("modes of queues other than be, cbs and etf", f"{where}: {queue.mode}")
    if slopes:
        settings["cbs"] = flow(slopes)
    taprio = mapping_of(configuration.get("taprio"))
    qdisc: dict[str, str] = {}
    if taprio.get("sched"):
        settings["gates"] = _gates(name, taprio["sched"], queues)
        assisted = taprio.get("txtime") in TRUE
        qdisc["taprio"] = "txtime-assist" if assisted else "software"
        if assisted and "delay" in taprio:
            qdisc["txtime-delay"] = exact(whole_number(NETWORK, taprio["delay"], f"{name}: delay"))
    if launch:
        qdisc["etf"] = flow(launch)
    if qdisc:
        settings["qdisc"] = flow(qdisc)
    return settings


def _shaper(queue: Queue, where: str) -> str:
    """The slopes and credits of a shaper, which EnGINE writes as ``tc`` takes them."""

    def number(key: str, sign: str) -> int | None:
        text = str(queue.settings.get(key, ""))
        return whole_number(NETWORK, text.removeprefix(sign), f"{where}: {key}") if text else None

    idle = whole_number(NETWORK, queue.settings.get("idle"), f"{where}: idle", least=1)
    send, high, low = number("send", "-"), number("high", ""), number("low", "-")
    return flow(
        {
            "idle-slope": f"{idle} kbit/s",
            "send-slope": f"-{send} kbit/s" if send else None,
            "hi-credit": None if high is None else f"{high} octets",
            "lo-credit": None if low is None else f"-{low} octets",
        }
    )


def _queues(name: str, configuration: Part) -> list[Queue]:
    """The queues, highest first, with the PCPs of each; ``*`` takes those that no queue names."""
    written = mapping_of(configuration.get("queues"))
    if not written or not all(str(key).isdecimal() for key in written):
        raise ContentError(f"{NETWORK}: expected numbered queues in {name}, found {shown(list(written))}")
    if len(written) > 8:
        raise ContentError(f"{NETWORK}: expected at most 8 queues in {name}, found {len(written)}")
    ordered = sorted(written.items(), key=lambda item: int(item[0]))
    priorities = []
    for _, settings in ordered:
        own = mapping_of(settings).get("prio", [])
        priorities.append(own if isinstance(own, list) else [own])
    named = {int(one) for own in priorities for one in own if str(one).isdecimal()}
    rest = next((place for place, own in enumerate(priorities) if "*" in own), len(ordered) - 1)
    found = []
    for place, ((number, settings), own) in enumerate(zip(ordered, priorities, strict=True)):
        pcps = [int(one) for one in own if str(one).isdecimal() and int(one) < 8]
        pcps += [pcp for pcp in range(8) if place == rest and pcp not in named]
        mode = str(mapping_of(settings).get("mode", "be"))
        found.append(Queue(int(number), mode, tuple(dict.fromkeys(pcps)), mapping_of(settings)))
    return found


def _gates(name: str, entries: Any, queues: Sequence[Queue]) -> str:
    """A gate control list; queue 0 is a guard in which all gates are closed."""
    lines = []
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        own = mapping_of(entry)
        numbers = own.get("queue")
        numbers = numbers if isinstance(numbers, list) else [numbers]
        pcps = sorted(
            {pcp for queue in queues if queue.number in numbers for pcp in queue.pcps}, reverse=True
        )
        lasts = whole_number(
            NETWORK, own.get("duration"), f"{name}: entry {place + 1} of sched: duration", least=1
        )
        lines.append(f"{{open: {pcps or 'none'}, for: {lasts} us}}")
    return f"{{entries: [{', '.join(lines)}]}}"
