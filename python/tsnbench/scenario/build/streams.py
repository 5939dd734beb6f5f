"""Streams with their catalogue patterns, from the file to the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, TypeAlias

from tsnbench.plan import sizes
from tsnbench.scenario import catalogue, model
from tsnbench.scenario.build.answers import check_telegrams, completed, requests_first
from tsnbench.scenario.build.net import Net, numbered
from tsnbench.scenario.build.redundancy import redundancy
from tsnbench.scenario.build.release import times_in_order
from tsnbench.scenario.build.requirements import requirements, sr_class
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading, meant

_WHEN = ("period", "poisson", "arrivals", "saturating", "replay")
_SIZE = ("frame", "phy", "payload", "units")
_When: TypeAlias = (
    model.Periodic | model.Poisson | model.TokenBucket | model.Saturating | model.Replay | model.Answer
)
_Size: TypeAlias = model.FixedSize | model.UnitSizes | model.RecordedSizes


def build(
    reading: Reading, net: Net, streams: dict[Named, Any], worst_case: bool = False
) -> dict[str, model.Stream]:
    """Streams by name; ``worst_case``: the default for requirements without that key."""
    built: dict[str, model.Stream] = {}
    firsts: dict[int, model.Stream] = {}
    for name, fields in requests_first(reading, streams):
        if isinstance(fields, Bad):
            continue
        before, doubts = len(reading.problems), len(reading.doubts)
        if fields.first is not None:
            first = firsts.get(id(fields.first))
            if first is not None:
                ends = _plain_ends(net, fields) or _ends(reading, net, fields)
                if ends is not None and len(reading.problems) == before:
                    changes = {"talker": ends[0], "listeners": tuple(ends[1])}
                    built[str(name)] = first.model_copy(update=changes)
                continue
            # Something about the first one is reported; the places have to be those of this one.
            assert fields.record is not None
            assert fields.written is not None
            fields = fields.record.read(reading, fields.written, fields.path)
            if isinstance(fields, Bad):
                continue
        if "answers" in fields:
            fields = completed(net, fields, built, streams)
            if fields is None:
                continue
        stream = _stream(reading, net, fields, worst_case)
        if stream is not None and len(reading.problems) == before:
            built[str(name)] = stream
            if fields.cost and len(reading.doubts) == doubts:
                firsts[id(fields)] = stream
    built = {str(name): built[name] for name in streams if name in built}
    for name, stream in zip(streams, (built.get(name) for name in streams), strict=True):
        if stream is not None and stream.count > 1:
            _flows(reading, name, stream.count, streams)
    check_telegrams(reading, streams, built)
    return built


def _flows(reading: Reading, name: Named, count: int, streams: dict[Named, Any]) -> None:
    """The flows of a stream have the names name.1, name.2, …: no other stream may have one of them."""
    for other in streams:
        number = other.removeprefix(f"{name}.")
        if number != other and number.isdigit() and 1 <= int(number[:9]) <= count:
            hint = f"{name} has {count} flows, of which one is called {other}"
            reading.problem(other.place, other.path, "a name of its own for each flow", other, hint)


def _stream(reading: Reading, net: Net, written: Fields, worst_case: bool) -> model.Stream | None:
    ends = _ends(reading, net, written)
    fields = _with_pattern(reading, written)
    if fields is None:
        return None
    vid = _vid(fields)
    priority = sr_class(reading, fields)
    trdp = fields["trdp"].part(net) if "trdp" in fields else None
    trdp = None if isinstance(trdp, Bad) else trdp
    pcp = fields.get("pcp", priority.pcp if priority else trdp.qos if trdp and vid is not None else 0)
    if priority and "pcp" in fields and fields["pcp"] != priority.pcp:
        hint = f"leave pcp out: {fields['class']} has PCP {priority.pcp}"
        found = f"{fields['pcp']} with class {fields['class']}"
        fields.wrong(reading, "pcp", f"PCP {priority.pcp}", found, hint)
    if vid is None and pcp:
        hint = "the PCP is a part of the VLAN tag; leave vlan: none out"
        fields.wrong(reading, "vlan", "a tagged frame for a PCP", "none", hint)
    when = _when(net, fields)
    size: _Size | None = (
        _telegram(reading, fields, trdp, vid is not None)
        if "trdp" in fields
        else _size(reading, fields, vid is not None)
    )
    if isinstance(when, model.TokenBucket) and size is not None:
        _one_frame(reading, fields, when, size)
    requires = requirements(net, fields, worst_case)
    settings = fields.given(net, model.Stream)
    in_order = times_in_order(reading, fields, settings.get("release"))
    if not in_order or ends is None or when is None or size is None or fields.bad or BAD in settings.values():
        return None
    talker, listeners = ends
    via = _via(reading, net, written, talker, listeners)

    def read_path(hops: Sequence[Named]) -> model.StreamPath | None:
        last = numbered(hops[-1])[0] if hops else ""
        return _hops(reading, net, hops, talker, last if last in listeners else listeners[0])

    frer, failover = redundancy(reading, net, written, listeners, read_path) if net.whole else (None, None)
    return model.Stream(
        talker=talker,
        listeners=tuple(listeners),
        pcp=pcp,
        sr_class=priority.letter if priority else None,
        vid=vid,
        pattern=when,
        size=size,
        via=via.nodes if via else None,
        via_links=via.links if via else None,
        frer=frer,
        failover=failover,
        requires=requires,
        **settings,
    )


def _with_pattern(reading: Reading, written: Fields) -> Fields | None:
    """The stream's own keys before its pattern's; an own size or period replaces the pattern's."""
    for key, what in (("from", "the talker: from: node1"), ("to", "the listener: to: node2")):
        if key not in written and key not in written.bad:
            reading.problem(written.place, written.path, f"the key {key} in a stream", "none", f"name {what}")
            written.bad.add(key)
    if "pattern" in written.bad:
        return None
    if "pattern" not in written:
        return written
    name = written["pattern"]
    patterns = catalogue.patterns()
    if name not in patterns:
        hint = meant(name, patterns)
        reading.problem(name.place, name.path, "the name of a catalogue pattern", name, hint)
        return None
    base = patterns[name]
    drop: set[str] = set()
    for group in (_WHEN, _SIZE):
        if any(key in written.places for key in group):
            drop |= set(group)
    if any(key in written.places for key in ("poisson", "arrivals", "saturating", "replay", "answers")):
        drop |= {"offset", "jitter"}
    if "replay" in written.places:
        drop |= set(_SIZE)
    if "pcp" in written.places or "class" in written.places:
        drop |= {"pcp", "class"}
    fields = Fields(written.place, written.path)
    fields.update({key: value for key, value in base.items() if key not in drop})
    fields.update(written)
    fields.places, fields.bad = written.places, written.bad
    return fields


def _plain_ends(net: Net, fields: Fields) -> tuple[str, list[str]] | None:
    """Talker and listener of a stream with nothing to report about them; None if :func:`_ends` decides."""
    to = fields["to"]
    if not net.whole or not isinstance(to, list) or len(to) != 1:
        return None
    talker, listener = net.ends.get(fields["from"]), net.ends.get(to[0])
    if talker is None or listener is None or talker == listener or not net.reaches(talker, listener):
        return None
    return talker, [listener]


def _ends(reading: Reading, net: Net, fields: Fields) -> tuple[str, list[str]] | None:
    """Talker and listeners, all of which can be reached."""
    talker = net.node(fields["from"]) if "from" in fields else None
    listeners: list[str] = []
    for name in fields.get("to", ()):
        listener = net.node(name)
        if listener is None:
            continue
        if listener == talker:
            hint = "name another node"
            reading.problem(name.place, name.path, "a listener other than the talker", name, hint)
        elif listener in listeners:
            reading.problem(name.place, name.path, "each listener once", f"{name} again")
        else:
            listeners.append(listener)
    for key, nodes in (("from", [talker] if talker else []), ("to", listeners)):
        for node in nodes:
            if net.named and net.nodes[node].kind == "bridge":
                hint = "make it a host, which is both; or attach a station to it"
                found = f"{node}, a bridge"
                fields.wrong(reading, key, "a station or host", found, hint)
    if talker is None or not listeners or not net.whole:
        return None
    if _alone(reading, net, fields["from"], talker, listeners[0], "talker"):
        return talker, listeners
    for name in fields["to"]:
        listener = net.aliases.get(name, str(name)) if name not in net.nodes else str(name)
        if listener not in listeners or _alone(reading, net, name, listener, talker, "listener"):
            continue
        if not net.reaches(talker, listener):
            between = net.bridge_between(talker, listener)
            hint = "only bridges and hosts forward, stations do not"
            hint = f"add {' -- '.join(between)} to the links; {hint}" if between else f"add a link; {hint}"
            found = f"{listener}, without a path to it"
            reading.problem(name.place, name.path, f"a listener that {talker} can reach", found, hint)
    return talker, listeners


def _alone(reading: Reading, net: Net, name: Named, node: str, partner: str, what: str) -> bool:
    """Whether a node has no link at all; reported once per node."""
    if net.neighbours[node]:
        return False
    if node not in net.alone:
        net.alone.add(node)
        hint = f"add {node} -- {net.near(node, partner)} to the links"
        reading.problem(name.place, name.path, f"a {what} with a link", f"{node}, which has no link", hint)
    return True


def _via(
    reading: Reading, net: Net, fields: Fields, talker: str, listeners: list[str]
) -> model.StreamPath | None:
    if "via" not in fields:
        return None
    if len(listeners) > 1:
        hint = "leave via out, or make one stream per listener"
        fields.wrong(reading, "via", "one listener with via", f"{len(listeners)}", hint)
        return None
    return _hops(reading, net, fields["via"], talker, listeners[0])


def _hops(
    reading: Reading, net: Net, written: Sequence[Named], talker: str, listener: str
) -> model.StreamPath | None:
    """Hops with both ends, each linked to the next, and the parallel link of each where one is named."""
    hops: list[tuple[str, int | None, Named]] = []
    for name in written:
        bare, number = numbered(name)
        node = net.node(Named.at(bare, name.place, name.path))
        if node is None:
            return None
        hops.append((node, number, name))
    if not hops:
        return None  # no item could be read, and that is told
    if hops[0][0] != talker:
        hops.insert(0, (talker, None, Named.at(talker, hops[0][2].place, hops[0][2].path)))
    if hops[-1][0] != listener:
        hops.append((listener, None, Named.at(listener, hops[-1][2].place, hops[-1][2].path)))
    if _turned(net, [hop[0] for hop in hops]):
        found = ", ".join(str(name) for name in written)
        hint = f"write [{', '.join(str(name) for name in reversed(written))}]"
        first = written[0]
        reading.problem(
            first.place, first.path, f"hops in the order from {talker} to {listener}", found, hint
        )
        return None
    seen: set[str] = set()
    for place, (node, number, name) in enumerate(hops):
        problem = partial(reading.problem, name.place, name.path)
        if node in seen:
            problem("each hop once", f"{node} again")
        seen.add(node)
        if 0 < place < len(hops) - 1 and not net.forwards(node):
            problem("a bridge or host between talker and listener", f"{node}, a station")
        if place == 0:
            continue
        before = hops[place - 1][0]
        parallel = net.parallel(before, node)
        if parallel == 0:
            near = ", ".join(net.neighbours[before][:8])
            found = f"{before} then {node}, which are not linked"
            problem("hops that follow each other", found, f"{before} is linked to {near}")
        elif number is not None and not 1 <= number <= parallel:
            problem(f"a link number from 1 to {parallel}", f"{number}")
    return model.StreamPath(nodes=tuple(hop[0] for hop in hops), links=tuple(hop[1] for hop in hops[1:]))


def _turned(net: Net, nodes: Sequence[str]) -> bool:
    """Whether hops are linked only if those between the ends are read backwards."""

    def linked(ordered: Sequence[str]) -> bool:
        return all(net.parallel(a, b) for a, b in pairwise(ordered))

    return not linked(nodes) and linked([nodes[0], *nodes[-2:0:-1], nodes[-1]])


def _vid(fields: Fields) -> int | None:
    text = fields.get("vlan")
    return None if text == "none" else 100 if text is None else int(text)


def _when(net: Net, fields: Fields) -> _When | None:
    reading = net.reading
    if "after" in fields and "answers" not in fields:
        hint = "write answers: the stream whose frames release this one's; or offset: when in the period"
        fields.wrong(reading, "after", "after only with answers", "after", hint)
    if "answers" in fields:
        settings = fields.given(net, model.Answer)
        return model.Answer(jitter=fields.get("jitter", 0), period=fields["period"], **settings)
    given = [key for key in _WHEN if key in fields.places or key in fields]
    if fields.get("saturating") is False:
        given = [key for key in given if key != "saturating"]
    if len(given) > 1:
        hint = f"keep one of {', '.join(given)}"
        fields.wrong(reading, given[1], f"either {' or '.join(given)}", " and ".join(given), hint)
        return None
    if not given:
        hint = "write period: 1 ms, poisson: 10 Mbit/s or saturating: true; or name a pattern or a recording"
        if not fields.bad - {"from", "to"}:
            reading.problem(fields.place, fields.path, "a release pattern of the stream", "none", hint)
        return None
    for key, only in (("offset", "period"), ("jitter", "period"), ("backlog", "saturating")):
        if key in fields and given[0] != only:
            found = f"{key} with {given[0]}"
            fields.wrong(reading, key, f"{key} only with {only}", found)
    if given[0] not in fields:
        return None
    if given[0] == "period":
        if fields.get("offset", 0) is None and fields.get("scheduled"):
            hint = "leave offset out: the planner chooses it"
            fields.wrong(reading, "offset", "a time, in a scheduled stream", "any", hint)
            return None
        return _periodic(tuple(fields.given(net, model.Periodic).items()))
    if given[0] == "saturating":
        return model.Saturating(**fields.given(net, model.Saturating))
    when = fields[given[0]].part(net)
    return None if isinstance(when, Bad) else when


def _size(reading: Reading, fields: Fields, tagged: bool) -> _Size | None:
    given = [key for key in _SIZE if key in fields.places or key in fields]
    if len(given) > 1:
        hint = "frame, phy and payload are three ways to say one size"
        fields.wrong(reading, given[1], "one size", " and ".join(given), hint)
        return None
    if not given and ("replay" in fields.places or "replay" in fields):
        return model.RecordedSizes()
    if not given:
        hint = "write frame: 1250 B, phy: 1270 B or payload: 1200 B; or units for sizes that vary"
        if not fields.bad - {"from", "to"}:
            reading.problem(fields.place, fields.path, "a size of the stream's frames", "none", hint)
        return None
    key = given[0]
    if key not in fields:
        return None
    if key == "units":
        return _units(reading, fields)
    written = fields[key]
    frame = written
    if key == "phy":
        frame = sizes.frame_from_phy(written)
    elif key == "payload":
        frame = sizes.frame_from_payload(written, tagged)
    most = sizes.largest(tagged)
    if frame > most:
        units = sizes.MOST_PAYLOAD
        limits = {"frame": most, "phy": most + sizes.PHY_OVERHEAD, "payload": units}
        hint = f"larger data units are cut into frames: write units: [{written} B] in place of {key}"
        expected = f"a {key} of at most {limits[key]} B{' with a VLAN tag' if tagged else ''}"
        fields.wrong(reading, key, expected, f"{written} B", hint)
        return None
    return _fixed(frame)


def _one_frame(reading: Reading, fields: Fields, bucket: model.TokenBucket, size: _Size) -> None:
    """A token bucket counts frames of one size, and holds at least one of them."""
    if not isinstance(size, model.FixedSize):
        hint = "write frame, phy or payload; a stream of its own for each size"
        fields.wrong(reading, "arrivals", "frames of one size with arrivals", "several sizes", hint)
        return
    least = size.octets + sizes.PHY_OVERHEAD
    if bucket.burst < least:
        hint = f"a frame of {size.octets} B takes {least} B of a link, with preamble and inter-frame gap"
        fields["arrivals"].wrong(
            reading, "burst", f"a burst of at least {least} B", f"{bucket.burst} B", hint
        )


@lru_cache(maxsize=4096)
def _periodic(values: tuple[tuple[str, Any], ...]) -> model.Periodic:
    """A release pattern; thousands of streams share a few of them, which do not change."""
    return model.Periodic(**dict(values))


@lru_cache(maxsize=4096)
def _fixed(octets: int) -> model.FixedSize:
    """A frame size; thousands of streams share a few of them, which do not change."""
    return model.FixedSize(octets=octets)


def _telegram(
    reading: Reading, fields: Fields, trdp: model.Trdp | None, tagged: bool
) -> model.FixedSize | None:
    """The frame around a telegram; the keys of TRDP determine its size."""
    port = (
        "message data goes to port 17225" if trdp and trdp.is_message else "process data goes to port 17224"
    )
    hints = {
        **dict.fromkeys(_SIZE, "leave it out: data-set says the size"),
        "udp-port": f"leave it out: {port}",
        "tos": "leave it out: qos says the type of service",
    }
    alone = all(fields.none_of(reading, [key], "no {key} with trdp", hint=hints[key]) for key in hints)
    if trdp is None or not alone:
        return None
    written = fields["trdp"]
    if trdp.data_set > trdp.longest:
        expected = f"at most {trdp.longest} B"
        written.wrong(reading, "data-set", expected, f"{trdp.data_set} B")
        return None
    return model.FixedSize(octets=sizes.frame_from_payload(trdp.payload_octets, tagged))


def _octets(units: Fields) -> str:
    """Mean and deviation for a message."""
    return f"{float(units['deviation']):.12g} B at a mean of {float(units['mean']):.12g} B"


def _units(reading: Reading, fields: Fields) -> model.UnitSizes | None:
    units = fields["units"]
    if not isinstance(units, Fields):
        return model.UnitSizes(octets=tuple(sorted(units)))
    if units.bad:
        return None
    most = units.get("most-per-frame", sizes.MOST_PAYLOAD)
    if most > sizes.MOST_PAYLOAD:
        expected = f"at most {sizes.MOST_PAYLOAD} B in one frame"
        units.wrong(reading, "most-per-frame", expected, f"{most} B")
        return None
    if "sizes" in units and ("mean" in units or "deviation" in units):
        units.wrong(reading, "sizes", "sizes, or mean and deviation", "both")
        return None
    if "sizes" in units:
        return model.UnitSizes(octets=tuple(sorted(units["sizes"])), most_per_frame=most)
    if "mean" not in units or "deviation" not in units:
        hint = "write units: {mean: 8000 B, deviation: 2000 B}"
        reading.problem(units.place, units.path, "sizes, or mean and deviation", "neither", hint)
        return None
    try:
        drawn = sizes.lognormal_sizes(units["mean"], units["deviation"])
    except (ValueError, OverflowError) as error:
        units.wrong(reading, "deviation", str(error), _octets(units))
        return None
    return model.UnitSizes(octets=drawn, most_per_frame=most)
