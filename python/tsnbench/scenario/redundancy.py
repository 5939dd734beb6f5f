"""Streams with more than one way, as written -> the model's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tsnbench.scenario import model
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.network import Net
from tsnbench.scenario.reading import Named, Reading

Ways = Callable[[Sequence[Named]], "model.Way | None"]
"""Hops as written to a way from talker to listener, mistakes noted."""


def redundancy(
    reading: Reading, net: Net, fields: Fields, listeners: list[str], way: Ways
) -> tuple[model.Frer | None, model.Failover | None]:
    """What ``frer`` and ``failover`` of a stream say; at most one of them."""
    given = [key for key in ("frer", "failover") if key in fields]
    if not given:
        return None, None
    key = given[0]
    place, path = fields.at(key), fields.path_of(key)
    if len(given) > 1:
        hint = "copies need no way that stands by"
        reading.problem(fields.at(given[1]), fields.path_of(given[1]), "one of them", "both", hint)
        return None, None
    if len(listeners) > 1 and key == "failover":
        hint = "make one stream per listener"
        reading.problem(place, path, f"one listener with {key}", str(len(listeners)), hint)
        return None, None
    if fields[key].bad:
        return None, None
    if key == "frer":
        return _frer(reading, net, fields, way), None
    return None, _failover(fields[key], way)


def _frer(reading: Reading, net: Net, fields: Fields, way: Ways) -> model.Frer | None:
    written = fields["frer"]
    for other, why in (("via", fields), ("disjoint", written)):
        if other in why and (other == "via" or "paths" in written):
            hint = "paths say the ways; disjoint finds them"
            reading.problem(why.at(other), why.path_of(other), "one way to say the ways", other, hint)
            return None
    ways = [way(hops) for hops in written.get("paths", ())]
    if "history" in written and written.get("recovery") == "match":
        at, path = written.at("history"), written.path_of("history")
        reading.problem(at, path, "history only with vector recovery", "match")
    named = ("disjoint", "recovery", "history", "reset", "individual", "identification")
    settings = {name: written[name] for name in named if name in written}
    if isinstance(settings.get("identification"), Fields):
        active = _active(reading, written["identification"])
        if active is None:
            return None
        settings["identification"] = active
    if "at" in written:
        named_at = written["at"] if isinstance(written["at"], list) else [written["at"]]
        settings["at"] = tuple(node for node in map(net.node, named_at) if node is not None)
    if "latent-errors" in written:
        latent = written["latent-errors"]
        if latent.bad:
            return None
        settings["latent"] = model.Latent(**latent)
    if None in ways:
        return None
    return model.Frer(ways=tuple(each for each in ways if each is not None), **settings)


def _active(reading: Reading, written: Fields) -> model.ActiveIdentification | None:
    if written.bad or "active" not in written or written["active"].bad:
        return None
    active = written["active"]
    settings = {name: active[name] for name in ("vlan", "pcp") if name in active}
    if "destination" in active:
        mac = str(active["destination"]).lower()
        if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", mac):
            expected = "a MAC address such as 02:cb:00:00:00:01"
            reading.problem(active.at("destination"), active.path_of("destination"), expected, mac)
            return None
        settings["destination"] = mac
    return model.ActiveIdentification(**settings)


def _failover(written: Fields, way: Ways) -> model.Failover | None:
    other = way(written["path"]) if "path" in written else None
    if "path" in written and other is None:
        return None
    return model.Failover(way=other, after=written["after"], back=written.get("back", written["after"]))
