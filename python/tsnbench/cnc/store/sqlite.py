"""A store in a file: SQLite with a write-ahead log, locked while a service has it.

A transaction is on the disk before its answer is given (``synchronous=FULL``). The lock ends with the
process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tsnbench.cnc.store.database import BusyStoreError, Execute, FullStoreError, Row
from tsnbench.errors import ContentError

NAME = "cnc.sqlite"


class Sqlite:
    """The database of a folder; it is made if it is missing.

    Raises:
        BusyStoreError: another process serves it.
        ContentError: it is no database.
    """

    rowid = ""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.where = str(folder / NAME)
        # Only the writer uses it, one thread after the other.
        self._line = sqlite3.connect(self.where, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"):
                self._line.execute(f"PRAGMA {setting}")
            self._line.execute("BEGIN IMMEDIATE")
            self._line.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            self._line.close()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise BusyStoreError(f"{self.where}: another process serves this store") from None
            raise self._no_store(error) from None

    def _no_store(self, error: sqlite3.Error) -> ContentError:
        return ContentError(f"{self.where}: expected a store of tsnbench cnc, found {error}")

    @contextmanager
    def begin(self) -> Iterator[Execute]:
        try:
            self._line.execute("BEGIN IMMEDIATE")
            yield lambda text, values=(): self._line.execute(text, values).fetchall()
            self._line.execute("COMMIT")
        except sqlite3.Error as error:
            raise FullStoreError(f"{self.where}: cannot be written: {error}") from error
        finally:
            if self._line.in_transaction:
                self._line.execute("ROLLBACK")

    def own(self, execute: Execute) -> None:
        """The lock of the file is enough."""

    def beat(self) -> None:
        """The lock lasts as long as the process."""

    def rows(self, text: str, values: Sequence[object] = ()) -> Sequence[Row]:
        try:
            return self._line.execute(text, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._no_store(error) from None

    def is_empty(self) -> bool:
        return not self.rows("SELECT name FROM sqlite_master")

    def close(self) -> None:
        self._line.close()
