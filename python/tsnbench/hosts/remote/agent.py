"""The controller's side of an agent: orders and answers over one connection that lasts a whole campaign."""

from __future__ import annotations

import getpass
import json
import os
import platform
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from tsnbench.errors import BackendError
from tsnbench.hosts.remote import bootstrap
from tsnbench.hosts.remote.answers import AgentLost, Done, Program, Ready, Step
from tsnbench.hosts.remote.reach import CONNECT_S, Reach

PATIENCE_MS = 3_000
"""How long a host waits for a beat before it undoes everything."""
BEAT_S = 0.7
READY_S = 60
"""Time limit of the first answer: the link may be slow, and the program has some MB."""
LOOK_S = 0.5
PIECE = 1 << 16
CHUNK = 1 << 22
KEPT = frozenset({"plan.json", "ptp4l.conf", "phc2sys.conf"})
"""Files of the work folder that belong to more than one run."""


class Agent:
    """The conversation with one host."""

    def __init__(
        self,
        name: str,
        way: Reach,
        *,
        program: Path,
        owner: str = "",
        machine: str = "",
        folder: str = "",
    ) -> None:
        self.name = name
        self._folder = folder
        """The folder for the work folder; empty: any folder with enough space."""
        self.log: list[dict[str, Any]] = []
        """Every command, with its exit code and the host's time."""
        self.programs: dict[str, Program] = {}
        self.restored: dict[str, Any] | None = None
        self.program_path = ""
        """Path of the live program on the host, once it is there."""
        self.work = ""
        """The host's work folder."""
        self._way = way
        self._owner = owner or f"{getpass.getuser()} at {socket.gethostname()}"
        """The name that other controllers of the host get."""
        self._program, self._machine = program, machine or platform.machine()
        self._answers: dict[int, Future[tuple[dict[str, Any], bytes]]] = {}
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._count = 0
        self._lost = ""
        self._ahead_ns = (0, 0)
        self._moved = 0.0
        """When the last piece of the program was sent."""
        self._orders = 0
        """Number of orders, without beats, that the host has not answered; it answers a beat after them."""
        self._closing = threading.Event()
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115 - as long as the agent
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> Ready:
        """Connects, sends the program, and reserves the host.

        Raises:
            BackendError: the host cannot be reached or used, or another controller has it.
        """
        octets = self._program.read_bytes()
        words = bootstrap.words(
            len(octets), self._machine, self._owner, PATIENCE_MS, self._way.scope, self._folder
        )
        self._process = subprocess.Popen(
            self._way.command(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Ctrl-C must reach only the controller.
            start_new_session=True,
        )
        began: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._listen, args=(octets, began), daemon=True).start()
        told = self._first_word(began)
        if told.get("event") == "held":
            since = max(0, round((told["now_ns"] - told["since_ns"]) / 1e9))
            self._end()
            raise BackendError(
                f"{self.name}: {told['owner']} has had this host for {since} s\n"
                "hint: wait until that run is over; a host that nobody works with is free within seconds"
            )
        if told.get("event") != "ready":
            raise BackendError(f"{self.name}: {self._why()}")
        threading.Thread(target=self._beat, daemon=True).start()
        first = self.measure_clock()
        self.program_path, self.work = told["program"], told["work"]
        return Ready(
            work=told["work"],
            program=told["program"],
            kernel=told["kernel"],
            machine=told["machine"],
            hostname=told["hostname"],
            boot=told["boot"],
            ssh=told["ssh"],
            tai_minus_utc_s=told["tai_minus_utc_s"],
            ahead_ns=first,
            left=told["left"],
            not_undone=tuple(told["not_undone"]),
        )

    def _first_word(self, began: queue.Queue[dict[str, Any]]) -> dict[str, Any]:
        """The host's first answer; a slow link is no error as long as the program is being sent."""
        self._moved = time.monotonic()
        while True:
            try:
                return began.get(timeout=LOOK_S)
            except queue.Empty:
                if time.monotonic() - self._moved > READY_S + CONNECT_S:
                    self._fail("has not answered")
                    raise BackendError(
                        f"{self.name}: has not answered after {READY_S + CONNECT_S} s"
                    ) from None

    def restore_leftovers(self) -> int:
        """Undoes the steps of a killed agent on the host; returns their number.

        Raises:
            BackendError: the host cannot be reached, another controller uses it, or a step cannot be undone.
        """
        ready = self.open()
        failed = [*ready.not_undone, *self.restore()]
        if failed:
            listed = "\n".join(f"  {one}" for one in failed)
            raise BackendError(f"{self.name}: not everything could be undone:\n{listed}")
        return ready.left

    def measure_clock(self, within_s: float = READY_S) -> tuple[int, int]:
        """The least and the greatest possible offset of the host's clock from this machine's; the measurement
        also serves as a beat."""
        before = time.clock_gettime_ns(time.CLOCK_TAI)
        told, _ = self._ask({"do": "beat"}, within_s=within_s)
        after = time.clock_gettime_ns(time.CLOCK_TAI)
        self._ahead_ns = int(told["now_ns"]) - after, int(told["now_ns"]) - before
        return self._ahead_ns

    def now_ns(self) -> int:
        """An upper bound of TAI on the host's clock, from the last beat."""
        return time.clock_gettime_ns(time.CLOCK_TAI) + self._ahead_ns[1]

    def steps(self, steps: Sequence[Step]) -> list[Done]:
        """Runs commands in sequence until one fails; returns the commands that were run.

        Raises:
            AgentLost: the connection is lost.
        """
        if not steps:
            return []
        orders = [
            {
                "argv": one.argv,
                "stdin": one.stdin,
                "undo": one.undo,
                "may_fail": one.may_fail,
                "limit_ms": one.limit_ms,
            }
            for one in steps
        ]
        limit_s = sum(one.limit_ms for one in steps) / 1e3
        told, body = self._ask({"do": "steps", "steps": orders}, within_s=limit_s + READY_S)
        found, at = [], 0
        for step, one in zip(steps, told["done"], strict=False):
            middle, end = at + one["out"], at + one["out"] + one["err"]
            out, err = (part.decode(errors="replace") for part in (body[at:middle], body[middle:end]))
            at = end
            found.append(Done(step, one["code"], out, err, one["begun_ns"], one["ended_ns"]))
            self.log.append(
                {
                    "at_ns": one["begun_ns"],
                    "took_ns": one["ended_ns"] - one["begun_ns"],
                    "argv": list(step.argv),
                    **({"stdin": step.stdin} if step.stdin else {}),
                    "code": one["code"],
                    **({"said": err[-400:]} if err and one["code"] else {}),
                }
            )
        return found

    def start(self, name: str, argv: Sequence[str]) -> Program:
        """Starts a program that runs during the conversation.

        Raises:
            BackendError: the program cannot be started.
        """
        self.programs[name] = program = Program(tuple(argv))
        self.log.append({"argv": list(argv), "name": name})
        self._ask({"do": "start", "name": name, "argv": list(argv)})
        return program

    def tell(self, name: str, line: str) -> None:
        """Writes a line to a program's standard input."""
        self._ask({"do": "tell", "name": name, "line": line})

    def signal(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """Sends a signal to a program, if it still runs."""
        if self.programs[name].code is None:
            with suppress(BackendError):
                self._ask({"do": "signal", "name": name, "signal": int(number)})

    def wait_for_line(self, name: str, word: str, until: float) -> str:
        """Waits for the first line of a program that begins with a word.

        Args:
            name: the program's name.
            word: how the line begins.
            until: a time of ``time.monotonic``.

        Raises:
            BackendError: the program ended before, or the time is over.
        """
        program = self.programs[name]

        def said() -> str | None:
            return next((line for line in program.lines if line.split(" ")[0] == word), None)

        self._wait(lambda: said() is not None or program.code is not None, until)
        line = said()
        if line is None:
            why = f"has not said {word} in time"
            if program.code is not None:
                why = f"ended with {program.code}: {program.err.strip()[-300:]}"
            raise BackendError(f"{self.name}: {name} {why}")
        return line

    def wait_for_end(self, name: str, until: float) -> Program:
        """Waits for the end of a program.

        Raises:
            BackendError: the program still runs at that time.
        """
        program = self.programs[name]
        if not self._wait(lambda: program.code is not None, until):
            raise BackendError(f"{self.name}: {name} does not end")
        return program

    def put(self, path: str, octets: bytes, *, program: bool = False) -> None:
        """Makes a file in the host's work folder."""
        self._ask({"do": "put", "path": path, "program": program}, octets)

    def get(self, path: str) -> bytes:
        """A file of the host's work folder."""
        found = bytearray()
        while True:
            told, body = self._ask({"do": "get", "path": path, "offset": len(found), "most": CHUNK})
            found += body
            if len(found) >= told["size"] or not body:
                return bytes(found)

    def files(self) -> dict[str, int]:
        """Files of the work folder with their sizes in octets."""
        return dict(self._ask({"do": "list"})[0]["files"])

    def undo(self) -> list[str]:
        """Ends programs and undoes steps; the connection stays open. Returns the steps that could not be
        undone, in words."""
        return list(self._ask({"do": "undo"})[0]["failed"])

    def restore(self) -> list[str]:
        """Undoes everything and ends the connection; safe to repeat. Returns the steps that could not be
        undone, in words."""
        if self._process is None:
            return []
        if not self._lost:
            with suppress(BackendError):
                told, _ = self._ask({"do": "restore"}, within_s=READY_S)
                self.restored = told
        self._end()
        return list((self.restored or {}).get("failed", []))

    def path(self, word: str) -> str:
        """A word of a command in the host's form: ``PROGRAM`` is replaced by the live program there."""
        return self.program_path if word == "PROGRAM" else word

    def runs(self, name: str) -> bool:
        """Whether a program was started and has not ended."""
        return name in self.programs and self.programs[name].code is None

    def clear(self, names: Iterable[str]) -> None:
        """Removes the results of programs with these names from an earlier run, also files of the work
        folder."""
        for name in names:
            self.programs.pop(name, None)
        running = {f"{name}.err" for name, one in self.programs.items() if one.code is None}
        old = [name for name in self.files() if name not in running and name not in KEPT]
        if old:
            self.steps([Step(("rm", "-f", "--", *old))])

    @property
    def lost(self) -> str:
        """Why the connection is lost; empty while it is open."""
        return self._lost

    def _ask(
        self, order: dict[str, Any], body: bytes = b"", within_s: float = READY_S
    ) -> tuple[dict[str, Any], bytes]:
        with self._writing:
            self._count += 1
            number = self._count
        answer: Future[tuple[dict[str, Any], bytes]] = Future()
        with self._changed:
            if self._lost:
                raise AgentLost(f"{self.name}: {self._lost}")
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

    def _write(self, header: dict[str, Any], body: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with self._writing:
            try:
                self._process.stdin.write(json.dumps(header).encode() + b"\n" + body)
                self._process.stdin.flush()
            except (OSError, ValueError):
                self._fail("the connection is gone")
                raise AgentLost(f"{self.name}: {self._lost}") from None

    def _beat(self) -> None:
        while not self._closing.wait(BEAT_S):
            try:
                self.measure_clock(within_s=PATIENCE_MS / 1e3 * 2)
            except BackendError:
                if self._closing.is_set() or self._lost:
                    return
                if self._orders:
                    continue  # each has a limit of its own
                self._fail("does not answer any more")
                return

    def _listen(self, octets: bytes, began: queue.Queue[dict[str, Any]]) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        source = process.stdout
        try:
            for line in source:
                if line.strip() == bootstrap.GIVE:
                    self._give(process, octets)
                    continue
                if not line.startswith(b"{"):
                    continue  # what a login says
                told = json.loads(line)
                body = source.read(told.get("body", 0))
                self._heard(told, body, began)
        except (OSError, ValueError):
            pass
        self._fail("the connection is gone")
        began.put({})

    def _give(self, process: subprocess.Popen[bytes], octets: bytes) -> None:
        """Sends the program, piece by piece."""
        assert process.stdin is not None
        with self._writing, suppress(OSError):
            for start in range(0, len(octets), PIECE):
                process.stdin.write(octets[start : start + PIECE])
                process.stdin.flush()
                self._moved = time.monotonic()

    def _heard(self, told: dict[str, Any], body: bytes, began: queue.Queue[dict[str, Any]]) -> None:
        event = told.get("event")
        if event in ("ready", "held"):
            began.put(told)
        elif "id" in told:
            with self._changed:
                answer = self._answers.pop(told["id"], None)
            if answer is not None:
                answer.set_result((told, body))
        elif event == "restored":
            self.restored = told
        elif event in ("said", "ended"):
            with self._changed:
                program = self.programs.get(told["name"])
                if program is not None and event == "said":
                    program.lines.append(told["line"])
                elif program is not None:
                    program.err, program.code = told["err"], told["code"]
                self._changed.notify_all()

    def _wait(self, over: Any, until: float) -> bool:
        with self._changed:
            while not over():
                if self._lost:
                    raise AgentLost(f"{self.name}: {self._lost}")
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def _fail(self, why: str) -> None:
        with self._changed:
            if not self._lost:
                self._lost = why
            waiting, self._answers = list(self._answers.values()), {}
            self._changed.notify_all()
        for answer in waiting:
            if not answer.done():
                answer.set_exception(AgentLost(f"{self.name}: {self._lost}"))

    def _why(self) -> str:
        """Why there is no agent."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        code = self._process.returncode or 0
        self._errors.seek(0)
        said = self._errors.read(1 << 16).decode(errors="replace")
        self._end()
        return (
            bootstrap.explain(code, said)
            or self._way.explain(code, said)
            or f"no agent could be started (exit code {code}): {said.strip()[-300:]}\n"
            "hint: it takes a POSIX shell and root there"
        )

    def _end(self) -> None:
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


def run_all(agents: Iterable[Agent], work: Any) -> list[Any]:
    """Calls ``work`` for all hosts at once; the first error is raised after all calls are done."""
    from concurrent.futures import ThreadPoolExecutor

    chosen = list(agents)
    with ThreadPoolExecutor(max_workers=max(1, len(chosen))) as pool:
        waiting = [pool.submit(work, agent) for agent in chosen]
    return [one.result() for one in waiting]
