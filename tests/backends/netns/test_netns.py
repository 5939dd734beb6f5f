"""Small Plans on this machine's own kernel; nothing is left of a run, however it ends.

Delays here depend on the machine: the tests assert only limits that every machine keeps.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from tsnbench import load
from tsnbench.backends.netns import Namespaces, probe, state, unavailable
from tsnbench.backends.netns.sandbox import MARK
from tsnbench.errors import BackendError, InputError
from tsnbench.runs import Run

STAR = """
name: star
duration: 40 ms
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: 100 Mbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, offset: 100 us, payload: 100 B}
  files: {from: disk, to: robot, pcp: 0, PATTERN, payload: 1472 B}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
taps: [switch -> robot]
"""
CALM = STAR.replace("PATTERN", "poisson: 80 Mbit/s")
BURSTS = """
name: bursts
duration: 100 ms
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links:
    - {rate: 100 Mbit/s, cable: 5 m, between: [controller -- switch, switch -- robot]}
    - {rate: 1 Gbit/s, cable: 5 m, between: [disk -- switch]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, offset: 100 us, payload: 100 B}
  files: {from: disk, to: robot, pcp: 0, period: 10 ms, units: [72000 B]}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
taps: [switch -> robot]
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


def _run(tmp_path: Path, text: str, into: str = "run", dilate: int = 1) -> Run:
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    for _ in range(3):
        try:
            return load(path).plan().run(on=Namespaces(dilate), into=tmp_path / into)
        except BackendError as error:
            # Other programs kept the machine from its work: run again.
            if not re.search(r" ms late|dropped|too long", str(error)):
                raise
            said = error
    raise said


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


def test_frames_arrive_and_the_manifest_says_what_is_missing(tmp_path):
    before = _interfaces()
    run = _run(tmp_path, CALM)
    for stream in ("loop", "files"):
        assert len(run.delay(stream)) == run.counters["streams"][stream == "files"]["released"] > 30
        assert run.delay(stream).missing == 0
    facts = run.manifest["host"]
    assert run.manifest["backend"] == "netns"
    assert set(facts["host_load"]) == {"before", "after"}
    assert any("this machine" in note for note in facts["notes"])
    assert (facts["wires"] is None) == any("netem" in note for note in facts["notes"])
    assert _interfaces() == before
    assert not (tmp_path / "states").exists()
    assert not list(tmp_path.glob("tsnb-*"))


@pytest.mark.parametrize("name", ["a b", "$(touch struck)", "`touch struck`;'\"&", "-n"])
def test_the_folder_for_temporary_files_is_no_shell_text(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / name))
    probe.probe.cache_clear()
    run = _run(tmp_path, CALM)
    assert run.state.value == "complete"
    assert not list(tmp_path.rglob("struck"))
    assert not list((tmp_path / name).iterdir())


def test_the_higher_class_goes_past_a_queue(tmp_path):
    run = _run(tmp_path, BURSTS)
    loop, files = (run.delay(stream).frames["delay_ns"] for stream in ("loop", "files"))
    # Bursts of 6 ms at the bridge's port: their last frames wait long, an urgent frame waits for one frame.
    assert files.quantile(0.9) > 3_000_000
    assert loop.quantile(0.75) < 1_000_000
    assert len(loop) == 100


BOTH_DIRECTIONS = """
name: both-directions
duration: 200 ms
network:
  stations: [a, b]
  bridges: [sw]
  links: {rate: 100 Mbit/s, between: [a -- sw, b -- sw]}
streams:
  there: {from: a, to: b, pcp: 3, payload: 100 B, period: 10 ms}
  back: {from: b, to: a, pcp: 3, payload: 200 B, period: 5 ms}
"""


def test_captured_ports_may_have_frames_in_both_directions(tmp_path):
    """tcpdump counts frames of the other direction as received; they are no losses of the capture."""
    run = _run(tmp_path, BOTH_DIRECTIONS)
    for stream, frames in (("there", 20), ("back", 40)):
        assert run.counters["streams"][stream == "back"]["released"] == frames
        assert len(run.delay(stream)) == frames


TELEGRAMS = """
name: telegrams
duration: 200 ms
network:
  stations: [ccu, door]
  bridges: [ets]
  links: {rate: 100 Mbit/s, between: [ccu -- ets, ets -- door]}
streams:
  pd: {from: ccu, to: door, trdp: {com-id: 1000, data-set: 64 B}, period: 20 ms, requires: {time-out: 1 s}}
"""


def test_captures_keep_the_payload_of_telegrams(tmp_path):
    """The test payload follows the header of TRDP, so a capture that cuts frames before it would lose it."""
    run = _run(tmp_path, TELEGRAMS)
    assert len(run.delay("pd")) == 10
    (judged,) = run.verdict()["rows"]
    assert (judged["requirement"], judged["met"]) == ("time-out", "yes")


def test_a_port_sends_no_faster_than_its_rate(tmp_path):
    run = _run(tmp_path, BURSTS)
    seen = run.observations().filter(
        (pl.col("tap") == "switch -> robot tx") & (pl.col("stream") == "files") & (pl.col("octets") > 1000)
    )
    stamps = seen.sort("t_ns")["t_ns"].to_list()
    # 40 frames of a burst need at least the time of their bits.
    spans = [
        late - early for early, late in zip(stamps, stamps[40:], strict=False) if late - early < 8_000_000
    ]
    assert spans
    assert min(spans) > 40 * 1500 * 80 - 100_000


def test_a_run_leaves_the_folder_that_others_can_read(tmp_path):
    run = _run(tmp_path, CALM)
    again = Run.open(run.folder)
    assert again.state == "complete"
    listed = json.loads((run.folder / "kernel.json").read_text())
    assert "qdisc-wires.json" in listed


def test_missing_capabilities_are_named_before_anything_starts(tmp_path):
    from tsnbench.backends.netns import probe

    text = CALM.replace(
        "queues: {classes: {6: 1, 0: 0}}",
        "queues: {classes: {6: 1, 0: 0}}\n"
        "    gates: {cycle: 1 ms, entries: [{open: [6], for: 200 us}, {open: [0], for: 800 us}]}",
    )
    if "taprio" in probe.abilities().qdiscs:
        pytest.skip("this kernel has taprio")
    with pytest.raises(
        InputError, match="switch -> robot: a gate control list: this kernel has no qdisc taprio"
    ):
        _run(tmp_path, text)
    assert not (tmp_path / "run").exists()


def _start(tmp_path: Path, into: str) -> subprocess.Popen[bytes]:
    path = tmp_path / "scenario.yaml"
    path.write_text(CALM)
    return subprocess.Popen(
        [
            sys.executable, "-c", "from tsnbench.cli.main import main; main()", "run", str(path),
            "--on", "netns", "--into", str(tmp_path / into),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


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


def test_after_kill_at_any_moment_restore_leaves_nothing(tmp_path):
    draws = random.Random(time.time_ns())
    interfaces = _interfaces()
    left = 0
    for number in range(6):
        process = _start(tmp_path, f"run-{number}")
        time.sleep(draws.uniform(0.3, 5.0))
        made = _inodes(_ours()) - _inodes([os.getpid()])
        process.send_signal(signal.SIGKILL)
        process.wait()
        left += (tmp_path / "states").exists()
        state.restore()
        assert state.restore() == []
        _nothing_is_left(tmp_path, made, interfaces)
    print(f"{left} of 6 left something to undo")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_undoes_everything_by_itself(tmp_path, number):
    interfaces = _interfaces()
    process = _start(tmp_path, "run")
    until = time.monotonic() + 60
    # The probe before the run has processes of its own; there is no run folder yet.
    begun = tmp_path / "run" / "manifest.json"
    while not (begun.exists() and _ours()) and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.5)
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
    until = time.monotonic() + 20
    while not _ours() and time.monotonic() < until:
        time.sleep(0.002)
    made = _inodes(_ours()) - _inodes([os.getpid()])
    process.kill()
    process.wait()
    assert list(tmp_path.glob("tsnb-*"))
    assert [one.running for one in state.restore()] == [None]
    _nothing_is_left(tmp_path, made, interfaces)
    assert not list(tmp_path.iterdir())
