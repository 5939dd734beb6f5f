"""EnGINE's experiments as scenarios: network, TSN configurations and services of one experiment.

EnGINE describes a campaign in five files (Section IV-B); three of them become a scenario: ``01-network.yml``,
``02-stacks.yml`` and ``04-experiments.yml``. Parts without an equivalent are listed in comments at its top.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tsnbench.errors import InputError
from tsnbench.quantities import exact

NETWORK, STACKS, EXPERIMENTS = FILES = ("01-network.yml", "02-stacks.yml", "04-experiments.yml")
LARGEST_FILE = 1 << 22
EXPERIMENT_SECONDS, SIGNAL_SECONDS = 30, 60
"""How long an experiment takes that does not say it: defaults of EnGINE's role ``experiment``."""
IPERF_PORT, UDP_PAYLOAD = 5000, 1460
SEND_PORT, SEND_PACKETS, SEND_INTERVAL_NS, SEND_DELAY_NS, SEND_PAYLOAD = 6600, 60_000, 100_000, 300_000, 256
"""Defaults of EnGINE's role ``send_udp``; the payload is that of the paper's Fig. 18."""
MOST_PAYLOAD = 1472
"""UDP payload of a frame of 1518 octets, untagged; larger units are cut."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TRUE = (True, "yes", "true", "on")

End = tuple[str, str]
"""A node, and the number of its interface."""


@dataclass
class _Notes:
    """Parts without an equivalent, each once, with those that have them."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, who: str) -> None:
        having = self.found.setdefault(what, [])
        if who not in having:
            having.append(who)

    def lines(self) -> Iterator[str]:
        for what, having in self.found.items():
            more = f" and {len(having) - 4} more" if len(having) > 4 else ""
            yield f"#   {what}: {', '.join(having[:4])}{more}"


@dataclass(frozen=True)
class Queue:
    """One queue of a TSN configuration, and the PCPs that lead to it."""

    number: int
    mode: str
    pcps: tuple[int, ...]
    settings: Mapping[str, Any]


@dataclass
class Links:
    """The cables between interfaces, as the flows name them."""

    cables: list[tuple[End, End]] = field(default_factory=list)

    def add(self, a: End, b: End) -> None:
        if (a, b) not in self.cables and (b, a) not in self.cables:
            self.cables.append((a, b))

    def number(self, a: End, b: End) -> str:
        """``#k`` for the k-th of several links between two nodes, else nothing."""
        same = [cable for cable in self.cables if {cable[0][0], cable[1][0]} == {a[0], b[0]}]
        if len(same) < 2:
            return ""
        place = next(place for place, cable in enumerate(same, 1) if set(cable) == {a, b})
        return f"#{place}"

    def ports(self) -> Iterator[tuple[End, str]]:
        """Every interface, and its port's name in the scenario."""
        for a, b in self.cables:
            for one, other in ((a, b), (b, a)):
                number = self.number(a, b)
                yield one, f"{one[0]} -> {other[0]}{' ' + number if number else ''}"


def experiments(text: str) -> list[str]:
    """The names of all experiments of ``04-experiments.yml``, in their order.

    Raises:
        InputError: the file has no experiments.
    """
    return [_title(one, number) for number, one in enumerate(_experiments(text), 1)]


def scenario(texts: Mapping[str, str], wanted: str | None = None) -> str:
    """The scenario of one experiment; ``texts``: the three files by their names.

    Raises:
        InputError: a file is not as EnGINE writes it, or there is no such experiment, or there are several
            and none is named.
    """
    every = _experiments(texts[EXPERIMENTS])
    names = [_title(one, number) for number, one in enumerate(every, 1)]
    if wanted is None and len(every) > 1:
        listed = "\n".join(f"  {name}" for name in names[:20])
        more = f"\n  and {len(names) - 20} more" if len(names) > 20 else ""
        raise InputError(f"--experiment: expected one of {len(names)} experiments:\n{listed}{more}")
    if wanted is not None and wanted not in names:
        raise InputError(f"--experiment: expected one of {', '.join(names[:8])}, found {wanted}")
    place = names.index(wanted) if wanted is not None else 0
    experiment = every[place]
    notes = _Notes()
    networks, stacks = _document(NETWORK, texts[NETWORK]), _document(STACKS, texts[STACKS])
    network = _part(NETWORK, networks.get("network"), experiment.get("network"), "network")
    stack = _part(STACKS, stacks.get("stacks"), experiment.get("stack"), "stack")
    flows = {str(key): _path(str(key), text) for key, text in _mapping(network.get("flows")).items()}
    if network.get("topo_flows"):
        notes.add("flows of a predefined topology (topo_flows)", str(network["topo_flows"]))
    if not flows:
        raise InputError(f"{NETWORK}: expected flows in {experiment.get('network')}, found none")
    links = Links()
    for path in flows.values():
        for a, b in path:
            links.add(a, b)
    seconds = experiment.get("time")
    if seconds is None:
        signals = experiment.get("signal") in _TRUE
        seconds = experiment.get("timeout", SIGNAL_SECONDS) if signals else EXPERIMENT_SECONDS
    seconds = _number(EXPERIMENTS, seconds, "time", least=1)
    streams, launches = _streams(stack, flows, links, seconds, notes)
    if not streams:
        raise InputError(
            f"{STACKS}: expected iperf clients or send_udp in {experiment.get('stack')}, found none"
        )
    used = {leaves for path in flows.values() for leaves, _ in path}
    ports = _ports(network, networks, links, used, notes)
    alike = {settings["queues"] for settings in ports.values()}
    queues = alike.pop() if len(alike) == 1 else None
    if queues is not None:
        ports = {name: _without_queues(settings) for name, settings in ports.items() if len(settings) > 1}
    software = launches or any("qdisc" in settings for settings in ports.values())
    return _written(names[place], seconds, links, queues, streams, ports, software, notes)


def _without_queues(settings: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key != "queues"}


def _written(
    name: str,
    seconds: int,
    links: Links,
    queues: str | None,
    streams: Sequence[str],
    ports: Mapping[str, Mapping[str, str]],
    software: bool,
    notes: _Notes,
) -> str:
    lines = [f"# From EnGINE's experiment {_comment(name)}."]
    lines.append(
        "# The files do not say rates or cables: here each link has 1 Gbit/s, as EnGINE's I210 cards."
    )
    if software:
        lines.append(
            "# Launch times and kernels' gates need software of hosts: here that of the paper's computers."
        )
    if notes.found:
        lines += ["# Not said here:", *notes.lines()]
    lines += [f"name: {_name(name)}", f"duration: {seconds} s", "", "network:"]
    nodes = dict.fromkeys(end[0] for cable in links.cables for end in cable)
    lines.append(f"  hosts: [{', '.join(nodes)}]")
    lines += ["  links:", "    rate: 1 Gbit/s", "    between:"]
    lines += [f"      - {a[0]} -- {b[0]}" for a, b in links.cables]
    if queues is not None:
        lines.append(f"  queues: {queues}")
    if software:
        lines += ["", "hosts: {default: engine-zgw}"]
    lines += ["", "streams:", *streams]
    if ports:
        lines += ["", "shapers:"]
        for port, settings in ports.items():
            lines.append(f'  "{port}":' if "#" in port else f"  {port}:")
            lines += [f"    {key}: {value}" for key, value in settings.items()]
    return "\n".join([*lines, ""])


def _streams(
    stack: Mapping[str, Any],
    flows: Mapping[str, list[tuple[End, End]]],
    links: Links,
    seconds: int,
    notes: _Notes,
) -> tuple[list[str], bool]:
    """One line per stream, and whether a stream has launch times."""
    lines: list[str] = []
    names: dict[str, int] = {}
    launches = False
    for node, services in _mapping(stack.get("services")).items():
        for service in services if isinstance(services, list) else ():
            own = _mapping(service)
            kind, role = str(own.get("name")), own.get("role")
            if kind == "tcpdump" or (kind == "iperf" and role == "server"):
                continue
            who = f"{kind} on {node}"
            if (kind, role) not in (("iperf", "client"), ("send_udp", "source")):
                notes.add("services other than iperf and send_udp", who)
                continue
            path = flows.get(str(own.get("flow")))
            if path is None:
                known = ", ".join(list(flows)[:8])
                raise InputError(
                    f"{STACKS}: {who}: expected a flow of the network ({known}), found {own.get('flow')}"
                )
            if path[-1][1][0] == node:
                path = [(b, a) for a, b in reversed(path)]
            if path[0][0][0] != node:
                notes.add("clients that are not at the end of their flow", f"{who}, flow {own.get('flow')}")
                continue
            port = own.get("port", IPERF_PORT if kind == "iperf" else SEND_PORT)
            name = f"flow{own.get('flow')}-{port}"
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name = f"{name}-{names[name]}"
            if kind == "iperf":
                keys = _iperf(own, f"{who}, port {port}", seconds, notes)
            else:
                launches = True
                keys = _send_udp(own, who, seconds)
            via = ", ".join(f"{after[0]}{links.number(before, after)}" for before, after in path)
            hops = {"from": path[0][0][0], "to": path[-1][1][0]}
            chosen = {"via": f"[{via}]"} if len(path) > 1 or "#" in via else {}
            given = ", ".join(f"{key}: {value}" for key, value in {**hops, **chosen, **keys}.items())
            lines.append(f"  {_name(name)}: {{{given}}}")
    return lines, launches


def _iperf(own: Mapping[str, Any], who: str, seconds: int, notes: _Notes) -> dict[str, str]:
    """iperf3 sends units of ``size`` octets so that the payload has the rate ``limit``."""
    size = _number(STACKS, own.get("size", UDP_PAYLOAD), f"{who}: size", least=1)
    limit = _number(STACKS, own.get("limit", 0), f"{who}: limit")
    keys = {"pcp": _priority(own.get("prio", 0), who, notes)}
    if own.get("udp") not in _TRUE:
        notes.add("acknowledgements of TCP; written: frames in one direction", who)
    keys |= {"payload": f"{size} B"} if size <= MOST_PAYLOAD else {"units": f"[{size} B]"}
    if limit == 0:
        keys["saturating"] = "true"
        if size > MOST_PAYLOAD:
            keys |= {"payload": f"{MOST_PAYLOAD} B"}
            del keys["units"]
    else:
        period = Fraction(size * 8 * 10**9, limit)
        if period.denominator != 1:
            notes.add("periods that are no whole ns; written: the nearest", who)
        keys["period"] = exact(max(1, round(period)))
    start = _number(STACKS, own.get("wait", 0), f"{who}: wait")
    if start:
        keys["start"] = f"{start} s"
    lasts = _number(STACKS, own.get("time", 0), f"{who}: time")
    if lasts and start + lasts < seconds:
        keys["stop"] = f"{start + lasts} s"
    return keys


def _send_udp(own: Mapping[str, Any], who: str, seconds: int) -> dict[str, str]:
    interval = _number(STACKS, own.get("interval", SEND_INTERVAL_NS), f"{who}: interval", least=1)
    packets = _number(STACKS, own.get("number_packets", SEND_PACKETS), f"{who}: number_packets", least=1)
    delay = _number(STACKS, own.get("delay", SEND_DELAY_NS), f"{who}: delay")
    pcp = _number(STACKS, own.get("priority", 0), f"{who}: priority")
    keys = {"pcp": str(min(pcp, 7)), "payload": f"{SEND_PAYLOAD} B", "period": exact(interval)}
    if packets * interval < seconds * 10**9:
        keys["stop"] = exact(packets * interval)
    if own.get("tsn") in _TRUE or own.get("tsnd") in _TRUE:
        deadline = ", deadline: true" if own.get("tsnd") in _TRUE else ""
        keys["send"] = f"{{advance: {exact(min(delay, 10**9))}, txtime: true{deadline}}}"
    return keys


def _priority(written: Any, who: str, notes: _Notes) -> str:
    number = _number(STACKS, written, f"{who}: prio")
    if number > 7:
        notes.add("priorities above 7, which no VLAN tag carries; written: 7", who)
    return str(min(number, 7))


def _ports(
    network: Mapping[str, Any], document: Mapping[str, Any], links: Links, used: set[End], notes: _Notes
) -> dict[str, dict[str, str]]:
    """The settings of every port that has a TSN configuration."""
    configurations = _mapping(document.get("tsnconfigs"))
    chosen: dict[End, str] = {}
    for name, places in _mapping(network.get("tsn")).items():
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
            raise InputError(f"{NETWORK}: expected {name} in tsnconfigs, found none")
        found[port] = _settings(name, _mapping(configurations[name]), notes)
    return found


def _settings(name: str, configuration: Mapping[str, Any], notes: _Notes) -> dict[str, str]:
    """Queues, shapers and gates of one TSN configuration."""
    queues = _queues(name, configuration)
    classes = {pcp: len(queues) - 1 - place for place, queue in enumerate(queues) for pcp in queue.pcps}
    listed = ", ".join(f"{pcp}: {classes[pcp]}" for pcp in sorted(classes))
    settings = {"queues": f"{{classes: {{{listed}}}}}"}
    slopes, launch = [], []
    for queue in queues:
        where = f"{name} queue {queue.number}"
        if queue.mode == "cbs" and queue.pcps:
            idle = _number(NETWORK, queue.settings.get("idle"), f"{where}: idle", least=1)
            slopes.append(f"{queue.pcps[0]}: {idle} kbit/s")
            notes.add("credits of shapers; the planner computes them from the idle slope", name)
            if len(queue.pcps) > 1:
                notes.add("shapers of several priorities; written: for the first", where)
        elif queue.mode == "etf" and queue.pcps:
            keys = ["delta: " + exact(_number(NETWORK, queue.settings.get("delta", 0), f"{where}: delta"))]
            keys += [f"{key}: true" for key in ("deadline", "offload") if queue.settings.get(key) in _TRUE]
            launch += [f"{pcp}: {{{', '.join(keys)}}}" for pcp in queue.pcps]
        elif queue.mode not in ("be", "cbs", "etf"):
            notes.add("modes of queues other than be, cbs and etf", f"{where}: {queue.mode}")
    if slopes:
        settings["cbs"] = f"{{{', '.join(slopes)}}}"
    taprio = _mapping(configuration.get("taprio"))
    qdisc = []
    if taprio.get("sched"):
        settings["gates"] = _gates(name, taprio["sched"], queues)
        assisted = taprio.get("txtime") in _TRUE
        qdisc.append(f"taprio: {'txtime-assist' if assisted else 'software'}")
        if assisted and "delay" in taprio:
            qdisc.append("txtime-delay: " + exact(_number(NETWORK, taprio["delay"], f"{name}: delay")))
    if launch:
        qdisc.append(f"etf: {{{', '.join(launch)}}}")
    if qdisc:
        settings["qdisc"] = f"{{{', '.join(qdisc)}}}"
    return settings


def _queues(name: str, configuration: Mapping[str, Any]) -> list[Queue]:
    """The queues, highest first, with the PCPs of each; ``*`` takes those that no queue names."""
    written = _mapping(configuration.get("queues"))
    if not written or not all(str(key).isdecimal() for key in written):
        raise InputError(f"{NETWORK}: expected numbered queues in {name}, found {_shown(list(written))}")
    if len(written) > 8:
        raise InputError(f"{NETWORK}: expected at most 8 queues in {name}, found {len(written)}")
    ordered = sorted(written.items(), key=lambda item: int(item[0]))
    priorities = []
    for _, settings in ordered:
        own = _mapping(settings).get("prio", [])
        priorities.append(own if isinstance(own, list) else [own])
    named = {int(one) for own in priorities for one in own if str(one).isdecimal()}
    rest = next((place for place, own in enumerate(priorities) if "*" in own), len(ordered) - 1)
    found = []
    for place, ((number, settings), own) in enumerate(zip(ordered, priorities, strict=True)):
        pcps = [int(one) for one in own if str(one).isdecimal() and int(one) < 8]
        pcps += [pcp for pcp in range(8) if place == rest and pcp not in named]
        mode = str(_mapping(settings).get("mode", "be"))
        found.append(Queue(int(number), mode, tuple(dict.fromkeys(pcps)), _mapping(settings)))
    return found


def _gates(name: str, entries: Any, queues: Sequence[Queue]) -> str:
    """A gate control list; queue 0 is a guard in which all gates are closed."""
    lines = []
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        own = _mapping(entry)
        numbers = own.get("queue")
        numbers = numbers if isinstance(numbers, list) else [numbers]
        pcps = sorted(
            {pcp for queue in queues if queue.number in numbers for pcp in queue.pcps}, reverse=True
        )
        lasts = _number(
            NETWORK, own.get("duration"), f"{name}: entry {place + 1} of sched: duration", least=1
        )
        lines.append(f"{{open: {pcps or 'none'}, for: {lasts} us}}")
    return f"{{entries: [{', '.join(lines)}]}}"


def _path(flow: str, text: Any) -> list[tuple[End, End]]:
    """The links of a flow: ``:node-1:4,1:node-3:`` leaves node-1 by interface 4 and reaches node-3 by 1."""
    parts = str(text).strip().strip(":").split(":")
    nodes, between = parts[::2], [part.split(",") for part in parts[1::2]]
    good = len(nodes) == len(between) + 1 >= 2 and all(len(pair) == 2 for pair in between)
    if not good or not all(_NAME.fullmatch(node) for node in nodes) or len(set(nodes)) < len(nodes):
        example = "':node-1:4,1:node-3:'"
        raise InputError(
            f"{NETWORK}: expected a path such as {example} in flow {_shown(flow)}, found {_shown(text)}"
        )
    return [
        ((one, leaves.strip()), (other, enters.strip()))
        for (one, other), (leaves, enters) in zip(pairwise(nodes), between, strict=True)
    ]


def _experiments(text: str) -> list[Mapping[str, Any]]:
    written = _document(EXPERIMENTS, text).get("experiments")
    if not isinstance(written, list) or not written or not all(isinstance(one, dict) for one in written):
        raise InputError(f"{EXPERIMENTS}: expected a list of experiments, found {_shown(written)}")
    return written


def _title(experiment: Mapping[str, Any], number: int) -> str:
    return str(experiment.get("name") or f"experiment-{number}")


def _document(file: str, text: str) -> Mapping[str, Any]:
    """A YAML document. ``yes`` and ``no`` stay texts, as YAML 1.2 has them."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        found = reader.load(text)
    except (YAMLError, ValueError, RecursionError, TypeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"{file}: expected YAML, found {_shown(first)}") from None
    if not isinstance(found, dict):
        raise InputError(f"{file}: expected a mapping, found {_shown(found)}")
    return found


def _part(file: str, parts: Any, name: Any, what: str) -> Mapping[str, Any]:
    found = _mapping(parts).get(name) if isinstance(name, str | int) else None
    if not isinstance(found, dict):
        known = ", ".join(map(str, list(_mapping(parts))[:8])) or "none"
        raise InputError(f"{file}: expected the {what} {_shown(name)} of the experiment, found {known}")
    return found


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _number(file: str, written: Any, what: str, least: int = 0) -> int:
    """A whole number, which EnGINE also writes as a text."""
    text = str(written)
    if isinstance(written, bool) or not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise InputError(f"{file}: {what}: expected a whole number, found {_shown(written)}")
    if int(text) < least:
        raise InputError(f"{file}: {what}: expected at least {least}, found {_shown(written)}")
    return int(text)


def _name(text: str) -> str:
    """A name that a scenario takes."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")
    return (name if name[:1].isalpha() else f"engine-{name}")[:64].rstrip("-.")


def _comment(text: str) -> str:
    return "".join(one for one in text if one.isprintable())[:120]


def _shown(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
