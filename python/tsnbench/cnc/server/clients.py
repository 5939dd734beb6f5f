"""Who may ask: clients with tokens or certificates, their scopes, and how often.

Without a file of clients every user of this machine may do everything, and only this machine is answered.
"""

from __future__ import annotations

import hashlib
import hmac
import tomllib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from time import monotonic

from tsnbench import foreign
from tsnbench.cnc.changes import SettingError
from tsnbench.cnc.server.certificates import Certificate
from tsnbench.scenario.text.reading import NAME
from tsnbench.scenario.text.tree import shown
from tsnbench.ui.requests.exchange import RefusedError

MOST_A_SECOND = 100
"""Changes that a client may request within a second."""
LARGEST_FILE = 1 << 20
SHORTEST_TOKEN = 16
"""Characters."""
KEYS = {"token", "certificate", "scope", "most-streams"}


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
    token: bytes | None = None
    """The SHA-256 of its token."""
    certificate: str | None = None
    """A name in its certificate."""
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
        clients: None: everybody is the client ``local``, which may do everything.
    """

    def __init__(self, clients: Sequence[Client] | None = None) -> None:
        self._local = Client("local", Scope.DEVICES)
        self.named = clients is not None
        """Whether clients need a token or a certificate."""
        self._clients = {client.name: client for client in clients or ()}

    @property
    def certified(self) -> bool:
        """Whether a client has a certificate."""
        return any(client.certificate for client in self._clients.values())

    def of(self, authorization: str, certificate: Certificate | None = None) -> Client:
        """The client that asks.

        Args:
            authorization: this header (RFC 6750, 2.1), or empty. certificate: that of its connection.

        Raises:
            RefusedError: the token or the certificate is nobody's, or they are those of different clients.
        """
        if certificate is not None and certificate.expired:
            raise RefusedError("The certificate has expired since the connection began", 403)
        if not self.named:
            return self._local
        own = self._certified(certificate)
        if authorization or certificate is None:
            found = self._with_token(authorization)
            if own and found not in own:
                raise RefusedError("The token is that of another client than the certificate", 403)
            return found
        if len(own) > 1:
            raise RefusedError(f"The certificate has names of several clients: {_words(own)}", 403)
        if not own:
            names = " or ".join(f'"{shown(name)}"' for name in sorted(certificate.names)[:3]) or "no name"
            raise RefusedError(f"No client has certificate = {names} in the file of --tokens", 403)
        return own[0]

    def who(self, certificate: Certificate | None) -> str:
        """Who asks, for a log of refused requests: a client, ``certificate NAME``, or empty."""
        own = self._certified(certificate)
        if len(own) == 1 or certificate is None:
            return own[0].name if own else ""
        # No client has a space in its name.
        return f"certificate {shown(min(certificate.names, default=''))}"

    def _certified(self, certificate: Certificate | None) -> list[Client]:
        names = certificate.names if certificate else ()
        return [client for client in self._clients.values() if client.certificate in names]

    def _with_token(self, authorization: str) -> Client:
        kind, _, token = authorization.partition(" ")
        digest = hashlib.sha256(token.strip().encode()).digest()
        found = None
        for client in self._clients.values():
            # All of them are compared, so that the time does not say how near a guess is.
            if client.token is not None and hmac.compare_digest(client.token, digest):
                found = client
        if found is None or kind.lower() != "bearer":
            raise RefusedError("A token is missing, or nobody has it", 401)
        return found

    def may_change(self, client: str, owner: str) -> bool:
        """Whether a client may remove or replace a stream of an owner."""
        own = self._clients.get(client, self._local)
        return client == owner or own.scope >= Scope.ALL

    def most_streams(self, client: str) -> int | None:
        """How many streams a client may have at once; None: no limit of its own."""
        return self._clients.get(client, self._local).most_streams


def read_clients(file: Path) -> Clients:
    """Reads a TOML file: ``[camera]``, ``token = "…"`` or ``certificate = "NAME"`` or both, ``scope = "own"``
    (read, own, all or devices), and perhaps ``most-streams = 20``.

    Raises:
        SettingError: the file is none, has an unknown key or scope, a short token, or a token or certificate
            twice.
    """
    try:
        found = tomllib.loads(foreign.read_text(file, LARGEST_FILE))
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{file}: expected TOML, found {error}") from None
    clients = [_client(file, name, own) for name, own in found.items()]
    for kind in ("token", "certificate"):
        given = [value for client in clients if (value := getattr(client, kind)) is not None]
        if len({*given}) < len(given):
            raise SettingError(f"{file}: expected a {kind} of its own for each client, found one twice")
    if not clients:
        raise SettingError(
            f'{file}: expected clients, found none\n  hint: write [camera], token = "…", scope = "own"'
        )
    return Clients(clients)


def _client(file: Path, name: str, own: object) -> Client:
    scopes = {scope.name.lower(): scope for scope in Scope}
    keys = own.keys() if isinstance(own, dict) else set()
    needed = "scope" in keys and keys & {"token", "certificate"} and keys <= KEYS
    if not NAME.fullmatch(name) or not isinstance(own, dict) or not needed:
        raise SettingError(
            f"{file}: {name}: expected a client with token or certificate, and scope, found other keys"
        )
    token, scope, most = own.get("token"), own["scope"], own.get("most-streams")
    if "token" in own and (not isinstance(token, str) or len(token) < SHORTEST_TOKEN):
        raise SettingError(
            f"{file}: {name}: expected a token of at least {SHORTEST_TOKEN} characters, found less"
        )
    certificate = own.get("certificate")
    if "certificate" in own and (not isinstance(certificate, str) or not certificate.strip()):
        raise SettingError(
            f"{file}: {name}: expected a name in certificate, found {foreign.shown(certificate)}"
        )
    if scope not in scopes:
        raise SettingError(
            f"{file}: {name}: expected a scope of {', '.join(scopes)}, found {foreign.shown(scope)}"
        )
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise SettingError(
            f"{file}: {name}: expected a number of streams in most-streams, found {foreign.shown(most)}"
        )
    digest = hashlib.sha256(token.encode()).digest() if token is not None else None
    return Client(name, scopes[scope], most, digest, certificate)


def _words(clients: Sequence[Client]) -> str:
    return ", ".join(client.name for client in clients)
