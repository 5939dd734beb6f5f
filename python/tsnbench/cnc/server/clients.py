"""Who may ask: clients with tokens and scopes, and how often.

Without a file of tokens every user of this machine may do everything, and only this machine is answered.
"""

from __future__ import annotations

import hashlib
import hmac
import tomllib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from time import monotonic

from tsnbench import foreign
from tsnbench.cnc.changes import SettingError
from tsnbench.scenario.text.reading import NAME

MOST_A_SECOND = 100
"""Changes that a client may request within a second."""
LARGEST_FILE = 1 << 20
SHORTEST_TOKEN = 16
"""Characters."""


class Scope(IntEnum):
    """What a client may do; each scope includes those before it."""

    READ = 1
    """Read streams, Plan and decisions."""
    OWN = 2
    """Add streams, and remove its own."""
    ALL = 3
    """Remove the streams of others, too."""
    DEVICES = 4
    """Give devices the Plan although somebody else has changed them."""


@dataclass
class Client:
    """One client, with the times of its last changes."""

    name: str
    scope: Scope
    most_streams: int | None = None
    """Streams of this client at once; None: no limit of its own."""
    _times: deque[float] = field(default_factory=deque)

    def may_ask(self) -> bool:
        """Whether it has requested fewer changes than it may; counts this one."""
        now = monotonic()
        while self._times and self._times[0] <= now - 1:
            self._times.popleft()
        if len(self._times) >= MOST_A_SECOND:
            return False
        self._times.append(now)
        return True


class Clients:
    """The clients of a service.

    Args:
        tokens: of each client the SHA-256 of its token, by name; None: everybody is the client ``local``,
            which may do everything. clients: these clients.
    """

    def __init__(self, tokens: Mapping[str, bytes] | None = None, clients: Sequence[Client] = ()) -> None:
        self._tokens = tokens
        self._clients = {client.name: client for client in clients}
        self._local = Client("local", Scope.DEVICES)

    @property
    def named(self) -> bool:
        """Whether clients need a token."""
        return self._tokens is not None

    def of(self, authorization: str) -> Client | None:
        """The client with this ``Authorization`` header (RFC 6750, 2.1); None if it is nobody's."""
        if self._tokens is None:
            return self._local
        kind, _, token = authorization.partition(" ")
        digest = hashlib.sha256(token.strip().encode()).digest()
        found = None
        for name, own in self._tokens.items():
            # All of them are compared, so that the time does not say how near a guess is.
            if hmac.compare_digest(own, digest):
                found = self._clients[name]
        return found if kind.lower() == "bearer" else None

    def may_change(self, client: str, owner: str) -> bool:
        """Whether a client may remove or replace a stream of an owner."""
        own = self._clients.get(client, self._local)
        return client == owner or own.scope >= Scope.ALL

    def most_streams(self, client: str) -> int | None:
        """How many streams a client may have at once; None: no limit of its own."""
        return self._clients.get(client, self._local).most_streams


def read_clients(file: Path) -> Clients:
    """Reads a TOML file: ``[camera]``, ``token = "…"``, ``scope = "own"`` (read, own, all or devices), and
    perhaps ``most-streams = 20``.

    Raises:
        SettingError: the file is none, has an unknown key or scope, a short token, or one token twice.
    """
    try:
        found = tomllib.loads(foreign.read_text(file, LARGEST_FILE))
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{file}: expected TOML, found {error}") from None
    made = {name: _client(file, name, own) for name, own in found.items()}
    tokens = {name: digest for name, (digest, _) in made.items()}
    if len({*tokens.values()}) < len(tokens):
        raise SettingError(f"{file}: expected a token of its own for each client, found one twice")
    if not tokens:
        raise SettingError(
            f'{file}: expected clients, found none\n  hint: write [camera], token = "…", scope = "own"'
        )
    return Clients(tokens, [client for _, client in made.values()])


def _client(file: Path, name: str, own: object) -> tuple[bytes, Client]:
    scopes = {scope.name.lower(): scope for scope in Scope}
    keys = own.keys() - {"most-streams"} if isinstance(own, dict) else set()
    if not NAME.fullmatch(name) or not isinstance(own, dict) or keys != {"token", "scope"}:
        raise SettingError(f"{file}: {name}: expected a client with token and scope, found other keys")
    token, scope, most = own["token"], own["scope"], own.get("most-streams")
    if not isinstance(token, str) or len(token) < SHORTEST_TOKEN:
        raise SettingError(
            f"{file}: {name}: expected a token of at least {SHORTEST_TOKEN} characters, found less"
        )
    if scope not in scopes:
        raise SettingError(
            f"{file}: {name}: expected a scope of {', '.join(scopes)}, found {foreign.shown(scope)}"
        )
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise SettingError(
            f"{file}: {name}: expected a number of streams in most-streams, found {foreign.shown(most)}"
        )
    return hashlib.sha256(token.encode()).digest(), Client(name, scopes[scope], most)
