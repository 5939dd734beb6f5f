"""The faults of a Plan in words: their place, a short name for figures, and their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tsnbench import quantities

if TYPE_CHECKING:
    from tsnbench.plan.types import Fault, Gates, PlanDocument

_LOSSES = {"bernoulli": "loss by chance", "gilbert-elliott": "loss in bursts", "bit-errors": "bit errors"}
_NAMES = {
    "babble": "babbling talker",
    "duplicate": "duplicates",
    "schedule": "wrong schedule",
}

_PLACE_AND_SPAN = {"kind", "port", "node", "stream", "from_ns", "until_ns"}


def place(document: PlanDocument, fault: Fault) -> str:
    """The name of the stream, the node or the port that has the fault."""
    if fault["kind"] == "babble":
        return document["streams"][fault["stream"]]["name"]
    if fault["kind"] == "node-down":
        return document["nodes"][fault["node"]]["name"]
    return document["ports"][fault["port"]]["name"]


def name(fault: Fault, time: Callable[[float], str] = quantities.time) -> str:
    """A few words, as for a figure; ``time`` formats a duration in ns."""
    if fault["kind"] == "loss":
        return _LOSSES[fault["model"]["kind"]]
    if fault["kind"] == "delay":
        late = _delay(fault["least_ns"], fault["most_ns"], time)
        return f"delay of {late}" if fault["keeps_order"] else f"delay of {late}, out of order"
    return _NAMES.get(fault["kind"], fault["kind"].replace("-", " "))


def numbers(fault: Fault) -> str:
    """The fault with all its numbers, as for a table."""
    if fault["kind"] == "babble":
        return f"one frame more every {quantities.time(fault['every_ns'])}"
    if fault["kind"] == "loss":
        shares = ", ".join(f"{key} {value}" for key, value in fault["model"].items() if key != "kind")
        return f"{fault['model']['kind']}: {shares}".replace("_", " ")
    if fault["kind"] == "delay":
        order = "kept" if fault["keeps_order"] else "broken"
        late = _delay(fault["least_ns"], fault["most_ns"], quantities.time)
        return f"{late} later, {_percent(fault['share_ppm'])} of frames, order {order}"
    if fault["kind"] == "duplicate":
        return f"{_percent(fault['share_ppm'])} of frames twice, {quantities.time(fault['after_ns'])} apart"
    if fault["kind"] == "schedule":
        return _wrong_schedule(fault.get("gates"))
    told = [f"{key} {value}" for key, value in fault.items() if key not in _PLACE_AND_SPAN]
    return ", ".join([fault["kind"], *told]).replace("_", " ") if told else fault["kind"]


def _delay(least_ns: int, most_ns: int, time: Callable[[float], str]) -> str:
    return time(most_ns) if least_ns == most_ns else f"{time(least_ns)} to {time(most_ns)}"


def _percent(ppm: int) -> str:
    return f"{ppm / 10_000:g} %"


def _wrong_schedule(gates: Gates | None) -> str:
    if gates is None:
        return "wrong schedule: no gates"
    base, cycle = quantities.exact(gates["base_time_ns"]), quantities.exact(gates["cycle_ns"])
    return f"wrong schedule: {len(gates['entries'])} entries, cycle {cycle} from {base}"
