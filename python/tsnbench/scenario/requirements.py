"""What a stream requires, and the SR classes that bring their own limits.

EnGINE Table 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tsnbench import catalogue
from tsnbench.scenario import model
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.reading import Named, Reading, meant


def named_class(reading: Reading, name: Named) -> catalogue.SrClass | None:
    classes = catalogue.sr_classes()
    if name in classes:
        return classes[name]
    reading.problem(name.place, name.path, "an SR class", name, meant(name, classes))
    return None


def sr_class(reading: Reading, fields: Fields) -> catalogue.SrClass | None:
    """The class that a stream names, if it names one."""
    return named_class(reading, fields["class"]) if "class" in fields else None


def requirements(reading: Reading, fields: Fields, worst_case: bool = False) -> model.Requirements:
    """What one stream requires; ``worst_case``: whether that counts for all streams that do not say."""
    written = fields.get("requires")
    if written is None:
        return model.Requirements()
    if not isinstance(written, Fields):
        limits = named_class(reading, written)
        if limits is None:
            return model.Requirements()
        return limits.requirements.model_copy(update={"worst_case": worst_case})
    limits = named_class(reading, written["class"]) if "class" in written else None
    base = limits.requirements if limits else model.Requirements()
    keys: dict[str, Any] = {"delay": base.delay, "loss_ppm": base.loss_ppm, "rate": base.rate}
    percentiles: dict[int, int] = {}
    jitter = {limit.kind: limit for limit in base.jitter}
    for key, value in written.items():
        word, _, rest = key.partition(" ")
        if key == "delay from release":
            keys["release_delay"] = value
        elif rest and word == "delay":
            share = Fraction(rest[1:]) * 10_000
            percentiles[int(share)] = value
        elif word == "jitter":
            kind: Any = rest or "delay-step-abs"
            jitter[kind] = model.JitterLimit(kind=kind, limit=value)
        elif key == "loss":
            keys["loss_ppm"] = value
        elif key in keys:
            keys[key] = value
    if 0 in percentiles:
        key = next(key for key in written if key.startswith("delay p0"))
        reading.problem(written.at(key), written.path_of(key), "a share above 0", key, "write delay p99.9")
        return model.Requirements()
    keys["worst_case"] = bool(written.get("worst-case", worst_case))
    if set(written.places) == {"worst-case"}:
        key = "worst-case"
        hint = "write the limit beside it: {delay: 300 us, worst-case: true}"
        reading.problem(written.at(key), written.path_of(key), "a limit beside it", "none", hint)
    return model.Requirements(percentiles=percentiles, jitter=tuple(jitter.values()), **keys)
