"""Hosts with their profiles, from the file to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tsnbench.scenario import catalogue, model
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.grammar.hosts import LATENCIES, OF_PROGRAMS
from tsnbench.scenario.grammar.latency import latency_of
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading, meant


def build(reading: Reading, net: Net, written: Fields) -> dict[str, model.Host]:
    """The hosts by node: the default of every station and host, or the node's own entry."""
    default = _host(reading, written["default"], written, "default") if "default" in written else None
    found: dict[str, model.Host] = {}
    if default is not None:
        found = {name: default for name, node in net.nodes.items() if node.kind != "bridge"}
    for key, content in written.items():
        if key == "default" or isinstance(content, Bad):
            continue
        place, path = written.where(key)
        name = net.node(Named.at(key, place, path))
        if name is None:
            continue
        if net.nodes[name].kind == "bridge":
            hint = "make it a host, which also forwards"
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
    fields = content if isinstance(content, Fields) else Fields(*written.where(key))
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
        fields.wrong(reading, "load", "a profile with load", "none", hint)
    own = [name for name in (*LATENCIES, *OF_PROGRAMS) if name in fields]
    for name in own:
        latency = latency_of(reading, fields[name], *fields.where(name))
        if latency is not None:
            latencies[name] = latency
    if "wakeup" in latencies and ("timer" not in latencies or ("wakeup" in own and "timer" not in own)):
        latencies["timer"] = latencies["wakeup"]
    return model.Host(latencies=latencies, processor=fields.get("processor"))


def qdisc(net: Net, written: Fields | Bad, pcp: Callable[[Reading, Named], int | None]) -> Any:
    """Queueing disciplines as written; ``pcp`` reads a class."""
    if isinstance(written, Bad) or written.bad:
        return None
    by_class: dict[str, dict[int, Any]] = {
        key: {} for key, children in written.items() if isinstance(children, dict)
    }
    for key, own in by_class.items():
        for name, settings in written[key].items():
            number = pcp(net.reading, name)
            made = BAD if isinstance(settings, Bad) else settings.part(net)
            if number is not None and not isinstance(made, Bad):
                own[number] = made
    return written.part(net, **by_class)
