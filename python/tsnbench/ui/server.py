"""The server of ``tsnbench ui``, on the loopback interface alone."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from tsnbench.ui import answers, job_routes, run_routes, scenario_routes
from tsnbench.ui.jobs import Jobs
from tsnbench.ui.live.worker import KINDS, Worker
from tsnbench.ui.requests.connections import BACKLOG, Connection
from tsnbench.ui.requests.guard import HEADERS, Guard
from tsnbench.ui.workspace import Workspace

PAGE = Path(__file__).parent / "page"
SWITCH_S = 0.0005
"""After this time a thread lets another one go on: answers of workers pass between two of the texts that the
server reads itself, and each passes several threads."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def serve(folder: Path, port: int, opened: Callable[[str], None]) -> None:
    """Serves a folder until the process is interrupted.

    Args:
        folder: the folder with scenarios and runs.
        port: a port of 127.0.0.1; 0 takes a free one.
        opened: is called with the address when connections are accepted.

    Raises:
        OSError: the port is in use, or there is no such folder.
    """
    sys.setswitchinterval(SWITCH_S)
    workspace = Workspace(folder)
    jobs, workers = Jobs(workspace.folder), {kind: Worker(kind) for kind in KINDS}
    # asyncio sends small answers at once (TCP_NODELAY) only where the protocol is named.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()
        guard = Guard(listening.getsockname()[1], secrets.token_urlsafe(32))
        opened(guard.address)
        # No access log: it would contain the token.
        config = uvicorn.Config(
            application(workspace, guard, jobs, workers),
            http=Connection,
            backlog=BACKLOG,
            access_log=False,
            log_level="warning",
            lifespan="off",
            server_header=False,
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            jobs.close()
            for worker in workers.values():
                worker.close()


def application(workspace: Workspace, guard: Guard, jobs: Jobs, workers: Mapping[str, Worker]) -> Application:
    """The guarded application; no request reaches a route before the guard has let it pass."""
    routes = [
        Route("/", lambda _: FileResponse(PAGE / "index.html")),
        *(Route(f"/{path.name}", _file(path)) for path in sorted(PAGE.glob("*.*")) if path.suffix != ".html"),
        *scenario_routes.routes(workspace, workers),
        *run_routes.routes(workspace),
        Route("/api/folder", _folder(workspace)),
        *job_routes.routes(workspace, jobs),
    ]
    inner = Starlette(routes=routes)

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        token = QueryParams(scope["query_string"]).get("token", "")
        refused = guard.refusal(scope["type"], scope.get("method", ""), headers, token)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                made = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    made.setdefault(name, value)
            await send(message)

        if refused:
            words = {
                421: "This server has another name.\n",
                403: "Open the address that tsnbench ui printed.\n",
            }
            await PlainTextResponse(words[refused], refused)(scope, receive, sending)
        elif token and scope["method"] == "GET":
            # The token moves from the address to a cookie, so that no history and no screenshot contains it.
            answer = RedirectResponse("/", 303)
            answer.set_cookie(guard.cookie, guard.token, httponly=True, samesite="strict", path="/")
            await answer(scope, receive, sending)
        else:
            await inner(scope, receive, sending)

    return guarded


def _file(path: Path) -> Callable[[Request], Response]:
    return lambda _: FileResponse(path)


def _folder(workspace: Workspace) -> Callable[[Request], Response]:
    """The answer with the scenarios and runs of the folder."""

    def listing(_: Request) -> Response:
        scenarios, more_scenarios = workspace.scenarios()
        runs, more_runs = workspace.runs()
        return JSONResponse(
            {
                "folder": str(workspace.folder),
                "scenarios": scenarios,
                "more_scenarios": more_scenarios,
                "runs": [answers.listed_run(workspace, name) for name in runs],
                "more_runs": more_runs,
            }
        )

    return listing
