"""``tsnbench watch``: a running network as metrics for Prometheus, and its changes as lines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from tsnbench.cli.console.listening import address_of
from tsnbench.cli.console.options import (
    ScenarioFile,
    duration_ns,
    json_of,
    option,
    pairs_of,
    setting,
)
from tsnbench.cli.console.output import print_line, print_message, user_errors
from tsnbench.errors import InputError
from tsnbench.exports.scenario_text import one_line
from tsnbench.hosts import load_inventory, map_plan
from tsnbench.libraries import load, prometheus_client
from tsnbench.plan.slow_motion import dilated
from tsnbench.plan.types import PlanDocument
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import load_variants
from tsnbench.scenario.selection import selected
from tsnbench.watch import metrics
from tsnbench.watch.hosts import Change, WatchedHosts
from tsnbench.watch.streams import CapturedStreams

LEAST_EVERY_NS = 100_000_000

Lab = Annotated[Path | None, option("FILE", "The lab (lab.yaml), whose hosts are read over ssh.")]
Sent = Annotated[
    list[Path] | None, option("FILE", "Capture at a talker, which may grow; may be repeated.", "--tx")
]
Arrived = Annotated[
    list[Path] | None, option("FILE", "Capture at a listener, which may grow; may be repeated.", "--rx")
]
Listen = Annotated[str, setting("ADDRESS:PORT", "Where Prometheus asks; port 0 takes a free one.")]
Interval = Annotated[str, setting("TIME", "Time between two readings.")]
Most = Annotated[
    int,
    setting("NUMBER", "Streams with metrics of their own: those with the least margin.", min=0, max=10_000),
]


def watch(
    file: ScenarioFile,
    hosts: Lab = None,
    tx: Sent = None,
    rx: Arrived = None,
    listen: Listen = "127.0.0.1:9100",
    interval: Interval = "2s",
    streams: Most = 20,
    only: Annotated[list[str] | None, option("PARAMETER=VALUE", "Of a sweep, this run: hops=3.")] = None,
    place: Annotated[list[str] | None, setting("NODE=MACHINE", "The machine of a node.", "--map")] = None,
    dilate: Annotated[int, option("TIMES", "The hosts' time is slower by this factor.", min=1)] = 1,
    as_json: Annotated[bool, json_of("Each change")] = False,
) -> None:
    """Watch a running network, and serve what is found to Prometheus.

    With --hosts: settings that differ from the Plan, links, and clocks. With --rx, and --tx for delays:
    frames and delays of each stream in captures, also while these grow. Each change is a line on stdout.
    Nothing is changed on hosts. Ctrl-C ends it.
    """
    with user_errors():
        if tx and not rx:
            raise InputError("--tx: expected with --rx, the captures at listeners")
        if hosts is None and not rx:
            raise InputError("watch: expected --hosts, --rx or both, found none")
        address = address_of(listen, "127.0.0.1:9100")
        every_ns = duration_ns("--interval", interval)
        if every_ns < LEAST_EVERY_NS:
            raise InputError(f"--interval: expected at least 100ms, found {interval}")
        _load()
        plan = make_plan(selected(load_variants(file), only or [])[0])
        document = dilated(plan.document, dilate)
        tell = _printed if not as_json else _as_json
        watched = None if hosts is None else _hosts(document, hosts, place, every_ns / 1e9, tell)
        captured = None if not rx else CapturedStreams(document, tx or [], rx)
        network = metrics.Network(document, plan.hash, watched, captured, streams)
        with _served(network, listen, address):
            _watch(watched, captured, every_ns / 1e9, tell)


def _load() -> None:
    try:
        load(prometheus_client)
    except ImportError as error:
        if error.name != "prometheus_client":
            raise
        raise InputError(
            "watch: needs prometheus-client\nhint: python -m pip install 'tsnbench[watch]'"
        ) from None


def _hosts(
    document: PlanDocument,
    hosts: Path,
    place: list[str] | None,
    every_s: float,
    tell: Callable[[Change], None],
) -> WatchedHosts:
    inventory = load_inventory(hosts)
    mapped = map_plan(inventory, document, pairs_of("--map", "NODE=MACHINE", place or []))
    return WatchedHosts(document, inventory, mapped, every_s, tell)


@contextmanager
def _served(network: metrics.Network, listen: str, address: tuple[str, int]) -> Iterator[None]:
    """Meanwhile the metrics are served.

    Raises:
        InputError: the address cannot be used.
    """
    try:
        server = metrics.serve(network, *address)
    except OSError as error:
        raise InputError(f"--listen {listen}: {error.strerror or error}") from None
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    print_message(f"metrics: http://{host}:{server.server_port}/metrics; Ctrl-C ends")
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def _watch(
    hosts: WatchedHosts | None,
    captured: CapturedStreams | None,
    every_s: float,
    tell: Callable[[Change], None],
) -> None:
    """Watches until a signal ends the command."""
    failures: dict[Path, str] = {}
    next_round = 0.0
    if hosts is not None:
        hosts.begin()
    try:
        while True:
            began = time.monotonic()
            if captured is not None and began >= next_round:
                captured.round()
                _tell_of_files(failures, captured.failures, tell)
                failures = dict(captured.failures)
                next_round = began + captured.pause_s(every_s)
            if hosts is not None:
                hosts.check()
            time.sleep(max(0.0, began + every_s - time.monotonic()))
    finally:
        if hosts is not None:
            hosts.end()


def _tell_of_files(
    before: Mapping[Path, str], after: Mapping[Path, str], tell: Callable[[Change], None]
) -> None:
    """Tells which files cannot be read any more, and which can again."""
    for path, why in after.items():
        if before.get(path) != why:
            tell(Change(time.time(), "", f"{path}: not read: {why}"))
    for path in before.keys() - after.keys():
        tell(Change(time.time(), "", f"{path}: read again"))


def _printed(change: Change) -> None:
    at = datetime.fromtimestamp(change.unix_s, UTC).isoformat(timespec="milliseconds")
    print_line(f"{at.replace('+00:00', 'Z')} {one_line(change.text)}")
    if change.difference is not None and change.difference.repair:
        print_line(f"  on {change.host}: {one_line(change.difference.repair)}")


def _as_json(change: Change) -> None:
    print_line(json.dumps({"format": "tsnbench-watch/1", **asdict(change)}))
