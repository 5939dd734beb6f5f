"""Answers are sent at once: asyncio sets TCP_NODELAY only on sockets that name their protocol.

Without it, what is sent behind the head of an answer waits 40 ms for the other side.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")

import uvicorn

from cnc.cell import base_of
from tsnbench.cnc.server.server import serve
from tsnbench.cnc.service import Service
from tsnbench.ui.server import serve as serve_page


@pytest.fixture
def protocols(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The protocols of the sockets that a server is given."""
    seen: list[int] = []

    def run(_: Any, sockets: list[socket.socket]) -> None:
        seen.extend(one.proto for one in sockets)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    return seen


def test_a_cnc_answers_at_once(tmp_path: Path, protocols: list[int]) -> None:
    service = Service(base_of(tmp_path), None)
    serve(service, "127.0.0.1", 0, lambda _: None)
    assert protocols == [socket.IPPROTO_TCP]


def test_the_page_answers_at_once(tmp_path: Path, protocols: list[int]) -> None:
    serve_page(tmp_path, 0, lambda _: None)
    assert protocols == [socket.IPPROTO_TCP]
