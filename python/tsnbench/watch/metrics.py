"""What a watched network looks like to Prometheus: names, help and labels of all metrics, and their samples.

Names follow Prometheus's conventions: base units, ``_total`` for counters. What was
not measured has no sample.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.libraries import prometheus_client as prometheus
from tsnbench.watch.streams import BOUNDS_NS, CapturedStreams, StreamFigures, worst_first

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from tsnbench.discover.differences import Difference
    from tsnbench.plan.types import PlanDocument
    from tsnbench.watch.hosts import HostReading, WatchedHosts

_LE = tuple(repr(bound / 1e9) for bound in BOUNDS_NS)


@dataclass(frozen=True)
class About:
    """One metric; its name has no ``_total``."""

    kind: str
    help: str
    labels: tuple[str, ...] = ()


METRICS = {
    "tsnbench_plan_info": About("gauge", "The Plan that the network is compared with.", ("name", "hash")),
    "tsnbench_up": About(
        "gauge", "Whether a host answers; without an answer it has no other metric.", ("host",)
    ),
    "tsnbench_host_read_timestamp_seconds": About(
        "gauge", "When a host was read last, as seconds since 1970.", ("host",)
    ),
    "tsnbench_settings_different": About(
        "gauge", "Number of settings of a host that are not as planned.", ("host",)
    ),
    "tsnbench_settings_unknown": About(
        "gauge", "Number of settings of a host that could not be read.", ("host",)
    ),
    "tsnbench_setting_different": About(
        "gauge",
        "Number of settings of one kind that are not as planned; absent if there are none.",
        ("host", "port", "setting"),
    ),
    "tsnbench_link_up": About("gauge", "Whether a port has its link (carrier).", ("host", "port")),
    "tsnbench_link_speed_bytes_per_second": About(
        "gauge", "Rate of a link in octets per second, if its driver says it.", ("host", "port")
    ),
    "tsnbench_link_changes": About("counter", "How often a link came or went.", ("host", "port")),
    "tsnbench_port_lost_frames": About(
        "counter", "Frames that a port lost, by the kernel's counter.", ("host", "port", "counter")
    ),
    "tsnbench_clock_offset_seconds": About(
        "gauge", "Offset of a host's clock from its master, as ptp4l says.", ("host",)
    ),
    "tsnbench_clock_sync_age_seconds": About("gauge", "Time since the last Sync of the master.", ("host",)),
    "tsnbench_clock_state": About("gauge", "1 for the state of a host's PTP port.", ("host", "state")),
    "tsnbench_capture_up": About("gauge", "Whether a capture could be read in the last round.", ("file",)),
    "tsnbench_capture_restarts": About(
        "counter", "How often a capture was begun anew; frames around that do not count.", ("file",)
    ),
    "tsnbench_capture_start_timestamp_seconds": About(
        "gauge", "The first stamp of the frames that count, on the captures' clock."
    ),
    "tsnbench_capture_end_timestamp_seconds": About(
        "gauge", "The last stamp of the frames that count, on the captures' clock."
    ),
    "tsnbench_planned_streams": About("gauge", "Number of streams of the Plan."),
    "tsnbench_streams": About("gauge", "Number of streams of which a frame was seen."),
    "tsnbench_last_frame_age_max_seconds": About(
        "gauge", "Time since the last frame of the stream that has been silent for longest, of those seen."
    ),
    "tsnbench_sent_frames": About("counter", "Frames of all streams that the talkers' captures have."),
    "tsnbench_received_frames": About("counter", "Frames of all streams that arrived."),
    "tsnbench_lost_frames": About("counter", "Frames of all streams that were lost."),
    "tsnbench_late_frames": About("counter", "Frames of all streams that took longer than is required."),
    "tsnbench_delay_seconds": About("histogram", "Delays of all streams."),
    "tsnbench_stream_sent_frames": About(
        "counter", "Frames of a stream that the talker's capture has.", ("stream",)
    ),
    "tsnbench_stream_received_frames": About("counter", "Frames of a stream that arrived.", ("stream",)),
    "tsnbench_stream_lost_frames": About("counter", "Frames of a stream that were lost.", ("stream",)),
    "tsnbench_stream_late_frames": About(
        "counter", "Frames of a stream that took longer than is required.", ("stream",)
    ),
    "tsnbench_stream_delay_seconds": About("histogram", "Delays of a stream.", ("stream",)),
    "tsnbench_stream_delay_max_seconds": About("gauge", "The longest delay so far.", ("stream",)),
    "tsnbench_stream_delay_limit_seconds": About(
        "gauge", "The delay that the scenario requires.", ("stream",)
    ),
    "tsnbench_stream_delay_uncertainty_seconds": About(
        "gauge",
        "How far the clocks of talker and listener were from their master in the last reading, added.",
        ("stream",),
    ),
    "tsnbench_stream_last_frame_age_seconds": About(
        "gauge", "Time since the last frame of a stream arrived.", ("stream",)
    ),
}
"""All metrics by name."""
_VALUES = re.compile(r" 0 to 7| ?\b(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|\d+(?:[.]\d+)*)\b")
"""What of a setting's name is not its kind: addresses, VLANs, classes."""


class Network:
    """Reads a watched network for Prometheus at each scrape (a collector of prometheus-client).

    Args:
        plan: the Plan.
        digest: its hash.
        hosts: the hosts; None if they are not watched.
        streams: the streams in captures; None without captures.
        most: how many streams have metrics of their own: those with the least margin.
    """

    def __init__(
        self,
        plan: PlanDocument,
        digest: str,
        hosts: WatchedHosts | None,
        streams: CapturedStreams | None,
        most: int,
    ) -> None:
        self._plan, self._digest = plan, digest
        self._hosts, self._streams, self._most = hosts, streams, most
        self._ends = {
            one["name"]: {
                plan["nodes"][node]["name"]
                for node in (one["talker"], *(listener["node"] for listener in one["listeners"]))
            }
            for one in plan["streams"]
        }

    def collect(self) -> Iterator[prometheus.Metric]:
        """All metrics with their samples."""
        families = _Families()
        families.add("tsnbench_plan_info", 1, self._plan["name"], self._digest[:12])
        if self._hosts is not None:
            _hosts(families, self._hosts)
        if self._streams is not None:
            with self._streams.lock:
                _captures(families, self._streams)
                for one in worst_first(list(self._streams.streams.values()))[: self._most]:
                    _stream(families, one, self._streams)
                    families.add(
                        "tsnbench_stream_delay_uncertainty_seconds", self._uncertainty_s(one), one.name
                    )
        yield from families.made()

    def _uncertainty_s(self, one: StreamFigures) -> float | None:
        """The error of a stream's delays from the last readings of the clocks at its ends."""
        if self._hosts is None or not one.delays:
            return None
        readings, machines = self._hosts.readings(), self._hosts.machines
        there = [readings.get(machines[node]) for node in self._ends[one.name]]
        errors = [None if reading is None else _clock_error_ns(reading) for reading in there]
        known = [error for error in errors if error is not None]
        return sum(known) / 1e9 if len(known) == len(errors) else None


class _Families:
    """Metrics while their samples are collected."""

    def __init__(self) -> None:
        self._made: dict[str, prometheus.Metric] = {}

    def _of(self, name: str) -> prometheus.Metric:
        if name not in self._made:
            about = METRICS[name]
            self._made[name] = prometheus.Metric(name, about.help, about.kind)
        return self._made[name]

    def add(self, name: str, value: float | None, *labels: str) -> None:
        """Adds a sample; None is not known, and makes none."""
        if value is None:
            return
        about = METRICS[name]
        sample = f"{name}_total" if about.kind == "counter" else name
        self._of(name).add_sample(sample, dict(zip(about.labels, labels, strict=True)), value)

    def histogram(self, name: str, one: StreamFigures, *labels: str) -> None:
        """Adds the delays of a stream."""
        own, metric = dict(zip(METRICS[name].labels, labels, strict=True)), self._of(name)
        below = 0
        for bound, count in zip((*_LE, "+Inf"), one.buckets, strict=True):
            below += count
            metric.add_sample(f"{name}_bucket", {**own, "le": bound}, below)
        metric.add_sample(f"{name}_sum", own, one.sum_ns / 1e9)
        metric.add_sample(f"{name}_count", own, one.delays)

    def made(self) -> list[prometheus.Metric]:
        """In the order of :data:`METRICS`."""
        return [self._made[name] for name in METRICS if name in self._made]


def _hosts(families: _Families, hosts: WatchedHosts) -> None:
    readings = hosts.readings()
    found = [one for one in hosts.differences() if one.host in readings]
    for host in hosts.names:
        families.add("tsnbench_up", float(host in readings), host)
    for host, one in readings.items():
        own = [each for each in found if each.host == host]
        unknown = sum(each.found is None for each in own)
        families.add("tsnbench_host_read_timestamp_seconds", one.unix_s, host)
        families.add("tsnbench_settings_different", len(own) - unknown, host)
        families.add("tsnbench_settings_unknown", unknown, host)
        _links(families, host, one)
        _clock(families, host, one)
    for key, count in Counter(map(_kind, found)).items():
        families.add("tsnbench_setting_different", count, *key)


def _kind(one: Difference) -> tuple[str, str, str]:
    """Host, port and kind of a setting: the number of kinds does not grow with the network."""
    return one.host, one.port, _VALUES.sub("", one.setting).strip()


def _links(families: _Families, host: str, one: HostReading) -> None:
    for name, port in one.ports.items():
        if not port.index:
            continue
        running = one.state.ports.get(name)
        rate = None if running is None or not port.linked else running.rate_bps
        families.add("tsnbench_link_up", float(port.linked), host, name)
        families.add("tsnbench_link_speed_bytes_per_second", None if rate is None else rate / 8, host, name)
        families.add("tsnbench_link_changes", port.changes, host, name)
        for counter, count in port.counters.items():
            families.add("tsnbench_port_lost_frames", count, host, name, counter)


def _clock(families: _Families, host: str, one: HostReading) -> None:
    if one.clock is None:
        return
    offset, age = one.clock.offset_ns, one.clock.told.get("age_ns")
    families.add("tsnbench_clock_offset_seconds", None if offset is None else offset / 1e9, host)
    families.add("tsnbench_clock_sync_age_seconds", None if age is None else age / 1e9, host)
    state = one.clock.told.get("port_state")
    families.add("tsnbench_clock_state", 1 if state else None, host, str(state))


def _clock_error_ns(one: HostReading) -> int | None:
    """How far a host's clock is from its master, as far as its last reading shows."""
    if one.clock is None or (one.clock.offset_ns is None and not one.clock.leads):
        return None
    return abs(one.clock.offset_ns or 0)


def _captures(families: _Families, streams: CapturedStreams) -> None:
    for path in streams.files:
        families.add("tsnbench_capture_up", float(path not in streams.failures), str(path))
        families.add("tsnbench_capture_restarts", streams.restarts[path], str(path))
    # Also before the first frame: where nothing is seen, nothing is well.
    families.add("tsnbench_planned_streams", streams.planned)
    families.add("tsnbench_streams", len(streams.streams))
    ages = [age for one in streams.streams.values() if (age := streams.age_s(one)) is not None]
    families.add("tsnbench_last_frame_age_max_seconds", max(ages, default=None))
    if streams.span_ns is not None:
        for name, time_ns in zip(("start", "end"), streams.span_ns, strict=True):
            families.add(f"tsnbench_capture_{name}_timestamp_seconds", time_ns / 1e9)
        whole = streams.whole
        families.add("tsnbench_received_frames", whole.received)
        families.add("tsnbench_lost_frames", whole.lost)
        if streams.has_delays:
            families.add("tsnbench_sent_frames", whole.sent)
            families.add("tsnbench_late_frames", whole.late)
            families.histogram("tsnbench_delay_seconds", whole)


def _stream(families: _Families, one: StreamFigures, streams: CapturedStreams) -> None:
    families.add("tsnbench_stream_received_frames", one.received, one.name)
    families.add("tsnbench_stream_lost_frames", one.lost, one.name)
    families.add("tsnbench_stream_last_frame_age_seconds", streams.age_s(one), one.name)
    if not streams.has_delays:
        return
    families.add("tsnbench_stream_sent_frames", one.sent, one.name)
    families.histogram("tsnbench_stream_delay_seconds", one, one.name)
    families.add(
        "tsnbench_stream_delay_max_seconds", None if one.most_ns is None else one.most_ns / 1e9, one.name
    )
    if one.limit_ns is not None:
        families.add("tsnbench_stream_late_frames", one.late, one.name)
        families.add("tsnbench_stream_delay_limit_seconds", one.limit_ns / 1e9, one.name)


def serve(network: Network, host: str, port: int) -> WSGIServer:
    """Serves the metrics in the background: Prometheus's text format, or OpenMetrics if it is asked for.

    Args:
        network: what is read at each scrape.
        host: the address.
        port: the port; 0 takes a free one.

    Raises:
        OSError: the address cannot be used.
    """
    registry = prometheus.CollectorRegistry()
    registry.register(network)
    server: WSGIServer = prometheus.start_http_server(port, host, registry)[0]
    return server
