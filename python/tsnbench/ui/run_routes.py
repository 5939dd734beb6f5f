"""The routes that show runs: facts, charts, replays, comparisons and studies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tsnbench.compare import compare, opened
from tsnbench.editing.differences import lines_of, parts
from tsnbench.errors import BackendError, InputError
from tsnbench.replay.page import lesson, policy
from tsnbench.runs import Run, file_names
from tsnbench.ui import charts, studies
from tsnbench.ui.exchange import refused
from tsnbench.ui.guard import REPORT_POLICY
from tsnbench.ui.replays import Replay, Replays
from tsnbench.ui.workspace import LESSON, SUFFIXES, OutsideError, Workspace

MOST_COMPARED = 4


PAGES = ("/api/report/", "/api/replay/")
"""Answers that users look at in a tab of their own."""


def answered(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint, with an answer for every request that it refuses."""

    @wraps(endpoint)
    async def safe(request: Request) -> Response:
        try:
            return await endpoint(request)
        except OutsideError:
            return PlainTextResponse("No such run or report\n", 404)
        except KeyError as error:
            return PlainTextResponse(f"The run has no {error.args[0]}\n", 404)
        except (InputError, BackendError, OSError) as error:
            if request.url.path.startswith(PAGES):
                return PlainTextResponse(f"{error}\n", 422)
            return refused(error)

    return safe


def number(request: Request, key: str) -> int | None:
    """A whole number of the query; None where there is none."""
    found = request.query_params.get(key, "")
    return int(found) if found.lstrip("-").isdecimal() and found.isascii() and len(found) <= 20 else None


def routes(workspace: Workspace) -> list[Route]:
    """The routes; each run is a folder below the opened one."""
    kept = charts.Charts()
    replays = Replays()

    def run_of(name: str) -> Run:
        return Run.open(workspace.path(f"{name}/{file_names.MANIFEST}", (".json",)).parent)

    @answered
    async def report(request: Request) -> Response:
        path = workspace.path(f"{request.path_params['name']}/report.html", (".html",))
        return FileResponse(path, headers={"content-security-policy": REPORT_POLICY})

    @answered
    async def replay(request: Request) -> Response:
        name = request.path_params["name"]
        beside = request.query_params.get("lesson", "")
        words = lesson(workspace.path(beside, (LESSON,))) if beside else ""
        text = await run_in_threadpool(lambda: Replay.of(run_of(name)).page(words))
        # The page may run only its own script, in an origin of its own: it cannot use this server.
        rules = f"sandbox allow-scripts; {policy()}; frame-ancestors 'none'"
        return HTMLResponse(text, headers={"content-security-policy": rules})

    @answered
    async def facts(request: Request) -> Response:
        name = request.path_params["name"]

        def find() -> Any:
            return {**charts.facts(run_of(name), name), "lessons": workspace.lessons()}

        return JSONResponse(await run_in_threadpool(find))

    @answered
    async def delays(request: Request) -> Response:
        name, stream, listener = (request.path_params["name"], *_stream(request))
        begin, end = number(request, "from"), number(request, "until")
        columns = number(request, "columns") or 1000
        return JSONResponse(
            await run_in_threadpool(
                lambda: kept.delays(run_of(name), stream, listener).window(begin, end, columns)
            )
        )

    @answered
    async def distribution(request: Request) -> Response:
        name, stream, listener = (request.path_params["name"], *_stream(request))
        return JSONResponse(
            await run_in_threadpool(lambda: kept.distribution(run_of(name), stream, listener))
        )

    @answered
    async def gantt(request: Request) -> Response:
        name, frame = request.path_params["name"], request.query_params.get("frame", "")
        begin, end = number(request, "from"), number(request, "until")
        columns = number(request, "columns") or 1000

        def found() -> Any:
            return replays.of(run_of(name)).window(begin, end, frame, columns)

        return JSONResponse(await run_in_threadpool(found))

    @answered
    async def compared(request: Request) -> Response:
        names = request.query_params.getlist("run")
        if not 2 <= len(names) <= MOST_COMPARED:
            return PlainTextResponse(f"Choose two to {MOST_COMPARED} runs\n", 400)

        def found() -> Any:
            folders = [run_of(name).folder for name in names]
            return compare([opened(folder) for folder in folders]).document()

        return JSONResponse(await run_in_threadpool(found))

    @answered
    async def difference(request: Request) -> Response:
        names = request.query_params.getlist("run")
        if len(names) != 2:
            return PlainTextResponse("Choose two runs\n", 400)

        def found() -> Any:
            files = [_scenario(run_of(name)) for name in names]
            try:
                texts = [workspace.read(name or "") for name in files]
            except (OutsideError, InputError):
                # The run was started elsewhere, or the file is gone.
                return {"files": [], "tags": [], "parts": []}
            first, second = (lines_of(one.text) for one in texts)
            return {
                "files": files,
                "tags": [one.tag for one in texts],
                "parts": [{"number": one.number, "lines": one.lines} for one in parts(first, second)],
            }

        return JSONResponse(await run_in_threadpool(found))

    @answered
    async def all_studies(_: Request) -> Response:
        folders = await run_in_threadpool(workspace.studies)
        found = [await run_in_threadpool(studies.state, workspace.folder / name, name) for name in folders]
        return JSONResponse(found)

    return [
        Route("/api/report/{name:path}", report),
        Route("/api/replay/{name:path}", replay),
        Route("/api/facts/{name:path}", facts),
        Route("/api/delays/{name:path}", delays),
        Route("/api/distribution/{name:path}", distribution),
        Route("/api/gantt/{name:path}", gantt),
        Route("/api/compare", compared),
        Route("/api/difference", difference),
        Route("/api/studies", all_studies),
    ]


def _stream(request: Request) -> tuple[str, str]:
    return request.query_params.get("stream", ""), request.query_params.get("listener", "")


def _scenario(run: Run) -> str | None:
    """The file that a run was started with, as its command names it."""
    words = [str(word) for word in run.manifest.get("command") or ()]
    return next((word for word in words if word.endswith(SUFFIXES)), None)
