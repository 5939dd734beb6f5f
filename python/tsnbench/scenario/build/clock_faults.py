"""Faults of clocks, from the file to the model. A file lists them among all other faults; in the model they
belong to the clocks."""

from __future__ import annotations

from tsnbench.scenario import model
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.kinds.common import LONGEST
from tsnbench.scenario.kinds.values import Signed
from tsnbench.scenario.text.reading import Bad, Reading
from tsnbench.scenario.text.tree import Scalar
from tsnbench.scenario.units import DRIFT, DURATION

KINDS = ("clock-step", "frequency-jump", "grandmaster-lost")
_BY = {"clock-step": Signed(DURATION, LONGEST), "frequency-jump": Signed(DRIFT, 10**9)}


def of_clocks(fields: Fields) -> bool:
    """Whether a fault is one of a clock."""
    return bool(fields.written_of(KINDS))


def build(
    reading: Reading, net: Net, written: list[Fields], clocks: model.Clocks | None
) -> model.Clocks | None:
    """The clocks with their faults; mistakes are reported."""
    found = []
    for fields in written:
        if not isinstance(fields, Fields) or not of_clocks(fields):
            continue
        if clocks is None:
            hint = "add clocks: {gptp: {grandmaster: node}}"
            reading.problem(fields.place, fields.path, "clocks, because a fault names one", "none", hint)
            return None
        fault = _fault(reading, net, fields, clocks)
        if fault is not None:
            found.append(fault)
    return clocks.model_copy(update={"faults": tuple(found)}) if clocks and found else clocks


def _fault(
    reading: Reading, net: Net, fields: Fields, clocks: model.Clocks
) -> model.ClockStep | model.FrequencyJump | model.PtpDown | None:
    kinds = fields.written_of(KINDS)
    others = [key for key in fields.places if key not in (*KINDS, "at", "for", "by")]
    if len(kinds) != 1 or others:
        found = " and ".join([*kinds, *others])
        reading.problem(fields.place, fields.path, f"one of {', '.join(KINDS)}", found)
        return None
    kind = kinds[0]
    if fields.bad:
        return None
    node = net.node(fields[kind])
    if kind == "grandmaster-lost" and clocks.gptp is None:
        hint = "add gptp: {grandmaster: node} to the clocks"
        fields.wrong(reading, kind, "gptp or ptp to be lost", "none", hint)
    if kind == "clock-step":
        fields.none_of(reading, ["for"], "no for with clock-step", "one")
    if ("by" in fields) != (kind in _BY):
        expected = f"the key by with {kind}" if kind in _BY else f"no by with {kind}"
        fields.wrong(reading, "by", expected, "one" if "by" in fields else "none")
        return None
    if node is None:
        return None
    at, duration = fields.get("at", 0), fields.get("for")
    if kind == "grandmaster-lost":
        return model.PtpDown(node=node, at=at, duration=duration)
    text = fields["by"]
    by = _BY[kind].read(reading, Scalar(text.place, str(text), True), text.path)
    if isinstance(by, Bad):
        return None
    if kind == "clock-step":
        return model.ClockStep(node=node, by=by, at=at)
    return model.FrequencyJump(node=node, by=by, at=at, duration=duration)
