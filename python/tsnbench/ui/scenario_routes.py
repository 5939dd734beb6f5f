"""The routes of one scenario: text, problems, drawing, completions, edits, and positions of nodes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TypedDict

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tsnbench.editing.completion import Names, complete, meaning
from tsnbench.editing.differences import differences, lines_of, parts, take_over
from tsnbench.editing.edits import Edit
from tsnbench.editing.fixes import fixes, words_at
from tsnbench.editing.problems import Checked, checked, checked_plans
from tsnbench.editing.requests import made
from tsnbench.editing.requiring import offered
from tsnbench.editing.spans import characters_of, units_of
from tsnbench.templates import ABOUT
from tsnbench.templates import text as template_text
from tsnbench.ui.drawing import Drawing, drawing
from tsnbench.ui.live.worker import TOPICS, Worker
from tsnbench.ui.requests.exchange import Endpoint, RefusedError, answered, asked, body
from tsnbench.ui.workspace import LARGEST_SCENARIO, Workspace, positions_of

MOST_FIXED = 20
"""Problems whose hints are tried; each costs one reading of the text."""
MOST_TRIED = 200_000
"""Characters of a text whose hints are tried."""
MOST_COMPLETED = 300
LARGEST_LAYOUT = 4 << 20


class Mark(TypedDict):
    """The place of a problem in the text: line and columns count from 0, in characters."""

    line: int
    column: int
    end: int
    fixes: list[str]
    """Each can be written in place of these words; it was tried."""


class Look(TypedDict):
    """The data of a text that the page shows."""

    checked: Checked
    marks: list[Mark]
    """One for each problem; those in other files are at the first line."""
    drawing: Drawing | None
    """None while the text cannot be read."""


def look(text: str, file: str) -> tuple[Look, Names | None]:
    """The problems and the drawing of a text, and its names if it can be read."""
    answer, runs = checked_plans(text, file)
    lines = text.split("\n")
    marks: list[Mark] = []
    for number, one in enumerate(answer["problems"]):
        here = one["file"] == file
        words = words_at(lines, int(one["line"]) - 1 if here else 0, int(one["column"]) - 1 if here else 0)
        tried = here and number < MOST_FIXED and len(text) <= MOST_TRIED
        offers = fixes(text, file, words, str(one["hint"])) if tried else []
        marks.append({"line": words.line, "column": words.column, "end": words.end, "fixes": offers})
    drawn = drawing(text, runs) if runs else None
    names = Names.of(scenario for scenario, _ in runs) if runs else None
    return {"checked": answer, "marks": marks, "drawing": drawn}, names


def routes(workspace: Workspace, workers: Mapping[str, Worker]) -> list[Route]:
    """The routes; texts come from the page, so that also those that are not saved are checked."""
    own = _Scenarios(workspace, workers)

    def templates(_: Request) -> Response:
        return JSONResponse(
            [{"name": name, "about": about, "text": template_text(name)} for name, about in ABOUT.items()]
        )

    def requirements(_: Request) -> Response:
        return JSONResponse(offered())

    return [
        Route("/api/templates", templates),
        Route("/api/requirements", requirements),
        Route("/api/scenario/{name:path}", answered(own.scenario), methods=["GET", "PUT"]),
        Route("/api/check/{name:path}", answered(own.checked), methods=["POST"]),
        Route("/api/look/{name:path}", answered(own.looked), methods=["POST"]),
        *(
            Route(f"/api/{kind}/{{name:path}}", answered(own.worked(kind)), methods=["POST"])
            for kind in workers
        ),
        Route("/api/complete/{name:path}", answered(own.completed), methods=["POST"]),
        Route("/api/edit/{name:path}", answered(own.edited), methods=["POST"]),
        Route("/api/merge/{name:path}", answered(own.merged), methods=["POST"]),
        Route("/api/layout/{name:path}", answered(own.layout), methods=["GET", "PUT"]),
    ]


class _Scenarios:
    """The answers of the routes about the scenarios of a folder."""

    def __init__(self, workspace: Workspace, workers: Mapping[str, Worker]) -> None:
        self.workspace = workspace
        self.workers = workers
        self.known: dict[str, Names] = {}
        """By scenario, the names of its last text that could be read."""

    async def scenario(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.method in ("GET", "HEAD"):
            found = await run_in_threadpool(self.workspace.read, name)
            return PlainTextResponse(found.text, headers={"etag": found.tag})
        expected = request.headers.get("if-match")
        fresh = request.headers.get("if-none-match") == "*"
        content = await body(request, LARGEST_SCENARIO, "text")
        if (expected is not None) == fresh:
            raise RefusedError("If-Match is missing, or If-None-Match: * of a new file", 428)
        content.decode("utf-8")
        if fresh:
            listed, new = await run_in_threadpool(self.workspace.create, name, content)
            return JSONResponse({"name": listed}, 201, headers={"etag": new})
        new = await run_in_threadpool(self.workspace.write, name, content, str(expected))
        return Response(status_code=204, headers={"etag": new})

    async def checked(self, request: Request) -> Response:
        content = await body(request, LARGEST_SCENARIO, "text")
        text, file = content.decode("utf-8"), str(self.workspace.path(request.path_params["name"]))
        return JSONResponse(await run_in_threadpool(checked, text, file))

    async def looked(self, request: Request) -> Response:
        name = request.path_params["name"]
        file = str(self.workspace.path(name))
        content = await body(request, LARGEST_SCENARIO, "text")
        found, names = await run_in_threadpool(look, content.decode("utf-8"), file)
        if names is not None:
            self.known[name] = names
        return JSONResponse(found)

    def worked(self, kind: str) -> Endpoint:
        """The endpoint whose answer a worker makes."""

        async def endpoint(request: Request) -> Response:
            file = str(self.workspace.path(request.path_params["name"]))
            text = (await body(request, LARGEST_SCENARIO, "text")).decode("utf-8")
            about = request.query_params.get(TOPICS.get(kind, ""), "")
            answer = await run_in_threadpool(self.workers[kind].ask, text, file, about)
            # No content: a newer text is under way.
            return Response(answer, 204 if answer is None else 200, media_type="application/json")

        return endpoint

    async def completed(self, request: Request) -> Response:
        name = request.path_params["name"]
        self.workspace.path(name)
        wanted = await asked(request)
        text, line, column = wanted["text"], wanted["line"], wanted["column"]
        if not 0 <= line < text.count("\n") + 1 or column < 0:
            raise RefusedError("No such place", 400)
        found = await run_in_threadpool(complete, text, line, column, self.known.get(name, Names()))
        about = await run_in_threadpool(meaning, text, line, column)
        candidates = [
            {"text": one.text, "kind": one.kind, "about": one.about} for one in found[:MOST_COMPLETED]
        ]
        return JSONResponse({"candidates": candidates, "meaning": about})

    async def edited(self, request: Request) -> Response:
        file = str(self.workspace.path(request.path_params["name"]))
        wanted = await asked(request)
        text = wanted["text"]
        if isinstance(wanted.get("at"), int):
            wanted["at"] = characters_of(text, wanted["at"])
        return JSONResponse(_in_units(units_of(text), await run_in_threadpool(made, text, file, wanted)))

    async def merged(self, request: Request) -> Response:
        self.workspace.path(request.path_params["name"])
        wanted = await asked(request)
        other = wanted.get("other")
        if not isinstance(other, str):
            raise RefusedError("No other text", 400)
        return JSONResponse(await run_in_threadpool(self._merged, wanted["text"], other))

    def _merged(self, text: str, name: str) -> object:
        """How a text differs from a file: its parts, and the edit that takes each difference over."""
        mine, others = lines_of(text), lines_of(self.workspace.read(name).text)
        units = units_of(text)
        edits = [_in_units(units, take_over(mine, others, one)) for one in differences(mine, others)]
        return {"parts": [asdict(one) for one in parts(mine, others)], "edits": edits}

    async def layout(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.method in ("GET", "HEAD"):
            return JSONResponse(await run_in_threadpool(self.workspace.layout, name))
        try:
            places = positions_of(json.loads(await body(request, LARGEST_LAYOUT)))
        except (RefusedError, ValueError, RecursionError):
            raise RefusedError("No layout", 400) from None
        await run_in_threadpool(self.workspace.write_layout, name, places)
        return Response(status_code=204)


def _in_units(units: Callable[[int], int], edit: Edit) -> dict[str, int | str]:
    """An edit in the units in which a page counts."""
    return {"start": units(edit.start), "end": units(edit.end), "insert": edit.insert}
