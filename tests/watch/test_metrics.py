"""Metrics of a watched network: formats, names, and what is absent; dashboard, rules and the guide."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("prometheus_client", reason="needs prometheus-client (pip install 'tsnbench[watch]')")

from prometheus_client import openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as families

from support.commands import command, tsnbench
from support.planned import plan_of
from tsnbench.backends.simulation import Simulation
from tsnbench.discover.differences import Difference
from tsnbench.discover.running import RunningHost, RunningPort
from tsnbench.hosts.clocks.sync import Reading
from tsnbench.hosts.state.ports import LOSSES, PortState
from tsnbench.watch import metrics
from tsnbench.watch.hosts import HostReading, changes
from tsnbench.watch.metrics import METRICS, Network
from tsnbench.watch.streams import CapturedStreams, StreamFigures

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/guides/watch.md"
RULES, DASHBOARD = (ROOT / "docs/guides/watch" / name for name in ("alerts.yml", "dashboard.json"))
PROMETHEUS = ROOT / ".venv/unpacked-prometheus/usr/bin"
ODD = 'x "\\ \n'
SCENARIO = """\
name: watched
duration: 10 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a-b]}}
streams:
  x: {from: a, to: b, payload: 100 B, period: 1 ms, pcp: 3, requires: {delay: 100 us}}
  y: {from: a, to: b, payload: 100 B, period: 1 ms, pcp: 0}
"""
PLAN = plan_of(SCENARIO)


def reading(host: str, offset_ns: int | None = 5, **told: object) -> HostReading:
    port = RunningPort("eth1", "02:00:00:00:00:01", True, True, 1500, "", "igb", 10**9, "")
    said = {"master_offset_ns": offset_ns, "port_state": "SLAVE", "age_ns": 60_000_000, **told}
    return HostReading(
        RunningHost(host, {"eth1": port}),
        {"eth1": PortState("2", True, 3, {}, dict.fromkeys(LOSSES, 0)), "gone": PortState()},
        Reading(host, 0, said),
        1000.0,
    )


class Hosts:
    """Hosts as they were read."""

    names = ("h1", "h2")
    machines = {"a": "h1", "b": "h2"}  # noqa: RUF012 - read only

    def __init__(self, readings, found=()):
        self._readings, self._found = readings, list(found)

    def readings(self):
        return self._readings

    def differences(self):
        return self._found


def captured(tmp_path: Path, names=("x", "y"), tx: bool = True) -> CapturedStreams:
    streams = CapturedStreams(PLAN.document, [tmp_path / "tx"] if tx else [], [tmp_path / "rx"])
    streams.span_ns = (1, 2 * 10**9)
    for number, name in enumerate(names):
        one = StreamFigures(name, 100_000 if number == 0 else None, sent=4, received=3, lost=1, last_ns=10**9)
        if tx:
            one.buckets[2], one.delays, one.sum_ns, one.most_ns = 3, 3, 6000, 2000 + number
        streams.streams[name] = one
        streams.whole.add(one)
    return streams


def samples(network: Network) -> dict[tuple[str, ...], float]:
    return {
        (one.name, *one.labels.values()): one.value for family in network.collect() for one in family.samples
    }


def network(hosts=None, streams=None, most=20) -> Network:
    return Network(PLAN.document, PLAN.hash, hosts, streams, most)


DIFFERENT = (
    Difference("h1", "eth1", "vlan 100", "tagged", "absent"),
    Difference("h1", "eth1", "vlan 200", "tagged", "absent"),
    Difference("h1", "", "address 02:00:00:00:00:01 in vlan 100", "eth1", "no port"),
    Difference("h1", "eth1", "class 2 idleslope", "1", "2"),
    Difference("h1", "eth1", "class of priorities 0 to 7", "1", "2"),
    Difference("h1", "eth1", "rate", "1", None),
)


def everything(tmp_path: Path) -> Network:
    hosts = Hosts({name: reading(name) for name in Hosts.names}, DIFFERENT)
    return network(hosts, captured(tmp_path))


def test_every_metric_is_served_and_has_its_labels(tmp_path):
    served = {family.name: family for family in everything(tmp_path).collect()}
    assert list(served) == list(METRICS)
    for name, about in METRICS.items():
        for sample in served[name].samples:
            assert tuple(one for one in sample.labels if one != "le") == about.labels, name


def test_before_the_first_frame_no_stream_of_the_plan_is_seen(tmp_path):
    """A talker that never begins is told, though nothing was lost and no delay is known."""
    streams = CapturedStreams(PLAN.document, [tmp_path / "tx"], [tmp_path / "rx"])
    found = samples(network(streams=streams))
    assert (found["tsnbench_planned_streams",], found["tsnbench_streams",]) == (2, 0)
    assert not [key for key in found if "frame" in key[0] or "delay" in key[0]]


def test_the_longest_silence_is_that_of_any_stream(tmp_path):
    """Also of one that has no metrics of its own."""
    streams = captured(tmp_path)
    streams._newest = (10**9, streams._clock())
    streams.streams["y"].last_ns = 0
    found = samples(network(streams=streams, most=1))
    assert {key[1] for key in found if key[0] == "tsnbench_stream_last_frame_age_seconds"} == {"x"}
    assert 1 <= found["tsnbench_last_frame_age_max_seconds",] < 60
    assert (
        found["tsnbench_stream_last_frame_age_seconds", "x"] < found["tsnbench_last_frame_age_max_seconds",]
    )


def test_settings_that_differ_are_counted_by_kind(tmp_path):
    found = samples(network(Hosts({"h1": reading("h1")}, DIFFERENT)))
    assert {key[1:]: value for key, value in found.items() if key[0] == "tsnbench_setting_different"} == {
        ("h1", "eth1", "vlan"): 2,
        ("h1", "", "address in vlan"): 1,
        ("h1", "eth1", "class idleslope"): 1,
        ("h1", "eth1", "class of priorities"): 1,
        ("h1", "eth1", "rate"): 1,
    }
    assert found["tsnbench_settings_different", "h1"] == 5
    assert found["tsnbench_settings_unknown", "h1"] == 1


def test_a_host_that_is_away_is_absent(tmp_path):
    found = samples(network(Hosts({"h1": reading("h1")}, [Difference("h2", "eth1", "mtu", "1", "2")])))
    assert (found["tsnbench_up", "h1"], found["tsnbench_up", "h2"]) == (1, 0)
    assert {key[0] for key in found if "h2" in key} == {"tsnbench_up"}


def test_what_is_not_said_is_absent(tmp_path):
    silent = replace(reading("h1"), clock=None)
    names = {key[0] for key in samples(network(Hosts({"h1": silent})))}
    assert not [one for one in names if "clock" in one or "stream" in one or "capture" in one]
    port = replace(silent.state.ports["eth1"], rate_bps=None)
    silent = replace(silent, state=replace(silent.state, ports={"eth1": port}))
    found = samples(network(Hosts({"h1": silent})))
    assert ("tsnbench_link_up", "h1", "eth1") in found
    assert not [key for key in found if "speed" in key[0] or "gone" in key]
    names = {key[0] for key in samples(network(None, captured(tmp_path, tx=False)))}
    assert "tsnbench_stream_lost_frames_total" in names
    assert not [one for one in names if "delay" in one or "sent" in one or "late" in one]
    without_limit = samples(network(None, captured(tmp_path)))
    assert ("tsnbench_stream_late_frames_total", "x") in without_limit
    assert ("tsnbench_stream_late_frames_total", "y") not in without_limit


@pytest.mark.parametrize(
    ("offsets", "error_s"), [((5, -7), 12e-9), ((0, 9), 9e-9), ((5, None), None), ((5,), None)]
)
def test_the_error_bar_needs_the_clocks_of_both_ends(tmp_path, offsets, error_s):
    hosts = Hosts({f"h{number}": reading(f"h{number}", one) for number, one in enumerate(offsets, 1)})
    found = samples(network(hosts, captured(tmp_path)))
    assert found.get(("tsnbench_stream_delay_uncertainty_seconds", "x")) == error_s


def test_the_page_does_not_grow_with_the_number_of_streams(tmp_path):
    few, many = (
        samples(network(None, captured(tmp_path, [f"s{number}" for number in range(count)]), most=5))
        for count in (10, 10_000)
    )
    assert len(few) == len(many) < 250
    assert many["tsnbench_sent_frames_total",] == 40_000
    assert many["tsnbench_streams",] == 10_000


def served(network: Network, accept: str = "*/*") -> tuple[str, str]:
    server = metrics.serve(network, "127.0.0.1", 0)
    try:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{server.server_port}/metrics", headers={"Accept": accept}
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.headers["Content-Type"], answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()


def test_both_text_formats_have_the_same_samples(tmp_path):
    streams = captured(tmp_path, ["x", ODD])
    streams.whole.sum_ns = 123_456_789
    kind, text = served(network(None, streams))
    assert kind.startswith("text/plain")
    open_kind, open_text = served(network(None, streams), "application/openmetrics-text; version=1.0.0")
    assert open_kind.startswith("application/openmetrics-text")
    assert openmetrics.exposition.CONTENT_TYPE_LATEST.split(";")[0] in open_kind
    both = [
        {(one.name, *sorted(one.labels.items())): one.value for family in read(told) for one in family.samples
         if "age" not in one.name}
        for read, told in ((families, text), (open_families, open_text))
    ]  # fmt: skip
    assert both[0] == both[1]
    assert both[0]["tsnbench_delay_seconds_sum",] == 0.123456789
    assert ("tsnbench_stream_lost_frames_total", ("stream", ODD)) in both[0]


def test_buckets_are_cumulative(tmp_path):
    found = samples(network(None, captured(tmp_path)))
    below = {
        key[2]: value
        for key, value in found.items()
        if key[:2] == ("tsnbench_stream_delay_seconds_bucket", "x")
    }
    assert (below["2e-06"], below["5e-06"], below["1.0"], below["+Inf"]) == (0, 3, 3, 3)


def exported() -> set[str]:
    """Names of all time series."""
    return {
        name
        for metric, about in METRICS.items()
        for name in (
            [f"{metric}_{one}" for one in ("bucket", "sum", "count")]
            if about.kind == "histogram"
            else [f"{metric}_total" if about.kind == "counter" else metric]
        )
    }


def test_dashboard_and_rules_name_only_what_is_exported():
    rules = re.findall(r"\btsnbench_\w+", RULES.read_text())
    shown = [one["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"] for one in panel["targets"]]
    drawn = re.findall(r"\btsnbench_\w+", " ".join(shown))
    assert len(set(rules)) > 10
    assert {*rules, *drawn} <= exported()
    histograms = {name for name, about in METRICS.items() if about.kind == "histogram"}
    used = {re.sub("_(bucket|sum|count)$", "", one) if one[:-7] in histograms else one for one in drawn}
    assert {re.sub("_total$", "", one) for one in used} == METRICS.keys(), "the dashboard shows all"


def test_the_guide_has_each_metric():
    rows = re.findall(r"^\| `(tsnbench_\w+)` \| (.*?) \| (.*) \|$", GUIDE.read_text(), re.MULTILINE)
    assert rows == [
        (f"{name}_total" if about.kind == "counter" else name, ", ".join(about.labels), about.help)
        for name, about in METRICS.items()
    ]


def test_changes_are_what_is_other_than_before():
    mtu, vlan = Difference("h1", "e", "mtu", "1500", "1400"), DIFFERENT[0]
    assert [one.text for one in changes([], [mtu], ["h1"])] == ["h1 e: mtu: planned 1500, found 1400"]
    assert changes([mtu], [mtu], ["h1"]) == []
    other = replace(mtu, found="1300")
    assert [one.text for one in changes([mtu, vlan], [other, vlan], ["h1"])] == [str(other)]
    assert [one.text for one in changes([mtu], [], ["h1"])] == ["h1 e: mtu: as planned again"]
    assert changes([mtu], [], []) == [], "nothing is known of a host that is away"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected --hosts, --rx or both"),
        (("--tx", "a.pcap"), "--tx: expected with --rx"),
        (("--rx", "a.pcap", "--listen", "example.org:1"), "--listen: expected ADDRESS:PORT"),
        (("--rx", "a.pcap", "--listen", "203.0.113.1:9100"), "--listen 203.0.113.1:9100: Cannot assign"),
        (("--rx", "a.pcap", "--interval", "1ms"), "--interval: expected at least 100ms"),
    ],
)
def test_options_that_cannot_be(tmp_path, words, said):
    (tmp_path / "x.yaml").write_text(SCENARIO)
    done = tsnbench("watch", str(tmp_path / "x.yaml"), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_the_command_tells_changes_and_serves_a_capture(tmp_path):
    """The program: a file that is not there yet, then its frames, then the end by a signal."""
    (tmp_path / "x.yaml").write_text(SCENARIO)
    Simulation().execute(PLAN, tmp_path / "run", pcap=True)
    words = command("watch", "x.yaml", "--rx", "rx.pcapng", "--listen", "127.0.0.1:0")
    words += ["--interval", "100ms", "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=tmp_path, **pipes) as watching:
        try:
            port = re.search(r":(\d+)/metrics", watching.stderr.readline())[1]
            away = json.loads(watching.stdout.readline())
            (tmp_path / "run/captures/a-b-rx.pcapng").rename(tmp_path / "rx.pcapng")
            there = json.loads(watching.stdout.readline())
            until, text = time.monotonic() + 600, ""
            while "tsnbench_received_frames_total 20.0" not in text and time.monotonic() < until:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                    text = answer.read().decode()
                time.sleep(0.05)
        finally:
            watching.terminate()
    assert watching.returncode == 143
    assert away["text"] == "rx.pcapng: not read: No such file or directory"
    assert there["text"] == "rx.pcapng: read again"
    assert away["format"] == there["format"] == "tsnbench-watch/1"
    assert "tsnbench_received_frames_total 20.0" in text
    assert 'tsnbench_stream_lost_frames_total{stream="x"} 0.0' in text


def test_promtool_accepts_metrics_and_rules(tmp_path):
    promtool = PROMETHEUS / "promtool"
    if not promtool.is_file():
        pytest.skip("prometheus is not unpacked")
    text = served(everything(tmp_path))[1]
    for words, told in ((("check", "metrics"), text), (("check", "rules", str(RULES)), "")):
        done = subprocess.run([promtool, *words], input=told, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "error" not in done.stderr
