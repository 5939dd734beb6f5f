"""The routes of one scenario: text, problems, drawing, completions, edits, and positions of nodes."""

from __future__ import annotations

import json
from typing import Any, TypedDict

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tsnbench.editing.completion import Names, complete, meaning
from tsnbench.editing.differences import differences, lines_of, take_over
from tsnbench.editing.edits import Edit
from tsnbench.editing.fixes import fixes, words_at
from tsnbench.editing.problems import Checked, checked, checked_plans
from tsnbench.editing.requests import made
from tsnbench.editing.requiring import offered
from tsnbench.editing.spans import EditError, characters_of, units_of
from tsnbench.templates import ABOUT
from tsnbench.templates import text as template_text
from tsnbench.ui.drawing import Drawing, drawing
from tsnbench.ui.exchange import answered, asked, body
from tsnbench.ui.workspace import (
    LARGEST_SCENARIO,
    ChangedError,
    Workspace,
)

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
    """All that the page shows of a text."""

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


def routes(workspace: Workspace) -> list[Route]:
    """The routes; texts come from the page, so that also those that are not saved are checked."""
    known: dict[str, Names] = {}

    @answered
    async def scenario(request: Request) -> Response:
        name = request.path_params["name"]
        if request.method in ("GET", "HEAD"):
            found = await run_in_threadpool(workspace.read, name)
            return PlainTextResponse(found.text, headers={"etag": found.tag})
        expected = request.headers.get("if-match")
        fresh = request.headers.get("if-none-match") == "*"
        content = await body(request, LARGEST_SCENARIO)
        if request.method == "PUT" and (expected is not None) == fresh:
            return PlainTextResponse("If-Match is missing, or If-None-Match: * of a new file\n", 428)
        if content is None:
            return PlainTextResponse("The text is too large\n", 413)
        text = content.decode("utf-8")
        if request.method == "PUT" and fresh:
            listed, new = await run_in_threadpool(workspace.create, name, content)
            return JSONResponse({"name": listed}, 201, headers={"etag": new})
        if request.method == "PUT":
            new = await run_in_threadpool(workspace.write, name, content, str(expected))
            return Response(status_code=204, headers={"etag": new})
        file = str(workspace.path(name))
        return JSONResponse(await run_in_threadpool(checked, text, file))

    @answered
    async def looked(request: Request) -> Response:
        name = request.path_params["name"]
        file = str(workspace.path(name))
        content = await body(request, LARGEST_SCENARIO)
        if content is None:
            return PlainTextResponse("The text is too large\n", 413)
        found, names = await run_in_threadpool(look, content.decode("utf-8"), file)
        if names is not None:
            known[name] = names
        return JSONResponse(found)

    @answered
    async def completed(request: Request) -> Response:
        name = request.path_params["name"]
        workspace.path(name)
        wanted = await asked(request)
        text, line, column = wanted["text"], wanted["line"], wanted["column"]
        if not 0 <= line < text.count("\n") + 1 or column < 0:
            return PlainTextResponse("No such place\n", 400)

        def find() -> Any:
            found = complete(text, line, column, known.get(name, Names()))
            return {
                "candidates": [
                    {"text": one.text, "kind": one.kind, "about": one.about} for one in found[:MOST_COMPLETED]
                ],
                "meaning": meaning(text, line, column),
            }

        return JSONResponse(await run_in_threadpool(find))

    @answered
    async def edited(request: Request) -> Response:
        file = str(workspace.path(request.path_params["name"]))
        wanted = await asked(request)
        text = wanted["text"]
        if isinstance(wanted.get("at"), int):
            wanted["at"] = characters_of(text, wanted["at"])
        edit = await run_in_threadpool(made, text, file, wanted)
        units = units_of(text)
        return JSONResponse({"start": units(edit.start), "end": units(edit.end), "insert": edit.insert})

    @answered
    async def taken_over(request: Request) -> Response:
        name = request.path_params["name"]
        wanted = await asked(request)
        number, other, tags = (wanted.get(key) for key in ("number", "other", "tags"))
        if type(number) is not int or not isinstance(other, str) or not isinstance(tags, list):
            return PlainTextResponse("No difference\n", 400)

        def find() -> Edit:
            files = [workspace.read(name), workspace.read(other)]
            if [one.tag for one in files] != tags:
                raise ChangedError(name)
            mine, others = (lines_of(one.text) for one in files)
            # Differences are numbered as they are shown: there, this text is the first or the second one.
            first = wanted.get("first") is True
            found = differences(mine, others) if first else differences(others, mine)
            if not 0 <= number < len(found):
                raise EditError("there is no such difference")
            one = found[number]
            own, taken = (one.first, one.second) if first else (one.second, one.first)
            return take_over(wanted["text"], files[0].text, own, others[slice(*taken)])

        edit = await run_in_threadpool(find)
        units = units_of(wanted["text"])
        return JSONResponse({"start": units(edit.start), "end": units(edit.end), "insert": edit.insert})

    @answered
    async def layout(request: Request) -> Response:
        name = request.path_params["name"]
        if request.method in ("GET", "HEAD"):
            return JSONResponse(await run_in_threadpool(workspace.layout, name))
        content = await body(request, LARGEST_LAYOUT)
        places = positions_of(content) if content is not None else None
        if places is None:
            return PlainTextResponse("No layout\n", 400)
        await run_in_threadpool(workspace.write_layout, name, places)
        return Response(status_code=204)

    async def templates(_: Request) -> Response:
        return JSONResponse(
            [{"name": name, "about": about, "text": template_text(name)} for name, about in ABOUT.items()]
        )

    async def requirements(_: Request) -> Response:
        return JSONResponse(offered())

    return [
        Route("/api/templates", templates),
        Route("/api/requirements", requirements),
        Route("/api/scenario/{name:path}", scenario, methods=["GET", "PUT"]),
        Route("/api/check/{name:path}", scenario, methods=["POST"]),
        Route("/api/look/{name:path}", looked, methods=["POST"]),
        Route("/api/complete/{name:path}", completed, methods=["POST"]),
        Route("/api/edit/{name:path}", edited, methods=["POST"]),
        Route("/api/take-over/{name:path}", taken_over, methods=["POST"]),
        Route("/api/layout/{name:path}", layout, methods=["GET", "PUT"]),
    ]


def positions_of(content: bytes) -> dict[str, list[float]] | None:
    """Positions of nodes by name; None if the content is anything else."""
    try:
        found = json.loads(content)
        return {str(name): [round(float(x), 4), round(float(y), 4)] for name, (x, y) in found.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
