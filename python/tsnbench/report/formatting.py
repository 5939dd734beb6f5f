"""Quantities, names and outcomes as pages and figures print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tsnbench import quantities, sheet
from tsnbench.measure.outcome import Outcome, worst
from tsnbench.report.facts import Judged, Measure

THIN = "\u202f"
"""Narrow no-break space: between digits and before units."""
MINUS = "\u2212"


def typeset(words: str) -> str:
    """Words of :mod:`tsnbench.quantities` as pages print them: narrow blanks, a true minus, µs."""
    if words == quantities.UNKNOWN:
        return words
    return words.replace("-", MINUS).replace(",", THIN).replace(" ", THIN).replace("us", "µs")


def count(number: int | None) -> str:
    """``1 234 567`` with narrow spaces; a dash for an unknown number."""
    return typeset(quantities.count(number))


def span(ns: float | None, digits: int = 3) -> str:
    """A duration, rounded for reading."""
    return quantities.UNKNOWN if ns is None else typeset(quantities.time(ns, digits))


def rate(bps: float | None) -> str:
    """A rate in bit/s with a suitable prefix."""
    return quantities.UNKNOWN if bps is None else typeset(quantities.rate(bps))


def micros(ns: float | None) -> str:
    """``1 234 567`` with narrow spaces; a dash for an unknown number."""
    return typeset(quantities.micros(ns))


def place(share: float) -> str:
    """A share of the width of a bar, in the units of its drawing, which is 200 wide."""
    return f"{200 * share:.2f}".rstrip("0").rstrip(".")


def quantity(value: float | None, unit: str) -> str:
    """A limit, a finding or a margin in its own unit, with the digits of a terminal."""
    return typeset(quantities.quantity(value, unit))


def plus_minus(value: float | None, unit: str) -> str:
    """`` ± 1.2 µs`` after a finding; empty if the uncertainty is unknown."""
    return "" if value is None else f"{THIN}\u00b1{THIN}{quantity(value, unit)}"


def signed(number: float) -> str:
    """A mark on an axis that has both signs, in plain text, not as a formula."""
    return typeset(f"{number:,.10g}")


def seconds_or_millis(span_ns: float) -> tuple[str, float]:
    """The unit of an axis of time, and how many ns it has."""
    return ("s", 1e9) if span_ns > 5e9 else ("ms", 1e6)


def printable(text: str) -> str:
    """A name from a file without characters that break a figure: control characters, a leading underscore."""
    clean = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return f" {clean}" if clean.startswith("_") else clean


def shortened(text: str, length: int = 34) -> str:
    """A name that fits a legend; its middle is cut, as the ends distinguish names."""
    return sheet.shortened(printable(text), length)


def totals(groups: Iterable[Measure]) -> list[tuple[str, str]]:
    """Sent, received and lost frames, for the numbers beside an outcome."""
    counts = [group.counts for group in groups]
    named = {"frames sent": "sent", "received": "received", "lost": "lost"}
    return [(words, count(sum(one.get(kind, 0) for one in counts))) for words, kind in named.items()]


def outcome(judged: Sequence[Judged], groups: Sequence[Measure]) -> str:
    """How many streams met every requirement, whether the worst case guarantees that, and how many frames
    were lost."""
    parts: dict[str, list[Outcome]] = {}
    for row in judged:
        parts.setdefault(row.group, []).append(row.outcome)
    every = list(dict.fromkeys([*parts, *(group.group for group in groups)]))
    free = len(every) - len(parts)
    lost = _lost(groups)
    if not parts:
        streams = "1 stream was" if len(every) == 1 else f"{count(len(every))} streams were"
        measured = f"{streams} measured; none has a requirement." if every else "Nothing was measured."
        return measured + lost
    own = [worst(outcomes) for outcomes in parts.values()]
    met = sum(one is not None and one.met for one in own)
    if met == len(parts):
        text = (
            "The stream met every requirement"
            if met == 1
            else f"All {count(met)} streams met every requirement"
        )
        text += _how_sure(own)
    elif len(parts) == 1:
        text = "The stream did not meet every requirement"
    else:
        text = f"{count(met)} of {count(len(parts))} streams met every requirement"
    if free:
        text += f"; {count(free)} further {'stream has' if free == 1 else 'streams have'} none"
    return f"{text}.{lost}"


def _how_sure(own: Sequence[Outcome | None]) -> str:
    """The guarantee of the worst case, if all requirements were met."""
    many = len(own)
    proved, beyond = own.count(Outcome.PROVED), own.count(Outcome.BEYOND)
    if proved == many:
        return ", and the worst case also keeps them"
    if beyond:
        whose = "" if many == 1 else f" of {count(beyond)} of them" if beyond < many else " of all of them"
        return f" in this run; the worst case{whose} is beyond a limit"
    known = (
        f"; the worst case keeps those of {count(proved)} of them"
        if proved
        else "; the worst case is not known"
    )
    return f" in this run{known}"


def _lost(groups: Sequence[Measure]) -> str:
    """Lost frames, which are reported also without a requirement."""
    losing = [group for group in groups if group.counts.get("lost")]
    if not losing:
        return ""
    lost, sent = (sum(group.counts.get(key, 0) for group in losing) for key in ("lost", "sent"))
    names = list(dict.fromkeys(group.group for group in losing))
    of = names[0] if len(names) == 1 else f"{len(names)} streams"
    return f" {count(lost)} of {count(sent)} frames of {of} were lost."
