"""Faults: every affected link, port and flow, with the period."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Gates
from tsnbench.planning.parts import without_none
from tsnbench.planning.select import select
from tsnbench.planning.shaping.gates import read_gates
from tsnbench.scenario.model import faults

if TYPE_CHECKING:
    from tsnbench.plan.types import LossModel, Span


def place_faults(draft: Draft) -> None:
    """Fills ``faults`` in the Plan's form. A fault without an end lasts as long as frames may arrive."""
    for place, fault in enumerate(draft.scenario.faults):
        span = _span(draft, fault)
        if span is None or isinstance(fault, faults.WrongSchedule):
            continue
        if isinstance(fault, faults.Babble):
            flows = [number for number, flow in enumerate(draft.flows) if flow.group == fault.stream]
            draft.faults += [
                {"kind": "babble", "stream": number, "every_ns": fault.every, **span} for number in flows
            ]
            continue
        if isinstance(fault, faults.NodeDown):
            draft.faults.append({"kind": "node-down", "node": draft.node_numbers[fault.node], **span})
            continue
        key = "down" if isinstance(fault, faults.LinkDown) else "on"
        ports = select(draft, fault.port, f"faults[{place}].{key}")
        if isinstance(fault, faults.LinkDown):
            # Both directions of a link are one fault.
            links = dict.fromkeys(min(port.number, port.peer) for port in ports)
            draft.faults += [{"kind": "link-down", "port": number, **span} for number in links]
        else:
            effect = _effect(fault)
            draft.faults += [without_none({**effect, "port": port.number, **span}) for port in ports]


def _effect(fault: faults.Loss | faults.Delay | faults.Duplicate) -> dict[str, object]:
    """What a fault does to the frames of a port."""
    if isinstance(fault, faults.Delay):
        times = {"least_ns": fault.least, "most_ns": fault.most}
        return {"kind": "delay", **times, "share_ppm": fault.share, "keeps_order": fault.keeps_order}
    if isinstance(fault, faults.Duplicate):
        return {"kind": "duplicate", "share_ppm": fault.share, "after_ns": fault.after}
    return {"kind": "loss", "model": _model(fault)}


def place_wrong_schedules(draft: Draft) -> None:
    """The faults that depend on the ports' own gate control lists."""
    for place, fault in enumerate(draft.scenario.faults):
        span = _span(draft, fault)
        if span is None or not isinstance(fault, faults.WrongSchedule):
            continue
        path = f"faults[{place}]"
        for port in select(draft, fault.port, f"{path}.on"):
            gates: Gates | None = None
            if fault.shift is not None:
                if port.gates is None:
                    hint = "write entries, or shift another port"
                    draft.problem(f"{path}.schedule", "a port with gates", f"{port.name} without", hint)
                    continue
                gates = replace(port.gates, base_time_ns=port.gates.base_time_ns + fault.shift)
            elif fault.gates is not None:
                gates = read_gates(draft, port, fault.gates, f"{path}.schedule")
            wrong = {"kind": "schedule", "port": port.number, **span, "gates": gates and gates.plain()}
            draft.faults.append(without_none(wrong))


def _span(draft: Draft, fault: faults.Fault) -> Span | None:
    """Begin and end; None if a run is shorter than its scenario."""
    end = draft.scenario.duration + draft.scenario.drain
    until = end if fault.duration is None else min(fault.at + fault.duration, end)
    return {"from_ns": fault.at, "until_ns": until} if fault.at < until else None


def _model(fault: faults.Loss) -> LossModel:
    if fault.per_petabit is not None:
        return {"kind": "bit-errors", "per_petabit": fault.per_petabit}
    if fault.to_bad is None:
        return {"kind": "bernoulli", "loss_ppm": fault.loss}
    return {
        "kind": "gilbert-elliott",
        "to_bad_ppm": fault.to_bad,
        "to_good_ppm": fault.to_good,
        "loss_good_ppm": fault.in_good,
        "loss_bad_ppm": fault.in_bad,
    }
