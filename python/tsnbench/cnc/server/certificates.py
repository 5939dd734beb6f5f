"""Certificates of clients: the names in the one of a connection. TLS has verified it before (RFC 8446, 4.4).

uvicorn does not pass it on, so the connection puts it into the state of each of its requests.
"""

from __future__ import annotations

import ssl
from asyncio import BaseTransport
from collections.abc import Iterator
from dataclasses import dataclass
from time import time

from tsnbench.foreign import Json
from tsnbench.ui.requests.connections import Connection

CERTIFICATE = "cnc.certificate"
"""The key of the certificate in the state of a request."""
KINDS = ("DNS", "URI", "email")
"""The alternative names that can be those of clients."""


@dataclass(frozen=True)
class Certificate:
    """A certificate that TLS has verified."""

    names: frozenset[str]
    """The common names of its subject, and its alternative names (RFC 5280, 4.2.1.6)."""
    until: float
    """The end of its validity: a Unix time in seconds. A connection can last longer."""

    @property
    def expired(self) -> bool:
        """Whether its validity has ended."""
        return self.until < time()


def certificate_of(found: Json) -> Certificate:
    """The certificate as :meth:`ssl.SSLSocket.getpeercert` tells it."""
    return Certificate(frozenset(_names(found)), ssl.cert_time_to_seconds(found["notAfter"]))


def _names(found: Json) -> Iterator[str]:
    for parts in found["subject"]:
        yield from (value for kind, value in parts if kind == "commonName")
    yield from (value for kind, value in found.get("subjectAltName", ()) if kind in KINDS)


class CertifiedConnection(Connection):
    """A connection whose requests have the certificate of its client, if it has one."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        tls = transport.get_extra_info("ssl_object")
        if tls is not None and (found := tls.getpeercert()):
            self.app_state = {**self.app_state, CERTIFICATE: certificate_of(found)}
