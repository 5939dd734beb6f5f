"""Where a store is: a database with one leader, which alone writes.

The statements of a store are those that SQLite and PostgreSQL have in common; ``?`` stands for a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tsnbench.errors import BackendError

Row = tuple[Any, ...]
Execute = Callable[..., Sequence[Row]]
"""``execute(text, values)`` returns all rows."""


class BusyStoreError(BackendError):
    """Another process serves this store."""


class FullStoreError(BackendError):
    """The store cannot be written: the change was not accepted."""


class LostStoreError(FullStoreError):
    """This process does not lead any more: another one may, and the network may be another one.

    Whether the change was accepted is not known, if the connection was lost while it was written.
    """


class Database(Protocol):
    """A database."""

    where: str
    """For messages, without a password."""
    rowid: str
    """A column ``rowid`` in the order of insertion, for tables that have none by themselves; begins with a
    comma."""

    def begin(self) -> AbstractContextManager[Execute]:
        """A transaction: it is on the disk at the end, or nothing of it is.

        Raises:
            FullStoreError: nothing was written. LostStoreError: another process may lead.
        """
        ...

    def own(self, execute: Execute) -> None:
        """Is called in the first transaction, when the tables are there: this process leads from then on."""
        ...

    def rows(self, text: str, values: Sequence[object] = ()) -> Sequence[Row]:
        """All rows of a question.

        Raises:
            ContentError: it is no store.
        """
        ...

    def is_empty(self) -> bool:
        """Whether there are no tables."""
        ...

    def beat(self) -> None:
        """Checks that this process leads.

        Raises:
            LostStoreError: it does not.
        """
        ...

    def close(self) -> None:
        """Ends the use of the database."""
        ...
