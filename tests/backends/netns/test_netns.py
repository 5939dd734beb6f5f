"""Small Plans on this machine's own kernel; nothing is left of a run, however it ends.

Delays here depend on the machine: the tests assert only limits that every machine keeps.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from support.commands import command
from support.planned import plan_of
from tsnbench.backends.netns import Namespaces, probe, state, unavailable
from tsnbench.backends.netns.sandbox import MARK
from tsnbench.errors import InputError
from tsnbench.runs import Run

NO_SHELL_TEXT = "-n $(touch struck) `touch struck`;'\"&"
SLOWER = 10
"""How many times slower runs are here: on a busy machine programs are late by ms of its own time."""
ALL = """
name: all
duration: 100 ms
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links:
    - {rate: 100 Mbit/s, cable: 5 m, between: [controller -- switch, switch -- robot]}
    - {rate: 1 Gbit/s, cable: 5 m, between: [disk -- switch]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, offset: 100 us, payload: 100 B}
  files: {from: disk, to: robot, pcp: 0, period: 20 ms, units: [72000 B]}
  back: {from: robot, to: controller, pcp: 3, payload: 200 B, period: 5 ms}
  pd:
    {from: controller, to: disk, trdp: {com-id: 1, data-set: 64 B}, period: 20 ms, requires: {time-out: 1 s}}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
taps: [switch -> robot]
"""
"""Bursts that take 6 ms at the bridge's port, frames of a higher class, the other direction, telegrams."""
CALM = """
name: calm
duration: 40 ms
network:
  stations: [controller, robot]
  bridges: [switch]
  links: {rate: 100 Mbit/s, between: [controller -- switch, switch -- robot]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, payload: 100 B}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
"""


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    if why := unavailable():
        pytest.skip(f"no namespaces here: {why}")


@pytest.fixture(autouse=True)
def _states(tmp_path, monkeypatch):
    """A folder of states for this test alone: states of other runs on this machine are not touched."""
    monkeypatch.setenv("TSNBENCH_STATE", str(tmp_path / "states"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of :data:`ALL`; every name of the folder for temporary files is no shell text."""
    own = tmp_path_factory.mktemp("netns")
    odd = own / NO_SHELL_TEXT
    odd.mkdir()
    before = _interfaces()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSNBENCH_STATE", str(own / "states"))
        patch.setenv("TMPDIR", str(odd))
        patch.setattr("tempfile.tempdir", None)
        patch.chdir(own)
        probe.probe.cache_clear()
        done = plan_of(ALL).run(on=Namespaces(SLOWER), into=own / "run")
    # Nothing is left of the run, and the names were not executed.
    assert _interfaces() == before
    assert [path.name for path in own.iterdir() if path.name != "run"] == [odd.name]
    assert not list(odd.iterdir())
    return done


def _inodes(processes: list[int] | None = None) -> set[str]:
    """The network namespaces of these processes, or of all processes."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        if processes is None or int(path.parts[2]) in processes:
            try:
                found.add(os.readlink(path))
            except OSError:
                continue
    return found


def _interfaces() -> list[str]:
    said = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    return [line.split(":")[1].strip() for line in said.splitlines()]


def test_frames_arrive_and_the_manifest_says_what_is_missing(run: Run) -> None:
    """Captures have frames in both directions: tcpdump counts those of the other one as received, which are
    no losses of the capture."""
    released = {one["name"]: one["released"] for one in run.counters["streams"]}
    assert released == {"loop": 100, "files": 245, "back": 20, "pd": 5}
    for stream, frames in released.items():
        assert (len(run.delay(stream)), run.delay(stream).missing) == (frames, 0)
    facts = run.manifest["host"]
    assert run.manifest["backend"] == "netns"
    assert set(facts["host_load"]) == {"before", "after"}
    assert any("this machine" in note for note in facts["notes"])
    assert (facts["wires"] is None) == any("netem" in note for note in facts["notes"])


def test_a_run_leaves_the_folder_that_others_can_read(run: Run) -> None:
    again = Run.open(run.folder)
    assert again.state == "complete"
    assert "qdisc-wires.json" in json.loads((run.folder / "kernel.json").read_text())


def _departures(run: Run) -> pl.DataFrame:
    """The frames that leave the bridge, in their order."""
    return run.observations().filter(pl.col("tap") == "switch -> robot tx").sort("t_ns")


def test_the_higher_class_goes_past_a_queue(run: Run) -> None:
    """A burst reaches the bridge within 1 ms and leaves it in 6 ms, or later on a busy machine: what comes
    meanwhile, a frame each ms, leaves between its frames. In one queue, it would leave behind the burst."""
    order = list(_departures(run).select("stream", "seq").iter_rows())
    times_ns = _departures(run)["t_ns"]
    for burst in range(5):
        own = [place for place, (stream, seq) in enumerate(order) if stream == "files" and seq // 49 == burst]
        meanwhile = sum(stream == "loop" for stream, _ in order[own[0] : own[-1]])
        assert len(own) == 49
        assert 4 <= meanwhile <= (times_ns[own[-1]] - times_ns[own[0]]) / 1e6 + 2
        assert own[-1] - own[0] == 48 + meanwhile


def test_captures_keep_the_payload_of_telegrams(run: Run) -> None:
    """The test payload follows the header of TRDP, so a capture that cuts frames before it would lose it."""
    (judged,) = run.verdict()["rows"]
    assert judged["requirement"] == "time-out"
    # A kernel may be slower than the Plan says, and still within the limit.
    assert judged["met"] in ("yes", "exceeded")


def test_a_port_sends_no_faster_than_its_rate(run: Run) -> None:
    """40 frames of a burst need at least the time of their bits."""
    seen = _departures(run).filter((pl.col("stream") == "files") & (pl.col("octets") > 1000))
    stamps = seen["t_ns"].to_list()
    spans = [late - early for early, late in zip(stamps, stamps[40:], strict=False)]
    assert spans
    assert min(spans) > 40 * 1500 * 80 - 100_000


def test_missing_capabilities_are_named_before_anything_starts(tmp_path):
    text = CALM.replace(
        "queues: {classes: {6: 1, 0: 0}}",
        "queues: {classes: {6: 1, 0: 0}}\n"
        "    gates: {cycle: 1 ms, entries: [{open: [6], for: 200 us}, {open: [0], for: 800 us}]}",
    )
    if "taprio" in probe.abilities().qdiscs:
        pytest.skip("this kernel has taprio")
    words = "switch -> robot: a gate control list: this kernel has no qdisc taprio"
    with pytest.raises(InputError, match=words):
        plan_of(text).run(on=Namespaces(), into=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def _start(tmp_path: Path, into: str) -> subprocess.Popen[bytes]:
    path = tmp_path / "scenario.yaml"
    path.write_text(CALM)
    return subprocess.Popen(
        command("run", path, "--on", "netns", "--into", tmp_path / into),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def _nothing_is_left(tmp_path: Path, made: set[str], interfaces: list[str]) -> None:
    until = time.monotonic() + 5
    # The kernel removes a namespace after its last process. Other runs on this machine have namespaces, too.
    while time.monotonic() < until and (_ours() or _inodes() & made):
        time.sleep(0.05)
    assert not _ours()
    assert not _inodes() & made
    assert _interfaces() == interfaces
    assert not list(tmp_path.glob("tsnb-*"))
    assert not (tmp_path / "states").exists()


def _ours() -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if f"{MARK}=tsnb-".encode() in words and str(os.environ["TMPDIR"]).encode() in words:
            found.append(int(path.parent.name))
    return found


def _until(process: subprocess.Popen[bytes], event: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not event() and time.monotonic() < until:
        assert process.poll() is None
        time.sleep(0.002)


def _scratch(tmp_path: Path, name: str) -> Callable[[], bool]:
    return lambda: bool(list(tmp_path.glob(f"tsnb-*/{name}")))


EVENTS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "its state is written": lambda folder: lambda: list((folder / "states").glob("*.json")),
    "its folder is there": lambda folder: (folder / "run/manifest.json").exists,
    "its namespaces are there": lambda folder: lambda: (folder / "run").exists() and _ours(),
    "captures begin": lambda folder: _scratch(folder, "results/tap-*.log"),
    "talkers are ready": lambda folder: _scratch(folder, "epoch"),
    "it is measuring": lambda folder: _scratch(folder, "results/cpu-before"),
}
"""Moments of a run, in their order."""


@pytest.mark.parametrize("moment", EVENTS)
def test_after_kill_at_any_moment_restore_leaves_nothing(tmp_path: Path, moment: str) -> None:
    interfaces = _interfaces()
    process = _start(tmp_path, "run")
    _until(process, EVENTS[moment](tmp_path))
    made = _inodes(_ours()) - _inodes([os.getpid()])
    process.send_signal(signal.SIGKILL)
    process.wait()
    state.restore()
    if list((tmp_path / "states").glob("*.part")):
        # The process was about to write its state: such a file is left alone while it may be written.
        time.sleep(1.1)
        state.restore()
    assert state.restore() == []
    _nothing_is_left(tmp_path, made, interfaces)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_undoes_everything_by_itself(tmp_path, number):
    interfaces = _interfaces()
    process = _start(tmp_path, "run")
    # The probe before the run has processes of its own; there is no run folder yet.
    _until(process, EVENTS["captures begin"](tmp_path))
    made = _inodes(_ours()) - _inodes([os.getpid()])
    assert made
    process.send_signal(number)
    assert process.wait(timeout=20) == 128 + number
    _nothing_is_left(tmp_path, made, interfaces)
    assert Run.open(tmp_path / "run").state == "interrupted"


def test_a_run_that_goes_on_is_left_alone_and_a_dead_ones_folder_says_so(tmp_path):
    (tmp_path / "run").mkdir()
    mine = state.begin(tmp_path / "run")
    done = state.restore()
    assert [one.running for one in done] == [os.getpid()]
    assert Path(mine.scratch).is_dir()
    # A process with the same number and another start time is another process.
    path = state.folder() / f"{mine.mark}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"started": mine.started - 1}))
    done = state.restore()
    assert [one.running for one in done] == [None]
    assert not Path(mine.scratch).exists()
    assert state.restore() == []


def test_restore_removes_nothing_but_what_runs_made(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / "run").mkdir()
    mine = state.begin(tmp_path / "run")
    path = state.folder() / f"{mine.mark}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"scratch": str(precious), "started": 1}))
    state.restore()
    assert precious.is_dir()
    Path(mine.scratch).rmdir()


def test_a_killed_probe_is_undone(tmp_path):
    code = "from tsnbench.backends.netns import probe; probe.probe()"
    interfaces = _interfaces()
    process = subprocess.Popen([sys.executable, "-c", code])
    _until(process, _ours)
    made = _inodes(_ours()) - _inodes([os.getpid()])
    process.kill()
    process.wait()
    assert list(tmp_path.glob("tsnb-*"))
    assert [one.running for one in state.restore()] == [None]
    _nothing_is_left(tmp_path, made, interfaces)
    assert not list(tmp_path.iterdir())
