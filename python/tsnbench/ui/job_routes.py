"""The routes that start and stop runs, and tell where a scenario can run."""

from __future__ import annotations

import json

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tsnbench.errors import BackendError, InputError
from tsnbench.ui.exchange import answered, asked, body, refused
from tsnbench.ui.jobs import BusyError, Jobs
from tsnbench.ui.places import chosen, offers
from tsnbench.ui.workspace import OutsideError, Workspace

LARGEST_REQUEST = 1 << 16


def routes(workspace: Workspace, jobs: Jobs) -> list[Route]:
    """The routes; a run starts as in a terminal, in the opened folder."""

    async def start(request: Request) -> Response:
        name = request.path_params["name"]
        content = await body(request, LARGEST_REQUEST)
        if content is None:
            return PlainTextResponse("The request is too large\n", 413)
        try:
            workspace.path(name)
            place = chosen(json.loads(content or b"{}"))
            if place is None:
                return PlainTextResponse("No such place\n", 400)
            if place.lab:
                workspace.path(place.lab)
            return JSONResponse(await run_in_threadpool(jobs.start, name, place), 201)
        except OutsideError:
            return PlainTextResponse("No such scenario or lab\n", 404)
        except (ValueError, RecursionError):
            return PlainTextResponse("No such place\n", 400)
        except BusyError as error:
            return PlainTextResponse(f"{error}\n", 429)
        except OSError as error:
            return PlainTextResponse(f"The run cannot be started: {error.strerror}\n", 503)

    @answered
    async def places(request: Request) -> Response:
        file = workspace.path(request.path_params["name"])
        wanted = await asked(request)
        dilate = wanted.get("dilate", 1)
        if chosen({"dilate": dilate}) is None:
            return PlainTextResponse("No such place\n", 400)
        lab = workspace.path(str(wanted["lab"])) if wanted.get("lab") else None
        labs = await run_in_threadpool(workspace.labs)
        try:
            found = await run_in_threadpool(offers, wanted["text"], str(file), lab, dilate)
        except InputError:
            return JSONResponse({"places": [], "labs": labs})
        except BackendError as error:
            return refused(error)
        return JSONResponse({"places": found, "labs": labs})

    async def told(_: Request) -> Response:
        return JSONResponse(await run_in_threadpool(jobs.told))

    async def stop(request: Request) -> Response:
        if await run_in_threadpool(jobs.stop, request.path_params["job"]):
            return Response(status_code=204)
        return PlainTextResponse("No such run\n", 404)

    return [
        Route("/api/run/{name:path}", start, methods=["POST"]),
        Route("/api/places/{name:path}", places, methods=["POST"]),
        Route("/api/jobs", told),
        Route("/api/stop/{job:int}", stop, methods=["POST"]),
    ]
