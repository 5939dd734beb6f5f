"""The service of ``tsnbench cnc`` in a process of its own, and a client of it with a kept connection."""

from __future__ import annotations

import http.client
import json
import signal
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Line:
    """A kept connection of one client, and how often its requests were answered with each status."""

    def __init__(self, connection: http.client.HTTPConnection, token: str = "") -> None:
        self.http = connection
        self.headers = {"content-type": "application/json"}
        if token:
            self.headers["authorization"] = f"Bearer {token}"
        self.found: Counter[int] = Counter()

    def ask(self, method: str, path: str, document: object = None) -> Any:
        """One request, again as long as the service is busy, or this client asks too often."""
        while True:
            body = None if document is None else json.dumps(document)
            self.http.request(method, path, body, self.headers)
            answer = self.http.getresponse()
            content = answer.read()
            self.found[answer.status] += 1
            if answer.status not in (429, 503):
                return json.loads(content)
            time.sleep(float(answer.headers["retry-after"]))

    def timed(self, method: str, path: str, document: object = None) -> tuple[float, Any]:
        """One request, and its milliseconds on the wall."""
        began = time.perf_counter()
        found = self.ask(method, path, document)
        return (time.perf_counter() - began) * 1e3, found


@dataclass(frozen=True)
class Served:
    """A service that answers over TLS."""

    process: subprocess.Popen[str]
    port: int
    context: ssl.SSLContext
    lines: list[Line] = field(default_factory=list)

    def line(self, token: str = "") -> Line:
        """A connection of a client, which is kept."""
        made = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=600)
        made.connect()
        self.lines.append(Line(made, token))
        return self.lines[-1]

    def peak_mb(self) -> float:
        """The most memory that the process has used."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that is its own authority, and its key."""
    own, key = folder / "own.pem", folder / "own.key"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*words, "-out", own, "-keyout", key], check=True, capture_output=True)
    return own, key


@contextmanager
def served(file: Path, *words: object, environment: Mapping[str, str] | None = None) -> Iterator[Served]:
    """The service of a scenario, with a store beside the file; ``words`` are further options."""
    own, key = certificate(file.parent)
    command = [sys.executable, "-m", "tsnbench", "cnc", str(file), "--store", str(file.parent / "store")]
    command += ["--tls-certificate", str(own), "--tls-key", str(key), *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().strip().rpartition(":")[2])
            found = Served(process, port, ssl.create_default_context(cafile=own))
            yield found
            for line in found.lines:
                line.http.close()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
