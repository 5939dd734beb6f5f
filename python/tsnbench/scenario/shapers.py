"""Shapers and taps as written -> shapers and taps of the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tsnbench import catalogue
from tsnbench.scenario import model
from tsnbench.scenario.classes import queues_of
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.hosts import qdisc
from tsnbench.scenario.network import Net
from tsnbench.scenario.policing import shapers as policing
from tsnbench.scenario.reading import Bad, Named, Reading, meant
from tsnbench.scenario.selectors import selector
from tsnbench.scenario.units import DURATION


def build(
    reading: Reading, net: Net, written: dict[Named, Any], streams: Iterable[model.Stream]
) -> dict[str, model.Shaper]:
    """Settings of nodes first, then the shapers as written."""
    shapers = dict(net.shapers)
    sr_pcps = _sr_pcps(streams)
    for key, fields in written.items():
        ports = selector(net, key)
        if isinstance(fields, Bad):
            continue
        shaper = model.Shaper(
            queues=queues_of(reading, fields["queues"]) if "queues" in fields else None,
            cbs=_cbs(reading, fields, sr_pcps) if "cbs" in fields else None,
            gates=_gates(reading, net, fields) if "gates" in fields else None,
            preemption=_preemption(reading, fields) if "preemption" in fields else None,
            qdisc=qdisc(reading, fields["qdisc"], _pcp) if "qdisc" in fields else None,
            real_rate=fields.get("real-rate"),
            planned_rate=fields.get("planned-rate"),
            **policing(reading, fields),
        )
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
    pcps = [sr.pcp for sr in catalogue.sr_classes().values() if sr.letter in letters]
    return tuple(dict.fromkeys(pcps))


def _cbs(reading: Reading, fields: Fields, used: tuple[int, ...]) -> tuple[model.CbsClass, ...]:
    written = fields["cbs"]
    if written == "from-streams":
        if not used and reading.unread == ():
            hint = "give the streams a class: class: sr/A"
            reading.problem(fields.at("cbs"), fields.path_of("cbs"), "streams with an SR class", "none", hint)
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
        most = settings.get("phy") if isinstance(settings, Fields) else None
        bandwidth = settings.get("bandwidth") if isinstance(settings, Fields) else settings
        classes[pcp] = model.CbsClass(pcp=pcp, bandwidth=bandwidth, most_frame=most)
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


def _gates(reading: Reading, net: Net, fields: Fields) -> model.Gates | model.Follow | model.Planned | None:
    written = fields["gates"]
    if written == "plan":
        return model.Planned()
    if isinstance(written, Fields):
        if written.bad:
            return None
        if "follow" in written:
            return _follow(reading, net, written)
        if "margin" in written:
            hint = "add follow: dut -> node0, or leave margin out"
            reading.problem(
                written.at("margin"), written.path_of("margin"), "margin only with follow", "none", hint
            )
            return None
        gates = gate_list(reading, written)
        return None if gates is None else _with_changes(reading, written, gates)
    return _catalogued(reading, Fields(fields.at("gates"), fields.path_of("gates")), written)


def _follow(reading: Reading, net: Net, written: Fields) -> model.Follow | None:
    for key in written.places:
        if key not in ("follow", "margin"):
            hint = f"leave {key} out: the list, its cycle and its base time are those of {written['follow']}"
            reading.problem(written.at(key), written.path_of(key), "follow with margin alone", key, hint)
            return None
    port = selector(net, written["follow"])
    if port is not None and "*" in port:
        expected, hint = "one port, named by both its ends", "write follow: dut -> node0"
        reading.problem(written.at("follow"), written.path_of("follow"), expected, written["follow"], hint)
        return None
    return None if port is None else model.Follow(port=port, margin=written.get("margin", 0))


def gate_list(reading: Reading, written: Fields) -> model.Gates | None:
    """One list."""
    if "pattern" in written:
        return _catalogued(reading, written, written["pattern"])
    return _listed(reading, written)


def _with_changes(reading: Reading, written: Fields, gates: model.Gates) -> model.Gates | None:
    """What only the first list says: what is before and after it, and how strict all of them are."""
    changes: list[model.GateChange] = []
    for change in written.get("changes", []):
        other = None if change.bad else gate_list(reading, change)
        if other is None:
            return None
        changes.append(model.GateChange(at=change["at"], gates=other))
        if len(changes) > 1 and changes[-2].at > changes[-1].at:
            hint = "write them in the order in which they are asked for"
            found = f"{DURATION.text(change['at'])} after {DURATION.text(changes[-2].at)}"
            reading.problem(change.at("at"), change.path_of("at"), "changes in order of time", found, hint)
            return None
    return gates.model_copy(
        update={
            "before": _before(reading, written),
            "guard": written.get("guard", True),
            "credit_runs": written.get("credit", False),
            "most_entries": written.get("most-entries", 1024),
            "changes": tuple(changes),
        }
    )


def _before(reading: Reading, written: Fields) -> tuple[int, ...] | None:
    before = written.get("before", "cycles")
    if isinstance(before, list):
        return tuple(sorted(set(before), reverse=True))
    words = {"cycles": None, "open": tuple(reversed(range(8))), "closed": ()}
    if before in words:
        return words[before]
    if before.isdigit() and len(before) == 1 and int(before) < 8:
        return (int(before),)
    expected = "cycles, open, closed or a list of PCPs"
    reading.problem(before.place, before.path, expected, before, meant(before, words))
    return None


def _catalogued(reading: Reading, written: Fields, name: Named) -> model.Gates | None:
    lists = catalogue.gate_lists()
    if name not in lists:
        reading.problem(name.place, name.path, "the name of a catalogue gate list", name, meant(name, lists))
        return None
    for key in ("entries", "by"):
        if key in written.places:
            hint = f"leave {key} out, or write the entries yourself without pattern"
            reading.problem(written.at(key), written.path_of(key), "a pattern or entries", "both", hint)
            return None
    listed = lists[name]
    guard = written.get("guard-band", False)
    if guard and listed.guard_ns is None:
        hint = f"{name} always lets its high stream through; leave guard-band out"
        reading.problem(
            written.at("guard-band"), written.path_of("guard-band"), f"no guard band in {name}", "true", hint
        )
        return None
    slot = written.get("slot", listed.slot_ns)
    entries = [model.GateEntry(open=pcps, duration=slot) for pcps in listed.slots]
    if guard and listed.guard_ns is not None:
        entries.append(model.GateEntry(open=(), duration=listed.guard_ns))
    return _checked(reading, written, model.Gates(entries=tuple(entries), **_common(written)))


def _listed(reading: Reading, written: Fields) -> model.Gates | None:
    for key in ("slot", "guard-band"):
        if key in written.places:
            hint = "entries say their own length with for"
            reading.problem(
                written.at(key), written.path_of(key), f"{key} only with a pattern", "entries", hint
            )
            return None
    if "entries" not in written:
        hint = "write entries: [{open: [6], for: 45 us}, …] or pattern: flextest/gcl-1"
        reading.problem(written.place, written.path, "entries or a pattern", "neither", hint)
        return None
    entries: list[model.GateEntry] = []
    for entry in written["entries"]:
        if entry.bad:
            return None
        gates = _open(reading, entry)
        if gates is None:
            return None
        entries.append(model.GateEntry(open=gates, duration=entry["for"], mac=entry.get("mac")))
    by = written.get("by", "pcp")
    return _checked(reading, written, model.Gates(entries=tuple(entries), by=by, **_common(written)))


def _common(written: Fields) -> dict[str, Any]:
    return {
        "base_time": written.get("base-time", 0),
        "cycle": written.get("cycle"),
        "fit_entries": written.get("fit-entries", False),
        "extension": written.get("extension", 0),
    }


def _preemption(reading: Reading, fields: Fields) -> model.Preemption | None:
    written = fields["preemption"]
    express = None if isinstance(written, Bad) or written.bad else _open(reading, written, "express")
    if express is None:
        return None
    hold, release = written.get("hold-advance"), written.get("release-advance", 0)
    return model.Preemption(express=express, hold_advance=hold, release_advance=release)


def _open(reading: Reading, entry: Fields, key: str = "open") -> tuple[int, ...] | None:
    gates = entry[key]
    if isinstance(gates, list):
        return tuple(sorted(set(gates), reverse=True))
    if gates == "all":
        return (7, 6, 5, 4, 3, 2, 1, 0)
    if gates == "none":
        return ()
    if gates.isdigit() and len(gates) == 1 and int(gates) < 8:
        return (int(gates),)
    what = "PCPs whose gates are open" if key == "open" else "PCPs that interrupt the others"
    closed = key == "open" and gates in ("closed", "nothing", "[]", "-")
    hint = "write none" if closed else ""
    reading.problem(gates.place, gates.path, f"{what}: [6, 5], all or none", gates, hint)
    return None


def _checked(reading: Reading, written: Fields, gates: model.Gates) -> model.Gates:
    total = sum(entry.duration for entry in gates.entries)
    if gates.fit_entries and gates.cycle is None:
        hint = f"write cycle: {DURATION.text(total)}, or another one"
        reading.problem(
            written.at("fit-entries"), written.path_of("fit-entries"), "a cycle to fit them to", "none", hint
        )
    elif gates.cycle is not None and gates.cycle != total and not gates.fit_entries:
        hint = f"write cycle: {DURATION.text(total)}, or leave it out; or fit-entries: true"
        found = f"{DURATION.text(gates.cycle)} for entries of {DURATION.text(total)} together"
        reading.problem(written.at("cycle"), written.path_of("cycle"), "the sum of the entries", found, hint)
    return gates


def taps(reading: Reading, net: Net, written: Any) -> model.Taps:
    if not isinstance(written, Fields):
        ports = written if isinstance(written, list) else [written]
        return model.Taps(ports=_ports(net, ports))
    settings: dict[str, Any] = {"ports": _ports(net, written.get("ports", []))}
    for key in ("ends", "send", "tx-point", "rx-point", "granularity"):
        if key in written:
            settings[key.replace("-", "_")] = written[key]
    if "stages" in written:
        settings["stages"] = tuple(dict.fromkeys(str(stage) for stage in written["stages"]))
    return model.Taps(**settings)


def _ports(net: Net, written: list[Named]) -> tuple[str, ...]:
    found = (selector(net, text) for text in written)
    return tuple(dict.fromkeys(port for port in found if port is not None))
