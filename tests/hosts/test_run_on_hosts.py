"""``--on hosts`` in a lab of namespaces: the run on the hosts, its results, and the state afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support.commands import MAIN
from support.network_namespace import ROUTE_TO_NOWHERE
from tsnbench.backends.kernel import traffic
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts import lab, wiring
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.inventory import read_inventory
from tsnbench.hosts.remote.answers import Step
from tsnbench.runs import Run
from tsnbench.scenario import read_scenario

from .conftest import SCENARIO, Rig


def bounded(lab: str, sync: str) -> str:
    """An inventory with other bounds of ``sync``."""
    head, word, _ = lab.partition("sync: {")
    assert word
    return f"{head}sync: {{{sync}}}\n"


def on(rig: Rig, into: Path, *more: str, scenario: Path | None = None, **other) -> subprocess.Popen[str]:
    words = ["run", str(scenario or rig.scenario), "--on", "hosts", "--hosts", str(rig.made.inventory)]
    words += ["--into", str(into), "--no-report", "-q", *more]
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **other,
    )


@pytest.fixture
def unchanged(rig: Rig) -> Iterator[None]:
    """After the test, the hosts' own tools show the same state as before."""
    before = rig.state()
    yield
    until = time.monotonic() + 15
    while (after := rig.state()) != before and time.monotonic() < until:
        time.sleep(0.3)
    assert after == before


@pytest.fixture(scope="module")
def run(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, str]]:
    """A run, and the output of the hosts' own tools in the middle of it."""
    into = tmp_path_factory.mktemp("run") / "run"
    longer = rig.folder / "longer.yaml"
    longer.write_text(SCENARIO.replace("200 ms", "3 s", 1))
    heard = rig.folder / "independent.pcap"
    rig.says("b", "ip link set eth1 up")
    words = [*rig.made.ssh.split(), "b", "exec tcpdump -Z root -n -Q in -s 64 -i eth1 -U -w - vlan"]
    with heard.open("wb") as file:
        watcher = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL)
    process = on(rig, into, scenario=longer)
    seen: dict[str, str] = {}
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until and "tc" not in seen:
        processes = rig.ssh("a", "ps -e -o args").stdout
        if "traffic talk" in processes:
            seen["ps"] = processes
            seen["tc"] = rig.says("s", "tc -s qdisc show")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    time.sleep(0.5)
    rig.ssh("b", "pkill tcpdump")
    watcher.terminate()
    watcher.wait(timeout=20)
    rig.says("b", "ip link set eth1 down")
    lines = subprocess.run(["tcpdump", "-n", "-r", heard], capture_output=True, timeout=60, check=False)
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
    assert json.loads((folder / "attempts.json").read_text())[-1]["valid"]
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
    from tsnbench import report

    page = report.write(run[0].folder).read_text()
    for words in ("Host a", "eth1 (veth)", "one clock for all hosts", "virtual interfaces have no wire"):
        assert words in page


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
    from tsnbench.hosts import attempt

    sets_up = attempt.set_up

    def slow(agents, jobs):
        jobs["c"].setup.insert(0, Step(("sleep", str(1 + attempt.SOON_NS // 10**9))))
        return sets_up(agents, jobs)

    monkeypatch.setattr(attempt, "set_up", slow)
    run = rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    assert [one["valid"] for one in json.loads((tmp_path / "run/attempts.json").read_text())] == [True]
    assert run.manifest["host"]["least_ahead_ns"] >= attempt.LEAST_AHEAD_NS
    assert all(0 <= one <= 1_000_000 for one in phases(run).values())


def test_an_independent_capture_has_as_many_frames(run: tuple[Run, dict[str, str]]) -> None:
    """The capture is tcpdump's at the listener's interface, independent of the run."""
    frames = run[0].frames()
    received = frames.filter(pl.col("delay_ns").is_not_null()).height
    assert received == int(run[1]["frames"]) == 4500


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
    from tsnbench.hosts import attempt

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
    longer = read_scenario(SCENARIO.replace("200 ms", "1 s", 1))[0].plan()
    before = counted()
    longer.run(on=Hosts(rig.inventory), into=tmp_path / "run")
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
    heard = tmp_path / "heard.pcap"
    words = [*inside, "tcpdump", "-Z", "root", "-n", "-U", "-i", "any", "-w", str(heard), "tcp or udp"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as watcher:
        assert watcher.stderr is not None
        assert any("listening on" in line for line in watcher.stderr)
        run = [
            "run",
            rig.scenario,
            "--on",
            "hosts",
            "--hosts",
            rig.made.inventory,
            "--into",
            tmp_path / "run",
        ]
        done = subprocess.run(
            [*inside, sys.executable, "-c", MAIN, *map(str, run), "--no-report", "-q"],
            env=os.environ | {"TSNBENCH_SSH": client},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        time.sleep(0.5)
        watcher.terminate()
    subprocess.run(["ip", "-n", space, "link", "del", "outside"], check=True, timeout=30)
    assert done.returncode == 0, done.stderr
    words = ["tcpdump", "-n", "-q", "-r", str(heard), "dst port 22"]
    to_hosts = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
    words[-1] = "not port 22"
    others = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
    hosts = re.findall(r"HostName (\S+)", (rig.made.folder / "client").read_text())
    assert len(hosts) == 4
    assert set(re.findall(r"> (\S+)\.22:", to_hosts)) == set(hosts)
    assert others == ""


def test_state_is_as_before(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    process = on(rig, tmp_path / "run")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    # A run of another Plan into the same folder: every file of the first run is recognised and replaced.
    other = tmp_path / "small.yaml"
    other.write_text(SCENARIO.replace("200 ms", "100 ms", 1))
    process = on(rig, tmp_path / "run", "--force", scenario=other)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_controller_that_is_gone_leaves_nothing(
    rig: Rig, tmp_path: Path, unchanged: None, number: signal.Signals
) -> None:
    longer = tmp_path / "long.yaml"
    longer.write_text(SCENARIO.replace("200 ms", "30 s", 1))
    process = on(rig, tmp_path / "run", scenario=longer)
    until = time.monotonic() + 60
    while "traffic talk" not in rig.ssh("a", "ps -e -o args").stdout:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
    process.send_signal(number)
    process.wait(timeout=60)
    if number == signal.SIGKILL:
        return
    assert process.returncode == 130


def test_a_cut_management_link_leaves_nothing(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    control = rig.made.ssh.split()[3]
    longer = tmp_path / "long.yaml"
    longer.write_text(SCENARIO.replace("200 ms", "30 s", 1))
    process = on(rig, tmp_path / "run", scenario=longer)
    until = time.monotonic() + 60
    while "traffic talk" not in rig.ssh("a", "ps -e -o args").stdout:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
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
            hosts._refuse_unfit(["a", "b"])
        hosts._facts["b"] = own
        hosts._refuse_unfit(["a", "b"])
    finally:
        hosts.close()


def test_the_second_controller_is_told_who_was_first(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    longer = read_scenario(SCENARIO.replace("200 ms", "3 s", 1))[0].plan()
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


def test_a_queueing_discipline_of_the_user_is_not_removed(rig: Rig, tmp_path: Path) -> None:
    rig.says("a", "tc qdisc add dev eth1 root handle 7: pfifo limit 77")
    try:
        with pytest.raises(InputError, match="has a queueing discipline of somebody"):
            rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
        assert "limit 77p" in rig.says("a", "tc qdisc show dev eth1")
    finally:
        rig.says("a", "tc qdisc del dev eth1 root")


def test_a_rejected_attempt_is_repeated_and_its_reason_kept(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A talker that stops for a while is late, so the attempt is invalid; after two there is no result."""
    from tsnbench.hosts import attempt

    longer = read_scenario(SCENARIO.replace("200 ms", "600 ms", 1))[0].plan()
    waits = attempt._wait

    def stopped(agents, jobs, document, epoch_ns, *rest):
        def stop() -> None:
            while time.clock_gettime_ns(time.CLOCK_TAI) < epoch_ns + 200_000_000:
                time.sleep(0.01)
            agents["a"].signal("talker-0", signal.SIGSTOP)
            time.sleep(0.2)
            agents["a"].signal("talker-0", signal.SIGCONT)

        if times:
            times.pop()
            threading.Thread(target=stop, daemon=True).start()
        waits(agents, jobs, document, epoch_ns, *rest)

    monkeypatch.setattr(attempt, "_wait", stopped)
    times = [1]
    own = read_inventory(bounded(rig.made.inventory.read_text(), "attempts: 2, pause: 100 ms"), "lab.yaml")
    longer.run(on=Hosts(own), into=tmp_path / "again")
    tried = json.loads((tmp_path / "again/attempts.json").read_text())
    assert [one["valid"] for one in tried] == [False, True]
    assert (tried[0]["host"], "talker of x was up to" in tried[0]["reason"]) == ("a", True)
    times = [1] * 10
    with pytest.raises(BackendError, match="2 attempts were rejected, and none is a measurement"):
        longer.run(on=Hosts(own), into=tmp_path / "never")
    told = json.loads((tmp_path / "never/manifest.json").read_text())
    assert told["state"] == "failed"
    assert len(json.loads((tmp_path / "never/attempts.json").read_text())) == 2


def test_a_host_that_gets_the_instant_too_late_rejects_the_attempt(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message with the instant takes longer than the time until the instant; no host starts late."""
    from tsnbench.hosts import attempt
    from tsnbench.hosts.remote.agent import Agent

    tells = Agent.tell

    def slow(agent: Agent, name: str, line: str) -> None:
        if times and agent.name == "c":
            times.pop()
            time.sleep(attempt.LEAD_NS / 1e9)
        tells(agent, name, line)

    monkeypatch.setattr(Agent, "tell", slow)
    times = [1]
    run = rig.plan.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    first, *_, last = json.loads((tmp_path / "run/attempts.json").read_text())
    assert (first["host"], first["valid"], last["valid"]) == ("c", False, True)
    assert re.search(r"got the start -?\d+\.\d ms before its instant: too late", first["reason"])
    assert run.manifest["host"]["least_ahead_ns"] >= attempt.LEAST_AHEAD_NS


def test_a_capture_that_lost_frames_rejects_the_attempt(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring of 1 MiB is not emptied for 1 s, during which 2,000 frames of 1,000 octets arrive."""
    from tsnbench.hosts import attempt, job

    faster = SCENARIO.replace("200 ms", "1 s", 1).replace("period: 1 ms", "period: 500 us", 1)
    longer = read_scenario(faster)[0].plan()
    waits, begins = attempt._wait, attempt._begin
    monkeypatch.setattr(job, "CAPTURED_OCTETS", 2000)

    def small(agent, own, text):
        own.captures = [replace(one, argv=(*one.argv, "--ring", "1")) for one in own.captures]
        begins(agent, own, text)
        if times and agent.name == "b":
            for one in own.captures:
                agent.signal(one.name, signal.SIGSTOP)

    def woken(agents, jobs, *rest):
        waits(agents, jobs, *rest)
        if times:
            times.pop()
            for one in jobs["b"].captures:
                agents["b"].signal(one.name, signal.SIGCONT)

    monkeypatch.setattr(attempt, "_begin", small)
    monkeypatch.setattr(attempt, "_wait", woken)
    times = [1]
    longer.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    first, last = json.loads((tmp_path / "run/attempts.json").read_text())
    assert (first["host"], first["valid"], last["valid"]) == ("b", False, True)
    assert re.search(r"the capture at eth1 lost \d+ frames", first["reason"])


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
    longer = tmp_path / "long.yaml"
    longer.write_text(SCENARIO.replace("200 ms", "30 s", 1))
    process = on(rig, tmp_path / "run", scenario=longer)
    until = time.monotonic() + 60
    while "traffic talk" not in rig.ssh("a", "ps -e -o args").stdout:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
    rig.ssh("s", "pkill -9 -f 'traffic agen[t]'")
    process.kill()
    process.wait(timeout=30)
    assert "tsnbench0" in rig.says("s", "ip -o link")
    words = ["restore", "--hosts", str(rig.made.inventory)]
    for _ in range(20):
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *words], capture_output=True, text=True, timeout=120, check=False
        )
        # The guards of the other hosts need their three seconds first.
        if done.returncode == 0:
            break
        assert "has had this host for" in done.stdout
        time.sleep(0.5)
    assert "s: 1" in done.stdout or "s: 2" in done.stdout, done.stdout
    assert "tsnbench0" not in rig.says("s", "ip -o link")


def test_say_prints_the_commands_and_does_none(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    process = on(rig, tmp_path / "run", "--say")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "ip link add tsnbench0 type bridge" in said
    assert "undo: ip link del dev tsnbench0" in said
    assert not (tmp_path / "run").exists()


PTP = SCENARIO.replace("200 ms", "1500 ms", 1)
PTP += "clocks: {gptp: {grandmaster: a, sync-interval: 125 ms}}\n"


def synchronised(rig: Rig, sync: str) -> Hosts:
    """The lab with ptp4l between its hosts, which steers nothing: they share one clock."""
    text = rig.made.inventory.read_text().replace("ports: {", "clock: software, ports: {")
    return Hosts(read_inventory(bounded(text, sync), "lab.yaml"))


def test_a_run_waits_for_clocks_and_keeps_their_readings(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ptp4l dies in the first attempt, which is no measurement; the second one is."""
    from tsnbench.hosts import attempt

    plan = read_scenario(PTP)[0].plan()
    waits = attempt._wait

    def killed(agents, jobs, document, epoch_ns, *rest):
        if times:
            times.pop()
            agents["b"].signal("ptp4l", signal.SIGKILL)
        waits(agents, jobs, document, epoch_ns, *rest)

    monkeypatch.setattr(attempt, "_wait", killed)
    times = [1]
    hosts = synchronised(rig, "below: 50 ms, steady: 1 s, within: 60 s, attempts: 3, pause: 100 ms")
    run = plan.run(on=hosts, into=tmp_path / "run")
    tried = json.loads((tmp_path / "run/attempts.json").read_text())
    assert [one["valid"] for one in tried] == [False, True]
    assert (tried[0]["host"], "ptp4l does not answer" in tried[0]["reason"]) == ("b", True)
    readings = pl.read_parquet(tmp_path / "run/sync.parquet")
    assert set(readings["host"]) == {"a", "b", "c", "s"}
    assert readings.filter(pl.col("host") == "b")["offset_ns"].null_count() == 0
    assert len(set(readings["grandmaster"])) == 1
    assert len(run.delay("x")) == 1500


def test_no_frame_is_sent_where_clocks_differ_by_more_than_is_allowed(
    rig: Rig, tmp_path: Path, unchanged: None
) -> None:
    plan = read_scenario(PTP)[0].plan()
    before = rig.says("a", "cat /sys/class/net/eth1/statistics/tx_packets")
    hosts = synchronised(rig, "below: 1 ns, steady: 2 s, within: 4 s, attempts: 2, pause: 100 ms")
    with pytest.raises(BackendError, match="2 attempts were rejected") as error:
        plan.run(on=hosts, into=tmp_path / "run")
    assert "clocks were not synchronised within 4 s" in str(error.value)
    assert re.search(r"it is [+-][\d,]+ ns from its master, more than 1 ns", str(error.value))
    # ptp4l's own messages, and the probes; the talker has 1,500 frames.
    assert int(rig.says("a", "cat /sys/class/net/eth1/statistics/tx_packets")) - int(before) < 1000


def test_a_lost_connection_rejects_the_attempt_and_the_next_one_connects_anew(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sshd's process of the connection is killed; the host undoes everything by itself meanwhile."""
    from tsnbench.hosts import attempt

    longer = read_scenario(SCENARIO.replace("200 ms", "1 s", 1))[0].plan()
    waits = attempt._wait

    def cut(agents, jobs, document, epoch_ns, *rest):
        if times:
            times.pop()
            rig.ssh("a", "pkill -9 -f 'sshd: root@nott[y]'")
        waits(agents, jobs, document, epoch_ns, *rest)

    monkeypatch.setattr(attempt, "_wait", cut)
    times = [1]
    run = longer.run(on=Hosts(rig.inventory), into=tmp_path / "run")
    tried = json.loads((tmp_path / "run/attempts.json").read_text())
    assert [one["valid"] for one in tried] == [False, True]
    assert (tried[0]["host"], tried[0]["reason"]) == ("a", "the connection is gone")
    assert len(run.delay("x")) == 1000
