"""The guard of the server: only requests of the page that it opened are answered.

Every web page that a user visits can send requests to the loopback interface, and so can every other user
of the machine. The ``Host`` header stops names that others point at the loopback interface, ``Origin`` stops
other pages, and the token stops everybody who has not seen the printed address.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from tsnbench.report.figures.program import policy as report_policy

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the page."""
REPORT_POLICY = f"sandbox allow-scripts; {report_policy()}; frame-ancestors 'none'"
"""The policy of a report: its own style sheet, and only the program that zooms figures, wherever the report
comes from; in an origin of its own, so that it cannot use this server."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Guard:
    """The port and the secret of one server."""

    port: int
    token: str

    @property
    def address(self) -> str:
        """The address that the user opens; it contains the token."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies of one host are shared by all its ports."""
        return f"tsnbench-{self.port}"

    @property
    def hosts(self) -> tuple[str, str]:
        """Every ``Host`` header that is answered."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def refusal(self, kind: str, method: str, headers: Mapping[str, str], token: str = "") -> int:
        """The status with which a request is refused; 0 if it is answered.

        Args:
            kind: ``http`` or ``websocket``.
            method: the method of an HTTP request.
            headers: the headers, with names in lower case.
            token: the token in the address, if there is one.
        """
        host = headers.get("host", "")
        if host not in self.hosts:
            return 421
        origin = headers.get("origin")
        reading = kind == "http" and method in ("GET", "HEAD")
        if (origin is not None or not reading) and origin != f"http://{host}":
            return 403
        return 0 if self._is_token(token) or self._is_token(self._cookie(headers)) else 403

    def _is_token(self, found: str) -> bool:
        return hmac.compare_digest(found.encode(), self.token.encode())

    def _cookie(self, headers: Mapping[str, str]) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return found.value if found else ""
