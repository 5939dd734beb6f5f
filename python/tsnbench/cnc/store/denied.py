"""Requests that were refused before a decision: who asked what, how often, and why.

A flood of them takes no room: those of one client with one status within a minute are one row, and of
clients without a name only the first addresses of a minute have rows of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from tsnbench.scenario.text.tree import shown

if TYPE_CHECKING:
    from tsnbench.foreign import Json

MOST_ADDRESSES = 10
"""Addresses with rows of their own in one minute; all others together are one row for each status."""
REMEMBERED = 1_000
"""Rows that clients can read."""
OTHERS = "others"
LONGEST = 120
"""Characters of a request or a reason."""


@dataclass(frozen=True)
class Denied:
    """The requests of one client within a minute that had one status."""

    number: int
    """Of all rows, from 1."""
    at: str
    """The minute: ISO 8601, UTC."""
    client: str
    """Its name; empty if it has none."""
    address: str
    """Of the first request; ``others`` for all addresses beyond the first ones of the minute."""
    status: int
    asked: str
    """Method and path of the first request."""
    why: str
    count: int

    def document(self) -> Json:
        """The row for JSON."""
        return asdict(self)


class DeniedLog:
    """The last rows. What the store has not got yet is there until :meth:`write`.

    Args:
        rows: those of the store, the oldest first. now: the time; UTC.
    """

    def __init__(
        self, rows: Sequence[Denied] = (), now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._rows = {row.number: row for row in rows}
        """By number, the oldest first."""
        self._now = now
        self._last = rows[-1].number if rows else 0
        self._minute = ""
        self._open: dict[tuple[str, int], int] = {}
        """The numbers of the rows of this minute, by name or address, and status."""
        self._addresses: set[str] = set()
        """Those with rows of their own in this minute."""
        self._unwritten: set[int] = set()
        self._lock = threading.Lock()

    def note(self, client: str, address: str, status: int, asked: str, why: str) -> None:
        """Counts a request.

        Args:
            client: its name, or empty. address: where it is. status: of the answer.
            asked: method and path. why: the reason of the answer.
        """
        with self._lock:
            minute = self._now().strftime("%Y-%m-%dT%H:%MZ")
            if minute != self._minute:
                self._minute, self._open, self._addresses = minute, {}, set()
            if not client and address not in self._addresses:
                if len(self._addresses) < MOST_ADDRESSES:
                    self._addresses.add(address)
                else:
                    address = OTHERS
            key = client or address, status
            row = self._rows.get(self._open.get(key, 0))
            if row is None:
                self._last += 1
                asked, why = shown(asked, LONGEST), shown(why, LONGEST)
                row = Denied(self._last, minute, client, address, status, asked, why, 0)
                self._open[key] = row.number
            self._rows[row.number] = replace(row, count=row.count + 1)
            self._unwritten.add(row.number)
            if len(self._rows) > REMEMBERED:
                del self._rows[next(iter(self._rows))]

    def last(self, most: int) -> list[Denied]:
        """The last rows, the newest first."""
        with self._lock:
            return list(islice(reversed(self._rows.values()), most))

    def write(self, keep: Callable[[Sequence[Denied]], None]) -> None:
        """Gives ``keep`` the rows that are new or have another count; if it fails, they stay."""
        with self._lock:
            numbers, self._unwritten = self._unwritten, set()
            rows = [self._rows[number] for number in sorted(numbers & self._rows.keys())]
        try:
            if rows:
                keep(rows)
        except BaseException:
            with self._lock:
                self._unwritten |= numbers
            raise
