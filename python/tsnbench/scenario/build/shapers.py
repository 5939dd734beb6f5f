"""Shapers, from the file to the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tsnbench.scenario import catalogue, model
from tsnbench.scenario.build.hosts import qdisc
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.grammar.gates import OF_THE_FIRST
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading, meant
from tsnbench.scenario.units import DURATION


def build(
    reading: Reading, net: Net, written: dict[Named, Any], streams: Iterable[model.Stream]
) -> dict[str, model.Shaper]:
    """Settings of nodes first, then the shapers as written."""
    shapers = dict(net.shapers)
    sr_pcps = _sr_pcps(streams)
    for key, fields in written.items():
        ports = net.ports(key, bridges=True)
        if isinstance(fields, Bad):
            continue
        settings = fields.given(net, model.Shaper)
        if "cbs" in fields:
            settings["cbs"] = _cbs(net, fields, sr_pcps)
        if "gates" in fields:
            settings["gates"] = _gates(net, fields)
        if "qdisc" in fields:
            settings["qdisc"] = qdisc(net, fields["qdisc"], _pcp)
        if "cqf" in settings and settings["cqf"] is not BAD and "gates" in fields.places:
            hint = "CQF makes the gates of its ports; leave gates out"
            fields.wrong(reading, "gates", "gates or cqf", "both", hint)
        shaper = model.Shaper(**{name: value for name, value in settings.items() if value is not BAD})
        if ports is None:
            continue
        if ports in shapers and ports not in dict(net.shapers):
            hint = "put both under one key"
            reading.problem(key.place, key.path, "each port once", f"{key} again", hint)
        elif ports in shapers:
            shapers[ports] = _over(shapers[ports], shaper)
        else:
            shapers[ports] = shaper
    return shapers


def _over(lower: model.Shaper, upper: model.Shaper) -> model.Shaper:
    queues = upper.queues
    if lower.queues is not None and queues is not None:
        both = lower.queues.model_dump(exclude_unset=True) | queues.model_dump(exclude_unset=True)
        queues = model.Queues(**both)
    changes = {name: value for name, value in upper.items() if value is not None}
    return lower.model_copy(update=changes | {"queues": queues or lower.queues})


def _sr_pcps(streams: Iterable[model.Stream]) -> tuple[int, ...]:
    """PCPs of the SR classes that streams use, highest class first; C and D share one."""
    letters = {stream.sr_class for stream in streams if stream.sr_class}
    if not letters:
        return ()
    pcps = [sr.pcp for sr in catalogue.sr_classes().values() if sr.letter in letters]
    return tuple(dict.fromkeys(pcps))


def _cbs(net: Net, fields: Fields, used: tuple[int, ...]) -> tuple[model.CbsClass, ...]:
    reading = net.reading
    written = fields["cbs"]
    if written == "from-streams":
        if not used and reading.unread == ():
            hint = "give the streams a class: class: sr/A"
            fields.wrong(reading, "cbs", "streams with an SR class", "none", hint)
        return tuple(model.CbsClass(pcp=pcp) for pcp in used)
    items = written.items() if isinstance(written, dict) else [(name, None) for name in written]
    classes: dict[int, model.CbsClass] = {}
    for name, settings in items:
        pcp = _pcp(reading, name)
        if pcp is None or isinstance(settings, Bad):
            continue
        if pcp in classes:
            hint = "C and D share PCP 5: one class with the bandwidth of both"
            reading.problem(name.place, name.path, "each PCP once", f"{name}, PCP {pcp} again", hint)
            continue
        made = model.CbsClass(pcp=pcp) if settings is None else settings.part(net, pcp=pcp)
        if not isinstance(made, Bad):
            classes[pcp] = made
    return tuple(classes.values())


def _pcp(reading: Reading, name: Named) -> int | None:
    if name.isdigit() and len(name) == 1 and int(name) < 8:
        return int(name)
    classes = catalogue.sr_classes()
    full = name if name.startswith("sr/") else f"sr/{name}"
    if full in classes and classes[full].letter:
        return classes[full].pcp
    hint = meant(name, [sr.letter for sr in classes.values() if sr.letter])
    reading.problem(name.place, name.path, "an SR class: A, B, C or D", name, hint)
    return None


def _gates(net: Net, fields: Fields) -> model.Gates | model.Follow | model.Planned | None:
    written = fields["gates"]
    if written == "plan":
        return model.Planned()
    if isinstance(written, Fields):
        if written.bad:
            return None
        if "follow" in written:
            return _follow(net, written)
        hint = "add follow: dut -> node0, or leave margin out"
        if not written.none_of(net.reading, ["margin"], "margin only with follow", "none", hint):
            return None
        gates = gate_list(net, written)
        return None if gates is None else _with_changes(net, written, gates)
    return _catalogued(net, Fields(*fields.where("gates")), written)


def _follow(net: Net, written: Fields) -> model.Follow | None:
    others = [key for key in written.places if key not in ("follow", "margin")]
    hint = f"leave {{key}} out: the list, its cycle and its base time are those of {written['follow']}"
    if not written.none_of(net.reading, others, "follow with margin alone", hint=hint):
        return None
    given = written.given(net, model.Follow)
    if BAD in given.values():
        return None
    if "*" in given["port"]:
        expected, hint = "one port, named by both its ends", "write follow: dut -> node0"
        written.wrong(net.reading, "follow", expected, written["follow"], hint)
        return None
    return model.Follow(**given)


def gate_list(net: Net, written: Fields) -> model.Gates | None:
    """One list."""
    if "pattern" in written:
        return _catalogued(net, written, written["pattern"])
    return _listed(net, written)


def _with_changes(net: Net, written: Fields, gates: model.Gates) -> model.Gates | None:
    """The settings of the first list only: the states before it, its changes, and the guard of all lists."""
    changes: list[model.GateChange] = []
    for change in written.get("changes", []):
        other = None if change.bad else gate_list(net, change)
        if other is None:
            return None
        changes.append(model.GateChange(at=change["at"], gates=other))
        if len(changes) > 1 and changes[-2].at > changes[-1].at:
            hint = "write them in the order of their at"
            found = f"{DURATION.text(change['at'])} after {DURATION.text(changes[-2].at)}"
            change.wrong(net.reading, "at", "changes in order of time", found, hint)
            return None
    given = written.given(net, model.Gates)
    of_the_first = {name: value for name, value in given.items() if name in OF_THE_FIRST}
    return gates.model_copy(update={**of_the_first, "changes": tuple(changes)})


def _catalogued(net: Net, written: Fields, name: Named) -> model.Gates | None:
    reading = net.reading
    lists = catalogue.gate_lists()
    if name not in lists:
        # In a list, `pattern` names one; alone, `plan` may stand here, too.
        known = lists if "pattern" in written else ["plan", *lists]
        reading.problem(name.place, name.path, "the name of a catalogue gate list", name, meant(name, known))
        return None
    hint = "leave {key} out, or write the entries yourself without pattern"
    if not written.none_of(reading, ("entries", "by"), "a pattern or entries", "both", hint):
        return None
    listed = lists[name]
    guard = written.get("guard-band", False)
    if guard and listed.guard_ns is None:
        hint = f"{name} always has the gate of its high stream open; leave guard-band out"
        written.wrong(reading, "guard-band", f"no guard band in {name}", "true", hint)
        return None
    slot = written.get("slot", listed.slot_ns)
    entries = [model.GateEntry(open=pcps, duration=slot) for pcps in listed.slots]
    if guard and listed.guard_ns is not None:
        entries.append(model.GateEntry(open=(), duration=listed.guard_ns))
    return _checked(reading, written, model.Gates(**_one_list(net, written) | {"entries": tuple(entries)}))


def _listed(net: Net, written: Fields) -> model.Gates | None:
    reading = net.reading
    hint = "the length of each entry is its for"
    if not written.none_of(reading, ("slot", "guard-band"), "{key} only with a pattern", "entries", hint):
        return None
    if "entries" not in written:
        hint = "write entries: [{open: [6], for: 45 us}, …] or pattern: flextest/gcl-1"
        reading.problem(written.place, written.path, "entries or a pattern", "neither", hint)
        return None
    given = _one_list(net, written)
    return None if BAD in given.values() else _checked(reading, written, model.Gates(**given))


def _one_list(net: Net, written: Fields) -> Values:
    return {
        name: value for name, value in written.given(net, model.Gates).items() if name not in OF_THE_FIRST
    }


def _checked(reading: Reading, written: Fields, gates: model.Gates) -> model.Gates:
    total = sum(entry.duration for entry in gates.entries)
    if gates.fit_entries and gates.cycle is None:
        hint = f"write cycle: {DURATION.text(total)}, or another one"
        written.wrong(reading, "fit-entries", "a cycle to fit them to", "none", hint)
    elif gates.cycle is not None and gates.cycle != total and not gates.fit_entries:
        hint = f"write cycle: {DURATION.text(total)}, or leave it out; or fit-entries: true"
        found = f"{DURATION.text(gates.cycle)} for entries of {DURATION.text(total)} together"
        written.wrong(reading, "cycle", "the sum of the entries", found, hint)
    return gates
