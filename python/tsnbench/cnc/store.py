"""What a CNC keeps: one row for each accepted change and each refusal, and the Plan in force.

SQLite with a write-ahead log; a transaction is on the disk before its answer is given (``synchronous=FULL``).
The file is locked while a service has it, and the lock ends with the process: a second one is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench._native import ReadPlan
from tsnbench.cnc.changes import Decision, SettingError
from tsnbench.cnc.network import Network, Requested
from tsnbench.errors import BackendError, ContentError
from tsnbench.plan.bounds import Known, bounds_of_read
from tsnbench.plan.document import Plan, without_hash
from tsnbench.planning.passes import prove

if TYPE_CHECKING:
    from tsnbench.foreign import Json

NAME = "cnc.sqlite"
FORMAT = "tsnbench-cnc-store/1"
MOST_DECISIONS = 100_000
"""Older decisions are removed."""
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE decisions (number INTEGER PRIMARY KEY, outcome TEXT NOT NULL, document TEXT NOT NULL);
CREATE TABLE network (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  number INTEGER NOT NULL, plan TEXT NOT NULL, requested TEXT NOT NULL
);
CREATE TABLE pending (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  number INTEGER NOT NULL, plan TEXT NOT NULL, requested TEXT NOT NULL, decision TEXT NOT NULL
);
CREATE TABLE wanted (name TEXT PRIMARY KEY, document TEXT NOT NULL);
"""


class BusyStoreError(BackendError):
    """Another process serves this store."""


class FullStoreError(BackendError):
    """The store cannot be written: the change was not accepted."""


class Store:
    """The store in a folder; it is made if it is missing.

    Args:
        folder: the folder. digest: of the scenario (:class:`~tsnbench.cnc.network.Base`).

    Raises:
        BusyStoreError: another process serves it.
        SettingError: it belongs to another scenario.
        ContentError: it is no store.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / NAME
        # Only the writer uses it, one thread after the other.
        self._line = sqlite3.connect(self.file, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"):
                self._line.execute(f"PRAGMA {setting}")
            self._line.execute("BEGIN IMMEDIATE")
            if not self._line.execute("SELECT name FROM sqlite_master").fetchone():
                for statement in filter(str.strip, TABLES.split(";")):
                    self._line.execute(statement)
                about = {"format": FORMAT, "scenario": digest}
                self._line.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            found = dict(self._line.execute("SELECT key, value FROM about"))
            self._line.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._line.close()
            if "locked" in str(error):
                raise BusyStoreError(f"{self.file}: another process serves this store") from None
            raise ContentError(f"{self.file}: expected a store of tsnbench cnc, found {error}") from None
        except sqlite3.DatabaseError as error:
            self._line.close()
            raise ContentError(f"{self.file}: expected a store of tsnbench cnc, found {error}") from None
        if found != {"format": FORMAT, "scenario": digest}:
            self._line.close()
            what = "another scenario" if found.get("format") == FORMAT else "another format"
            hint = "start with the scenario of the store, or name another --store"
            raise SettingError(
                f"{self.file}: expected the store of this scenario, found one of {what}\n  hint: {hint}"
            )

    def close(self) -> None:
        """Ends the use of the store."""
        self._line.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._line.execute("BEGIN IMMEDIATE")
            yield self._line
            self._line.execute("COMMIT")
        except sqlite3.Error as error:
            raise FullStoreError(f"{self.file}: cannot be written: {error}") from error
        finally:
            if self._line.in_transaction:
                self._line.execute("ROLLBACK")

    def keep(self, decision: Decision, network: Network | None = None) -> None:
        """Writes a decision, and the network after it if it was accepted: both or none.

        Raises:
            FullStoreError: nothing was written.
        """
        text = json.dumps(decision.document(), ensure_ascii=False)
        with self._transaction() as line:
            line.execute("INSERT INTO decisions VALUES (?, ?, ?)", (decision.number, decision.outcome, text))
            line.execute("DELETE FROM decisions WHERE number <= ?", (decision.number - MOST_DECISIONS,))
            line.execute("DELETE FROM pending")
            if network is not None:
                line.execute("INSERT OR REPLACE INTO network VALUES (1, ?, ?, ?)", _row(network))

    def intend(self, decision: Decision, network: Network) -> None:
        """Writes a change that the devices get now; :meth:`keep` ends it.

        Raises:
            FullStoreError: nothing was written.
        """
        text = json.dumps(decision.document(), ensure_ascii=False)
        with self._transaction() as line:
            line.execute("INSERT OR REPLACE INTO pending VALUES (1, ?, ?, ?, ?)", (*_row(network), text))

    def pending(self) -> tuple[Decision, Network] | None:
        """The change that was under way when the last process ended; None if there is none.

        Raises:
            ContentError: as :meth:`network`.
        """
        row = self._line.execute("SELECT number, plan, requested, decision FROM pending").fetchone()
        if row is None:
            return None
        return Decision(**json.loads(row[3])), self._network(*row[:3])

    def keep_wanted(self, wanted: Mapping[str, Json | None]) -> None:
        """Writes what clients want of streams, by name; None removes it.

        Raises:
            FullStoreError: nothing was written.
        """
        with self._transaction() as line:
            for name, document in wanted.items():
                if document is None:
                    line.execute("DELETE FROM wanted WHERE name = ?", (name,))
                else:
                    text = json.dumps(document, ensure_ascii=False)
                    line.execute(
                        "INSERT INTO wanted VALUES (?, ?) "
                        "ON CONFLICT (name) DO UPDATE SET document = excluded.document",
                        (name, text),
                    )

    def wanted(self) -> dict[str, Json]:
        """What clients want of streams, by name."""
        return {
            name: json.loads(text) for name, text in self._line.execute("SELECT * FROM wanted ORDER BY rowid")
        }

    def decisions(self, most: int) -> list[Decision]:
        """The last decisions, the oldest first."""
        found = self._line.execute("SELECT document FROM decisions ORDER BY number DESC LIMIT ?", (most,))
        return [Decision(**json.loads(text)) for (text,) in found][::-1]

    def network(self) -> Network | None:
        """The network that was accepted last, with its proof and bounds computed again; None before any.

        Raises:
            ContentError: the Plan of the store is not what was written, or its schedule is not proved.
        """
        row = self._line.execute("SELECT number, plan, requested FROM network").fetchone()
        return None if row is None else self._network(*row)

    def _network(self, number: int, text: str, requested: str) -> Network:
        plan = Plan(without_hash(json.loads(text)))
        try:
            if plan.to_json() != text:
                raise ValueError("a Plan that was changed")
            read = ReadPlan(text)
            if wrong := prove(plan, text, read):
                raise ValueError("; ".join(wrong))
        except ValueError as error:
            raise ContentError(f"{self.file}: expected a Plan that holds, found {error}") from None
        streams = {name: Requested(**one) for name, one in json.loads(requested).items()}
        bounds = bounds_of_read(Known(plan.document, read), hops=False)
        return Network(number, streams, plan, text, plan.hash, bounds, read)


def _row(network: Network) -> tuple[int, str, str]:
    """The columns of a network."""
    requested = {name: asdict(one) for name, one in network.requested.items()}
    return network.number, network.text, json.dumps(requested, ensure_ascii=False)
