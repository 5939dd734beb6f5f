"""Faults: every affected link, port and flow, with the period."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Gates
from tsnbench.planning.parts import without_none
from tsnbench.planning.select import select
from tsnbench.planning.shaping.gates import read_gates
from tsnbench.scenario.model import faults

if TYPE_CHECKING:
    from tsnbench.plan.types import LossModel, Span

_PLACE_AND_SPAN = {*faults.OfPort._defaults, "node", "stream"}


def place_faults(draft: Draft) -> None:
    """Fills ``faults`` in the Plan's form. A fault without an end lasts as long as frames may arrive."""
    for place, fault in enumerate(draft.scenario.faults):
        span = _span(draft, fault)
        if span is None or isinstance(fault, faults.WrongSchedule):
            continue
        effect = _effect(fault)
        if isinstance(fault, faults.Babble):
            flows = [number for number, flow in enumerate(draft.flows) if flow.group == fault.stream]
            draft.faults += [without_none({**effect, "stream": number, **span}) for number in flows]
            continue
        if isinstance(fault, faults.NodeDown):
            draft.faults.append(without_none({**effect, "node": draft.node_numbers[fault.node], **span}))
            continue
        key = "down" if isinstance(fault, faults.LinkDown) else "on"
        ports = select(draft, fault.port, f"faults[{place}].{key}")
        if isinstance(fault, faults.LinkDown):
            # Both directions of a link are one fault.
            links = dict.fromkeys(min(port.number, port.peer) for port in ports)
            draft.faults += [without_none({**effect, "port": number, **span}) for number in links]
        else:
            draft.faults += [without_none({**effect, "port": port.number, **span}) for port in ports]


def _effect(fault: faults.Fault) -> dict[str, object]:
    """The kind of a fault and its values, which have the Plan's names; without its place and its span."""
    if isinstance(fault, faults.Loss):
        return {"kind": "loss", "model": _model(fault)}
    kind = re.sub(r"\B(?=[A-Z])", "-", type(fault).__name__).lower()
    return {"kind": kind, **{name: value for name, value in fault.items() if name not in _PLACE_AND_SPAN}}


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
