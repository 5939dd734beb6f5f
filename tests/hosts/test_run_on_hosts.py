"""``--on hosts`` in a lab of namespaces: the run on the hosts, its results, and the state afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support.commands import command, tsnbench
from support.network_namespace import ROUTE_TO_NOWHERE
from tsnbench import report
from tsnbench.backends.kernel import traffic
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts import attempt, lab, refusals, wiring
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.inventory import read_inventory
from tsnbench.hosts.remote.agent import Agent
from tsnbench.hosts.remote.answers import Step
from tsnbench.runs import Run

from .conftest import Rig, attempts, bounded, heard, lasting, on, ran


def patient(rig: Rig) -> Path:
    """The lab's inventory with more attempts."""
    return rig.folder / "patient.yaml"


@pytest.fixture(scope="module")
def run(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, str]]:
    """A run, and the output of the hosts' own tools in the middle of it.

    Talkers may be late where other programs take the processors: such an attempt is repeated.
    """
    patient(rig).write_text(bounded(rig.made.inventory.read_text(), "attempts: 10, pause: 500 ms"))
    into = tmp_path_factory.mktemp("run") / "run"
    pcap = rig.folder / "independent.pcap"
    seen: dict[str, str] = {}
    with heard(rig, "b", pcap, "-s", "64", "vlan"):
        process = on(rig, into, "--hosts", str(patient(rig)), scenario=rig.long("3 s", "longer.yaml"))
        rig.until_it_talks(process)
        seen["ps"], seen["tc"] = rig.says("a", "ps -e -o args"), rig.says("s", "tc -s qdisc show")
        _, said = process.communicate(timeout=240)
    assert ran(process), said
    assert process.returncode == (0 if Run.open(into).verdict()["met"] else 1)
    lines = subprocess.run(["tcpdump", "-n", "-r", pcap], capture_output=True, timeout=60, check=False)
    seen["frames"] = str(len(lines.stdout.splitlines()))
    return Run.open(into), seen


def test_the_folder_is_as_any_other(run: tuple[Run, dict[str, str]]) -> None:
    folder = run[0].folder
    told = json.loads((folder / "manifest.json").read_text())
    assert (told["state"], told["backend"]) == ("complete", "hosts")
    assert set(told["host"]["hosts"]) == {"a", "b", "c", "s"}
    for host in ("a", "b", "c", "s"):
        assert told["host"]["hosts"][host]["kernel"] == os.uname().release
        log = (folder / "hosts" / host / "commands.jsonl").read_text().splitlines()
        assert all(json.loads(line).get("code", 0) == 0 for line in log)
    assert len(run[0].delay("x")) == 3000
    assert attempts(folder)[-1]["valid"]
    # A proof is about the Plan only; its condition is that the kernel does as the Plan says.
    (row,) = json.loads((folder / "verdict.json").read_text())["rows"]
    assert "the kernel does as the Plan says" in row["proof_condition"]


def test_delays_have_their_error_bars(run: tuple[Run, dict[str, str]]) -> None:
    """All hosts have one clock: the uncertainty is the resolution of two stamps and 100 ppm of the delay."""
    frames = run[0].frames()
    expected = 2 + (frames["delay_ns"].abs() * 100 + 999_999) // 1_000_000
    assert (frames["uncertainty_ns"] == expected).all()
    (row,) = run[0].verdict()["rows"]
    (place,) = [n for n, path in enumerate(run[0].measures()["paths"]) if path["stream"] == row["stream"]]
    assert row["uncertainty"] == frames.filter(pl.col("path") == place)["uncertainty_ns"].max()
    assert any("stamps are the kernel's" in note for note in run[0].manifest["host"]["notes"])


def test_the_report_says_where_it_ran(run: tuple[Run, dict[str, str]]) -> None:
    page = report.write(run[0].folder).read_text()
    for words in ("Host a", "eth1 (veth)", "one clock for all hosts", "virtual interfaces have no wire"):
        assert words in page


def test_what_hosts_say_about_delays_is_printed(run: tuple[Run, dict[str, str]], rig: Rig) -> None:
    words = ("run", rig.folder / "longer.yaml", "--on", "hosts", "--hosts", patient(rig))
    told = tsnbench(*words, "--into", run[0].folder, "--no-report", cwd=rig.folder)
    assert ran(told), told.stderr
    assert "the run was there already" in told.stderr
    assert told.stderr.count("note: virtual interfaces have no wire") == 1


def test_tools_of_the_hosts_show_the_run(run: tuple[Run, dict[str, str]]) -> None:
    assert "--epoch-from -" in run[1]["ps"]
    assert "htb" in run[1]["tc"]


def phases(run: Run) -> dict[str, int]:
    """By stream, how long after its intended time the most punctual frame left its talker, in ns."""
    plan = run.plan.document
    periods = {one["name"]: one["pattern"]["period_ns"] for one in plan["streams"]}
    frames = run.frames()
    names = [path["stream"] for path in run.measures()["paths"]]
    return {
        name: frames.filter(pl.col("path") == number)
        .select((pl.col("t_tx_ns") - pl.col("seq").cast(pl.Int64) * periods[name]).min())
        .item()
        for number, name in enumerate(names)
    }


def test_talkers_of_all_hosts_begin_at_the_common_instant(run: tuple[Run, dict[str, str]]) -> None:
    """The test takes the most punctual of 1,500 frames: on a busy machine some frames are late."""
    late = phases(run[0])
    assert set(late) == {"x", "y"}
    assert all(0 <= one <= 100_000 for one in late.values()), late
    assert run[0].frames()["seq"].min() == 0


def test_a_slow_set_up_of_one_host_postpones_the_instant(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The set-up takes longer than the time between the choice of a phase and that instant."""
    sets_up = attempt.set_up

    def slow(agents, jobs):
        jobs["c"].setup.insert(0, Step(("sleep", str(1 + attempt.SOON_NS // 10**9))))
        return sets_up(agents, jobs)

    monkeypatch.setattr(attempt, "set_up", slow)
    run = rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    assert [one["valid"] for one in attempts(tmp_path / "run")] == [True]
    assert run.manifest["host"]["least_ahead_ns"] >= attempt.LEAST_AHEAD_NS
    assert all(0 <= one <= 1_000_000 for one in phases(run).values())


def test_an_independent_capture_has_as_many_frames(run: tuple[Run, dict[str, str]]) -> None:
    """The capture is tcpdump's at the listener's interface, independent of the run."""
    frames = run[0].frames()
    received = frames.filter(pl.col("delay_ns").is_not_null()).height
    captured = int(run[1]["frames"])
    # It also has the frames of rejected attempts.
    assert received == 4500
    assert captured == 4500 or (captured > 4500 and len(attempts(run[0].folder)) > 1)


def test_nothing_is_shared_but_the_connection(run: tuple[Run, dict[str, str]], rig: Rig) -> None:
    """Hosts have file systems of their own; the program is there only during a run."""
    assert "tmpfs" in rig.says("a", "stat -f -c %T /tmp /root /run")
    assert "tsnbench-agent" in run[1]["ps"]
    for host in rig.inventory.hosts:
        assert "tsnbench" not in rig.says(host, "ls -A /tmp /run")
    # Files of the run contain neither a private path nor a key.
    key = (rig.made.folder / "key").read_text().splitlines()[1]
    for path in run[0].folder.rglob("*"):
        octets = path.read_bytes() if path.is_file() else b""
        assert b"PRIVATE KEY" not in octets
        assert key.encode() not in octets
        assert str(Path.home()).encode() not in octets or str(Path.home()) == "/root"


def test_captures_and_the_program_are_sent_over_the_management_network(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The management network's interfaces count at least the octets of the captures and of the program."""
    runs = attempt.run
    collected: dict[str, int] = {}

    def counting(*words):
        found = runs(*words)
        for host, files in found.files.items():
            collected[host] = sum(len(octets) for octets in files.values())
        return found

    def counted() -> dict[str, tuple[int, int]]:
        words = ["ip", "-n", rig.made.ssh.split()[3], "-s", "-j", "link", "show"]
        told = json.loads(subprocess.run(words, capture_output=True, timeout=30, check=True).stdout)
        by_name = {one["ifname"]: one["stats64"] for one in told}
        both = ((by_name[f"h{number}"]["rx"], by_name[f"h{number}"]["tx"]) for number in range(4))
        return {
            host: (rx["bytes"], tx["bytes"]) for host, (rx, tx) in zip(rig.inventory.hosts, both, strict=True)
        }

    monkeypatch.setattr(attempt, "run", counting)
    before = counted()
    lasting("1 s").run(on=Hosts(rig.inventory), into=tmp_path / "run")
    after = counted()
    assert set(collected) == {"a", "b", "c", "s"}
    # 1,500 frames are captured at the listener's interface, with at least 64 octets each.
    assert collected["b"] > 1_500 * 64
    program = traffic.program().stat().st_size
    for host in rig.inventory.hosts:
        from_host, to_host = (late - early for late, early in zip(after[host], before[host], strict=True))
        assert from_host >= collected[host]
        assert to_host >= program


def test_only_hosts_of_the_inventory_are_contacted(rig: Rig, tmp_path: Path) -> None:
    """The controller runs in the namespace of the management network, where tcpdump hears every packet."""
    space, client = rig.made.ssh.split()[3], " ".join(rig.made.ssh.split()[4:])
    inside = ["ip", "netns", "exec", space]
    for route in ROUTE_TO_NOWHERE:
        subprocess.run(["ip", "-n", space, *route.split()], check=True, timeout=30)
    pcap = tmp_path / "heard.pcap"
    words = [*inside, "tcpdump", "-Z", "root", "--immediate-mode", "-n", "-U", "-i", "any"]
    words += ["-w", str(pcap), "tcp or udp"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as watcher:
        assert watcher.stderr is not None
        assert any("listening on" in line for line in watcher.stderr)
        run = command("run", rig.scenario, "--on", "hosts", "--hosts", rig.made.inventory)
        run += ["--into", str(tmp_path / "run"), "--no-report", "-q"]
        done = subprocess.run(
            [*inside, *run],
            env=os.environ | {"TSNBENCH_SSH": client},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        time.sleep(0.5)
        watcher.terminate()
    subprocess.run(["ip", "-n", space, "link", "del", "outside"], check=True, timeout=30)
    assert ran(done), done.stderr
    words = ["tcpdump", "-n", "-q", "-r", str(pcap), "dst port 22"]
    to_hosts = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
    words[-1] = "not port 22"
    others = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
    hosts = re.findall(r"HostName (\S+)", (rig.made.folder / "client").read_text())
    assert len(hosts) == 4
    assert set(re.findall(r"> (\S+)\.22:", to_hosts)) == set(hosts)
    assert others == ""


def test_state_is_as_before(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    # A run of another Plan into the same folder: every file of the first run is recognised and replaced.
    process = on(rig, tmp_path / "run", "--force", scenario=rig.long("100 ms"))
    _, said = process.communicate(timeout=120)
    assert ran(process), said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_controller_that_is_gone_leaves_nothing(
    rig: Rig, tmp_path: Path, unchanged: None, number: signal.Signals
) -> None:
    process = on(rig, tmp_path / "run", scenario=rig.long("30 s"))
    rig.until_it_talks(process)
    process.send_signal(number)
    process.wait(timeout=60)
    if number == signal.SIGKILL:
        return
    assert process.returncode == 130


def test_a_cut_management_link_leaves_nothing(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    control = rig.made.ssh.split()[3]
    process = on(rig, tmp_path / "run", scenario=rig.long("30 s"))
    rig.until_it_talks(process)
    inventory = rig.inventory
    number = list(inventory.hosts).index("a")
    cut = ["ip", "-n", control, "link", "set", f"h{number}"]
    space = control.replace(lab.cells.CONTROL, str(number))
    qdiscs = ["tc", "-n", space, "qdisc", "show", "dev", "eth1"]

    def configured() -> bool:
        return "htb" in subprocess.run(qdiscs, capture_output=True, text=True, timeout=30, check=True).stdout

    assert configured()
    subprocess.run([*cut, "down"], check=True, timeout=30)
    # The host undoes everything while its link is still cut.
    until = time.monotonic() + 10
    while configured():
        assert time.monotonic() < until
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    subprocess.run([*cut, "up"], check=True, timeout=30)
    process.wait(timeout=60)


def test_swapped_cables_are_named(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    text = rig.made.inventory.read_text()
    swapped = text.replace("a.eth1 - s.eth1", "c.eth1 - s.eth1", 1).replace(
        "c.eth1 - s.eth2", "a.eth1 - s.eth2", 1
    )
    assert swapped != text
    hosts = Hosts(read_inventory(swapped, "lab.yaml"))
    with pytest.raises(BackendError) as error:
        rig.plan.run(on=hosts, into=tmp_path / "run")
    for port in ("a.eth1", "c.eth1", "s.eth1", "s.eth2"):
        assert f"  {port}: expected" in str(error.value)


def test_a_silent_peer_is_named(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inventory has a wire that the lab does not have: no probe arrives at either port."""
    monkeypatch.setattr(wiring, "CARRIER_S", 1.0)
    rig.says("s", "ip link set eth3 down; ip link add dead type veth peer name dead2")
    text = rig.made.inventory.read_text().replace("eth3: eth3", "eth3: dead", 1)
    try:
        with pytest.raises(
            BackendError,
            match=r"b\.eth1: expected s\.eth3 at the other end; nobody heard .* no link at b\.eth1",
        ):
            rig.plan.run(on=Hosts(read_inventory(text, "lab.yaml")), into=tmp_path / "run")
    finally:
        rig.says("s", "ip link del dead")


def test_the_interface_of_our_own_connection_is_no_port(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    text = rig.made.inventory.read_text().replace(
        "a: {ssh: a, ports: {eth1: eth1}}", "a: {ssh: a, ports: {eth1: mgmt}}"
    )
    assert "mgmt" in text
    with pytest.raises(InputError, match="carries our own ssh connection"):
        rig.plan.run(on=Hosts(read_inventory(text, "lab.yaml")), into=tmp_path / "run")


@pytest.mark.parametrize("kind", [BackendError, InputError])
def test_a_state_that_differs_does_not_hide_why_a_run_ended(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    """Somebody gives a port an address while a run is set up, and the run is then refused."""

    def refused(*_: object) -> list[str]:
        rig.says("a", "ip addr add 192.0.2.99/32 dev eth1")
        raise kind("no wire")

    monkeypatch.setattr(wiring, "check", refused)
    try:
        with pytest.raises(kind, match=r"(?s)no wire\nnot everything is as it was:\n  a: .*192\.0\.2\.99"):
            rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    finally:
        rig.says("a", "ip addr del 192.0.2.99/32 dev eth1")


def test_hosts_whose_tai_differs_are_refused(rig: Rig, unchanged: None) -> None:
    """The hosts of this lab share a kernel, so the test replaces the TAI offset that one of them reported."""
    hosts = Hosts(rig.inventory)
    try:
        hosts._open(["a", "b"])
        own = hosts._facts["b"]
        ahead = own.ready.tai_minus_utc_s + 37
        hosts._facts["b"] = replace(own, ready=replace(own.ready, tai_minus_utc_s=ahead))
        with pytest.raises(BackendError, match=rf"hosts differ in how far TAI .*b {ahead} s"):
            refusals.unfit(hosts.inventory, hosts._facts)
        hosts._facts["b"] = own
        refusals.unfit(hosts.inventory, hosts._facts)
    finally:
        hosts.close()


def test_the_second_controller_is_told_who_was_first(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    longer = lasting("3 s")
    first = threading.Thread(
        target=lambda: longer.run(on=Hosts(rig.inventory), into=tmp_path / "first"), daemon=True
    )
    first.start()
    until = time.monotonic() + 30
    while "traffic agent" not in rig.ssh("s", "ps -e -o args").stdout:
        assert time.monotonic() < until
    with pytest.raises(BackendError, match=r"has had this host for \d+ s"):
        rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "second")
    first.join(timeout=60)
    assert json.loads((tmp_path / "first/manifest.json").read_text())["state"] == "complete"


def test_of_two_controllers_at_the_same_instant_one_gets_all_hosts(
    rig: Rig, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their Plans name the hosts in opposite orders, and every reservation takes some time."""
    reserve, both = Agent.reserve, threading.Barrier(2)
    monkeypatch.setattr(Agent, "reserve", lambda agent: (time.sleep(0.1), reserve(agent))[1])

    def take(names: list[str]) -> str:
        hosts = Hosts(rig.inventory)
        both.wait()
        try:
            hosts._open(names)
            return ""
        except BackendError as error:
            return str(error)
        finally:
            both.wait()
            hosts.close()

    with ThreadPoolExecutor() as pool:
        told = [*pool.map(take, (["a", "b", "c", "s"], ["s", "c", "b", "a"]))]
    assert sorted(bool(one) for one in told) == [False, True]
    assert re.match(r"a: .* has had this host for \d+ s", max(told))


def test_a_queueing_discipline_of_the_user_is_not_removed(rig: Rig, tmp_path: Path) -> None:
    rig.says("a", "tc qdisc add dev eth1 root handle 7: pfifo limit 77")
    try:
        with pytest.raises(InputError, match="has a queueing discipline of somebody"):
            rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
        assert "limit 77p" in rig.says("a", "tc qdisc show dev eth1")
    finally:
        rig.says("a", "tc qdisc del dev eth1 root")


def test_a_campaign_keeps_its_connections(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    """Two runs of one set-up: one connection per host, and each setting is made once."""
    hosts = Hosts(rig.inventory, campaign=True)
    try:
        rig.plan.run(on=hosts, into=tmp_path / "1")
        ready = {name: one.ready for name, one in hosts._facts.items()}
        assert set(ready) == {"a", "b", "c", "s"}
        rig.plan.run(on=hosts, into=tmp_path / "2")
        assert {name: one.ready for name, one in hosts._facts.items()} == ready
        log = (tmp_path / "2/hosts/s/commands.jsonl").read_text().splitlines()
        made = [line for line in log if '"add", "tsnbench0"' in line]
        assert len(made) == 1
    finally:
        hosts.close()


def test_restore_undoes_what_a_killed_agent_left(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    process = on(rig, tmp_path / "run", scenario=rig.long("30 s"))
    rig.until_it_talks(process)
    rig.ssh("s", "pkill -9 -f 'traffic agen[t]'")
    process.kill()
    process.wait(timeout=30)
    assert "tsnbench0" in rig.says("s", "ip -o link")
    for _ in range(20):
        done = tsnbench("restore", "--hosts", rig.made.inventory, cwd=tmp_path)
        # The guards of the other hosts need their three seconds first.
        if done.returncode == 0:
            break
        assert "has had this host for" in done.stdout
        time.sleep(0.5)
    assert "s: 1" in done.stdout or "s: 2" in done.stdout, done.stdout
    assert "tsnbench0" not in rig.says("s", "ip -o link")


def test_say_prints_the_commands_and_does_none(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    process = on(rig, tmp_path / "run", "--dry-run")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "ip link add tsnbench0 type bridge" in said
    assert "undo: ip link del dev tsnbench0" in said
    assert not (tmp_path / "run").exists()
