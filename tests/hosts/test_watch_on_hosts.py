"""Hosts of a lab that are watched: a changed setting, a lost link and a lost host are told."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("prometheus_client", reason="needs prometheus-client (pip install 'tsnbench[watch]')")

from support.commands import command
from tsnbench.hosts import map_plan
from tsnbench.watch.hosts import Change, WatchedHosts
from tsnbench.watch.metrics import Network

from .conftest import Rig

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / ".venv/unpacked-prometheus/usr/bin/prometheus"
RULES = ROOT / "docs/guides/watch/alerts.yml"
WITHIN_S = 300


class Watched:
    """The watched lab, with the changes that it tells."""

    def __init__(self, rig: Rig) -> None:
        self.told: queue.Queue[Change] = queue.Queue()
        mapped = map_plan(rig.inventory, rig.plan.document, {})
        self.hosts = WatchedHosts(rig.plan.document, rig.inventory, mapped, 0.2, self.told.put)
        self.network = Network(rig.plan.document, rig.plan.hash, self.hosts, None, 20)

    def until(self, text: str) -> Change:
        """The next change with this text."""
        while True:
            one = self.told.get(timeout=WITHIN_S)
            if text in one.text:
                return one

    def samples(self) -> dict[tuple[str, ...], float]:
        """Samples by name and values of labels."""
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in self.network.collect()
            for sample in family.samples
        }


@pytest.fixture
def watched(rig: Rig) -> Iterator[Watched]:
    found = Watched(rig)
    found.hosts.begin()
    try:
        yield found
    finally:
        found.hosts.end()


def test_a_setting_that_changes_is_told_and_repaired(rig: Rig, unchanged: None, watched: Watched) -> None:
    # The hosts are not configured: their links are down.
    watched.until("a eth1: link: planned up, found down")
    rig.says("a", "ip link set eth1 up; ip link set eth1 mtu 1400")
    try:
        one = watched.until("a eth1: mtu: planned at least 1500, found 1400")
        assert one.difference is not None
        found = watched.samples()
        assert found["tsnbench_up", "a"] == 1
        assert found["tsnbench_setting_different", "a", "eth1", "mtu"] == 1
        assert found["tsnbench_settings_different", "a"] >= 1
        assert found["tsnbench_port_lost_frames_total", "a", "eth1", "rx_errors"] == 0
        assert ("tsnbench_clock_offset_seconds", "a") not in found, "no ptp4l runs there"
        rig.says("a", one.difference.repair)
        watched.until("a eth1: mtu: as planned again")
        assert ("tsnbench_setting_different", "a", "eth1", "mtu") not in watched.samples()
    finally:
        rig.says("a", "ip link set eth1 mtu 1500; ip link set eth1 down")
    watched.until("a eth1: link: planned up, found down")


def test_a_host_that_is_away_has_no_figures_until_it_answers_again(
    rig: Rig, unchanged: None, watched: Watched
) -> None:
    watched.until("b eth1: link")
    rig.says("b", "pkill -KILL -f 'traffic agent'")
    watched.until("b: away: ")
    watched.until("b: answers again")
    found = watched.samples()
    assert found["tsnbench_up", "b"] == 1
    assert found["tsnbench_host_read_timestamp_seconds", "b"] > 0


def test_a_clock_that_ptp4l_reads_is_told(rig: Rig, clocks: None, watched: Watched) -> None:
    """The real program, with stamps of the kernel: the figures are those that pmc tells."""
    until = time.monotonic() + WITHIN_S
    wanted = {
        ("tsnbench_clock_offset_seconds", "a"),
        ("tsnbench_clock_sync_age_seconds", "a"),
        ("tsnbench_clock_state", "a", "UNCALIBRATED"),
        ("tsnbench_clock_state", "s", "MASTER"),
    }
    while not wanted <= (found := watched.samples()).keys():
        assert time.monotonic() < until, [key for key in found if "clock" in key[0]]
        time.sleep(0.1)
    assert abs(found["tsnbench_clock_offset_seconds", "a"]) < 0.1
    assert 0 <= found["tsnbench_clock_sync_age_seconds", "a"] < WITHIN_S
    assert "b" not in {key[1] for key in found if key[0] == "tsnbench_clock_state"}


def asked(port: str, query: str) -> list[dict[str, dict[str, str]]]:
    """What Prometheus answers."""
    words = urllib.parse.urlencode({"query": query})
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{words}", timeout=30) as answer:
        found: list[dict[str, dict[str, str]]] = json.load(answer)["data"]["result"]
    return found


def told_port(process: subprocess.Popen[str], pattern: str, ready: str = "") -> str:
    """The port that a program tells on stderr, once it also tells that it is ready."""
    assert process.stderr is not None
    port = ""
    for line in process.stderr:
        if found := re.search(pattern, line):
            port = found[1]
        if port and ready in line:
            # What the program tells later must not fill the pipe.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return port
    raise AssertionError(f"{process.args!r} has ended")


def test_prometheus_scrapes_and_warns(rig: Rig, unchanged: None, tmp_path: Path) -> None:
    """The real programs: a port that is down, from the host to an alert."""
    if not PROMETHEUS.is_file():
        pytest.skip("prometheus is not unpacked")
    words = command("watch", rig.scenario, "--hosts", rig.made.inventory, "--listen", "127.0.0.1:0")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as watching:
        try:
            port = told_port(watching, r"http://127\.0\.0\.1:(\d+)/metrics")
            (tmp_path / "prometheus.yml").write_text(
                "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
                f"rule_files: [{RULES}]\n"
                "scrape_configs:\n"
                f"  - {{job_name: tsnbench, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}\n"
            )
            own = [PROMETHEUS, "--config.file=prometheus.yml", "--web.listen-address=127.0.0.1:0"]
            own += ["--storage.tsdb.path=data"]
            with subprocess.Popen(own, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
                try:
                    at = told_port(server, r'"Listening on" address=127\.0\.0\.1:(\d+)', "Server is ready")
                    alert = 'ALERTS{alertname="TsnbenchSettingDifferent",host="a",setting="link"}'
                    until = time.monotonic() + WITHIN_S
                    while not asked(at, alert) and time.monotonic() < until:
                        time.sleep(0.2)
                    (found,) = asked(at, alert)
                    assert found["metric"]["port"] == "eth1"
                    hosts = {one["metric"]["host"] for one in asked(at, "tsnbench_up == 1")}
                    assert hosts == set(rig.inventory.hosts)
                finally:
                    server.terminate()
        finally:
            watching.terminate()
    assert watching.returncode == 143
