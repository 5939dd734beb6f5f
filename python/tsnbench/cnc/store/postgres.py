"""A store that several machines reach: PostgreSQL. One service leads, the others wait.

The leader has an advisory lock of its session, and writes in this session alone: when the server has ended
the session, lock and writing end together. Beside that each leader has a number, which every transaction
compares: a session behind a pooler writes nothing when another leader has begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tsnbench.cnc.store.database import Execute, FullStoreError, LostStoreError, Row
from tsnbench.errors import BackendError, ContentError, InputError
from tsnbench.foreign import Json

LOCK = 0x54534E43
"""The first number of the advisory lock; the second one is of the schema."""
KEEPALIVE: Json = {
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
}
"""After some 5 s without an answer a connection is lost, at both ends: the standby takes over."""
SETTINGS = (
    "SET synchronous_commit = on",
    "SET tcp_keepalives_idle = 2",
    "SET tcp_keepalives_interval = 1",
    "SET tcp_keepalives_count = 3",
    "SET tcp_user_timeout = 5000",
    "SET idle_in_transaction_session_timeout = 10000",
)


class Postgres:
    """One session of a database.

    Args:
        url: ``postgresql://USER@HOST/DATABASE``; the rest as in libpq.

    Raises:
        InputError: it is no such address. BackendError: the server does not answer, or refuses.
    """

    rowid = ", rowid BIGSERIAL"

    def __init__(self, url: str) -> None:
        try:
            named = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # What libpq says has the whole address, with a password.
            raise InputError(
                "--store: expected postgresql://USER@HOST/DATABASE, found another form"
            ) from None
        self.where = f"postgresql://{named.get('host', 'localhost')}/{named.get('dbname', '')}"
        self._url, self._epoch = url, ""
        self._line: Any = self._connect()

    def _connect(self) -> Any:
        try:
            line: Any = psycopg.connect(
                self._url, autocommit=True, connect_timeout=10, application_name="tsnbench cnc", **KEEPALIVE
            )
            for setting in SETTINGS:
                line.execute(setting)
        except psycopg.Error as error:
            raise BackendError(f"{self.where}: {_words(error)}") from None
        return line

    def lead(self) -> bool:
        """Tries to become the leader; connects again if the connection was lost.

        Raises:
            BackendError: the server does not answer.
        """
        try:
            if self._line.closed:
                self._line = self._connect()
            question = "SELECT pg_try_advisory_lock(?, hashtext(current_schema()))"
            return bool(self._ask(question, (LOCK,))[0][0])
        except psycopg.Error as error:
            raise self._failed(error) from None

    def _ask(self, text: str, values: Sequence[object] = ()) -> list[Row]:
        # Texts are those of this program, with ? for values.
        done = self._line.execute(text.replace("?", "%s"), values)
        return done.fetchall() if done.description else []

    def _failed(self, error: psycopg.Error) -> FullStoreError:
        """What an error is: a lost session, or a statement that the server refused."""
        if self._line.broken or self._line.closed:
            self._line.close()
            return LostStoreError(
                f"{self.where}: the connection is lost, so another service may lead: {_words(error)}"
            )
        return FullStoreError(f"{self.where}: cannot be written: {_words(error)}")

    @contextmanager
    def begin(self) -> Iterator[Execute]:
        try:
            self._ask("BEGIN")
            if self._epoch:
                self._compare("SELECT value FROM about WHERE key = 'epoch' FOR UPDATE")
            yield lambda text, values=(): self._ask(text, values)
            self._ask("COMMIT")
        except psycopg.Error as error:
            raise self._failed(error) from error
        finally:
            if self._line.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                with suppress(psycopg.Error):
                    self._ask("ROLLBACK")

    def _compare(self, question: str) -> None:
        found = self._ask(question)
        if found != [(self._epoch,)]:
            raise LostStoreError(f"{self.where}: another service leads")

    def own(self, execute: Execute) -> None:
        """Takes the next number of leaders; transactions of earlier ones end before, or write nothing."""
        text = (
            "INSERT INTO about VALUES ('epoch', '1') ON CONFLICT (key) DO UPDATE "
            "SET value = (about.value::bigint + 1)::text RETURNING value"
        )
        self._epoch = execute(text)[0][0]

    def announce(self, address: str) -> None:
        """Tells the others where the leader is.

        Raises:
            FullStoreError: it cannot be written.
        """
        with self.begin() as execute:
            text = "INSERT INTO about VALUES ('leader', ?) ON CONFLICT (key) "
            execute(f"{text} DO UPDATE SET value = excluded.value", (address,))

    def leader(self) -> str:
        """The address of the leader; empty if there has been none."""
        found: list[Row] = []
        with suppress(psycopg.Error):
            found = self._ask("SELECT value FROM about WHERE key = 'leader'")
        return found[0][0] if found else ""

    def beat(self) -> None:
        try:
            self._compare("SELECT value FROM about WHERE key = 'epoch'")
        except psycopg.Error as error:
            raise self._failed(error) from None

    def rows(self, text: str, values: Sequence[object] = ()) -> Sequence[Row]:
        try:
            return self._ask(text, values)
        except psycopg.Error as error:
            if self._line.closed:
                raise self._failed(error) from None
            raise ContentError(
                f"{self.where}: expected a store of tsnbench cnc, found {_words(error)}"
            ) from None

    def is_empty(self) -> bool:
        question = "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() LIMIT 1"
        return not self.rows(question)

    def close(self) -> None:
        self._line.close()


def _words(error: Any) -> str:
    """The first line of what the server or libpq says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
