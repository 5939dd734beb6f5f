"""What a CNC keeps: one row for each accepted change and each refusal, and the Plan in force.

An answer waits for what its change made different alone. The Plan as a whole is written behind the answers.

It is in a file (:mod:`~tsnbench.cnc.store.sqlite`), or in a database that several machines reach
(:mod:`~tsnbench.cnc.store.postgres`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench._native import ReadPlan, compact
from tsnbench.cnc.changes import Decision, SettingError
from tsnbench.cnc.network import Network, Requested
from tsnbench.cnc.store.database import BusyStoreError, Database, Execute, FullStoreError, LostStoreError
from tsnbench.cnc.store.denied import Denied
from tsnbench.cnc.store.difference import difference, differing
from tsnbench.cnc.store.sqlite import Sqlite
from tsnbench.errors import ContentError
from tsnbench.plan.bounds import Known, bounds_of_read
from tsnbench.plan.bounds.proven import without_hash
from tsnbench.plan.document import Plan
from tsnbench.plan.document import without_hash as content_of
from tsnbench.planning.passes import prove

if TYPE_CHECKING:
    from tsnbench.foreign import Json

__all__ = ["BusyStoreError", "Database", "FullStoreError", "LostStoreError", "Store"]

FORMAT = "tsnbench-cnc-store/3"
MOST_DECISIONS = 100_000
"""Older decisions are removed."""
MOST_DENIED = 10_000
"""Older rows of denied requests are removed."""
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE decisions (number INTEGER PRIMARY KEY, outcome TEXT NOT NULL, document TEXT NOT NULL);
CREATE TABLE network (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  number INTEGER NOT NULL, plan TEXT NOT NULL, requested TEXT NOT NULL
);
CREATE TABLE changes (number INTEGER PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE pending (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  number INTEGER NOT NULL, plan TEXT NOT NULL, requested TEXT NOT NULL, decision TEXT NOT NULL
);
CREATE TABLE wanted (name TEXT PRIMARY KEY, document TEXT NOT NULL{rowid});
"""


DENIED = "CREATE TABLE IF NOT EXISTS denied (number INTEGER PRIMARY KEY, document TEXT NOT NULL)"
"""Stores of earlier versions have no such table."""


class Store:
    """The store in a folder or a database; its tables are made if it is empty.

    Args:
        place: the folder, or the database. digest: of the scenario (:class:`~tsnbench.cnc.network.Base`).

    Raises:
        BusyStoreError: another process serves it. LostStoreError: the database does not answer.
        SettingError: it belongs to another scenario.
        ContentError: it is no store.
    """

    def __init__(self, place: Path | Database, digest: str) -> None:
        self.database: Database = Sqlite(place) if isinstance(place, Path) else place
        self.where = self.database.where
        self._last: tuple[int, str] | None = None
        """Number and hash of the network that is kept."""
        self._changes = 0
        """How many changes it is away from the Plan that was written as a whole."""
        try:
            with self.database.begin() as execute:
                if self.database.is_empty():
                    for statement in filter(str.strip, TABLES.format(rowid=self.database.rowid).split(";")):
                        execute(statement)
                    about = {"format": FORMAT, "scenario": digest}
                    for one in about.items():
                        execute("INSERT INTO about VALUES (?, ?)", one)
                found: dict[str, str] = dict(self.database.rows("SELECT key, value FROM about"))
                self._check(found, digest)
                execute(DENIED)
                self.database.own(execute)
        except BaseException:
            self.database.close()
            raise

    def _check(self, found: Mapping[str, str], digest: str) -> None:
        if {key: found.get(key) for key in ("format", "scenario")} == {"format": FORMAT, "scenario": digest}:
            return
        what = "another scenario" if found.get("format") == FORMAT else "another format"
        hint = "start with the scenario of the store, or name another --store"
        raise SettingError(
            f"{self.where}: expected the store of this scenario, found one of {what}\n  hint: {hint}"
        )

    def beat(self) -> None:
        """Checks that this process may still write.

        Raises:
            LostStoreError: it may not.
        """
        self.database.beat()

    def close(self) -> None:
        """Ends the use of the store."""
        self.database.close()

    def keep(
        self, decisions: Sequence[Decision], network: Network | None = None, before: Network | None = None
    ) -> None:
        """Writes decisions, and the network after them if they were accepted: all or none.

        Of the network after the one ``before`` only what differs is written, if that one is kept.

        Raises:
            FullStoreError: nothing was written.
        """
        differs = None
        if network is not None and before is not None and self._last == (before.number, before.hash):
            differs = difference(before, network)
        with self.database.begin() as execute:
            for one in decisions:
                text = json.dumps(one.document(), ensure_ascii=False)
                execute("INSERT INTO decisions VALUES (?, ?, ?)", (one.number, one.outcome, text))
            execute("DELETE FROM decisions WHERE number <= ?", (decisions[-1].number - MOST_DECISIONS,))
            execute("DELETE FROM pending")
            if differs is not None and network is not None:
                execute("INSERT INTO changes VALUES (?, ?)", (network.number, compact(differs)))
            elif network is not None:
                self._write(execute, network)
        if network is not None:
            self._last = network.number, network.hash
            self._changes = 0 if differs is None else self._changes + 1

    def start(self, network: Network) -> None:
        """Writes a network that nobody has changed yet, so that the first change writes only what differs.

        Raises:
            FullStoreError: nothing was written.
        """
        if self._last is None:
            with self.database.begin() as execute:
                self._write(execute, network)
            self._last = network.number, network.hash

    def settle(self, network: Network) -> None:
        """Writes the network that is kept as a whole, in place of changes; nothing if it was written so.

        Raises:
            FullStoreError: nothing was written; the changes are there.
        """
        if self._changes and self._last == (network.number, network.hash):
            with self.database.begin() as execute:
                self._write(execute, network)
            self._changes = 0

    def _write(self, execute: Execute, network: Network) -> None:
        columns = _replacing("number plan requested")
        execute(f"INSERT INTO network VALUES (1, ?, ?, ?) {columns}", _row(network))
        execute("DELETE FROM changes")

    def intend(self, decisions: Sequence[Decision], network: Network) -> None:
        """Writes a network that the devices get now, and the decisions about it; :meth:`keep` ends that.

        Raises:
            FullStoreError: nothing was written.
        """
        text = json.dumps([one.document() for one in decisions], ensure_ascii=False)
        with self.database.begin() as execute:
            columns = _replacing("number plan requested decision")
            execute(f"INSERT INTO pending VALUES (1, ?, ?, ?, ?) {columns}", (*_row(network), text))

    def pending(self) -> tuple[list[Decision], Network] | None:
        """The decisions that were under way when the last process ended; None if there are none.

        Raises:
            ContentError: as :meth:`network`.
        """
        found = self.database.rows("SELECT number, plan, requested, decision FROM pending")
        if not found:
            return None
        row = found[0]
        told = json.loads(row[3])
        # Of an earlier version it is one decision.
        decisions = [Decision(**one) for one in (told if isinstance(told, list) else [told])]
        return decisions, self._network(*row[:3])

    def keep_wanted(self, wanted: Mapping[str, Json | None]) -> None:
        """Writes what clients want of streams, by name; None removes it.

        Raises:
            FullStoreError: nothing was written.
        """
        with self.database.begin() as execute:
            for name, document in wanted.items():
                if document is None:
                    execute("DELETE FROM wanted WHERE name = ?", (name,))
                else:
                    text = json.dumps(document, ensure_ascii=False)
                    execute(
                        "INSERT INTO wanted (name, document) VALUES (?, ?) "
                        "ON CONFLICT (name) DO UPDATE SET document = excluded.document",
                        (name, text),
                    )

    def wanted(self) -> dict[str, Json]:
        """What clients want of streams, by name."""
        found = self.database.rows("SELECT name, document FROM wanted ORDER BY rowid")
        return {name: json.loads(text) for name, text in found}

    def keep_denied(self, rows: Sequence[Denied]) -> None:
        """Writes denied requests, also in place of rows that have their numbers.

        Raises:
            FullStoreError: nothing was written.
        """
        with self.database.begin() as execute:
            for row in rows:
                execute(
                    "INSERT INTO denied VALUES (?, ?) "
                    "ON CONFLICT (number) DO UPDATE SET document = excluded.document",
                    (row.number, json.dumps(row.document(), ensure_ascii=False)),
                )
            execute("DELETE FROM denied WHERE number <= ?", (rows[-1].number - MOST_DENIED,))

    def denied(self, most: int) -> list[Denied]:
        """The last denied requests, the oldest first."""
        found = self.database.rows("SELECT document FROM denied ORDER BY number DESC LIMIT ?", (most,))
        return [Denied(**json.loads(text)) for (text,) in found][::-1]

    def decisions(self, most: int) -> list[Decision]:
        """The last decisions, the oldest first."""
        found = self.database.rows("SELECT document FROM decisions ORDER BY number DESC LIMIT ?", (most,))
        return [Decision(**json.loads(text)) for (text,) in found][::-1]

    def network(self) -> Network | None:
        """The network after the last change, with its proof and bounds computed again; None before any.

        Raises:
            ContentError: the Plan of the store is not what was written, or its schedule is not proved.
        """
        found = self.database.rows("SELECT number, plan, requested FROM network")
        if not found:
            return None
        changes = [text for (text,) in self.database.rows("SELECT document FROM changes ORDER BY number")]
        number, text, requested = found[0]
        if not number and not changes:
            return None
        network = self._network(number, text, requested, changes)
        self._last, self._changes = (network.number, network.hash), len(changes)
        return network

    def _network(self, number: int, text: str, requested: str, changes: Sequence[str] = ()) -> Network:
        plan = Plan(content_of(json.loads(text)))
        streams = {name: Requested(**one) for name, one in json.loads(requested).items()}
        try:
            if plan.to_json() != text:
                raise ValueError("a Plan that was changed")
            plan, streams = _after(plan, streams, [json.loads(one) for one in changes])
            text = plan.to_json()
            read = ReadPlan(text)
            if wrong := prove(plan, text, read):
                raise ValueError("; ".join(wrong))
        except (LookupError, TypeError, ValueError) as error:
            raise ContentError(f"{self.where}: expected a Plan that holds, found {error}") from None
        bounds = without_hash(bounds_of_read(Known(plan.document, read), hops=False))
        return Network(number + len(changes), streams, plan, bounds, read)


def _after(
    plan: Plan, streams: dict[str, Requested], changes: Sequence[Json]
) -> tuple[Plan, dict[str, Requested]]:
    """The Plan and the requested streams after changes.

    Raises:
        ValueError: the changes are those of another Plan.
    """
    for change in changes:
        document, streams = differing(plan.document, streams, change)
        plan = Plan(document)
    if changes and plan.hash != changes[-1]["plan"]:
        raise ValueError("changes of another Plan")
    return plan, streams


def _row(network: Network) -> tuple[int, str, str]:
    """The columns of a network."""
    requested = {name: asdict(one) for name, one in network.requested.items()}
    return network.number, network.text, json.dumps(requested, ensure_ascii=False)


def _replacing(columns: str) -> str:
    """The end of an INSERT that replaces these columns of the only row."""
    return (
        f"ON CONFLICT (one) DO UPDATE SET {', '.join(f'{one} = excluded.{one}' for one in columns.split())}"
    )
