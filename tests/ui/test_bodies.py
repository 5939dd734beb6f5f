"""Every route that takes a body refuses bodies of every other type, and the server goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tsnbench.ui import job_routes, run_routes, scenario_routes
from tsnbench.ui.jobs import Jobs
from tsnbench.ui.live.worker import KINDS, Worker
from tsnbench.ui.workspace import Workspace
from ui.conftest import SCENARIO, Server

OTHERS: tuple[Any, ...] = (
    None, True, 7, -1, 1.5, 10**400, "", "x", "\0", "\ud800", [], ["x"], [[]], {}, {"a": {}}, {"on": ["x"]},
)  # fmt: skip
WORDS = {"name": "x", "from": "one", "to": "two", "a": "one", "b": "two", "kind": "station", "port": "all"}
EDITS = (
    "add-node", "add-link", "add-stream", "rename", "remove", "move-edge", "require", "no-longer-require",
    "write-out-network", "write-out-pattern", "write-out-gates",
)  # fmt: skip
EDIT = WORDS | {"text": SCENARIO, "stream": "cam", "key": "delay", "value": "1 ms", "at": 3, "by_ns": 1}
OBJECTS: dict[str, list[dict[str, Any]]] = {
    "/api/run/two.yaml": [{"on": "nowhere", "dilate": 1, "lab": ""}],
    "/api/places/two.yaml": [{"text": SCENARIO, "dilate": 1, "lab": ""}],
    "/api/complete/two.yaml": [{"text": SCENARIO, "line": 3, "column": 2}],
    "/api/edit/two.yaml": [EDIT | {"edit": kind} for kind in EDITS],
    "/api/merge/two.yaml": [{"text": SCENARIO, "other": "deep/more.yaml"}],
}
"""By route, complete objects: each value of each is replaced by every other one."""
TEXTS = (
    "/api/check/two.yaml",
    "/api/look/two.yaml",
    "/api/live/two.yaml",
    "/api/simulate/two.yaml",
    "/api/sweep/two.yaml",
    "/api/why/two.yaml",
)
POSITIONS = (
    '{"a": [1e999, 0]}', '{"a": [0, NaN]}', '{"a": [-Infinity, 0]}', '{"a": ["1", 2]}', '{"a": "12"}',
    '{"a": [1]}', '{"a": [1, 2, 3]}', '{"a": [true, 2]}', '{"a": {"x": 1, "y": 2}}', '{"\\ud800": [1, 2]}',
    f'{{"a": [{10**400}, 2]}}', '{"a": null}', "[]", "1", "null", '"a"', "", "{", "[" * 9999,
)  # fmt: skip


def refused(status: int, content: bytes) -> bool:
    """Whether an answer refuses a request, or an edit that is not possible."""
    return 400 <= status < 500 or (status == 200 and b'"refused"' in content)


def test_all_routes_with_a_body_are_walked(tmp_path: Path) -> None:
    space = Workspace(tmp_path)
    found = [
        *scenario_routes.routes(space, {kind: Worker(kind) for kind in KINDS}),
        *run_routes.routes(space),
    ]
    found += job_routes.routes(space, Jobs(tmp_path))
    writing = {route.path for route in found if (route.methods or set()) & {"POST", "PUT"}}
    walked = {path.replace("two.yaml", "{name:path}") for path in (*OBJECTS, *TEXTS)}
    # A layout and a text have tests of their own; a stop has no body.
    own = {"/api/layout/{name:path}", "/api/scenario/{name:path}", "/api/stop/{job:int}"}
    assert writing == walked | own


@pytest.mark.parametrize("path", OBJECTS)
def test_a_value_of_another_type_is_no_error_of_the_server(server: Server, path: str) -> None:
    for other in OTHERS:
        status, _, content = server.ask("POST", path, json.dumps(other).encode())
        assert refused(status, content) or status == 201, (other, status)
    for whole in OBJECTS[path]:
        for key in whole:
            for other in OTHERS:
                status, _, content = server.ask("POST", path, json.dumps(whole | {key: other}).encode())
                assert status < 500, (key, other, content)
    for broken in (b"\xff", b"{", b"[" * 9999):
        status, _, content = server.ask("POST", path, broken)
        assert refused(status, content), broken


@pytest.mark.parametrize("path", TEXTS)
def test_a_text_that_is_none_is_refused_or_has_problems(server: Server, path: str) -> None:
    for body in (
        b"\xff",
        b"",
        b"\0",
        b"[" * 9999,
        b"{a: {b",
        b'"\\ud800"',
        b"? {}\n: 1",
        b"- !!python/object:os",
    ):
        status, _, content = server.ask("POST", path, body)
        assert status == 422 or (status == 200 and (b'"problems"' in content or b'"reason"' in content)), body


@pytest.mark.parametrize("on", [["x"], {"x": 1}, 1, None, True, "", "none"])
def test_a_run_at_a_place_of_another_type_is_refused(server: Server, on: object) -> None:
    status, _, content = server.ask("POST", "/api/run/two.yaml", json.dumps({"on": on}).encode())
    assert (status, content) == (400, b"No such place\n")


@pytest.mark.parametrize("body", POSITIONS)
def test_a_layout_without_two_finite_numbers_is_refused_and_one_there_is_ignored(
    server: Server, body: str
) -> None:
    assert server.ask("PUT", "/api/layout/two.yaml", body.encode())[0] == 400
    beside = server.folder / "two.layout.json"
    assert not beside.exists()
    beside.write_text(f'{{"nodes": {body}}}')
    status, _, content = server.ask("GET", "/api/layout/two.yaml")
    beside.unlink()
    assert (status, content) == (200, b"{}")


def test_labs_and_files_that_are_no_texts_are_no_scenarios(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(SCENARIO)
    (tmp_path / "lab.yaml").write_text("hosts:\n  one: {ssh: root@one}\nwires: []\n")
    (tmp_path / "begun.yaml").write_text("")
    (tmp_path / "hosted.yaml").write_text(SCENARIO + "hosts: {}\n")
    os.mkfifo(tmp_path / "pipe.yaml")
    space = Workspace(tmp_path)
    assert space.labs() == ["lab.yaml"]
    assert space.scenarios() == (["begun.yaml", "hosted.yaml", "pipe.yaml", "two.yaml"], 0)
