"""Hosts that are emulated machines (``make lab``): they crash, stand still, and have clocks of their own.

Three emulated machines take minutes, so these tests do not belong to ``make test``. Each test needs hosts
with kernels of their own; all other properties of a run are tested in the other labs.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import command
from support.planned import document_of
from tsnbench.hosts import lab
from tsnbench.hosts.lab import Kind, guests, record
from tsnbench.runs import Run

from .conftest import SSHD, InLab, attempts, ran

SCENARIO = """\
name: apart
duration: 200 ms
network:
  stations: [a, b]
  bridges: [s]
  links: {rate: 100 Mbit/s, between: [a -- s, s -- b]}
streams: {x: {from: a, to: b, payload: 1000 B, period: 4 ms, pcp: 3}}
"""
PTP = "clocks: {gptp: {grandmaster: a}}\n"
SET_TAI = """\
#include <stdlib.h>
#include <sys/timex.h>

int main(int count, char **words)
{
    struct timex told = {.modes = ADJ_TAI, .constant = count > 1 ? atoi(words[1]) : 0};
    return adjtimex(&told) < 0;
}
"""
"""A program that sets how far TAI is ahead of UTC. No program of the guests does this without ptp4l."""
TOO_LONG_S = 400
STATE = "; ".join(
    (
        "ip -d -o link | sed 's/ qlen [0-9]*//; s/ qdisc [a-z_]*//; s/ state [A-Z]*//'",
        # The kernel gives an interface its default discipline when the interface is up for the first time.
        "tc qdisc show | grep -v -E 'noqueue|fq_codel 0:'",
        "ip -o -4 addr",
        "ls -A /tmp /root /run",
        # Threads of the kernel have no program; the others are those of the login and of this command.
        "for one in /proc/[0-9]*/exe; do readlink $one; done | grep -v -E '/(busybox|dash|sshd|ip|tc)$'",
        "true",
    )
)
"""What a run may change on a host, as the host's own tools print it."""


class Rig(InLab):
    """A running lab."""

    def __init__(self, text: str, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.scenario = folder / "apart.yaml"
        self.scenario.write_text(text)
        plan = document_of(text)
        super().__init__(lab.up(plan, folder / "lab", SSHD, Kind.GUESTS))

    def process(self, host: str) -> int:
        """The number of a guest's process."""
        return int((self.made.folder / f"{host}.{record.PROCESS}").read_text())

    def begin(
        self, into: Path, scenario: Path | None = None, inventory: Path | None = None
    ) -> subprocess.Popen[str]:
        words = command("run", scenario or self.scenario, "--on", "hosts", "--into", into, "--no-report")
        return subprocess.Popen(
            [*words, "--hosts", str(inventory or self.made.inventory)],
            env=os.environ | {"TSNBENCH_SSH": self.made.ssh},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def other(self, name: str, *changes: tuple[str, str]) -> Path:
        """The scenario with changes, as a file."""
        text = self.scenario.read_text()
        for before, after in changes:
            assert before in text
            text = text.replace(before, after, 1)
        (self.folder / name).write_text(text)
        return self.folder / name

    def down(self) -> None:
        processes = [self.process(host) for host in "abs"]
        assert lab.down(self.made.folder)
        assert not self.made.folder.exists()
        until = time.monotonic() + 10
        while any(Path(f"/proc/{one}").exists() for one in processes):
            assert time.monotonic() < until


def made(folder: Path) -> Iterator[Rig]:
    if why := guests.missing(SSHD):
        pytest.skip(why)
    rig = Rig(SCENARIO, folder)
    try:
        yield rig
    finally:
        rig.down()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One lab for all tests after which all hosts still run."""
    yield from made(tmp_path_factory.mktemp("guests") / "rig")


@pytest.fixture
def own_rig(tmp_path: Path) -> Iterator[Rig]:
    """A lab for one test, which may crash its hosts."""
    yield from made(tmp_path / "rig")


@pytest.fixture
def unchanged(rig: Rig) -> Iterator[None]:
    before = {host: rig.says(host, STATE) for host in "abs"}
    yield
    assert {host: rig.says(host, STATE) for host in "abs"} == before


def tried_in(into: Path) -> list[tuple[str | None, bool]]:
    return [(one.get("host"), one["valid"]) for one in attempts(into)]


def test_hosts_have_kernels_and_clocks_of_their_own(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    assert len({rig.says(host, "cat /proc/sys/kernel/random/boot_id") for host in "abs"}) == 3
    process = rig.begin(tmp_path / "run")
    said, _ = process.communicate(timeout=TOO_LONG_S)
    assert ran(process), said
    run = Run.open(tmp_path / "run")
    (stream,) = run.counters["streams"]
    assert (stream["released"], stream["dropped_in_network"], stream["delivered"]) == (50, 0, {"b": 50})
    assert run.frames().height == 50
    told = run.manifest["host"]
    assert told["clock"] == "every host's clock runs free"
    assert "x: its delays compare clocks that are not synchronised" in told["notes"]


def test_a_requirement_of_clocks_that_run_free_is_refused(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    judged = rig.other("judged.yaml", ("pcp: 3", "pcp: 3, requires: {delay: 20 ms}"))
    process = rig.begin(tmp_path / "run", judged)
    said, _ = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 2, said
    assert "two clocks that are not synchronised" in said


def test_clocks_that_are_far_apart_are_refused(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    """One host is an hour ahead: a common start would be an hour away for the others."""
    rig.says("b", 'date -s "@$(($(date +%s) + 3600))"')
    try:
        process = rig.begin(tmp_path / "run")
        said, _ = process.communicate(timeout=TOO_LONG_S)
    finally:
        rig.says("b", 'date -s "@$(($(date +%s) - 3600))"')
    assert process.returncode == 3, said
    assert re.search(r"clocks of the hosts are too far apart: b is (3599|360\d)\.\d s ahead of [as]", said)


def test_hosts_whose_tai_differs_are_refused(rig: Rig, tmp_path: Path, unchanged: None) -> None:
    """The kernel of one host knows how far TAI is ahead of UTC; the other kernels do not."""
    (tmp_path / "tai.c").write_text(SET_TAI)
    program = tmp_path / "tai"
    subprocess.run(["gcc", "-static", "-o", program, tmp_path / "tai.c"], check=True, timeout=60)
    words = [*rig.made.ssh.split(), "b", "cat >/tmp/tai && chmod +x /tmp/tai"]
    with program.open("rb") as octets:
        subprocess.run(words, stdin=octets, check=True, timeout=60)
    rig.says("b", "/tmp/tai 37")
    try:
        process = rig.begin(tmp_path / "run")
        said, _ = process.communicate(timeout=TOO_LONG_S)
    finally:
        rig.says("b", "/tmp/tai 0; rm /tmp/tai")
    assert process.returncode == 3, said
    assert "hosts differ in how far TAI is ahead of UTC: a 0 s, b 37 s, s 0 s" in said
    # The refusal comes before anything is configured.
    assert not (tmp_path / "run/hosts").exists()


def test_a_host_that_stands_still_rejects_the_attempt_and_the_next_one_is_valid(
    rig: Rig, tmp_path: Path, unchanged: None
) -> None:
    """No beat reaches the host for six seconds. When the host goes on, its agent undoes everything."""
    process = rig.begin(tmp_path / "run", rig.other("longer.yaml", ("200 ms", "20 s")))
    rig.until_it_talks(process, TOO_LONG_S)
    time.sleep(1)
    os.kill(rig.process("b"), signal.SIGSTOP)
    time.sleep(6)
    os.kill(rig.process("b"), signal.SIGCONT)
    said, _ = process.communicate(timeout=TOO_LONG_S)
    assert ran(process), said
    tried = tried_in(tmp_path / "run")
    assert tried[0] == ("b", False)
    assert tried[-1][1]
    assert Run.open(tmp_path / "run").frames().height == 5000


def test_clocks_that_are_not_synchronised_well_enough_give_no_measurement(
    rig: Rig, tmp_path: Path, unchanged: None
) -> None:
    """With software stamps in emulated machines clocks are milliseconds apart, not within 100 ns for 2 s."""
    strict = tmp_path / "strict.yaml"
    text = rig.made.inventory.read_text().replace("clock: none", "clock: software")
    sync = "sync: {below: 100 ns, attempts: 2, pause: 1 s, steady: 2 s, within: 20 s}\n"
    strict.write_text(text[: text.index("sync:")] + sync)
    synchronised = rig.folder / "ptp.yaml"
    synchronised.write_text(SCENARIO + PTP)
    process = rig.begin(tmp_path / "run", synchronised, strict)
    said, _ = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 3, said
    assert "clocks were not synchronised within 20 s" in said
    assert [valid for _, valid in tried_in(tmp_path / "run")] == [False, False]
    assert not (tmp_path / "run/observations.parquet").exists()


def test_a_host_that_crashes_is_named_and_the_others_are_as_before(own_rig: Rig, tmp_path: Path) -> None:
    """On a busy machine another host may answer too late in one of the attempts, and is then named there."""
    before = {host: own_rig.says(host, STATE) for host in "ab"}
    process = own_rig.begin(tmp_path / "run", own_rig.other("longer.yaml", ("200 ms", "20 s")))
    own_rig.until_it_talks(process, TOO_LONG_S)
    os.kill(own_rig.process("s"), signal.SIGKILL)
    said, _ = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 3, said
    assert "s: " in said
    tried = tried_in(tmp_path / "run")
    assert ("s", False) in tried
    assert not any(valid for _, valid in tried)
    assert not (tmp_path / "run/observations.parquet").exists()
    # The hosts undo everything by themselves at the latest 3 s after the last beat, in their slow time.
    until = time.monotonic() + 60
    while (after := {host: own_rig.says(host, STATE) for host in "ab"}) != before:
        assert time.monotonic() < until, after
