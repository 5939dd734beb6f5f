"""Hosts as written, with their profiles -> hosts of the model."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from tsnbench import catalogue
from tsnbench.scenario import model
from tsnbench.scenario.cyclictest import CyclictestError, histogram
from tsnbench.scenario.grammar.hosts import LATENCIES
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.network import Net
from tsnbench.scenario.reading import Bad, Named, Reading, meant
from tsnbench.scenario.source import Place


def build(reading: Reading, net: Net, written: Fields) -> dict[str, model.Host]:
    """By node: the default of every station and host, or what the node's own entry says."""
    default = _host(reading, written["default"], written, "default") if "default" in written else None
    found: dict[str, model.Host] = {}
    if default is not None:
        found = {name: default for name, node in net.nodes.items() if node.kind != "bridge"}
    for key, content in written.items():
        if key == "default" or isinstance(content, Bad):
            continue
        place, path = written.at(key), written.path_of(key)
        name = net.node(Named.at(key, place, path))
        if name is None:
            continue
        if net.nodes[name].kind == "bridge":
            hint = "make it a host, which forwards, too"
            reading.problem(place, path, "a station or host", f"{name}, a bridge", hint)
        elif content == "none":
            found.pop(name, None)
        else:
            host = _host(reading, content, written, key)
            if host is not None:
                found[name] = host
    return found


def _host(reading: Reading, content: Any, written: Fields, key: str) -> model.Host | None:
    if isinstance(content, Bad):
        return None
    fields = content if isinstance(content, Fields) else Fields(written.at(key), written.path_of(key))
    profile = fields.get("profile") if fields is content else content
    latencies: dict[str, model.Latency] = {}
    if profile is not None:
        profiles = catalogue.host_profiles()
        if profile not in profiles:
            hint = meant(profile, profiles)
            reading.problem(profile.place, profile.path, "the name of a profile", profile, hint)
            return None
        latencies.update(profiles[profile].loads[fields.get("load", "none")])
    elif "load" in fields:
        hint = "name a profile, or write the latencies under that load"
        reading.problem(fields.at("load"), fields.path_of("load"), "a profile with load", "none", hint)
    own = [name for name in LATENCIES if name in fields]
    for name in own:
        latency = latency_of(reading, fields[name], fields.at(name), fields.path_of(name))
        if latency is not None:
            latencies[name] = latency
    if "wakeup" in latencies and ("timer" not in latencies or ("wakeup" in own and "timer" not in own)):
        latencies["timer"] = latencies["wakeup"]
    return model.Host(latencies=latencies)


def latency_of(reading: Reading, content: Any, place: Place, path: str) -> model.Latency | None:
    """A latency as written: a duration, a span, a histogram, or a file."""
    if not isinstance(content, Fields):
        return model.Constant(ns=content)
    if content.bad:
        return None

    def wrong(expected: str, found: str, hint: str = "") -> None:
        reading.problem(place, path, expected, found, hint)

    ways = [key for key in ("to", "values", "cyclictest") if key in content]
    if len(ways) != 1:
        wrong("one of from and to, values and counts, or cyclictest", " and ".join(ways) or "none of them")
        return None
    if ways == ["to"]:
        low, high = content.get("from", 0), content["to"]
        if low > high:
            wrong("from not above to", f"{low} ns to {high} ns")
            return None
        return model.Uniform(low=low, high=high)
    if ways == ["values"]:
        values, counts = content["values"], content.get("counts", [1] * len(content["values"]))
        if len(values) != len(counts) or not sum(counts) or any(b <= a for a, b in pairwise(values)):
            wrong(
                "ascending values, and as many counts of which one is not 0",
                f"{len(values)} and {len(counts)}",
            )
            return None
        return model.Histogram(values=tuple(values), counts=tuple(counts), width=content.get("width", 0))
    name = str(content["cyclictest"])
    try:
        bins = histogram(Path(reading.file).parent / name, content.get("thread"))
    except CyclictestError as error:
        wrong("a histogram that cyclictest -h has written", f"{name}: {error}", error.hint)
        return None
    return model.Histogram(values=tuple(bins), counts=tuple(bins.values()), width=1_000)


def send(fields: Fields) -> model.Send | None:
    """How a stream's talker sends, where it says so."""
    written = fields.get("send")
    if not isinstance(written, Fields):
        return None
    return model.Send(
        advance=written.get("advance", 0),
        txtime=written.get("txtime", False),
        deadline=written.get("deadline", False),
        clock=written.get("clock", "tai"),
        window=written.get("window"),
    )


def qdisc(reading: Reading, written: Fields | Bad, pcp: Any) -> model.Qdisc | None:
    """Queueing disciplines as written; ``pcp`` reads a class."""
    if isinstance(written, Bad) or written.bad:
        return None
    etf: dict[int, model.Etf] = {}
    for name, settings in written.get("etf", {}).items():
        number = pcp(reading, name)
        if number is None or isinstance(settings, Bad) or settings.bad:
            continue
        etf[number] = model.Etf(
            delta=settings["delta"],
            deadline=settings.get("deadline", False),
            offload=settings.get("offload", False),
            skip_sock_check=settings.get("skip-sock-check", False),
        )
    return model.Qdisc(
        taprio=written.get("taprio"),
        txtime_delay=written.get("txtime-delay", 0),
        etf=etf,
        cbs=written.get("cbs", "full-offload"),
        limit_frames=written.get("limit-frames", 1000),
    )
