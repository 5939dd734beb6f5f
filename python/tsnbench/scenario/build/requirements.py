"""The requirements of a stream, and the SR classes with their own limits.

EnGINE Table 1.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from tsnbench.scenario import catalogue, model
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import Named, Reading

_NONE = model.Requirements()
"""What others are copied from."""


def named_class(reading: Reading, name: Named) -> catalogue.SrClass | None:
    classes = catalogue.sr_classes()
    if name in classes:
        return classes[name]
    # No class is similar to sr/E, which is one letter from each.
    same = [one for one in classes if one.lower() in (name.lower(), f"sr/{name.lower()}")]
    hint = f"did you mean {same[0]}?" if same else f"known: {', '.join(classes)}"
    reading.problem(name.place, name.path, "an SR class", name, hint)
    return None


def sr_class(reading: Reading, fields: Fields) -> catalogue.SrClass | None:
    """The class that a stream names, if it names one."""
    return named_class(reading, fields["class"]) if "class" in fields else None


def requirements(net: Net, fields: Fields, worst_case: bool = False) -> model.Requirements:
    """The requirements of one stream; ``worst_case``: the default for streams without that key."""
    reading = net.reading
    written = fields.get("requires")
    if written is None:
        return model.Requirements()
    if not isinstance(written, Fields) and (limit := re.fullmatch(r"(?:([a-z]+)[ =<]+)?([0-9].*)", written)):
        hint = f"write requires: {{{limit[1] or 'delay'}: {limit[2]}}}"
        reading.problem(written.place, written.path, "limits, or the name of an SR class", written, hint)
        return model.Requirements()
    if not isinstance(written, Fields):
        limits = named_class(reading, written)
        if limits is None:
            return model.Requirements()
        return limits.requirements.model_copy(update={"worst_case": worst_case})
    limits = named_class(reading, written["class"]) if "class" in written else None
    base = limits.requirements if limits else _NONE
    percentiles: dict[int, int] = {}
    jitter = {limit.kind: limit for limit in base.jitter}
    for key, value in written.items():
        word, _, rest = key.partition(" ")
        if key.startswith("delay p"):
            share = Fraction(rest[1:]) * 10_000
            percentiles[int(share)] = value
        elif word == "jitter":
            kind: Any = rest or "delay-step-abs"
            jitter[kind] = model.JitterLimit(kind=kind, limit=value)
    if 0 in percentiles:
        key = next(key for key in written if key.startswith("delay p0"))
        written.wrong(reading, key, "a share above 0", key, "write delay p99.9")
        return model.Requirements()
    if set(written.places) == {"worst-case"}:
        key = "worst-case"
        hint = "write the limit beside it: {delay: 300 us, worst-case: true}"
        written.wrong(reading, key, "a limit beside it", "none", hint)
    changes = {"percentiles": percentiles, "jitter": tuple(jitter.values()), "worst_case": worst_case}
    return base.model_copy(update=changes | written.given(net, model.Requirements))
