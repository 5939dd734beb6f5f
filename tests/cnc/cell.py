"""A small network that admits streams, its service in this process, and one in a process of its own."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench.cnc.admission import Rules, decide, first
from tsnbench.cnc.changes import Change
from tsnbench.cnc.network import Base, Network

SCENARIO = """\
name: cell
duration: 10 ms
network:
  stations: [cam, cam2, ctl]
  bridges: [sw1, sw2, sw3]
  links: {rate: 100 Mbit/s, between: [cam-sw1, sw1-sw2, sw2-sw3, sw3-ctl, cam2-sw1]}
streams:
  loop: {from: cam, to: ctl, period: 1 ms, payload: 100 B, pcp: 7, scheduled: true, requires: {delay: 200 us}}
  log: {from: cam2, to: ctl, pcp: 3, period: 1 ms, payload: 100 B, requires: {delay: 2 ms}}
"""
SCHEDULED: Mapping[str, Any] = {
    "from": "cam2",
    "to": "ctl",
    "pcp": 7,
    "scheduled": True,
    "period": "1 ms",
    "payload": "1000 B",
    "requires": {"delay": "1 ms"},
}
BOUNDED: Mapping[str, Any] = {**SCHEDULED, "scheduled": False, "pcp": 3}
GREEDY: Mapping[str, Any] = {**BOUNDED, "pcp": 6, "period": "200 us", "payload": "1400 B"}
"""Refused: it makes ``log`` late."""
TIGHT: Mapping[str, Any] = {**SCHEDULED, "requires": {"delay": "200 us"}}
"""Refused: its frames are on the links for longer."""
CAM, CAM2, CTL = ("02-00-00-01-00-01", "02-00-00-02-00-01", "02-00-00-03-00-01")
"""The addresses of the Plan's stations, in the order of the scenario."""


def stream_of(number: int = 1, talker: str = CAM2, **tspec: Any) -> dict[str, Any]:
    """A time-aware stream; ``tspec`` are further values of its traffic specification."""
    return {
        "stream-id": f"00-11-22-33-44-55:00-{number:02X}",
        "talker": {
            "stream-rank": {"rank": 1},
            "end-station-interfaces": [{"mac-address": talker, "interface-name": "eth1"}],
            "data-frame-specification": [
                {"index": 0, "ieee802-vlan-tag": {"priority-code-point": 7, "vlan-id": 100}}
            ],
            "traffic-specification": {
                "interval": {"numerator": 1, "denominator": 1000},
                "max-frames-per-interval": 1,
                "max-frame-size": 1000,
                "transmission-selection": 0,
                "time-aware": {},
                **tspec,
            },
            "user-to-network-requirements": {"num-seamless-trees": 1, "max-latency": 1_000_000},
            "interface-capabilities": {"vlan-tag-capable": True},
        },
        "listener": [
            {"index": 0, "end-station-interfaces": [{"mac-address": CTL, "interface-name": "eth1"}]}
        ],
    }


def base_of(folder: Path, text: str = SCENARIO) -> Base:
    """The network of a scenario's text, in a file of the folder."""
    file = folder / "cell.yaml"
    file.write_text(text)
    return Base(file)


def after(base: Base, *changes: Change, rules: Rules | None = None) -> Network:
    """The network after changes that are all admitted."""
    now = first(base)
    for change in changes:
        now = decide(base, now, change, rules or Rules())
    return now


@dataclass
class Served:
    """A running ``tsnbench cnc``."""

    address: str
    port: int
    process: subprocess.Popen[str]

    def ask(
        self, method: str, path: str, document: object = None, body: bytes | None = None, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        """One request: status, document (text if it is no JSON) and headers of its answer."""
        sent = {"content-type": "application/json"} if document is not None or body is not None else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if document is None else json.dumps(document).encode()
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            line.request(method, path, content, sent)
            answer = line.getresponse()
            text = answer.read().decode()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, json.loads(text) if "json" in named.get("content-type", "") else text, named
        finally:
            line.close()


@contextmanager
def serving(folder: Path, *options: object, text: str = SCENARIO) -> Iterator[Served]:
    """A service of a scenario's text, with a store in the folder; it is interrupted at the end."""
    file = folder / "cell.yaml"
    file.write_text(text)
    words = [sys.executable, "-m", "tsnbench", "cnc", str(file), "--store", str(folder / "store")]
    words += map(str, options)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            address = process.stdout.readline().strip()
            if not address:
                raise AssertionError(process.stderr.read())
            yield Served(address, int(address.rpartition(":")[2]), process)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
