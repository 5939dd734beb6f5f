"""Connections without a request end, and do not keep the server from answering others."""

from __future__ import annotations

import resource
import socket
import time
from contextlib import ExitStack
from pathlib import Path

from tsnbench.ui.requests.connections import MOST_HALF_OPEN, PATIENCE_S
from ui.conftest import SCENARIO, Server, serving

DESCRIPTORS = 256
HEAD = b"POST /api/check/two.yaml HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n"
"""Of a request without the token."""


def connected(server: Server, sent: bytes = b"") -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=2 * PATIENCE_S)
    found.sendall(sent)
    return found


def closed(line: socket.socket) -> bool:
    """Whether the server has closed the connection."""
    line.settimeout(0)
    try:
        while line.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionResetError:
        pass
    return True


def test_many_half_open_connections_leave_the_server_to_others(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(SCENARIO)

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))

    with serving(tmp_path, preexec_fn=few) as server, ExitStack() as stack:
        lines = []
        for number in range(3 * DESCRIPTORS):
            lines.append(stack.enter_context(connected(server, (b"", b"GET / HT", HEAD)[number % 3])))
            if number % 100 == 0:
                assert server.ask("GET", "/api/folder")[0] == 200
        began = time.monotonic()
        assert server.ask("GET", "/api/folder")[0] == 200
        assert time.monotonic() - began < PATIENCE_S / 2
        open_now = [line for line in lines if not closed(line)]
        assert 0 < len(open_now) <= MOST_HALF_OPEN


def test_a_half_open_connection_ends_although_octets_arrive(server: Server) -> None:
    """Without an octet, in the middle of a head, and in a body: at the same time, because each waits."""
    began = time.monotonic()
    with ExitStack() as stack:
        silent = stack.enter_context(connected(server))
        slow = [stack.enter_context(connected(server, part)) for part in (b"GET / HTTP/1.1\r\nx", HEAD)]
        waiting = {silent, *slow}
        while waiting:
            assert time.monotonic() - began < PATIENCE_S + 5
            time.sleep(0.5)
            for line in waiting & set(slow) if time.monotonic() - began < PATIENCE_S / 2 else ():
                line.sendall(b"a")
            if ended := {line for line in waiting if closed(line)}:
                assert time.monotonic() - began > PATIENCE_S / 4
                waiting -= ended


def test_a_body_that_ends_early_is_no_error_of_the_server(server: Server) -> None:
    host = f"127.0.0.1:{server.port}"
    known = f"host: {host}\r\norigin: http://{host}\r\ncookie: tsnbench-{server.port}={server.token}\r\n"
    with connected(server, HEAD.replace(b"host: 127.0.0.1\r\n", known.encode()) + b"name"):
        time.sleep(0.2)
    assert server.ask("GET", "/api/folder")[0] == 200
