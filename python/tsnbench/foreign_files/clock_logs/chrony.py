"""chronyd's ``tracking.log``, and lines of chronyd in the system's log.

A row of ``tracking.log`` has the date and time (UTC), the source, its stratum, the frequency in ppm, its
skew, the offset in s, the leap status and more; the eleventh column is the root delay in s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

_REAL = r"([+-]?\d{1,12}\.\d{1,12}(?:e[+-]\d{1,2})?)"
_ROW = re.compile(
    rf"^(\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d) +(\S{{1,64}}) +\d+ +{_REAL} +{_REAL} +{_REAL} +[N+?-] +\d+"
    rf" +{_REAL} +{_REAL} +{_REAL}"
)
ROW = re.compile(_ROW.pattern.encode(), re.MULTILINE)
"""One row, in octets."""
LINE = re.compile(rb"(?:^|\s)chronyd(?:\[\d+\])?: ", re.MULTILINE)
"""The begin of a line of chronyd in the system's log."""
_SAID = re.compile(
    r"(?:\[ *(\d{1,12}\.\d{1,9})\] |(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\S* |(\w{3} [ \d]\d \d\d:\d\d:\d\d) )?"
    r"(?:\S+ )?chronyd(?:\[\d{1,9}\])?: (.*)"
)


class Tracked(NamedTuple):
    """One row of ``tracking.log``."""

    at_ns: int
    source: str
    offset_ns: int
    frequency_ppb: int
    delay_ns: int


def rows(text: str) -> Iterator[Tracked]:
    """The rows of a ``tracking.log``; other lines are left out."""
    for line in text.splitlines():
        if not (found := _ROW.match(line[:400])):
            continue
        at_ns = _date_ns(found[1], "%Y-%m-%d %H:%M:%S")
        frequency, offset, delay = (Decimal(found[place]) for place in (3, 5, 8))
        if at_ns is not None:
            yield Tracked(at_ns, found[2], _whole(offset, 9), _whole(frequency, 3), _whole(delay, 9))


def said(line: str) -> tuple[int, str] | None:
    """The time in ns and the text of a line of chronyd in the system's log; None if it is another line."""
    found = _SAID.match(line)
    if not found:
        return None
    if found[1]:
        return int(Decimal(found[1]).scaleb(9)), found[4]
    if found[2]:
        at_ns = _date_ns(found[2].replace("T", " "), "%Y-%m-%d %H:%M:%S")
    elif found[3]:
        # The system's log has no year.
        at_ns = _date_ns(f"1972 {found[3]}", "%Y %b %d %H:%M:%S")
    else:
        return None
    return None if at_ns is None else (at_ns, found[4])


def _date_ns(text: str, form: str) -> int | None:
    try:
        return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()) * 10**9
    except ValueError:
        return None


def _whole(value: Decimal, digits: int) -> int:
    return int(value.scaleb(digits).to_integral_value())
