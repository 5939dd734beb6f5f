"""Gate control lists as written, as bit masks of traffic classes.

IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9.
"""

from __future__ import annotations

from tsnbench.planning.draft import Draft, Gates, Port
from tsnbench.scenario import model

MOST_ENTRIES = 65_536
"""More is a mistake, not a schedule."""

_ALL = frozenset(range(8))


def open_gates(draft: Draft) -> None:
    """Fills ``gates`` of the ports whose list is written."""
    for port in draft.ports:
        if isinstance(port.shaper.gates, model.Gates):
            _open_port(draft, port, port.shaper.gates)


def _open_port(draft: Draft, port: Port, gates: model.Gates) -> None:
    port.gates = read_gates(draft, port, gates, f"shapers.{port.name}.gates")


def read_gates(draft: Draft, port: Port, gates: model.Gates, path: str) -> Gates | None:
    """A list as a port would have it; notes what is wrong with it."""
    if not 1 <= len(gates.entries) <= MOST_ENTRIES:
        draft.problem(f"{path}.entries", f"1 to {MOST_ENTRIES} entries", str(len(gates.entries)))
        return None
    entries: list[tuple[int, int]] = []
    for place, entry in enumerate(gates.entries):
        # All eight are how a scenario says all, however many classes the port has.
        numbers = range(port.classes) if gates.by == "class" and set(entry.open) == _ALL else entry.open
        classes = [_class(port, gates, number) for number in numbers]
        wrong = [number for number, known in zip(numbers, classes, strict=True) if known is None]
        if wrong:
            expected = "priority code points 0 to 7" if gates.by == "pcp" else f"classes below {port.classes}"
            draft.problem(f"{path}.entries[{place}].open", expected, str(wrong[0]))
        if entry.duration <= 0:
            draft.problem(f"{path}.entries[{place}].for", "more than 0", str(entry.duration))
        mask = sum({1 << known for known in classes if known is not None})
        entries.append((mask, entry.duration))
    found = Gates(gates.base_time, tuple(entries))
    if gates.cycle is not None and gates.cycle != found.cycle_ns:
        draft.problem(
            f"{path}.cycle",
            f"{found.cycle_ns} ns, the sum of the entries",
            f"{gates.cycle} ns",
            "leave `cycle` out, or make the entries fill it",
        )
    return found


def _class(port: Port, gates: model.Gates, number: int) -> int | None:
    """The class that a number in ``open`` means; None for no class of this port."""
    if gates.by == "pcp":
        return port.pcp_to_class[number] if 0 <= number <= 7 else None
    return number if 0 <= number < port.classes else None
