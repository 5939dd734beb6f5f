"""The tree of a YAML text: scalars, sequences and mappings, each with its place; no value is interpreted."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from tsnbench.scenario.text.place import Place


class Scalar(NamedTuple):
    """A text; ``plain``: written without quotes."""

    place: Place
    text: str
    plain: bool = True

    @property
    def weight(self) -> int:
        return 1


class Sequence(NamedTuple):
    place: Place
    items: tuple[Value, ...]
    weight: int


class Mapping(NamedTuple):
    """Entries in the order of the file; keys are unique."""

    place: Place
    entries: tuple[tuple[Scalar, Value], ...]
    weight: int

    def get(self, key: str) -> Value | None:
        return next((value for name, value in self.entries if name.text == key), None)


class Rows(Protocol):
    """Where repeated mappings are written."""

    def entries(self, at: int) -> tuple[tuple[Scalar, Value], ...]:
        """The entries of the mapping that begins at ``at``."""
        ...

    def ends(self, at: int, shape: int) -> list[tuple[str, Scalar]]:
        """Its keys that may differ from those of other mappings of its shape, with their texts."""
        ...


class Repeated(Mapping):
    """A mapping whose texts other mappings have, too, but for its ends (:data:`ENDS`).

    Large scenarios have thousands of them. Its entries are made when they are needed.
    """

    rows: Rows
    at: int
    """Where it begins among the rows."""
    shape: int
    """The number of its texts without its ends; the same for all mappings of its rows that have them."""
    made: tuple[tuple[Scalar, Value], ...] | None = None
    """Its entries, if they were needed."""

    @property
    def entries(self) -> tuple[tuple[Scalar, Value], ...]:
        """The entries in the order of the file."""
        found = self.made
        if found is None:
            found = self.made = self.rows.entries(self.at)
        return found

    def ends(self) -> list[tuple[str, Scalar]]:
        """The keys and texts of its ends."""
        return self.rows.ends(self.at, self.shape)

    def _replace(self, **changed: Any) -> Mapping:  # type: ignore[override]
        """A changed mapping is no longer like the others: it has entries of its own."""
        return Mapping(*self._plain())._replace(**changed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._plain() == (other.place, other.entries, other.weight)

    def __ne__(self, other: object) -> bool:
        # A tuple has a comparison of its own here, which does not know where the entries come from.
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def _plain(self) -> tuple[Place, tuple[tuple[Scalar, Value], ...], int]:
        return self.place, self.entries, self.weight


ENDS = ("from", "to")
"""Keys of a stream whose values may differ from those of a stream that is written alike."""
SHARED = ("period", "offset", "frame", "phy", "payload", "pcp", "vlan", "scheduled", "requires")
"""Keys whose values have to be equal. A stream with another key is read alone."""

Value = Scalar | Sequence | Mapping


def describe(value: Value | None) -> str:
    """The found value, in few words and without control characters."""
    if value is None:
        return "nothing"
    if isinstance(value, Sequence):
        return "a list" if value.items else "an empty list"
    if isinstance(value, Mapping):
        return "a mapping" if value.entries else "an empty mapping"
    if not value.text.strip():
        return "nothing" if value.plain else "an empty text"
    return shown(value.text)


def shown(text: str, most: int = 60) -> str:
    """A text for a message: one line, printable, not too long."""
    if len(text) <= most and text.isprintable():
        return text
    safe = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: most + 1])
    return safe if len(safe) <= most else safe[: most - 3] + "..."
