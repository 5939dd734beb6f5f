"""Gate control lists as written, as bit masks of traffic classes.

IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9.
"""

from __future__ import annotations

from collections.abc import Sequence

from tsnbench import quantities
from tsnbench.planning.draft import Draft, Gates, Port
from tsnbench.scenario import model

_ALL = frozenset(range(8))


def open_gates(draft: Draft) -> None:
    """Fills ``gates``, ``gates_before`` and ``gate_changes`` of the ports that have them."""
    for port in draft.ports:
        written = port.shaper.gates
        if not isinstance(written, model.Gates):
            continue
        path = f"shapers.{port.name}.gates"
        port.gates = read_gates(draft, port, written, path)
        if written.before is not None:
            port.gates_before = _mask(draft, port, written, written.before, f"{path}.before")
        for place, change in enumerate(written.changes):
            own = f"{path}.changes[{place}]"
            gates = read_gates(draft, port, change.gates, own, written.most_entries)
            if gates is not None:
                port.gate_changes.append((change.at, gates, {}))


def read_gates(
    draft: Draft, port: Port, gates: model.Gates, path: str, most: int | None = None
) -> Gates | None:
    """A port's list of at most ``most`` entries; reports its mistakes."""
    most = gates.most_entries if most is None else most
    if not 1 <= len(gates.entries) <= most:
        found = str(len(gates.entries))
        hint = "if the port supports more, write most-entries" if gates.entries else None
        draft.problem(f"{path}.entries", f"1 to {most} entries", found, hint)
        return None
    entries: list[tuple[int, int]] = []
    for place, entry in enumerate(gates.entries):
        mask = _mask(draft, port, gates, entry.open, f"{path}.entries[{place}].open")
        if entry.duration <= 0:
            draft.problem(f"{path}.entries[{place}].for", "more than 0", str(entry.duration))
        entries.append((mask, entry.duration))
    macs = tuple(entry.mac for entry in gates.entries)
    if "hold" in macs and port.shaper.preemption is None:
        place = macs.index("hold")
        hint = "write preemption: {express: [7]} beside gates"
        draft.problem(f"{path}.entries[{place}].mac", "a port with pre-emption", "hold without it", hint)
    if gates.fit_entries and gates.cycle is not None:
        entries = _fitted(entries, gates.cycle)
        macs = macs[: len(entries)]
    if "hold" in macs and "release" not in macs:
        hint = "write mac: release in the entry from which on preemptable frames may be sent again"
        if len(macs) < len(gates.entries):
            hint += ", or a longer cycle: fit-entries removes what does not fit"
        draft.problem(f"{path}.entries", "a release after a hold", "a hold for ever", hint)
    made = Gates(gates.base_time, tuple(entries), macs, gates.extension)
    if gates.cycle is not None and gates.cycle != made.cycle_ns:
        draft.problem(
            f"{path}.cycle",
            f"{quantities.time(made.cycle_ns)}, the sum of the entries",
            quantities.time(gates.cycle),
            "leave `cycle` out, or make the entries fill it",
        )
    return made


def _fitted(entries: list[tuple[int, int]], cycle: int) -> list[tuple[int, int]]:
    """Entries after the end of the cycle are cut; the last states last until the end.

    IEEE 802.1Q-2022, 8.6.9.2.
    """
    fitted: list[tuple[int, int]] = []
    left = cycle
    for mask, length in entries:
        if left > 0:
            fitted.append((mask, min(length, left)))
        left -= length
    if left > 0:
        mask, length = fitted[-1]
        fitted[-1] = (mask, length + left)
    return fitted


def _mask(draft: Draft, port: Port, gates: model.Gates, numbers: Sequence[int], path: str) -> int:
    """PCPs or classes as a bit mask of classes."""
    # All eight numbers mean all classes, however many the port has.
    if gates.by == "class" and set(numbers) == _ALL:
        numbers = range(port.classes)
    classes = [_class(port, gates, number) for number in numbers]
    wrong = [number for number, known in zip(numbers, classes, strict=True) if known is None]
    if wrong:
        expected = "priority code points 0 to 7" if gates.by == "pcp" else f"classes below {port.classes}"
        few = f"{port.name} has {port.classes} classes; by: pcp counts priority code points instead"
        draft.problem(path, expected, str(wrong[0]), few if gates.by == "class" else None)
    return sum({1 << known for known in classes if known is not None})


def _class(port: Port, gates: model.Gates, number: int) -> int | None:
    """The class of a number in ``open``; None if the port has no such class."""
    if gates.by == "pcp":
        return port.pcp_to_class[number] if 0 <= number <= 7 else None
    return number if 0 <= number < port.classes else None
