"""Applications as streams: who sends what to whom, how often, and with which tag."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.mechanisms.filters import matches
from tsnbench.exports.inet_import.mechanisms.timing import Timing, is_random, sampled, timing
from tsnbench.exports.inet_import.model import Model, Stream
from tsnbench.exports.inet_import.parameters import of_row
from tsnbench.exports.scenario_text import duration, valid_name

SOURCES = {
    "UdpSourceApp": ("source.", "productionInterval", "initialProductionOffset", "packetLength"),
    "UdpApp": ("source.", "productionInterval", "initialProductionOffset", "packetLength"),
    "EthernetSourceApp": ("source.", "productionInterval", "initialProductionOffset", "packetLength"),
    "EthernetApp": ("source.", "productionInterval", "initialProductionOffset", "packetLength"),
    "UdpBasicApp": ("", "sendInterval", "startTime", "messageLength"),
}
"""Applications that send: where their parameters are, and the names of these."""
SINKS = frozenset({"UdpSinkApp", "UdpSink", "EthernetSinkApp"})
SILENT = frozenset({"Gptp", "SimpleClockSynchronizer"})
"""Applications that other parts of the import read."""
MOST_APPS = 1000
MOST_IN_ALL = 50_000
MOST_PACKET = 1500
"""Octets of a packet with its headers in one frame."""


@dataclass(frozen=True)
class _Sink:
    node: str
    port: int
    groups: tuple[str, ...]


def streams(model: Model) -> None:
    """Finds all streams of the model.

    Raises:
        ContentError: an application whose listener is no node.
    """
    taken: set[str] = set()
    made: dict[tuple[str, str, int, str], list[tuple[Stream, Timing, str]]] = defaultdict(list)
    counts = {node: _apps(model, node) for node in model.topology.nodes}
    if sum(counts.values()) > MOST_IN_ALL:
        raise ContentError(f"numApps: expected at most {MOST_IN_ALL} applications, found more")
    sinks = list(_sinks(model))
    for node, count in counts.items():
        for number in range(count):
            app = model.talks(node, f"app[{number}]")
            kind = model.parameters.text(f"{app}.typename")
            if kind in SOURCES:
                found = _source(model, node, app, kind, sinks)
                if found is not None:
                    one = found[0]
                    label = str(model.parameters.get(f"{app}.display-name") or "")
                    key = (node, ",".join(one.listeners), one.port, label or app)
                    made[key].append((*found, label))
            elif kind and kind not in SINKS and kind not in SILENT:
                setting = model.parameters.setting(f"{app}.typename")
                model.lose_setting(f"the application {kind}", setting)
    _named(model, made, taken)
    if not made:
        _probe(model)


def _probe(model: Model) -> None:
    """A stream of one small frame, for models of clocks: a scenario has at least one stream."""
    stations = [name for name, node in model.topology.nodes.items() if node.kind == "station"]
    if len(stations) < 2:
        return
    begin, end = stations[0], stations[-1]
    keys: dict[str, object] = {"payload": "18 B", "period": duration(model.limit)}
    made = Stream("probe", "", "", begin, [end], -1, "", "probe", keys, payload=18)
    model.streams.append(made)
    model.decide("no application sends: a stream of one frame, because a scenario has at least one", "probe")


def _apps(model: Model, node: str) -> int:
    setting = model.parameters.setting(model.talks(node, "numApps"))
    found = model.parameters.whole(model.talks(node, "numApps"), 0)
    if found > MOST_APPS and setting is not None:
        raise ContentError(f"{setting.place}: numApps: expected at most {MOST_APPS}, found {found}")
    return found


def _sinks(model: Model) -> list[_Sink]:
    found = []
    for node in model.topology.nodes:
        for number in range(_apps(model, node)):
            app = model.talks(node, f"app[{number}]")
            if model.parameters.text(f"{app}.typename") not in SINKS:
                continue
            place = "io." if model.parameters.setting(f"{app}.io.localPort") is not None else ""
            groups = model.parameters.get(f"{app}.{place}multicastAddresses")
            found.append(
                _Sink(
                    node,
                    model.parameters.whole(f"{app}.{place}localPort", -1),
                    tuple(map(str, groups)) if isinstance(groups, list) else (),
                )
            )
    return found


def _source(model: Model, node: str, app: str, kind: str, sinks: list[_Sink]) -> tuple[Stream, Timing] | None:
    below, interval, offset, length = SOURCES[kind]
    source = f"{app}.{below}".rstrip(".")
    place = model.parameters.setting(f"{app}.typename")
    where = place.place if place is not None else app
    when = timing(model, source, interval, offset)
    size = model.parameters.setting(f"{source}.{length}")
    if when is None or size is None:
        model.lose(f"the source {app.partition('.')[2]}, which has no {interval} or {length}", where)
        return None
    io = "io." if below else ""
    ethernet = kind.startswith("Ethernet")
    port = -1 if ethernet else model.parameters.whole(f"{app}.{io}destPort", -1)
    label = _packet_name(model, node, app, kind, source)
    found = Stream("", app, where, node, [], port, "", label)
    found.headers = 0 if ethernet else found.headers
    _listeners(model, found, io, sinks)
    if not found.listeners and not ethernet:
        return None
    try:
        octets = model.parameters.number(f"{source}.{length}", "B")
        found.payload = int(octets or 0)
    except ContentError:
        # The length varies: all packets are sampled with theirs.
        when = Timing("sampled", Fraction(0))
    found.request = model.parameters.whole(f"{app}.tagger.vlanId", 0)
    _rows(model, found, when, source, (interval, offset, length))
    return found, when


def _packet_name(model: Model, node: str, app: str, kind: str, source: str) -> str:
    """What the names of packets begin with, from the format of INET's sources."""
    if kind == "UdpBasicApp":
        return model.parameters.text(f"{app}.packetName", "UdpBasicAppData")
    form = model.parameters.text(f"{source}.packetNameFormat", "%a-%c")
    said = {"%M": node, "%m": "source", "%n": "source", "%a": app.rpartition(".")[2], "%c": "", "%%": "%"}
    for sign, text in said.items():
        form = form.replace(sign, text)
    return form


def _listeners(model: Model, stream: Stream, io: str, sinks: list[_Sink]) -> None:
    for name in (f"{io}destAddress", "destAddresses", f"{io}remoteAddress"):
        setting = model.parameters.setting(f"{stream.app}.{name}")
        if setting is not None:
            break
    else:
        model.lose(f"the source {stream.app.partition('.')[2]}, which has no listener", stream.place)
        return
    text = str(model.parameters.value(setting) or "")
    word, *others = text.split() or [""]
    if others:
        model.lose_setting("several addresses, one of which each packet draws; written: the first", setting)
    name = word.partition("%")[0].partition("(")[0].removeprefix(f"{model.topology.network}.")
    node = model.topology.node(name)
    if node is not None:
        stream.listeners = [node]
        return
    first = name.partition(".")[0]
    if first.isdigit() and 224 <= int(first) <= 239:
        stream.address = name
        stream.listeners = list(
            dict.fromkeys(
                one.node
                for one in sinks
                if one.port == stream.port and name in one.groups and one.node != stream.talker
            )
        )
        if not stream.listeners:
            model.lose(f"packets to the group {name}, which no application joins", setting.place)
        return
    if ":" in name or "-" in name:
        # Addresses of the link layer: configurators of INET say who listens.
        stream.address = name
        return
    raise ContentError(
        f"{setting.place}: destAddress: expected the name of a node, found {word or 'nothing'}"
    )


def _rows(model: Model, stream: Stream, when: Timing, source: str, names: tuple[str, str, str]) -> None:
    """The keys of size and releases."""
    interval, offset, length = names
    keys = stream.keys
    if when.kind == "sampled":
        stream.rows = sampled(model, source, interval, offset, length)
        stream.payload = max((octets for _, octets in stream.rows), default=1)
        setting = model.parameters.setting(f"{source}.{interval}")
        size = model.parameters.setting(f"{source}.{length}")
        drawn = [one for one in (setting, size) if one is not None and is_random(one.node)]
        what = "with random values, which are drawn here and not by OMNeT++" if drawn else "of the time"
        place = setting.place if setting is not None else ""
        model.decide(f"intervals or lengths {what}; sampled into a recording", place)
        return
    if round(when.period * 10**9) != when.period * 10**9 and when.kind == "jitter":
        model.decide("periods that are no whole ns; written: the nearest", stream.app.partition(".")[2])
    if when.kind == "poisson":
        keys["poisson"] = f"{{mean-interval: {duration(when.period)}}}"
        if when.offset:
            keys["start"] = duration(when.offset)
    else:
        keys["period"] = duration(when.period)
        if when.offset:
            keys["offset" if when.offset < when.period else "start"] = duration(when.offset)
        if when.jitter:
            keys["jitter"] = duration(when.jitter)
    stream.stop = when.stop
    stream.period = when.period if when.kind == "periodic" else Fraction(0)


def _named(
    model: Model,
    made: dict[tuple[str, str, int, str], list[tuple[Stream, Timing, str]]],
    taken: set[str],
) -> None:
    """Joins the applications of one stream, and names all streams."""
    labels: dict[str, int] = defaultdict(int)
    for rows in made.values():
        labels[rows[0][2]] += 1
    talkers = Counter(key[0] for key in made)
    for rows in made.values():
        first, _, label = rows[0]
        if len(rows) > 1:
            _joined(model, first, rows)
        alone = label and labels[label] == 1
        number = first.app.rpartition("app[")[2].rstrip("]")
        name = f"{first.talker}-app{number}" if talkers[first.talker] > 1 else first.talker
        if label:
            name = label if alone else f"{first.talker}-{label}"
        first.name = valid_name(name, taken, "s")
        _size(first)
        model.streams.append(first)
        _tag(model, first)


def _joined(model: Model, first: Stream, rows: list[tuple[Stream, Timing, str]]) -> None:
    """Several sources with one name and one listener: a data unit in several frames, or a recording."""
    times = {(when.kind, when.period, when.offset, when.stop) for _, when, _ in rows}
    if len(times) == 1 and rows[0][1].kind == "periodic":
        total = sum(one.payload for one, _, _ in rows)
        first.keys["units"] = f"[{total} B]"
        first.payload = max(one.payload for one, _, _ in rows)
        if first.counted < MOST_PACKET:
            first.keys["units"] = f"{{sizes: [{total} B], most-per-frame: {first.payload} B}}"
        return
    found: list[tuple[int, int]] = []
    for one, when, _ in rows:
        if one.rows:
            found += one.rows
            continue
        at, stop = when.offset, min(when.stop or model.limit, model.limit)
        while at < stop:
            found.append((round(at * 10**9), one.payload))
            at += when.period
    first.keys, first.rows, first.stop = {}, sorted(found), None
    first.payload = max(one.payload for one, _, _ in rows)
    model.decide("several sources with one name; their packets are in one recording", first.place)


def _size(stream: Stream) -> None:
    """The key of the size, in front of the others."""
    if stream.rows or "units" in stream.keys:
        return
    if stream.counted > MOST_PACKET:
        stream.keys = {"units": f"[{stream.payload} B]", **stream.keys}
    else:
        stream.keys = {"payload": f"{stream.payload} B", **stream.keys}


def _tag(model: Model, stream: Stream) -> None:
    """The tag that the talker adds: by stream identification and encoding."""
    node = stream.talker
    parameters = model.parameters
    if not any(
        parameters.flag(model.talks(node, flag)) for flag in ("hasOutgoingStreams", "hasStreamRedundancy")
    ):
        return
    bridging = model.talks(node, "bridging")
    for row in parameters.rows(f"{bridging}.streamIdentifier.identifier.mapping"):
        found = matches(row.get("packetFilter"), stream)
        if found is None:
            setting = parameters.setting(f"{bridging}.streamIdentifier.identifier.mapping")
            model.lose_setting("a packet filter of another form", setting)
        elif found:
            stream.identified = str(row.get("stream") or "")
            break
    for row in parameters.rows(f"{bridging}.streamCoder.encoder.mapping"):
        if row.get("stream") != stream.identified or not stream.identified:
            continue
        pcp, vlan = of_row(row, "pcp"), of_row(row, "vlan")
        stream.pcp = int(pcp or 0)
        stream.vlan = int(vlan) if vlan else None
        return
