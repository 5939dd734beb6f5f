"""The changes of a gate control list that give a class the window that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tsnbench.planning.draft import Port
from tsnbench.scenario import model
from tsnbench.scenario.units import DURATION


class Cure(NamedTuple):
    """The part of the scenario to change, and its new value."""

    path: str
    hint: str


def opened(port: Port, traffic_class: int, pcps: Sequence[int]) -> Cure:
    """The remedy that also opens the class in the longest entry."""
    path = f"shapers.{port.name}.gates"
    gates = _written(port)
    if gates is None:
        listed = ", ".join(map(str, pcps))
        hint = f"write entries that open PCP {listed}, or give the streams a PCP that is open"
        cut = isinstance(port.shaper.gates, model.Gates) and port.shaper.gates.fit_entries
        return Cure(path, "write a longer cycle: fit-entries removes what does not fit" if cut else hint)
    place = max(range(len(gates.entries)), key=lambda each: gates.entries[each].duration)
    more = (traffic_class,) if gates.by == "class" else tuple(pcps)
    gates_open = sorted({*gates.entries[place].open, *more}, reverse=True)
    hint = f"write open: [{', '.join(map(str, gates_open))}] in this entry"
    return Cure(f"{path}.entries[{place}].open", hint)


def longer(port: Port, traffic_class: int, needs: int) -> Cure:
    """The longest entry that opens the class lasts at least ``needs`` ns, in whole us."""
    path = f"shapers.{port.name}.gates"
    gates = _written(port)
    if gates is None:
        return Cure(
            path, f"write entries with a window of {DURATION.text(needs)} or more, or send smaller frames"
        )
    own = [place for place, entry in enumerate(gates.entries) if _opens(port, gates, entry, traffic_class)]
    if not own:
        return Cure(path, f"open it for {DURATION.text(needs)} or more")
    place = max(own, key=lambda each: gates.entries[each].duration)
    length = -(-needs // 1_000) * 1_000
    more = length - gates.entries[place].duration
    hint = f"write for: {DURATION.text(length)} in this entry"
    others = [each for each in range(len(gates.entries)) if each not in own]
    giver = max(others, key=lambda each: gates.entries[each].duration, default=None)
    if gates.cycle is not None and giver is not None and gates.entries[giver].duration > 2 * more:
        rest = gates.entries[giver].duration - more
        hint += f" and for: {DURATION.text(rest)} in entries[{giver}]"
    elif gates.cycle is not None:
        hint += f", and cycle: {DURATION.text(gates.cycle + more)}"
    return Cure(f"{path}.entries[{place}].for", hint)


def _written(port: Port) -> model.Gates | None:
    """The port's list, if the scenario has it entry by entry."""
    gates = port.shaper.gates
    if not isinstance(gates, model.Gates) or gates.fit_entries:
        return None
    return gates


def _opens(port: Port, gates: model.Gates, entry: model.GateEntry, traffic_class: int) -> bool:
    if gates.by == "class":
        return traffic_class in entry.open
    return any(port.pcp_to_class[pcp] == traffic_class for pcp in entry.open)
