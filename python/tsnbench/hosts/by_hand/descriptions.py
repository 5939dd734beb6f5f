"""Parts of a Plan in words with exact numbers, for checklists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tsnbench.scenario.units import DURATION, RATE

if TYPE_CHECKING:
    from tsnbench.plan.types import Gates

_UNITS = {"_ns": "ns", "_bps": "bit/s", "_octets": "octets", "_bits": "bit", "_permille": "per mille"}


def listed(numbers: Iterable[int]) -> str:
    """``1, 2 and 3``."""
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def spelt(names: Iterable[str], most: int = 8) -> str:
    """Names of streams; of many, the first ones and the number of the others."""
    every = list(names)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def classes_of(mask: int, classes: int) -> str:
    """The traffic classes of a bit mask."""
    numbers = [number for number in range(classes) if mask >> number & 1]
    if not numbers:
        return "none"
    if len(numbers) == classes:
        return "all"
    return f"class {listed(numbers)}"


def quantity(key: str, value: int) -> str:
    """A number with its unit; a duration or a rate also in its largest exact unit."""
    unit = next((unit for end, unit in _UNITS.items() if key.endswith(end)), "")
    text = f"{value} {unit}".rstrip()
    dimension = {"ns": DURATION, "bit/s": RATE}.get(unit)
    short = dimension.text(value) if dimension is not None else text
    return text if short == text else f"{text} ({short})"


def numbers(part: Mapping[str, Any]) -> str:
    """The plain values of a part by their names; lists of places and entries are described elsewhere."""
    words = []
    for key, value in part.items():
        if key in ("entries", "ports", "streams"):
            continue
        name = key
        for end in _UNITS:
            name = name.removesuffix(end)
        name = name.replace("_", " ")
        if isinstance(value, bool):
            words.append(f"{name} {'yes' if value else 'no'}")
        elif isinstance(value, int):
            words.append(f"{name} {quantity(key, value)}")
        elif isinstance(value, Mapping):
            words.append(f"{name} ({numbers(value)})")
        else:
            words.append(f"{name} {value}")
    return ", ".join(words)


def gates(gates: Gates, classes: int) -> str:
    """A port's gate control list without its entries."""
    initial = gates.get("initial")
    before = "" if initial is None else f"; before the base time open: {classes_of(initial, classes)}"
    extension = gates.get("cycle_extension_ns")
    extended = "" if extension is None else f", cycle time extension {extension} ns"
    loose = "; frames may overrun their window" if gates.get("unguarded") else ""
    cycle = quantity("cycle_ns", gates["cycle_ns"])
    return (
        f"on, base time {gates['base_time_ns']} ns (or later by whole cycles), cycle {cycle}{extended}, "
        f"{len(gates['entries'])} {'entry' if len(gates['entries']) == 1 else 'entries'}{before}{loose}"
    )
