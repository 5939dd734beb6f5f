"""Runs that the page has started: each is a ``tsnbench run`` of its own, as in a terminal.

The state of a run is its folder; what is kept here is lost with the server, and the runs end with it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

MOST_AT_ONCE = 4
MOST_LISTED = 50
"""Jobs that have ended stay listed; the oldest go first."""
MOST_WORDS = 2000
"""Characters of the messages of a job."""
PATIENCE_S = 10
"""How long a run has to close its folder before it is killed."""


class BusyError(Exception):
    """The greatest number of simultaneous runs is reached."""


class Told(TypedDict):
    """The data of a job that the page shows."""

    job: int
    scenario: str
    command: str
    """What starts the same run in a terminal, in the opened folder."""
    state: str
    """``running``, ``stopping`` or ``ended``."""
    progress: dict[str, Any]
    """The last line of ``--progress json``."""
    verdict: str
    """The last line on stdout."""
    words: str
    """Messages on stderr: warnings, mistakes, and the run folder."""
    code: int | None
    """Exit code, as in a terminal: 0 met, 1 a requirement failed, 2 and 3 mistakes, 130 stopped."""


class Job:
    """One child process, and two threads that read its output."""

    def __init__(self, number: int, folder: Path, scenario: str) -> None:
        self.number = number
        self.scenario = scenario
        self.stopping = False
        self._progress: dict[str, Any] = {}
        self._words: deque[str] = deque(maxlen=MOST_WORDS)
        self._verdict = ""
        # A file's name may begin with a dash.
        words = ["run", "--keep-runs", "--progress", "json", "--until-closed", "--", scenario]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tsnbench", *words],
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

    def stop(self) -> None:
        """Ends the run as Ctrl-C does: its folder is marked as interrupted."""
        self.stopping = True
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)

    def told(self) -> Told:
        """The present state and progress of the job."""
        running = self.running
        return {
            "job": self.number,
            "scenario": self.scenario,
            "command": f"tsnbench run --keep-runs {quoted(self.scenario)}",
            "state": "ended" if not running else "stopping" if self.stopping else "running",
            "progress": self._progress,
            "verdict": self._verdict,
            "words": "".join(self._words).strip(),
            "code": None if running else self.process.returncode,
        }

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            self._verdict = text.strip()[:MOST_WORDS] or self._verdict

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for text in self.process.stderr:
            content: Any = None
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

    def start(self, scenario: str) -> Told:
        """Starts a run of a scenario of the folder.

        Raises:
            BusyError: too many are running.
            OSError: no process could be started.
        """
        with self._lock:
            if sum(job.running for job in self._jobs.values()) >= MOST_AT_ONCE:
                raise BusyError
            self._last += 1
            job = self._jobs[self._last] = Job(self._last, self._folder, scenario)
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
                job.process.wait(PATIENCE_S)
            if job.process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(job.process.pid, signal.SIGKILL)
                job.process.wait()


def quoted(name: str) -> str:
    """A file name as a shell needs it."""
    import shlex

    return shlex.quote(f"./{name}" if name.startswith("-") else name)
