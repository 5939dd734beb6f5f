"""gPTP and PTP, from the file to the model."""

from __future__ import annotations

from tsnbench.scenario import model
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading

_SECOND = 10**9
# IEEE 802.1AS-2020, 8.6.2, and IEEE 1588-2019, annex I: the default attributes of a clock.
_QUALITY = {
    "gptp": {"priority1": 246, "variance": 0x436A, "priority2": 248},
    "ptp": {"priority1": 128, "variance": 0xFFFF, "priority2": 128},
}
_PACES: dict[str, dict[str, int]] = {
    "gptp": {"sync_interval": _SECOND // 8, "announce_interval": _SECOND},
    "ptp": {"sync_interval": _SECOND, "announce_interval": 2 * _SECOND},
}


def build(reading: Reading, net: Net, written: Fields) -> model.Gptp | None:
    """The model; None without gPTP and PTP, or after a mistake."""
    kinds = [key for key in ("gptp", "ptp") if key in written and not isinstance(written[key], Bad)]
    if len(kinds) == 2:
        written.wrong(reading, "ptp", "gptp or ptp", "both", "leave one out")
    if len(kinds) != 1:
        return None
    kind, fields = kinds[0], written[kinds[0]]
    given = {"sync_interval": _PACES[kind]["sync_interval"], **fields.given(net, model.Gptp)}
    if kind == "ptp":
        if "delay-interval" in fields:
            given["pdelay_interval"] = fields["delay-interval"]
        own = fields.given(net, model.Ieee1588)
        given["ieee_1588"] = BAD if BAD in own.values() else model.Ieee1588(**own)
    return _who(reading, net, kind, fields, given)


def _who(reading: Reading, net: Net, kind: str, fields: Fields, given: Values) -> model.Gptp | None:
    """The grandmaster, or the election."""
    written = fields.written_of(("grandmaster", "bmca"))
    if len(written) != 1:
        hint = "add grandmaster: node, or bmca: {} to elect one" if not written else "leave one out"
        found = "both" if written else "none"
        if not fields.bad:
            reading.problem(fields.place, fields.path, "the key grandmaster or the key bmca", found, hint)
        return None
    if written == ["grandmaster"]:
        for key in ("announce-interval", "announce-receipt-timeout", "sync-receipt-timeout"):
            fields.none_of(reading, [key], "{key} only with bmca", "grandmaster")
        name = given.get("grandmaster")
        if name in getattr(given.get("ieee_1588"), "transparent", ()):
            fields.wrong(reading, "grandmaster", "a node whose clock is not transparent", str(name))
        return None if name is None or BAD in given.values() else model.Gptp(**given)
    if "bmca" not in fields or BAD in given.values():
        return None
    return model.Gptp(bmca=_bmca(net, kind, fields), **given)


def _bmca(net: Net, kind: str, fields: Fields) -> model.Bmca:
    clocks: Fields = fields["bmca"]
    default = _QUALITY[kind] | _quality(net, clocks.get("default"))
    own = {}
    for key, quality in clocks.items():
        if key != "default":
            name = net.node(Named.at(key, *clocks.where(key)))
            if name is not None:
                own[name] = model.ClockQuality(**(default | _quality(net, quality)))
    given = {"announce_interval": _PACES[kind]["announce_interval"], **fields.given(net, model.Bmca)}
    return model.Bmca(default=model.ClockQuality(**default), own=own, **given)


def _quality(net: Net, fields: Fields | Bad | None) -> Values:
    return fields.given(net, model.ClockQuality) if isinstance(fields, Fields) else {}
