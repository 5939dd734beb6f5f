"""A client of a CNC: one request, and its answer as JSON."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tsnbench.cnc.changes import SettingError
from tsnbench.errors import BackendError, InputError
from tsnbench.foreign import Json, shown

PATIENCE_S = 60
LARGEST_ANSWER = 1 << 28
NO_SERVICE = "\nhint: `tsnbench cnc serve SCENARIO` starts one; --at names another one"


class AnswerError(BackendError):
    """The service cannot be asked, or its answer is none of a CNC."""


@dataclass(frozen=True)
class Answer:
    """The status and the JSON object of an answer."""

    status: int
    document: Json


@dataclass(frozen=True)
class Connection:
    """Where a service is.

    Args:
        address: ``http://127.0.0.1:8443``; several with commas, of which one leads.
        token: the client's token, or empty.
        authority: a file with the certificate of the service's authority, if this machine does not know it.
        certificate: a file with the client's own one, and its key if ``key`` is None.
    """

    address: str
    token: str = ""
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def ask(self, method: str, path: str, document: Json | None = None) -> Answer:
        """One request, to the first service that answers and leads.

        Where no answer came the request may have been decided; the same words again change nothing.

        Raises:
            InputError: an address is none, or the client's certificate.
            AnswerError: no answer of a CNC arrived.
        """
        *others, last = self.address.split(",")
        for one in others:
            try:
                answer = self._ask(one.strip(), method, path, document)
            except AnswerError:
                continue
            if "leader" not in answer.document:
                return answer
        return self._ask(last.strip(), method, path, document)

    def _ask(self, address: str, method: str, path: str, document: Json | None) -> Answer:
        parts = urlsplit(address)
        try:
            where, port = parts.hostname, parts.port
        except ValueError:
            where, port = None, None
        if parts.scheme not in ("http", "https") or where is None:
            raise InputError(f"--at: expected http://ADDRESS:PORT, found {shown(address)}")
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        body = None if document is None else json.dumps(document).encode()
        try:
            line = self._line(parts.scheme, where, port)
            try:
                line.request(method, path, body, headers)
                answer = line.getresponse()
                content = answer.read(LARGEST_ANSWER)
            finally:
                line.close()
        except (TimeoutError, OSError, http.client.HTTPException) as error:
            hint = NO_SERVICE if isinstance(error, ConnectionRefusedError) else ""
            raise AnswerError(
                f"{address}: no answer: {shown(str(error) or type(error).__name__)}{hint}"
            ) from None
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise AnswerError(f"{address}: expected the answer of a CNC, found another one")
        return Answer(answer.status, found)

    def _line(self, scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
        if scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=PATIENCE_S)
        context = ssl.create_default_context(cafile=self.authority)
        if self.certificate is not None:
            try:
                context.load_cert_chain(self.certificate, self.key)
            except OSError as error:
                raise SettingError(
                    f"{self.certificate}: expected a certificate and its key (PEM), found "
                    f"{shown(error.strerror or str(error))}"
                ) from None
        return http.client.HTTPSConnection(host, port, timeout=PATIENCE_S, context=context)
