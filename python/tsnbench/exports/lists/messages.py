"""Messages of any list: who sends what to whom, how often, and what of the list is not taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tsnbench.errors import ContentError

LARGEST_PAYLOAD = 1472
"""Octets of UDP payload in one frame."""
LARGEST_FRAME = 1522
SMALLEST_FRAME = 64
MOST_LISTENERS = 1_000_000
"""Of all messages together."""
TAGGED_HEADER = 22
"""Octets of a frame without its payload: addresses, VLAN tag, type, FCS."""


@dataclass
class Message:
    """A message with all that its rows tell."""

    name: str
    talker: str
    listeners: dict[str, None]
    """Each once, in their order."""
    row: str
    """Its first row, for messages."""
    period_ns: int
    octets: int
    whole_frame: bool
    """Whether ``octets`` are those of a frame from address to FCS, and not of UDP's payload."""
    pcp: int | None
    vlan: int | None
    deadline_ns: int | None

    @property
    def key(self) -> tuple[object, ...]:
        """What two rows of one message have in common."""
        sizes = (self.octets, self.whole_frame)
        return self.name, self.talker, self.period_ns, *sizes, self.pcp, self.vlan, self.deadline_ns


@dataclass
class Read:
    """All messages, and the rows and cells that are not taken."""

    file: str
    messages: list[Message] = field(default_factory=list)
    rows: bool = True
    """Whether the list has rows."""
    lost: list[str] = field(default_factory=list)
    """What is not taken, with its row."""
    to_all: list[str] = field(default_factory=list)
    """Messages for all nodes."""
    unused: dict[str, None] = field(default_factory=dict)
    """Headers without a meaning."""
    repeated: int = 0
    """Rows that tell further receivers of a message."""
    listeners: int = 0
    """Of all messages together."""

    def add(self, message: Message) -> None:
        """Adds a message.

        Raises:
            ContentError: all messages together have too many listeners.
        """
        self.messages.append(message)
        self._count(len(message.listeners))

    def extend(self, message: Message, listeners: Iterable[str]) -> None:
        """Gives a message further listeners; the talker is none.

        Raises:
            ContentError: all messages together have too many.
        """
        before = len(message.listeners)
        message.listeners.update(dict.fromkeys(one for one in listeners if one != message.talker))
        self._count(len(message.listeners) - before)

    def _count(self, more: int) -> None:
        self.listeners += more
        if self.listeners > MOST_LISTENERS:
            raise ContentError(f"{self.file}: expected at most {MOST_LISTENERS} listeners, found more")
