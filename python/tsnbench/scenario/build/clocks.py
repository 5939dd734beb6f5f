"""Clocks, from the file to the model."""

from __future__ import annotations

from itertools import pairwise

from tsnbench.scenario import model
from tsnbench.scenario.build import ptp
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.part import Values
from tsnbench.scenario.recorded import oscillator_trace
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading

_RESERVED = ("default", "gptp", "ptp", "record", "within")


def build(reading: Reading, net: Net, written: Fields) -> model.Clocks:
    """The default clock, the nodes' own clocks, which override it, and gPTP."""
    own: dict[str, model.Clock] = {}
    default = _settings(net, written["default"]) if "default" in written else {}
    for key, fields in written.items():
        if key in _RESERVED or isinstance(fields, Bad):
            continue
        name = net.node(Named.at(key, *written.where(key)))
        settings = _settings(net, fields)
        if name is not None:
            inherited = dict(default)
            for one, other in (("drift", "drift_within"), ("drift_within", "drift")):
                if one in settings:
                    inherited.pop(other, None)
            own[name] = model.Clock(**(inherited | settings))
    gptp = ptp.build(reading, net, written)
    return model.Clocks(
        default=model.Clock(**default), own=own, gptp=gptp, **written.given(net, model.Clocks)
    )


def _settings(net: Net, fields: Fields) -> Values:
    reading = net.reading
    found = {name: value for name, value in fields.given(net, model.Clock).items() if value is not BAD}
    if "drift" in found and "drift_within" in found:
        fields.wrong(reading, "drift-within", "drift or drift-within", "both", "leave one out")
    if any(later.at <= earlier.at for earlier, later in pairwise(found.get("changes", ()))):
        hint = "write them in order, each time once"
        fields.wrong(reading, "changes", "changes in order of time", "others", hint)
    if "trace" in fields:
        if "changes" in fields:
            fields.wrong(reading, "trace", "changes or trace", "both", "leave one out")
        found |= oscillator_trace.read(reading, fields["trace"])
    return found
