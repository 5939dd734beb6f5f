"""The controller's side of an agent: orders and answers over one connection that lasts a whole campaign."""

from __future__ import annotations

import getpass
import platform
import signal
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from tsnbench.errors import BackendError
from tsnbench.foreign import Json
from tsnbench.hosts.remote import bootstrap, connection
from tsnbench.hosts.remote.answers import Done, Program, Ready, Step
from tsnbench.hosts.remote.connection import READY_S, Connection
from tsnbench.hosts.remote.reach import Reach

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
        self.log: list[Json] = []
        """Every command, with its exit code and the host's time."""
        self.programs: dict[str, Program] = {}
        self.restored: Json | None = None
        self.program_path = ""
        """Path of the live program on the host, once it is there."""
        self.work = ""
        """The host's work folder."""
        self._scope = way.scope
        self.reserved = False
        """Whether the host was reserved: an agent works for us."""
        self._connection = Connection(name, way, self._on_event)
        self._owner = owner or f"{getpass.getuser()} at {socket.gethostname()}"
        """The name that other controllers of the host get."""
        self._program, self._machine = program, machine or platform.machine()

    def open(self) -> Ready:
        """Connects, sends the program, and reserves the host.

        Raises:
            BackendError: the host cannot be reached or used, or another controller has it.
        """
        self.connect()
        return self.reserve()

    def connect(self) -> None:
        """Connects and sends the program; the host is not reserved yet.

        Raises:
            BackendError: the host cannot be reached or used.
        """
        program = self._program.read_bytes()
        words = bootstrap.words(
            program, self._machine, self._owner, connection.PATIENCE_MS, self._scope, self._folder
        )
        if self._connection.open(words, program).get("event") != "stored":
            raise BackendError(f"{self.name}: {self._connection.why()}")

    def reserve(self) -> Ready:
        """Reserves a host that has the program.

        Raises:
            BackendError: another controller has the host, or its state cannot be stored.
        """
        told = self._connection.begin()
        if told.get("event") == "held":
            since = max(0, round((told["now_ns"] - told["since_ns"]) / 1e9))
            self._connection.end()
            raise BackendError(
                f"{self.name}: {told['owner']} has had this host for {since} s\n"
                "hint: wait until that run is over; a host that nobody works with is free within seconds"
            )
        if told.get("event") != "ready":
            raise BackendError(f"{self.name}: {self._connection.why()}")
        self.reserved = True
        self._connection.keep_alive()
        first = self._connection.measure_clock()
        self.program_path, self.work = told["program"], told["work"]
        own = {one.name: told[one.name] for one in fields(Ready) if one.name in told}
        return Ready(**own | {"ahead_ns": first, "not_undone": tuple(told["not_undone"])})

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
        told, body = self._connection.ask({"do": "steps", "steps": orders}, within_s=limit_s + READY_S)
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
        self._connection.ask({"do": "start", "name": name, "argv": list(argv)})
        return program

    def tell(self, name: str, line: str) -> None:
        """Writes a line to a program's standard input."""
        self._connection.ask({"do": "tell", "name": name, "line": line})

    def signal(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """Sends a signal to a program, if it still runs."""
        if self.programs[name].code is None:
            with suppress(BackendError):
                self._connection.ask({"do": "signal", "name": name, "signal": int(number)})

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

        self._connection.wait(lambda: said() is not None or program.code is not None, until)
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
        if not self._connection.wait(lambda: program.code is not None, until):
            raise BackendError(f"{self.name}: {name} does not end")
        return program

    def put(self, path: str, octets: bytes, *, program: bool = False) -> None:
        """Makes a file in the host's work folder."""
        self._connection.ask({"do": "put", "path": path, "program": program}, octets)

    def get(self, path: str) -> bytes:
        """A file of the host's work folder."""
        found = bytearray()
        while True:
            told, body = self._connection.ask(
                {"do": "get", "path": path, "offset": len(found), "most": CHUNK}
            )
            found += body
            if len(found) >= told["size"] or not body:
                return bytes(found)

    def files(self) -> dict[str, int]:
        """Files of the work folder with their sizes in octets."""
        return dict(self._connection.ask({"do": "list"})[0]["files"])

    def undo(self) -> list[str]:
        """Ends programs and undoes steps; the connection stays open. Returns the steps that could not be
        undone, in words."""
        return list(self._connection.ask({"do": "undo"})[0]["failed"])

    def restore(self) -> list[str]:
        """Undoes everything and ends the connection; safe to repeat. Returns the steps that could not be
        undone, in words."""
        if not self._connection.is_open:
            return []
        if self.reserved and not self.lost:
            with suppress(BackendError):
                told, _ = self._connection.ask({"do": "restore"}, within_s=READY_S)
                self.restored = told
        self._connection.end()
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
        return self._connection.lost

    def measure_clock(self) -> tuple[int, int]:
        """The least and the greatest possible offset of the host's clock from this machine's; the measurement
        also serves as a beat."""
        return self._connection.measure_clock()

    def now_ns(self) -> int:
        """An upper bound of TAI on the host's clock, from the last beat."""
        return self._connection.now_ns()

    def _on_event(self, told: Json) -> None:
        if told.get("event") == "restored":
            self.restored = told
        elif told.get("event") in ("said", "ended"):
            program = self.programs.get(told["name"])
            if program is not None and told["event"] == "said":
                program.lines.append(told["line"])
            elif program is not None:
                program.err, program.code = told["err"], told["code"]


def run_all(agents: Iterable[Agent], work: Any) -> list[Any]:
    """Calls ``work`` for all hosts at once; the first error is raised after all calls are done."""
    chosen = list(agents)
    with ThreadPoolExecutor(max_workers=max(1, len(chosen))) as pool:
        waiting = [pool.submit(work, agent) for agent in chosen]
    return [one.result() for one in waiting]
