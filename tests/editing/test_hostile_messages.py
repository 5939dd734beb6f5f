"""The language server answers after any message, and prints no traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "capabilities": {}},
}
SHUTDOWN = {"jsonrpc": "2.0", "id": 99, "method": "shutdown", "params": None}
EXIT = {"jsonrpc": "2.0", "method": "exit", "params": None}


def framed(content: bytes | dict[str, Any]) -> bytes:
    octets = content if isinstance(content, bytes) else json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(octets), octets)


def answers(octets: bytes) -> list[dict[str, Any]]:
    found = []
    while octets:
        header, _, octets = octets.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in header.split(b"\r\n") if b"Length" in line)
        found.append(json.loads(octets[:length]))
        octets = octets[length:]
    return found


def message(method: object, params: object, **more: object) -> bytes:
    return framed({"jsonrpc": "2.0", "method": method, "params": params, **more})


HOSTILE = {
    "a length beyond any memory": b"Content-Length: 100000000000000000000\r\n\r\n",
    "a length of a thousand digits": b"Content-Length: " + b"9" * 1000 + b"\r\n\r\n",
    "an array": framed(b"[1, 2]"),
    "a number": framed(b"5"),
    "null": framed(b"null"),
    "no JSON": framed(b"{"),
    "nothing": framed(b" "),
    "no UTF-8": framed(b'{"jsonrpc": "2.0", "method": "\xff\xfe"}'),
    "depth": framed(b"[" * 100_000 + b"]" * 100_000),
    "depth in an object": framed(
        b'{"jsonrpc": "2.0", "id": 5, "method": "textDocument/hover", "params": '
        + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}"
    ),
    "some depth": message("textDocument/hover", json.loads("[" * 400 + "]" * 400), id=7),
    "a method that is a number": message(5, {}, id=3),
    "an id that is an object": message("textDocument/hover", {}, id={"a": 1}),
    "parameters that are an array": message("textDocument/didOpen", [1, 2]),
    "parameters of a wrong type": message("textDocument/hover", {"textDocument": 5, "position": "x"}, id=4),
    "a negative line": message(
        "textDocument/hover",
        {"textDocument": {"uri": "file:///none.yaml"}, "position": {"line": -1, "character": -9}},
        id=8,
    ),
    "no version of JSON-RPC": framed({"id": 1, "method": "initialize"}),
    "an answer to nothing": framed({"jsonrpc": "2.0", "id": 777, "result": {}}),
    "an unknown method": message("no/such", {}, id=6),
    "no header": b"hello\r\n\r\nworld\n",
}  # fmt: skip


@pytest.fixture(scope="module", params=["before", "after"])
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, bytes, bytes]:
    """The exit code, output and notes of a server that gets all of them, before or after it begins."""
    here: Path = tmp_path_factory.mktemp("lsp")
    hostile = b"".join(HOSTILE.values())
    begin = framed(INITIALIZE) + message("initialized", {})
    first = hostile + begin if request.param == "before" else begin + hostile
    done = subprocess.run(
        [sys.executable, "-m", "tsnbench", "lsp"],
        input=first + framed(SHUTDOWN) + framed(EXIT),
        capture_output=True,
        cwd=here,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_server_goes_on(told: tuple[int, bytes, bytes]) -> None:
    code, output, _ = told
    found = {one.get("id"): one for one in answers(output)}
    assert "capabilities" in found[1]["result"]
    assert (found[99].get("result"), found[99].get("error")) == (None, None)
    assert code == 0


def test_notes_are_single_lines_without_a_traceback(told: tuple[int, bytes, bytes]) -> None:
    said = told[2].decode()
    assert "Traceback" not in said
    assert 'File "' not in said
    assert all(line.startswith("lsp: ") for line in said.splitlines())
    assert "a message of 10000000000000000000" in said
    assert "a message is no object of JSON-RPC: list" in said


def test_a_request_before_initialize_is_answered_with_the_error_of_the_protocol(tmp_path: Path) -> None:
    early = message("textDocument/hover", {}, id=5) + message("textDocument/didOpen", {})
    done = subprocess.run(
        [sys.executable, "-m", "tsnbench", "lsp"],
        input=early + b"".join(map(framed, (INITIALIZE, SHUTDOWN, EXIT))),
        capture_output=True, cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip
    (refused, begun, ended) = answers(done.stdout)
    assert (refused["id"], refused["error"]["code"]) == (5, -32002)
    assert (begun["id"], ended["id"], done.returncode) == (1, 99, 0)
