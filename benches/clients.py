"""Many clients of ``tsnbench cnc`` at once: changes a second; no answer is lost, and nothing done twice.

A cell of three bridges; every client has a token of its own, adds bounded streams and removes every second
one again. Where 64 changes wait already, the service says so (503), and the client asks again.
"""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SCENARIO = """\
name: cell
duration: 10 ms
network:
  stations: [cam, cam2, ctl]
  bridges: [sw1, sw2, sw3]
  links: {rate: 1 Gbit/s, between: [cam-sw1, sw1-sw2, sw2-sw3, sw3-ctl, cam2-sw1]}
streams:
  loop: {from: cam, to: ctl, period: 1 ms, payload: 100 B, pcp: 7, scheduled: true}
"""
STREAM = {"from": "cam2", "to": "ctl", "pcp": 3, "period": "10 ms", "payload": "100 B"}


def token(number: int) -> str:
    """The token of a client."""
    return f"the token of client {number}"


class Line:
    """A kept connection of one client, and how often its requests were answered with each status."""

    def __init__(self, port: int, number: int) -> None:
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.headers = {"content-type": "application/json", "authorization": f"Bearer {token(number)}"}
        self.found: Counter[int] = Counter()

    def ask(self, method: str, path: str, document: object = None) -> Any:
        """One request, again as long as the service is busy."""
        while True:
            body = None if document is None else json.dumps(document)
            self.http.request(method, path, body, self.headers)
            answer = self.http.getresponse()
            content = answer.read()
            self.found[answer.status] += 1
            if answer.status != 503:
                return json.loads(content)
            time.sleep(float(answer.headers["retry-after"]))


def client(port: int, number: int, streams: int) -> Counter[int]:
    """The requests of one client."""
    line = Line(port, number)
    for place in range(streams):
        line.ask("PUT", f"/api/streams/c{number}.{place}", STREAM)
        if place % 2:
            line.ask("DELETE", f"/api/streams/c{number}.{place}")
    return line.found


def main() -> None:
    """Prints one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--streams", type=int, default=4)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, tokens = Path(folder) / "cell.yaml", Path(folder) / "tokens.toml"
        file.write_text(SCENARIO, encoding="utf-8")
        lines = (f'[c{n}]\ntoken = "{token(n)}"\nscope = "own"\n' for n in range(asked.clients))
        tokens.write_text("".join(lines), encoding="utf-8")
        words = [sys.executable, "-m", "tsnbench", "cnc", str(file), "--tokens", str(tokens)]
        words += ["--store", str(Path(folder) / "store")]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                port = int(process.stdout.readline().strip().rpartition(":")[2])
                began = time.monotonic()
                with ThreadPoolExecutor(asked.clients) as many:
                    each = [many.submit(client, port, n, asked.streams) for n in range(asked.clients)]
                    found = sum((one.result() for one in each), Counter[int]())
                took = time.monotonic() - began
                there = Line(port, 0).ask("GET", "/api/streams")["streams"]
            finally:
                process.send_signal(signal.SIGINT)
    names = sorted(one["stream"] for one in there if one["client"])
    kept = range(0, asked.streams, 2)
    assert names == sorted(f"c{n}.{place}" for n in range(asked.clients) for place in kept), names
    done = sum(count for status, count in found.items() if status != 503)
    asked_for = asked.clients * (asked.streams + asked.streams // 2)
    assert done == asked_for, (done, asked_for)
    print(
        f"{asked.clients} clients, {done} changes, all answered, in {took:.1f} s: {done / took:.0f} a second"
    )
    print(f"answers by status: {dict(sorted(found.items()))}; {len(names)} streams in place, each once")


if __name__ == "__main__":
    main()
