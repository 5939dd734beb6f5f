"""What goes wrong: every link, port and flow that a fault means, from when to when."""

from __future__ import annotations

from typing import Any

from tsnbench.planning.draft import Draft
from tsnbench.planning.selectors import select
from tsnbench.scenario import model


def place_faults(draft: Draft) -> None:
    """Fills ``faults``, as the Plan spells them. One without an end lasts as long as frames may arrive."""
    end = draft.scenario.duration + draft.scenario.drain
    for place, fault in enumerate(draft.scenario.faults):
        span = {
            "from_ns": fault.at,
            "until_ns": end if fault.duration is None else min(fault.at + fault.duration, end),
        }
        if span["from_ns"] >= span["until_ns"]:
            # A run can be made shorter than its scenario says.
            continue
        if isinstance(fault, model.Babble):
            flows = [number for number, flow in enumerate(draft.flows) if flow.group == fault.stream]
            draft.faults += [
                {"kind": "babble", "stream": number, "every_ns": fault.every, **span} for number in flows
            ]
            continue
        key = "down" if isinstance(fault, model.LinkDown) else "on"
        ports = select(draft, fault.port, f"faults[{place}].{key}")
        if isinstance(fault, model.LinkDown):
            # Both directions of a link are one fault.
            links = dict.fromkeys(min(port.number, port.peer) for port in ports)
            draft.faults += [{"kind": "link-down", "port": number, **span} for number in links]
        else:
            loss = _model(fault)
            draft.faults += [{"kind": "loss", "port": port.number, "model": loss, **span} for port in ports]


def _model(fault: model.Loss) -> dict[str, Any]:
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
