"""What clients of ``tsnbench cnc`` wait for, from the request to the answer over HTTPS, durable in the store.

- One client with a kept connection, where 50 to 10,000 scheduled streams are in place (the grid of
  ``cnc.py``): streams join and leave one after the other. With the most memory of the service, after
  everything was checked behind the answers.
- Many clients at once in a cell of three bridges: no answer is lost, and nothing done twice. Every client
  has a token of its own, adds bounded streams and removes every second one again. Where too many changes
  wait already, the service says so (503), and the client asks again.
- Devices: as many bridges as processes of ``netconfd``, and beside the time of the client that of the slowest
  device, from each of its requests to the answer.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from netconf_devices import PASSWORD, USER, Device, devices, missing
from page import percentile
from served import Line, Served, served

import cnc

CELL = """\
name: cell
duration: 10 ms
network:
  stations: [cam, cam2, ctl]
  bridges: [sw1, sw2, sw3]
  links: {rate: 1 Gbit/s, between: [cam-sw1, sw1-sw2, sw2-sw3, sw3-ctl, cam2-sw1]}
streams:
  loop: {from: cam, to: ctl, period: 1 ms, payload: 100 B, pcp: 7, scheduled: true}
"""
BOUNDED = {"from": "cam2", "to": "ctl", "pcp": 3, "period": "10 ms", "payload": "100 B"}
LINE = """\
name: line
duration: 10 ms
network: {{line: {{hops: {hops}, stations: 1, rate: 1 Gbit/s}}}}
streams:
  loop: {{from: station1, to: station{last}, period: 4 ms, payload: 100 B, pcp: 7, scheduled: true}}
"""
PAUSE_S = 0.02
REST_S = 1.0
"""After so long without a change, the service checks everything."""


def spread(ms: list[float]) -> str:
    """Median, 99th percentile and greatest value."""
    return f"{percentile(ms, 0.5):.1f} | {percentile(ms, 0.99):.1f} | {max(ms):.1f}"


def one(count: int, times: int) -> None:
    """Prints the line of one client beside ``count`` streams."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grid.yaml"
        file.write_text(cnc.scenario(count), encoding="utf-8")
        with served(file, "--no-deploy") as service:
            line = service.line()
            ends = cnc.pairs(count + times)[count:]
            asked = [{"from": talker, "to": to, **cnc.SCHEDULED} for talker, to in ends]
            joined = [paced(line, "PUT", f"/api/streams/n{n}", one) for n, one in enumerate(asked)]
            _rest(line, asked[0])
            left = [paced(line, "DELETE", f"/api/streams/n{n}") for n in range(0, times, 2)]
            _rest(line, asked[1])
            peak = service.peak_mb()
    for kind, timed in (("joins", joined), ("leaves", left)):
        accepted = sum(found.get("outcome") == "accepted" for _, found in timed)
        ms = [took for took, _ in timed]
        print(f"| {count:,} | {kind} | {accepted} of {len(ms)} | {spread(ms)} | {peak:.0f} |", flush=True)


def _rest(line: Line, stream: object) -> None:
    """Waits until the service has checked everything: only then it decides about a further change."""
    time.sleep(REST_S)
    line.ask("PUT", "/api/streams/rest", stream)
    line.ask("DELETE", "/api/streams/rest")


def paced(line: Line, method: str, path: str, document: object = None) -> tuple[float, Any]:
    """One request as :meth:`Line.timed`, after a pause: a client may ask for so many changes a second."""
    time.sleep(PAUSE_S)
    return line.timed(method, path, document)


def client(service: Served, number: int, streams: int) -> Counter[int]:
    """The requests of one client."""
    line = service.line(token(number))
    for place in range(streams):
        line.ask("PUT", f"/api/streams/c{number}.{place}", BOUNDED)
        if place % 2:
            line.ask("DELETE", f"/api/streams/c{number}.{place}")
    return line.found


def token(number: int) -> str:
    """The token of a client."""
    return f"the token of client {number}"


def many(clients: int, streams: int) -> None:
    """Prints what became of the requests of many clients at once."""
    with tempfile.TemporaryDirectory() as folder:
        file, tokens = Path(folder) / "cell.yaml", Path(folder) / "tokens.toml"
        file.write_text(CELL, encoding="utf-8")
        lines = (f'[c{n}]\ntoken = "{token(n)}"\nscope = "own"\n' for n in range(clients))
        tokens.write_text("".join(lines), encoding="utf-8")
        with served(file, "--tokens", tokens) as service:
            began = time.monotonic()
            with ThreadPoolExecutor(clients) as pool:
                each = [pool.submit(client, service, n, streams) for n in range(clients)]
                found = sum((one.result() for one in each), Counter[int]())
            took = time.monotonic() - began
            there = service.line(token(0)).ask("GET", "/api/streams")["streams"]
    names = sorted(one["stream"] for one in there if one["client"])
    kept = range(0, streams, 2)
    assert names == sorted(f"c{n}.{place}" for n in range(clients) for place in kept), names
    done = sum(count for status, count in found.items() if status not in (429, 503))
    asked_for = clients * (streams + streams // 2)
    assert done == asked_for, (done, asked_for)
    print(f"{clients} clients, {done} changes, all answered, in {took:.1f} s: {done / took:.0f} a second")
    print(f"answers by status: {dict(sorted(found.items()))}; {len(names)} streams in place, each once")


def with_devices(number: int, times: int) -> None:
    """Prints what a client waits for where every change goes to devices."""
    with tempfile.TemporaryDirectory() as name, devices(number, Path(name)) as every:
        folder = Path(name)
        file, known = folder / "line.yaml", folder / "known_hosts"
        file.write_text(LINE.format(hops=number - 1, last=number), encoding="utf-8")
        known.write_text("".join(one.known_host for one in every), encoding="ascii")
        words: list[object] = ["--user", USER, "--known-hosts", known, "--overwrite"]
        for place, one in enumerate(every):
            words += ["--node", f"bridge{place + 1}=127.0.0.1:{one.port}"]
        own = {**os.environ, "TSNBENCH_NETCONF_PASSWORD": PASSWORD}
        with served(file, *words, environment=own) as service:
            rows = _changes(service, every, times)
    client_ms, slowest, more = zip(*rows, strict=True)
    print(f"| {number} | {times} | client | {spread(list(client_ms))} |")
    print(f"| {number} | {times} | slowest device | {spread(list(slowest))} |")
    print(f"| {number} | {times} | client, without that device | {spread(list(more))} |", flush=True)


def _changes(service: Served, every: list[Device], times: int) -> list[tuple[float, float, float]]:
    """Of each change the milliseconds of the client, of the slowest device, and the difference."""
    line, rows = service.line(), []
    nodes = line.ask("GET", "/api/plan")["nodes"]
    stations = [node["name"] for node in nodes if node["kind"] == "station"]
    for change in range(times):
        talker, to = stations[change % (len(stations) - 1)], stations[-1]
        document: Any = {"from": talker, "to": to, "period": "4 ms", "payload": "100 B", "pcp": 7}
        began = time.monotonic()
        took, found = line.timed("PUT", f"/api/streams/n{change}", {**document, "scheduled": True})
        assert found.get("outcome") == "accepted", found
        slowest = max(one.busy_ms(began, began + took / 1e3) for one in every)
        rows.append((took, slowest, took - slowest))
        # A change waits for the instant of the one before.
        time.sleep(max(0.0, (found["in_force_ns"] or 0) / 1e9 - time.clock_gettime(time.CLOCK_TAI)))
    return rows


def main() -> None:
    """Prints one table for each of the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[50, 1_000, 10_000])
    parser.add_argument("--times", type=int, default=90)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--devices", type=int, default=8)
    asked = parser.parse_args()
    if asked.sizes:
        print("| streams in place | change | changes | p50 ms | p99 | worst | peak MB |")
        print("|---:|---|---:|---:|---:|---:|---:|", flush=True)
    for count in asked.sizes:
        one(count, asked.times)
    if asked.clients:
        many(asked.clients, asked.streams)
    if asked.devices and (why := missing()):
        print(f"no devices: {why}")
    elif asked.devices:
        print("| devices | changes | time of | p50 ms | p99 | worst |")
        print("|---:|---:|---|---:|---:|---:|", flush=True)
        with_devices(asked.devices, asked.times // 2)


if __name__ == "__main__":
    main()
