"""The server of ``tsnbench cnc``: its address, who is answered, TLS."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from tsnbench import ui
from tsnbench.cnc.restconf import routes as restconf
from tsnbench.cnc.restconf.wanted import Streams
from tsnbench.cnc.server import routes
from tsnbench.cnc.server.asking import Application, Message, Receive, Send, note, problem
from tsnbench.cnc.server.certificates import CERTIFICATE, CertifiedConnection
from tsnbench.cnc.server.clients import Clients
from tsnbench.cnc.server.events import Events
from tsnbench.cnc.server.standby import Standby
from tsnbench.cnc.service import Service
from tsnbench.errors import InputError
from tsnbench.foreign import Json
from tsnbench.ui.requests.connections import BACKLOG
from tsnbench.ui.requests.exchange import RefusedError
from tsnbench.ui.requests.guard import HEADERS

PAGE = Path(__file__).parents[1] / "page"
DRAWING = Path(ui.__file__).parent / "page"
PAGES = {
    "/": PAGE / "index.html",
    **{f"/{name}": PAGE / name for name in ("cnc.js", "cnc.css")},
    **{
        f"/{name}": DRAWING / name
        for name in ("network.js", "picture.js", "labels.js", "dom.js", "network.css")
    },
}
"""The files of the page by their paths."""


@dataclass(frozen=True)
class Tls:
    """Files in PEM: the server's certificate and key, and the authority of its clients' certificates."""

    certificate: Path
    key: Path
    clients: Path | None = None

    def check(self) -> None:
        """Reads the files.

        Raises:
            InputError: one is missing, or of another kind.
        """
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        option, what = "certificate", "a certificate and its key"
        try:
            made.load_cert_chain(self.certificate, self.key)
            option, what = "clients", "certificates"
            if self.clients is not None:
                made.load_verify_locations(self.clients)
        except OSError as error:
            found = error.strerror or str(error)
            raise InputError(f"--tls-{option}: expected {what} (PEM), found {found}") from None


def serve(
    service: Service | Standby,
    host: str,
    port: int,
    opened: Callable[[str], None],
    clients: Clients | None = None,
    tls: Tls | None = None,
    streams: Streams | None = None,
) -> None:
    """Serves until the process is interrupted.

    Args:
        service: the CNC, or one that waits for its turn.
        host, port: where it listens; port 0 takes a free one.
        opened: is called with the address when connections are accepted.
        clients: who may ask. tls: its certificate. streams: those of RESTCONF; None: without.

    Raises:
        InputError: another machine could ask without a token, or TLS is not usable.
        OSError: the address is in use, or not of this machine.
    """
    clients = clients or Clients()
    if not ipaddress.ip_address(host).is_loopback and not (clients.named and tls):
        raise InputError(
            f"--listen: expected an address of this machine alone, found {host}\n"
            "  hint: other machines need --tokens, --tls-certificate and --tls-key"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only where the protocol is named.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
        port = listening.getsockname()[1]
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        loopback = ipaddress.ip_address(host).is_loopback
        hosts = {shown, f"localhost:{port}"} if loopback else None
        turn = Turn()
        server = uvicorn.Server(_config(turn, tls))

        def end() -> None:
            server.should_exit = True

        def leads(own: Service, its: Streams | None) -> None:
            own.when_lost(end)
            turn.application = application(own, clients, hosts, its)

        address = f"{'https' if tls else 'http'}://{shown}"
        if isinstance(service, Standby):
            turn.application = service.application()
            waiting = threading.Thread(target=service.wait, args=(leads, end), daemon=True)
            waiting.start()
        else:
            leads(service, streams)
        opened(address)
        server.run(sockets=[listening])


class Turn:
    """The application whose turn it is: that of the service, or of one that waits."""

    application: Application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await self.application(scope, receive, send)


def _config(turn: Turn, tls: Tls | None) -> uvicorn.Config:
    return uvicorn.Config(
        turn,
        http=CertifiedConnection,
        backlog=BACKLOG,
        access_log=False,
        log_level="warning",
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=2,
        **_tls(tls),
    )


def _tls(tls: Tls | None) -> Json:
    """The settings of uvicorn."""
    if tls is None:
        return {}
    found: Json = {"ssl_certfile": tls.certificate, "ssl_keyfile": tls.key}
    if tls.clients is not None:
        found |= {"ssl_ca_certs": tls.clients, "ssl_cert_reqs": ssl.CERT_REQUIRED}
    return found


def application(
    service: Service, clients: Clients, hosts: set[str] | None, streams: Streams | None = None
) -> Application:
    """The guarded application.

    A page of another origin has that origin in its requests, and a name that points at the loopback interface
    is in the ``Host`` header: neither is answered. ``hosts``: every header that is; None: any.
    """
    events = Events(service)
    pages = [Route(path, _file(file)) for path, file in PAGES.items()]
    own = [*pages, *routes.routes(service, events), *(restconf.routes(streams, events) if streams else ())]
    inner = Starlette(routes=own, exception_handlers={HTTPException: _unknown, Exception: _defect})

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                made = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    made.setdefault(name, value)
            await send(message)

        host = headers.get("host", "")
        state = scope.get("state")
        certificate = state.get(CERTIFICATE) if isinstance(state, dict) else None
        client, why = None, None
        try:
            client = clients.of(headers.get("authorization", ""), certificate)
        except RefusedError as error:
            why = error
        known = {**scope, "cnc.client": client, "cnc.denied": service.denied}
        if hosts is not None and host not in hosts:
            await problem(421, "This server has another name")(scope, receive, sending)
        elif headers.get("origin", f"{scope['scheme']}://{host}") != f"{scope['scheme']}://{host}":
            note(Request(known), 403, foreign := "Only pages of this server may ask")
            await problem(403, foreign)(scope, receive, sending)
        elif why is not None and scope["path"] in PAGES:
            # The page has no data of the network, and asks for a token.
            await inner(scope, receive, sending)
        elif why is not None:
            note(Request(known), why.status, str(why), clients.who(certificate))
            answer = problem(why.status, str(why))
            if why.status == HTTPStatus.UNAUTHORIZED:
                answer.headers["www-authenticate"] = "Bearer"
            await answer(scope, receive, sending)
        else:
            await inner(known, receive, sending)

    return guarded


async def _unknown(_: Request, error: Exception) -> Response:
    """The answer where no route is, or not for this method."""
    assert isinstance(error, HTTPException)
    found = problem(error.status_code, "There is no such resource, or it has no such method")
    found.headers.update(error.headers or {})
    return found


async def _defect(_: Request, error: Exception) -> Response:
    """The answer to a request that a defect ended; the server logs the rest."""
    return problem(500, f"A defect of the service: {type(error).__name__}")


def _file(path: Path) -> Callable[[Request], Response]:
    return lambda _: FileResponse(path)
