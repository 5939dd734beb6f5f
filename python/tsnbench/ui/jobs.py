"""Runs that the page has started: each is a ``tsnbench run`` of its own, as in a terminal.

The state of a run is its folder; what is kept here is lost with the server, and the runs end with it.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from tsnbench.foreign import Json
from tsnbench.ui.places import ALONE, HOSTS, Place, argument

SIMULATED = Place()
MOST_AT_ONCE = 4
STOPPED = 130
MOST_LISTED = 50
"""Jobs that have ended stay listed; the oldest go first."""
MOST_WORDS = 2000
"""Characters of the messages of a job."""
PATIENCE_S = 10
"""How long a run has to close its folder before it is killed."""
PATIENCE_ON_HOSTS_S = 60
"""How long a run has to give hosts their earlier state back."""


class BusyError(Exception):
    """Other runs are active; the message names the reason."""


class Told(TypedDict):
    """The data of a job that the page shows."""

    job: int
    scenario: str
    on: str
    """Where it runs: the word behind ``--on``."""
    seconds: int
    """The time since its start, or its whole time."""
    command: str
    """What starts the same run in a terminal, in the opened folder."""
    state: str
    """``running``, ``stopping`` or ``ended``."""
    progress: Json
    """The last line of ``--progress json``."""
    verdict: str
    """The last line on stdout."""
    words: str
    """Messages on stderr: warnings, mistakes, and the run folder."""
    code: int | None
    """Exit code, as in a terminal: 0 met, 1 a requirement failed, 2 and 3 mistakes, 130 stopped."""


class Job:
    """One child process, and two threads that read its output."""

    def __init__(self, number: int, folder: Path, scenario: str, place: Place) -> None:
        self.number = number
        self.scenario = scenario
        self.place = place
        self.stopping = False
        self._began = time.monotonic()
        self._ended: float | None = None
        self._progress: Json = {}
        self._words: deque[str] = deque(maxlen=MOST_WORDS)
        self._verdict = ""
        options = ["--keep-runs", "--progress", "json", "--until-closed", *place.words()]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tsnbench", "run", *options, argument(scenario)],
            cwd=folder,
            # The child ends when this pipe is closed: also if the server is killed.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C in the server's terminal reaches the server alone.
            start_new_session=True,
        )
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    @property
    def running(self) -> bool:
        return self.process.poll() is None or any(thread.is_alive() for thread in self._threads)

    @property
    def patience_s(self) -> int:
        """The time limit to end after a stop."""
        return PATIENCE_ON_HOSTS_S if self.place.on == HOSTS else PATIENCE_S

    def stop(self) -> None:
        """Ends the run as Ctrl-C does: its folder is marked as interrupted.

        A second signal would interrupt the restoration of the machine's earlier state.
        """
        if self.stopping:
            return
        self.stopping = True
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)

    def read_out(self) -> None:
        """Waits until all output of the ended process is read; until then it counts as running."""
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def told(self) -> Told:
        """The present state and progress of the job."""
        running = self.running
        if not running and self._ended is None:
            self._ended = time.monotonic()
        words = ["tsnbench", "run", "--keep-runs", *self.place.words(), argument(self.scenario)]
        # A signal before the command has begun ends Python itself, with a traceback of its imports.
        said = "".join(self._words).strip()
        killed = self.process.returncode == -signal.SIGINT or "Traceback (most recent call last)" in said
        early = not running and self.stopping and killed
        return {
            "job": self.number,
            "scenario": self.scenario,
            "on": self.place.on,
            "seconds": int((self._ended or time.monotonic()) - self._began),
            "command": shlex.join(words),
            "state": "ended" if not running else "stopping" if self.stopping else "running",
            "progress": self._progress,
            "verdict": self._verdict,
            "words": "" if early else said,
            "code": None if running else STOPPED if early else self.process.returncode,
        }

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            self._verdict = text.strip()[:MOST_WORDS] or self._verdict

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for text in self.process.stderr:
            content: object = None
            if text.startswith("{"):
                with suppress(ValueError):
                    content = json.loads(text)
            if isinstance(content, dict):
                self._progress = content
            else:
                self._words.extend(text)


class Jobs:
    """All jobs of a server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs: dict[int, Job] = {}
        self._last = 0
        self._lock = threading.Lock()

    def start(self, scenario: str, place: Place = SIMULATED) -> Told:
        """Starts a run of a scenario of the folder.

        Raises:
            BusyError: too many are running, or one that must be alone.
            OSError: no process could be started.
        """
        with self._lock:
            _refuse_busy([job for job in self._jobs.values() if job.running], place)
            self._last += 1
            job = self._jobs[self._last] = Job(self._last, self._folder, scenario, place)
            ended = [number for number, one in self._jobs.items() if not one.running]
            for number in ended[: max(0, len(self._jobs) - MOST_LISTED)]:
                del self._jobs[number]
        return job.told()

    def stop(self, number: int) -> bool:
        """Stops a job; returns whether there is a job with this number."""
        with self._lock:
            job = self._jobs.get(number)
        if job is None:
            return False
        job.stop()
        return True

    def told(self) -> list[Told]:
        """The data of all jobs, the latest first."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job.told() for job in reversed(jobs)]

    def close(self) -> None:
        """Stops all jobs and waits for them."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.running]
        for job in jobs:
            job.stop()
        for job in jobs:
            with suppress(subprocess.TimeoutExpired):
                job.process.wait(job.patience_s)
            if job.process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(job.process.pid, signal.SIGKILL)
                job.process.wait()
            job.read_out()


def _refuse_busy(active: list[Job], place: Place) -> None:
    """Raises BusyError if a run at this place cannot begin beside the active ones."""
    if len(active) >= MOST_AT_ONCE:
        raise BusyError(f"{MOST_AT_ONCE} runs are running; stop one or wait")
    if alone := next((job for job in active if job.place.on in ALONE), None):
        raise BusyError(f"a run on {alone.place.on} is running, and another one would disturb its delays")
    if active and place.on in ALONE:
        raise BusyError(f"a run on {place.on} must be alone, and others are running; stop them or wait")
