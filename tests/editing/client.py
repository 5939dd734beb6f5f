"""A small client of a language server, over pipes."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

WAIT_S = 60


class Client:
    """A client that starts ``tsnbench lsp``, and exchanges JSON-RPC messages with it."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tsnbench", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        self._told: queue.Queue[dict[str, Any]] = queue.Queue()
        self._asked = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.capabilities = self.ask(
            "initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}
        )["capabilities"]
        self.tell("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """End the server as an editor does, and return its exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self._process.wait(WAIT_S)

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request; notifications that arrive before the result are kept."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        kept = []
        while True:
            message = self._told.get(timeout=WAIT_S)
            if message.get("id") == self._asked:
                break
            kept.append(message)
        for one in kept:
            self._told.put(one)
        assert "error" not in message, message
        return message["result"]

    def problems(self, uri: str, version: int) -> list[dict[str, Any]]:
        """The diagnostics of one version of a text."""
        while True:
            message = self._told.get(timeout=WAIT_S)
            params = message.get("params") or {}
            if params.get("uri") == uri and params.get("version") == version:
                found: list[dict[str, Any]] = params["diagnostics"]
                return found

    def open(self, uri: str, text: str) -> list[dict[str, Any]]:
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.problems(uri, 1)

    def change(self, uri: str, version: int, text: str) -> None:
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while True:
            length = 0
            while line := self._process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                return
            self._told.put(json.loads(self._process.stdout.read(length)))
