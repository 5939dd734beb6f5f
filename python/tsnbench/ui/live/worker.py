"""A process that plans or simulates what is typed, so that a large scenario keeps no other answer waiting.

It has a budget of time: a Plan or a proof that needs longer ends with the process, and the next question
starts another one.
"""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from tsnbench.ui.live.explained import Explained, explained, without_parts
from tsnbench.ui.live.numbers import Live, live, without_plan
from tsnbench.ui.live.simulated import LONG, Seen, simulated, without_verdict
from tsnbench.ui.live.swept import Swept, swept, without_value

BUDGET_S = 2.0
"""For one text, after the process has started."""
SLOW = f"planning takes longer than {BUDGET_S:g} s: tsnbench plan FILE --bounds has no such limit"
BROKEN = "the planner ended unexpectedly"

Answer = Live | Seen | Swept | Explained
KINDS: dict[str, Callable[..., Answer]] = {
    "live": live,
    "simulate": simulated,
    "sweep": swept,
    "why": explained,
}
TOPICS: Mapping[str, str] = {"live": "port", "sweep": "stream", "why": "stream"}
"""What a request may ask about, beside its text."""


class Worker:
    """The process, and who waits for it.

    Args:
        kind: what it does with a text: one of ``KINDS``.
        budget_s: the time for one text.
    """

    def __init__(self, kind: str = "live", budget_s: float = BUDGET_S) -> None:
        self._kind, self._budget_s = kind, budget_s
        self._process: subprocess.Popen[bytes] | None = None
        self._busy = threading.Lock()
        self._newest: dict[str, int] = {}

    def ask(self, text: str, file: str, about: str = "") -> bytes | None:
        """The answer of the function of this kind as JSON; None if a newer text came first.

        ``about``: the name of what the text is asked about: see ``TOPICS``.
        """
        mine = self._newest[file] = self._newest.get(file, 0) + 1
        with self._busy:
            if self._newest[file] != mine:
                return None
            question = (
                json.dumps([text, file, about] if self._kind in TOPICS else [text, file]).encode() + b"\n"
            )
            answer, late = self._answer(question)
            if answer:
                return answer
            return json.dumps(self._nothing(SLOW if late else BROKEN)).encode()

    def _nothing(self, reason: str) -> Answer:
        if self._kind == "simulate":
            return without_verdict(LONG)
        if self._kind == "why":
            return without_parts(reason)
        return without_plan(reason) if self._kind == "live" else without_value(reason)

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _answer(self, question: bytes) -> tuple[bytes, bool]:
        """The answer, or nothing, and whether the budget is the reason."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._budget_s, end)
        timer.start()
        answer = b""
        with suppress(OSError):
            process.stdin.write(question)
            process.stdin.flush()
            answer = process.stdout.readline()
        timer.cancel()
        if not answer.endswith(b"\n"):
            self.close()
            return b"", late.is_set()
        return answer, False

    def _started(self) -> subprocess.Popen[bytes]:
        """The process; it has loaded all modules."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tsnbench.ui.live.worker", self._kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Ctrl-C in the server's terminal reaches the server alone; the end of the pipe ends this one.
                start_new_session=True,
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()
        return self._process


def main() -> None:
    """Answers texts, one on each line of standard input."""
    work = KINDS[sys.argv[1]]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(work(*json.loads(line))), flush=True)
        # Nobody waits now.
        gc.collect()


if __name__ == "__main__":
    main()
