"""Texts in the cells of a matrix: numbers with their units, several nodes, signs of sender and receiver."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction

from tsnbench.exports.lists.matrix.sheets import Cell

TIMES = {
    **dict.fromkeys(("ns", "nsec"), Fraction(1)),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec"), Fraction(1000)),
    **dict.fromkeys(("ms", "msec", "msek", "millisekunden", "milliseconds"), Fraction(10**6)),
    **dict.fromkeys(("s", "sec", "sek", "sekunden", "seconds"), Fraction(10**9)),
}
"""Units of time in ns."""
RATES = {"hz": 1, "1/s": 1, "khz": 1000}
SIZES = {
    **dict.fromkeys(("byte", "bytes", "octet", "octets", "B", "oktett", "oktette"), Fraction(1)),
    **dict.fromkeys(("bit", "bits"), Fraction(1, 8)),
    **dict.fromkeys(("kB", "KB", "kbyte"), Fraction(1000)),
    **dict.fromkeys(("KiB", "kiB"), Fraction(1024)),
}
"""Units of size in octets; one with a small b could be bit, and is none."""
UNITS = {*TIMES, *RATES, *SIZES}
SENDS = {"s", "tx", "send", "sender", "t", "p", "producer", "publisher", "sendet", "x->"}
RECEIVES = {
    "r",
    "rx",
    "receive",
    "receiver",
    "e",
    "c",
    "consumer",
    "subscriber",
    "empf\u00e4ngt",
    "empf\u00e4nger",
}
BOTH = {"s/r", "r/s", "s/e", "tx/rx", "rx/tx", "sr"}
ALL = {"all", "alle", "broadcast", "*"}
OPEN = {"?", "tbd"}
"""What stands for a node that is not known yet."""
NOTHING = {
    *OPEN,
    "",
    "-",
    "--",
    "\u2013",
    "\u2014",
    "n/a",
    "n.a.",
    "na",
    "none",
    "keine",
    "keiner",
    "k.a.",
}
_NUMBER = re.compile(r"([+-]?(?:\d[\d.,' \u00a0\u202f]*|[.,]\d+))\s*(.*)", re.DOTALL)
_GROUPS = re.compile(r"[+-]?(?:\d*|\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+)")
"""The part of a number before its decimal sign, with separated thousands or without."""
_UNIT_AT_END = re.compile(r"(?:[\[(/]|\bin\b|_|\s)\s*([^\s\[\]()/_]+|1/s)\s*[\])]?\s*$")
_BETWEEN = re.compile(r"\s*[,;|\n]\s*|\s+[/&+]\s+|\s+(?:and|und)\s+")
MOST_DIGITS = 30


class CellError(Exception):
    """A cell with another content than the column has; its text has what was expected."""


def plain(cell: Cell) -> str:
    """The text of a cell on one line."""
    return format(cell, "f") if isinstance(cell, Decimal) else " ".join(cell.split())


def is_empty(cell: Cell) -> bool:
    """Whether a cell tells nothing."""
    return isinstance(cell, str) and cell.strip().lower() in NOTHING


def unit_of(header: str, units: Iterable[str]) -> str:
    """The unit that a header ends with; empty if it has none."""
    found = _UNIT_AT_END.search(header)
    return unit(found[1], units) if found is not None else ""


def unit(text: str, units: Iterable[str]) -> str:
    """A unit as it is written here, whatever case it has but that of B; empty if it is none of these."""
    return next((one for one in (text, text.lower()) if one in set(units)), "")


def number(text: str, comma: bool | None) -> Fraction:
    """A number with a decimal point or comma.

    Args:
        text: digits with separators.
        comma: whether the file has decimal commas; None: unknown.

    Raises:
        CellError: it is no number, or it could be two numbers.
    """
    text = text.strip()
    digits = re.sub(r"[' \u00a0\u202f]", "", text)
    if len(digits) > MOST_DIGITS:
        raise CellError(f"a number of at most {MOST_DIGITS} digits")
    if "," in digits and "." in digits:
        comma = digits.rindex(",") > digits.rindex(".")
    elif digits.count(",") > 1 or digits.count(".") > 1:
        comma = "." in digits
    elif evidence(digits) is not None:
        comma = evidence(digits)
    elif ("," in digits or "." in digits) and comma is None:
        raise CellError("a number that has one reading (decimal: point or comma)")
    mark = "," if comma else "."
    whole, _, rest = text.partition(mark)
    if not _GROUPS.fullmatch(whole) or not re.fullmatch(r"\d*", rest) or not whole.strip("+-") + rest:
        raise CellError("a number")
    whole = re.sub(r"[^\d+-]", "", whole)
    return Fraction(f"{whole}.{rest or 0}" if whole.strip("+-") else f"{whole}0.{rest}")


def evidence(digits: str) -> bool | None:
    """Whether a number has a decimal comma; None where its sign could separate thousands, or is missing."""
    found = re.fullmatch(r"[+-]?(\d*)([.,])(\d*)", digits)
    if found is None or (len(found[3]) == 3 and 0 < len(found[1]) < 4 and found[1] != "0"):
        return None
    return found[2] == ","


def decimal_of(cells: Iterable[Cell]) -> tuple[bool | None, bool]:
    """Whether these cells have decimal commas (None: nothing shows it), and whether a cell depends on it."""
    seen: set[bool] = set()
    open_ = False
    for cell in cells:
        found = _NUMBER.fullmatch(cell) if isinstance(cell, str) else None
        digits = re.sub(r"[' \u00a0\u202f]", "", found[1]) if found is not None else ""
        shown = evidence(digits)
        if shown is not None:
            seen.add(shown)
        open_ = open_ or (shown is None and len(re.findall("[.,]", digits)) == 1)
    return (seen.pop() if len(seen) == 1 else None), open_


def time_ns(cell: Cell, usual: str, comma: bool | None) -> int:
    """A time in whole ns; also the period of a rate in Hz. Numbers without a unit have the usual one.

    Raises:
        CellError: it is none.
    """
    value, said = _quantity(cell, usual, comma)
    if said in RATES and value > 0:
        value, said = 10**9 / (value * RATES[said]), "ns"
    if said not in TIMES:
        raise CellError("a time with a unit" if not said else "a time in ns, us, ms or s")
    found = value * TIMES[said]
    if found.denominator != 1:
        raise CellError("a time of whole ns")
    if not 0 < found <= 10**15:
        raise CellError("a time above 0 and of at most 1000000 s")
    return int(found)


def size_octets(cell: Cell, usual: str, comma: bool | None) -> int:
    """A size in octets; bits are rounded up. Numbers without a unit have the usual one.

    Raises:
        CellError: it is none.
    """
    value, said = _quantity(cell, usual, comma)
    if said not in SIZES:
        raise CellError("a size with a unit" if not said else "a size in B or bit")
    found = -(-(value * SIZES[said]) // 1)
    if not 0 < found <= 10**9:
        raise CellError("a size above 0 and of at most 1 GB")
    return int(found)


def whole(cell: Cell, least: int, most: int) -> int:
    """A whole number of this range; ``5 (video)`` and ``PCP 5`` are 5.

    Raises:
        CellError: it is none.
    """
    found = re.fullmatch(r"(?:[a-z]+ ?)?(\d{1,5})(?:\.0*)?(?: ?\(.*\))?", plain(cell).lower())
    if found is None or not least <= int(found[1]) <= most:
        raise CellError(f"a whole number from {least} to {most}")
    return int(found[1])


def _quantity(cell: Cell, usual: str, comma: bool | None) -> tuple[Fraction, str]:
    if isinstance(cell, Decimal):
        return Fraction(cell), usual
    found = _NUMBER.fullmatch(cell.strip())
    if found is None:
        raise CellError("a number")
    said = found[2].strip().strip("()[]")
    return number(found[1], comma), unit(said, UNITS) or said or usual


def nodes(cell: Cell) -> list[str]:
    """The nodes that a cell names."""
    return [one for one in _entries(cell) if one.lower() not in NOTHING]


def is_open(cell: Cell) -> bool:
    """Whether a cell has a node that is not known yet."""
    return any(one.lower() in OPEN for one in _entries(cell))


def _entries(cell: Cell) -> Iterator[str]:
    return (" ".join(one.split()) for one in _BETWEEN.split(cell if isinstance(cell, str) else plain(cell)))
