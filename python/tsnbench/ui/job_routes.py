"""The routes that start and stop runs, and tell where a scenario can run."""

from __future__ import annotations

import json

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tsnbench.errors import BackendError, InputError
from tsnbench.ui.jobs import BusyError, Jobs
from tsnbench.ui.places import chosen, offers
from tsnbench.ui.requests.exchange import RefusedError, answered, asked, body, refused
from tsnbench.ui.workspace import OutsideError, Workspace

LARGEST_REQUEST = 1 << 16
NO_PLACE = ("No such place", 400)


def routes(workspace: Workspace, jobs: Jobs) -> list[Route]:
    """The routes; a run starts as in a terminal, in the opened folder."""

    @answered
    async def start(request: Request) -> Response:
        content = await body(request, LARGEST_REQUEST)
        return await run_in_threadpool(_start, workspace, jobs, request.path_params["name"], content)

    @answered
    async def places(request: Request) -> Response:
        file = workspace.path(request.path_params["name"])
        wanted = await asked(request)
        dilate = wanted.get("dilate", 1)
        if chosen({"dilate": dilate}) is None:
            raise RefusedError(*NO_PLACE)
        lab = workspace.path(str(wanted["lab"])) if wanted.get("lab") else None
        labs = await run_in_threadpool(workspace.labs)
        try:
            found = await run_in_threadpool(offers, wanted["text"], str(file), lab, dilate)
        except InputError:
            return JSONResponse({"places": [], "labs": labs})
        except BackendError as error:
            return refused(error)
        return JSONResponse({"places": found, "labs": labs})

    def told(_: Request) -> Response:
        return JSONResponse(jobs.told())

    def stop(request: Request) -> Response:
        if jobs.stop(request.path_params["job"]):
            return Response(status_code=204)
        return PlainTextResponse("No such run\n", 404)

    return [
        Route("/api/run/{name:path}", start, methods=["POST"]),
        Route("/api/places/{name:path}", places, methods=["POST"]),
        Route("/api/jobs", told),
        Route("/api/stop/{job:int}", stop, methods=["POST"]),
    ]


def _start(workspace: Workspace, jobs: Jobs, name: str, content: bytes) -> Response:
    try:
        workspace.path(name)
        place = chosen(json.loads(content or b"{}"))
        if place is not None and place.lab:
            workspace.path(place.lab)
        if place is None:
            raise RefusedError(*NO_PLACE)
        return JSONResponse(jobs.start(name, place), 201)
    except OutsideError:
        raise RefusedError("No such scenario or lab", 404) from None
    except (ValueError, RecursionError):
        raise RefusedError(*NO_PLACE) from None
    except BusyError as error:
        raise RefusedError(str(error), 429) from None
    except OSError as error:
        raise RefusedError(f"The run cannot be started: {error.strerror}", 503) from None
