"""Streams with more than one path, from the file to the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tsnbench.scenario import model
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.grammar.redundancy import FROM_FAILURES
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import BAD, Named, Reading

ReadPath = Callable[[Sequence[Named]], "model.StreamPath | None"]
"""Hops as written to a path from talker to listener, mistakes noted."""


def redundancy(
    reading: Reading, net: Net, fields: Fields, listeners: list[str], read_path: ReadPath
) -> tuple[model.Frer | None, model.Failover | None]:
    """``frer`` and ``failover`` of a stream; at most one of them."""
    given = [key for key in ("frer", "failover") if key in fields]
    if not given:
        return None, None
    key = given[0]
    if len(given) > 1:
        hint = "a stream with frer needs no standby path"
        fields.wrong(reading, given[1], "one of them", "both", hint)
        return None, None
    if len(listeners) > 1 and key == "failover":
        hint = "make one stream per listener"
        fields.wrong(reading, key, f"one listener with {key}", str(len(listeners)), hint)
        return None, None
    if fields[key].bad:
        return None, None
    if key == "frer":
        return _frer(reading, net, fields, read_path), None
    return None, _failover(net, fields[key], read_path)


def _frer(reading: Reading, net: Net, fields: Fields, read_path: ReadPath) -> model.Frer | None:
    written = fields["frer"]
    for other, why in (("via", fields), ("disjoint", written)):
        if other in why and (other == "via" or "paths" in written):
            hint = "paths lists the paths; disjoint finds them"
            why.wrong(reading, other, "only one of paths, disjoint and via", other, hint)
            return None
    planned = written.get("paths") == FROM_FAILURES
    if planned and "at" in written:
        hint = "leave at out: member streams merge wherever planned paths meet"
        written.wrong(reading, "at", f"no at with paths: {FROM_FAILURES}", "at", hint)
    paths = [] if planned else [read_path(hops) for hops in written.get("paths", ())]
    if "history" in written and written.get("recovery") == "match":
        written.wrong(reading, "history", "history only with vector recovery", "match")
    settings = written.given(net, model.Frer)
    if "identification" in written:
        shown = written["identification"]
        active = shown.get("active") if isinstance(shown, Fields) else None
        settings["identification"] = active.part(net) if isinstance(active, Fields) else shown
    if None in paths or BAD in settings.values():
        return None
    return model.Frer(
        paths=tuple(each for each in paths if each is not None), from_failures=planned, **settings
    )


def _failover(net: Net, written: Fields, read_path: ReadPath) -> model.Failover | None:
    other = read_path(written["path"]) if "path" in written else None
    if "path" in written and other is None:
        return None
    return model.Failover(path=other, **{"back": written["after"], **written.given(net, model.Failover)})
