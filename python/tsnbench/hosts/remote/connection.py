"""The connection to an agent: messages over one process, beats, and the answers to orders."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Any

from tsnbench.errors import BackendError
from tsnbench.foreign import Json
from tsnbench.hosts.remote import bootstrap
from tsnbench.hosts.remote.answers import AgentLost
from tsnbench.hosts.remote.reach import CONNECT_S, Reach

PATIENCE_MS = 3_000
"""How long a host waits for a beat before it undoes everything."""
BEAT_S = 0.7
READY_S = 60
"""Time limit of the first answer: the link may be slow, and the program has some MB."""
LOOK_S = 0.5
PIECE = 1 << 16


class Connection:
    """One process of ssh, or of another way, with an agent at its other end."""

    def __init__(self, name: str, way: Reach, on_event: Callable[[Json], None]) -> None:
        self.name = name
        self.lost = ""
        """Why the connection is lost; empty while it is open."""
        self._way, self._on_event = way, on_event
        self._answers: dict[int, Future[tuple[Json, bytes]]] = {}
        self._words: queue.Queue[Json] = queue.Queue()
        """Messages from before the first order; an empty one at the end."""
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._count = 0
        self._ahead_ns = (0, 0)
        self._moved = 0.0
        """When the last piece of the program was sent."""
        self._orders = 0
        """Number of orders, without beats, that the host has not answered; it answers a beat after them."""
        self._closing = threading.Event()
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115 - as long as the agent
        self._process: subprocess.Popen[bytes] | None = None

    def open(self, words: list[str], program: bytes) -> Json:
        """Starts the command ``words`` and sends the program; returns ``{"event": "stored"}`` once the host
        has it.

        Raises:
            BackendError: there is no answer in time.
        """
        self._process = subprocess.Popen(
            self._way.command(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Ctrl-C must reach only the controller.
            start_new_session=True,
        )
        threading.Thread(target=self._listen, args=(program,), daemon=True).start()
        return self._next_word()

    def begin(self) -> Json:
        """Starts the agent, which reserves the host; returns its first message.

        Raises:
            BackendError: there is no answer in time.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        with self._writing, suppress(OSError, ValueError):
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        return self._next_word()

    def keep_alive(self) -> None:
        """Begins to send beats, without which the host undoes everything."""
        threading.Thread(target=self._beat, daemon=True).start()

    @property
    def is_open(self) -> bool:
        """Whether the connection was opened and has not ended."""
        return self._process is not None

    def measure_clock(self, within_s: float = READY_S) -> tuple[int, int]:
        """The least and the greatest possible offset of the host's clock from this machine's; the measurement
        also serves as a beat."""
        before = time.clock_gettime_ns(time.CLOCK_TAI)
        told, _ = self.ask({"do": "beat"}, within_s=within_s)
        after = time.clock_gettime_ns(time.CLOCK_TAI)
        self._ahead_ns = int(told["now_ns"]) - after, int(told["now_ns"]) - before
        return self._ahead_ns

    def now_ns(self) -> int:
        """An upper bound of TAI on the host's clock, from the last beat."""
        return time.clock_gettime_ns(time.CLOCK_TAI) + self._ahead_ns[1]

    def _next_word(self) -> Json:
        """The host's next message that is no answer to an order; a slow link is no error as long as the
        program is being sent."""
        self._moved = time.monotonic()
        while True:
            try:
                return self._words.get(timeout=LOOK_S)
            except queue.Empty:
                if time.monotonic() - self._moved > READY_S + CONNECT_S:
                    self._fail("has not answered")
                    raise BackendError(
                        f"{self.name}: has not answered after {READY_S + CONNECT_S} s"
                    ) from None

    def ask(self, order: Json, body: bytes = b"", within_s: float = READY_S) -> tuple[Json, bytes]:
        with self._writing:
            self._count += 1
            number = self._count
        answer: Future[tuple[Json, bytes]] = Future()
        with self._changed:
            if self.lost:
                raise AgentLost(f"{self.name}: {self.lost}")
            self._answers[number] = answer
        self._write({"id": number, **order, **({"body": len(body)} if body else {})}, body)
        counted = int(order["do"] != "beat")
        with self._changed:
            self._orders += counted
        try:
            told, octets = answer.result(timeout=within_s)
        except TimeoutError:
            raise BackendError(f"{self.name}: no answer to {order['do']} in {within_s:.0f} s") from None
        finally:
            with self._changed:
                self._orders -= counted
        if "error" in told:
            raise BackendError(f"{self.name}: {order['do']} {order.get('name', '')}: {told['error']}")
        return told, octets

    def _write(self, header: Json, body: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with self._writing:
            try:
                self._process.stdin.write(json.dumps(header).encode() + b"\n" + body)
                self._process.stdin.flush()
            except (OSError, ValueError):
                self._fail("the connection is gone")
                raise AgentLost(f"{self.name}: {self.lost}") from None

    def _beat(self) -> None:
        while not self._closing.wait(BEAT_S):
            try:
                self.measure_clock(within_s=PATIENCE_MS / 1e3 * 2)
            except BackendError:
                if self._closing.is_set() or self.lost:
                    return
                if self._orders:
                    continue  # an order is pending, and each order has a time limit of its own
                self._fail("does not answer any more")
                return

    def _listen(self, octets: bytes) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        source = process.stdout
        try:
            for line in source:
                if line.strip() == bootstrap.GIVE:
                    self._give(process, octets)
                    continue
                if line.strip() == bootstrap.STORED:
                    self._words.put({"event": "stored"})
                    continue
                if not line.startswith(b"{"):
                    continue  # other output of the login
                told = json.loads(line)
                body = source.read(told.get("body", 0))
                self._heard(told, body)
        except (OSError, ValueError):
            pass
        self._fail("the connection is gone")
        self._words.put({})

    def _give(self, process: subprocess.Popen[bytes], octets: bytes) -> None:
        """Sends the program, piece by piece."""
        assert process.stdin is not None
        with self._writing, suppress(OSError):
            for start in range(0, len(octets), PIECE):
                process.stdin.write(octets[start : start + PIECE])
                process.stdin.flush()
                self._moved = time.monotonic()

    def _heard(self, told: Json, body: bytes) -> None:
        if told.get("event") in ("ready", "held"):
            self._words.put(told)
        elif "id" in told:
            with self._changed:
                answer = self._answers.pop(told["id"], None)
            if answer is not None:
                answer.set_result((told, body))
        else:
            with self._changed:
                self._on_event(told)
                self._changed.notify_all()

    def wait(self, over: Any, until: float) -> bool:
        with self._changed:
            while not over():
                if self.lost:
                    raise AgentLost(f"{self.name}: {self.lost}")
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def _fail(self, why: str) -> None:
        with self._changed:
            if not self.lost:
                self.lost = why
            waiting, self._answers = list(self._answers.values()), {}
            self._changed.notify_all()
        for answer in waiting:
            if not answer.done():
                answer.set_exception(AgentLost(f"{self.name}: {self.lost}"))

    def why(self) -> str:
        """Why there is no agent."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        code = self._process.returncode or 0
        self._errors.seek(0)
        said = self._errors.read(1 << 16).decode(errors="replace")
        self.end()
        return (
            bootstrap.explain(code, said)
            or self._way.explain(code, said)
            or f"no agent could be started (exit code {code}): {said.strip()[-300:]}\n"
            "hint: it takes a POSIX shell and root there"
        )

    def end(self) -> None:
        self._closing.set()
        process, self._process = self._process, None
        if process is None:
            return
        self._fail("the conversation is over")
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
