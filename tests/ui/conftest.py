"""A real server in a process of its own, and requests to it."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

SCENARIO = """\
# A comment that stays.
name: two
duration: 5 ms
network:
  bridge b: {}
  stations: [one, two]
  links: {rate: 1 Gbit/s, between: [one-b, two-b]}
streams:
  cam: {from: one, to: two, pcp: 5, payload: 100 B, period: 500 us}
"""


@dataclass
class Server:
    """A running ``tsnbench ui``."""

    folder: Path
    address: str
    port: int
    token: str

    def ask(
        self, method: str, path: str, body: bytes | None = None, known: bool = True, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request; paths are sent unchanged. ``if_match`` is the header ``if-match``."""
        sent = {"host": f"127.0.0.1:{self.port}"}
        if method not in ("GET", "HEAD"):
            sent["origin"] = f"http://127.0.0.1:{self.port}"
        if known:
            sent["cookie"] = f"tsnbench-{self.port}={self.token}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            line.request(method, path, body, {name: value for name, value in sent.items() if value})
            answer = line.getresponse()
            content = answer.read()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content
        finally:
            line.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    tmp_path = tmp_path_factory.mktemp("ui")
    folder = tmp_path / "work"
    (folder / "deep").mkdir(parents=True)
    (folder / "two.yaml").write_text(SCENARIO)
    (folder / "deep/more.yaml").write_text(SCENARIO)
    (folder / "notes.txt").write_text("no scenario")
    (tmp_path / "secret.yaml").write_text("secret: 1\n")
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "away").symlink_to(tmp_path)
    with serving(folder) as server:
        yield server


@contextmanager
def serving(folder: Path, preexec_fn: Callable[[], None] | None = None) -> Iterator[Server]:
    """A server of a folder; ``preexec_fn`` is called in its process before it starts."""
    command = [sys.executable, "-m", "tsnbench", "ui", str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=preexec_fn
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{43})", address)
            assert found, process.stderr.read() if process.stderr else ""
            yield Server(folder, address, int(found[1]), found[2])
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@pytest.fixture
def server(running: Server) -> Server:
    """The server of this module, with its original scenario."""
    (running.folder / "two.yaml").write_text(SCENARIO)
    return running
