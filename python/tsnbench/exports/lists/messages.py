"""Messages of any list: who sends what to whom, how often, and what of the list is not taken."""

from __future__ import annotations

from dataclasses import dataclass, field

LARGEST_PAYLOAD = 1472
"""Octets of UDP payload in one frame."""
LARGEST_FRAME = 1522
SMALLEST_FRAME = 64
TAGGED_HEADER = 22
"""Octets of a frame without its payload: addresses, VLAN tag, type, FCS."""


@dataclass
class Message:
    """A message with all that its rows tell."""

    name: str
    talker: str
    listeners: list[str]
    row: str
    """Its first row, for messages."""
    period_ns: int
    octets: int
    whole_frame: bool
    """Whether ``octets`` are those of a frame from address to FCS, and not of UDP's payload."""
    pcp: int | None
    vlan: int | None
    deadline_ns: int | None

    def same(self, other: Message) -> bool:
        """Whether both are one message."""
        return (self.period_ns, self.octets, self.whole_frame, self.pcp, self.vlan, self.deadline_ns) == (
            other.period_ns,
            other.octets,
            other.whole_frame,
            other.pcp,
            other.vlan,
            other.deadline_ns,
        )


@dataclass
class Read:
    """All messages, and the rows and cells that are not taken."""

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
