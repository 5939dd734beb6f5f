"""The routes that show runs: facts, charts, replays, comparisons and studies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tsnbench.compare import compare, opened
from tsnbench.editing.differences import lines_of, parts
from tsnbench.errors import BackendError, InputError
from tsnbench.replay.page import lesson, policy
from tsnbench.runs import Run, file_names
from tsnbench.ui import charts, studies
from tsnbench.ui.replays import Replay, Replays
from tsnbench.ui.requests.exchange import RefusedError, refused
from tsnbench.ui.requests.guard import REPORT_POLICY
from tsnbench.ui.texts import Texts
from tsnbench.ui.workspace import LESSON, OutsideError, Workspace

MOST_COMPARED = 4
COLUMNS = 1000
"""Columns of a drawing whose width a request does not say."""
PAGES = ("/api/report/", "/api/replay/")
"""Answers that users look at in a tab of their own."""


def answered(work: Callable[[Request], object]) -> Callable[[Request], Response]:
    """An endpoint, which runs in a thread: the result of a function, or the answer to a refused request."""

    @wraps(work)
    def safe(request: Request) -> Response:
        try:
            found = work(request)
        except RefusedError as error:
            return error.answer()
        except OutsideError:
            return PlainTextResponse("No such run or report\n", 404)
        except KeyError as error:
            return PlainTextResponse(f"The run has no {error.args[0]}\n", 404)
        except (InputError, BackendError, OSError) as error:
            if request.url.path.startswith(PAGES):
                return PlainTextResponse(f"{error}\n", 422)
            return refused(error)
        return found if isinstance(found, Response) else JSONResponse(found)

    return safe


def number(request: Request, key: str) -> int | None:
    """A whole number of the query; None where there is none."""
    found = request.query_params.get(key, "")
    return int(found) if found.lstrip("-").isdecimal() and found.isascii() and len(found) <= 20 else None


def routes(workspace: Workspace) -> list[Route]:
    """The routes; each run is a folder below the opened one."""
    runs = _Runs(workspace)
    return [
        Route("/api/report/{name:path}", answered(runs.report)),
        Route("/api/replay/{name:path}", answered(runs.replay)),
        Route("/api/facts/{name:path}", answered(runs.facts)),
        Route("/api/delays/{name:path}", answered(runs.delays)),
        Route("/api/boxes/{name:path}", answered(runs.boxes)),
        Route("/api/distribution/{name:path}", answered(runs.distribution)),
        Route("/api/gantt/{name:path}", answered(runs.gantt)),
        Route("/api/compare", answered(runs.compared)),
        Route("/api/difference", answered(runs.difference)),
        Route("/api/studies", answered(runs.studies)),
    ]


class _Runs:
    """The answers of the routes; what was read last is kept."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.charts = charts.Charts()
        self.replays = Replays()

    def run(self, name: str) -> Run:
        """A run of the opened folder."""
        return Run.open(self.workspace.path(f"{name}/{file_names.MANIFEST}", (".json",)).parent)

    def report(self, request: Request) -> Response:
        path = self.workspace.path(f"{request.path_params['name']}/report.html", (".html",))
        return FileResponse(path, headers={"content-security-policy": REPORT_POLICY})

    def replay(self, request: Request) -> Response:
        beside = request.query_params.get("lesson", "")
        words = lesson(self.workspace.path(beside, (LESSON,))) if beside else ""
        text = Replay.of(self.run(request.path_params["name"])).page(words)
        # The page may run only its own script, in an origin of its own: it cannot use this server. It may
        # save a GIF.
        rules = f"sandbox allow-scripts allow-downloads; {policy()}; frame-ancestors 'none'"
        return HTMLResponse(text, headers={"content-security-policy": rules})

    def facts(self, request: Request) -> object:
        name = request.path_params["name"]
        run = self.run(name)
        texts = asdict(Texts.of(self.workspace, run))
        return {**charts.facts(run, name), **texts, "lessons": self.workspace.lessons()}

    def delays(self, request: Request) -> object:
        found = self.charts.delays(self.run(request.path_params["name"]), *_stream(request))
        return found.window(*_window(request), _columns(request))

    def boxes(self, request: Request) -> object:
        return charts.boxes(self.run(request.path_params["name"]))

    def distribution(self, request: Request) -> object:
        return self.charts.distribution(self.run(request.path_params["name"]), *_stream(request))

    def gantt(self, request: Request) -> object:
        found = self.replays.of(self.run(request.path_params["name"]))
        return found.window(*_window(request), request.query_params.get("frame", ""), _columns(request))

    def compared(self, request: Request) -> object:
        names = request.query_params.getlist("run")
        if not 2 <= len(names) <= MOST_COMPARED:
            raise RefusedError(f"Choose two to {MOST_COMPARED} runs", 400)
        folders = [self.run(name).folder for name in names]
        return compare([opened(folder) for folder in folders]).document()

    def difference(self, request: Request) -> object:
        names = request.query_params.getlist("run")
        if len(names) != 2:
            raise RefusedError("Choose two runs", 400)
        found = [Texts.of(self.workspace, self.run(name)) for name in names]
        files = [one.kept or one.now for one in found]
        try:
            first, second = (lines_of(self.workspace.read(name).text) for name in files)
        except (OutsideError, InputError):
            # The run was started elsewhere, or the file is gone.
            return {"files": [], "now": [], "parts": []}
        shown = [asdict(one) for one in parts(first, second)]
        return {"files": files, "now": [one.now for one in found], "parts": shown}

    def studies(self, _: Request) -> object:
        return [studies.state(self.workspace.folder / name, name) for name in self.workspace.studies()]


def _stream(request: Request) -> tuple[str, str]:
    return request.query_params.get("stream", ""), request.query_params.get("listener", "")


def _window(request: Request) -> tuple[int | None, int | None]:
    return number(request, "from"), number(request, "until")


def _columns(request: Request) -> int:
    return number(request, "columns") or COLUMNS
