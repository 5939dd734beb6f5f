"""Runs that are started in the page are the same as on the command line, and end with the server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.commands import tsnbench
from tsnbench.ui.jobs import MOST_AT_ONCE, BusyError, Jobs
from ui.conftest import LONG, SCENARIO, Server


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """The value of the condition as soon as it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it does not happen")


def jobs_of(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(server.ask("GET", "/api/jobs")[2])
    return found


def started(server: Server, name: str = "two.yaml") -> dict[str, Any]:
    status, _, content = server.ask("POST", f"/api/run/{name}", b"")
    assert status == 201, content
    found: dict[str, Any] = json.loads(content)
    return found


def ended(server: Server, number: int) -> dict[str, Any]:
    def look() -> Any:
        return next(job for job in jobs_of(server) if job["job"] == number and job["state"] == "ended")

    return until(
        lambda: any(job["job"] == number and job["state"] == "ended" for job in jobs_of(server)) and look()
    )


def under_way(server: Server, number: int) -> bool:
    return any(job["job"] == number and job["progress"].get("ns", 0) > 0 for job in jobs_of(server))


def state(folder: Path) -> str:
    found: str = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["state"]
    return found


def test_a_run_is_the_same_as_on_the_command_line(server: Server) -> None:
    (server.folder / "two.yaml").write_text(SCENARIO.replace("500 us}", "500 us, requires: {delay: 1 ms}}"))
    begun = started(server)
    assert begun["command"] == "tsnbench run --keep-runs two.yaml"
    job = ended(server, begun["job"])
    assert (job["code"], job["state"]) == (0, "ended")
    folder = server.folder / "runs/two"
    assert f"run folder: {Path('runs/two')}" in job["words"]
    words = begun["command"].split()[1:]
    again = tsnbench(*words, cwd=server.folder)
    assert job["verdict"] == again.stdout.splitlines()[-1]
    for name in ("plan.json", "observations.parquet", "measures.json", "verdict.json"):
        assert (folder / name).read_bytes() == (server.folder / "runs/two-2" / name).read_bytes()


def test_a_run_that_is_stopped_is_interrupted_and_another_is_kept(server: Server) -> None:
    (server.folder / "two.yaml").write_text(LONG.replace("name: two", "name: long"))
    first = started(server)["job"]
    until(lambda: under_way(server, first))
    assert server.ask("POST", f"/api/stop/{first}", b"")[0] == 204
    job = ended(server, first)
    assert job["code"] == 130
    assert "interrupted" in job["words"]
    assert state(server.folder / "runs/long") == "interrupted"
    octets = (server.folder / "runs/long/plan.json").read_bytes()
    second = started(server)["job"]
    until(lambda: under_way(server, second))
    server.ask("POST", f"/api/stop/{second}", b"")
    ended(server, second)
    assert (server.folder / "runs/long/plan.json").read_bytes() == octets
    assert state(server.folder / "runs/long-2") == "interrupted"


def test_a_mistake_is_told_with_its_place(server: Server) -> None:
    (server.folder / "two.yaml").write_text(SCENARIO.replace("to: two", "to: tow"))
    job = ended(server, started(server)["job"])
    assert job["code"] == 2
    assert "two.yaml:9:" in job["words"]
    assert job["verdict"] == ""


def test_only_scenarios_of_the_folder_are_run(server: Server) -> None:
    for name in (
        "../secret.yaml",
        "%2e%2e/secret.yaml",
        "link.yaml",
        "away/secret.yaml",
        "notes.txt",
        "none.yaml",
    ):
        assert server.ask("POST", f"/api/run/{name}", b"")[0] == 404
    assert server.ask("GET", "/api/run/two.yaml")[0] == 405
    assert server.ask("GET", "/api/stop/1")[0] == 405
    assert server.ask("POST", "/api/stop/99999", b"")[0] == 404


@pytest.mark.parametrize("path", ["/api/run/two.yaml", "/api/stop/1"])
def test_another_origin_starts_and_stops_nothing(server: Server, path: str) -> None:
    before = len(jobs_of(server))
    for origin in ("http://evil.example", "null", ""):
        assert server.ask("POST", path, b"", origin=origin)[0] == 403
    assert server.ask("POST", path, b"", known=False)[0] == 403
    assert len(jobs_of(server)) == before


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """SIGINT has a handler, as in a server, also where a shell starts the tests in the background.

    A child inherits that a signal is ignored, and would not be stopped before it has begun.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).write_text(LONG)
    return tmp_path


NAMES = ("-dash.yaml", "a b.yaml", "it's.yaml")


def test_names_as_options_and_with_spaces_are_names(folder: Path) -> None:
    jobs = Jobs(folder)
    for name in NAMES:
        jobs.start(name)
    until(lambda: all(job["progress"].get("ns") for job in jobs.told()))
    assert [job["command"] for job in jobs.told()] == [
        "tsnbench run --keep-runs 'it'\"'\"'s.yaml'",
        "tsnbench run --keep-runs 'a b.yaml'",
        "tsnbench run --keep-runs ./-dash.yaml",
    ]
    jobs.close()
    assert {job["code"] for job in jobs.told()} == {130}
    assert [state(path) for path in (folder / "runs").iterdir()] == ["interrupted"] * len(NAMES)


def test_a_run_that_is_stopped_at_once_is_stopped_without_a_traceback(folder: Path) -> None:
    jobs = Jobs(folder)
    # From before Python has begun to the middle of its imports.
    for ms in (0, 30, 100, 300):
        begun = jobs.start("a b.yaml")
        time.sleep(ms / 1000)
        jobs.stop(begun["job"])
        until(lambda: all(job["state"] == "ended" for job in jobs.told()))
        job = jobs.told()[0]
        assert (job["code"], "Traceback" in job["words"]) == (130, False), ms
    assert not [path for path in folder.rglob("manifest.json") if state(path.parent) != "interrupted"]


def test_a_sweep_that_is_stopped_makes_no_further_run(folder: Path) -> None:
    periods = ", ".join(f"{500 + number} us" for number in range(16))
    (folder / "many.yaml").write_text(SCENARIO.replace("period: 500 us", f"period: [{periods}]"))
    jobs = Jobs(folder)
    begun = jobs.start("many.yaml")
    until(lambda: jobs.told()[0]["progress"].get("done", 0) >= 1)
    jobs.stop(begun["job"])
    until(lambda: jobs.told()[0]["state"] == "ended")
    assert jobs.told()[0]["code"] == 130
    made = [path for path in folder.rglob("manifest.json") if state(path.parent) == "complete"]
    assert 1 <= len(made) < 12


def test_the_number_of_runs_at_once_is_limited(folder: Path) -> None:
    jobs = Jobs(folder)
    try:
        for _ in range(MOST_AT_ONCE):
            jobs.start("a b.yaml")
        with pytest.raises(BusyError):
            jobs.start("a b.yaml")
        assert len(jobs.told()) == MOST_AT_ONCE
    finally:
        jobs.close()


def test_jobs_that_have_ended_stay_listed_and_the_oldest_go(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tsnbench.ui.jobs.MOST_LISTED", 2)
    (folder / "wrong.yaml").write_text("network: 1\n")
    jobs = Jobs(folder)
    for _ in range(4):
        jobs.start("wrong.yaml")
        until(lambda: all(job["state"] == "ended" for job in jobs.told()))
    assert [job["job"] for job in jobs.told()] == [4, 3]
    assert not jobs.stop(1)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_runs_end_with_the_server(folder: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "tsnbench", "ui", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        port, token = address.split(":")[2].split("/")[0], address.split("token=")[1]
        server = Server(folder, address, int(port), token)
        job = started(server, "a%20b.yaml")["job"]
        try:
            until(lambda: under_way(server, job))
            process.send_signal(how)
            process.wait(20)
        finally:
            process.kill()
    run = folder / "runs/two"
    until(lambda: state(run) == "interrupted", 20)
    until(lambda: not [one for one in Path("/proc").glob("[0-9]*") if _in(one, folder)], 20)


def _in(process: Path, folder: Path) -> bool:
    """Whether this process runs in the folder."""
    try:
        return os.readlink(process / "cwd") == str(folder) and " Z " not in (process / "stat").read_text()
    except OSError:
        return False
