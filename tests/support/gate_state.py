"""The state machine of gates that ``netconfd`` lacks: what a bridge tells about lists that wait.

IEEE 802.1Q-2022, 8.6.9.3 and 12.29.1. It stands between a client and a server, follows the lists that are
committed, and answers questions for ConfigPending, ConfigChangeTime and CurrentTime. All else passes.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from tsnbench.yang import xml

TABLE = re.compile(
    rb"<name>(eth\d+)</name>(?:(?!</interface>).)*?<admin-base-time[^>]*>\s*<seconds>(\d+)</seconds>\s*"
    rb"<nanoseconds>(\d+)</nanoseconds>",
    re.DOTALL,
)
COMMIT = re.compile(rb"<(\w+:)?commit[ />]")
NUMBER = re.compile(rb'message-id="([^"]+)"')


@dataclass
class GateState:
    """The gates of one device; a function for :attr:`NetconfServer.rules`.

    Args:
        ports: how many there are. late: commits wait until the instant has passed. shift_ns: the device
            changes so much later than it was told. keeps: so many times it goes on to wait for lists that are
            taken back.
    """

    ports: int = 3
    late: bool = False
    shift_ns: int = 0
    keeps: int = 0
    questions: int = 0
    _back: bool = False
    _parts: bytes = b""
    _staged: dict[bytes, int] = field(default_factory=dict)
    _changes: dict[bytes, int] = field(default_factory=dict)
    _before: dict[bytes, int] = field(default_factory=dict)

    def __call__(self, piece: bytes) -> bytes | None:
        self._parts += piece
        if b"\n##\n" not in piece:
            return None
        whole, self._parts = self._parts, b""
        if b"config-pending" in whole:
            self.questions += 1
            return self._answer(NUMBER.findall(whole)[0])
        if b"edit-config" in whole:
            self._staged = {
                name: int(seconds) * 10**9 + int(rest) for name, seconds, rest in TABLE.findall(whole)
            }
        elif b"cancel-commit" in whole:
            self._back = True
            self._changes = self._changes if self._ignores() else self._before
        elif COMMIT.search(whole) and self._staged:
            self._back = self._back and b"confirmed" not in whole
            if not (self._back and self._ignores()):
                self._commit()
        return None

    def _ignores(self) -> bool:
        self.keeps -= 1
        return self.keeps >= 0

    def _commit(self) -> None:
        latest = max(self._staged.values())
        if self.late:
            self.late = False
            time.sleep(max(0, latest - tai_ns() + 10**6) / 1e9)
        self._before = dict(self._changes)
        for name, at in self._staged.items():
            # A base time that is over: the next begin of a cycle, which is soon.
            self._changes[name] = at + self.shift_ns if at > tai_ns() else tai_ns()
        self._staged, self._back = {}, False

    def _answer(self, number: bytes) -> bytes:
        now, rows = tai_ns(), ""
        for port in range(1, self.ports + 1):
            at = self._changes.get(b"eth%d" % port, 0)
            rows += (
                f"<interface><name>eth{port}</name><bridge-port xmlns='{xml.BRIDGE}'>"
                f"<gate-parameter-table xmlns='{xml.SCHED_BRIDGE}'>"
                f"<config-pending>{str(at > now).lower()}</config-pending>"
                f"{_time('config-change-time', at)}{_time('current-time', now)}"
                "</gate-parameter-table></bridge-port></interface>"
            )
        reply = (
            f'<rpc-reply message-id="{number.decode()}" xmlns="{xml.BASE}"><data>'
            f'<interfaces xmlns="{xml.INTERFACES}">{rows}</interfaces></data></rpc-reply>'
        )
        return f"\n#{len(reply)}\n{reply}\n##\n".encode()


def tai_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_TAI)


def _time(name: str, ns: int) -> str:
    return f"<{name}><seconds>{ns // 10**9}</seconds><nanoseconds>{ns % 10**9}</nanoseconds></{name}>"
