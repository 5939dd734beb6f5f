"""The Plan as Python sees it: the document, its content hash, and what to look at before trusting it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench import foreign
from tsnbench.planning.assemble import FORMAT
from tsnbench.planning.errors import PlanReadError

if TYPE_CHECKING:
    from tsnbench.backends.protocol import Backend
    from tsnbench.planning.places import Places
    from tsnbench.runs import Run


@dataclass(frozen=True)
class PlanWarning:
    """Something to look at before trusting a result: what kind, at which port or stream, in words."""

    kind: str
    where: str
    text: str
    path: str = field(default="", compare=False)
    """The part of the scenario that it is about; empty where no scenario is known."""
    place: str = field(default="", compare=False)
    """``file:line:column`` of that part."""
    hint: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.line()

    def line(self, warning: str = "warning") -> str:
        """Place, part, what is doubtful, and a hint where there is one."""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        if not self.place:
            return f"{warning}: {self.where}: {self.text}{hint}"
        about = "" if self.where in self.path else f"{self.where}: "
        return f"{self.place}: {self.path}: {warning}: {about}{self.text}{hint}"

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def canonical(document: dict[str, Any]) -> str:
    """JSON with sorted keys and no white space, byte for byte what ``crates/plan`` hashes."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def content_hash(document: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON without the field ``hash``, as lower-case hex."""
    content = {name: value for name, value in document.items() if name != "hash"}
    return hashlib.sha256(canonical(content).encode()).hexdigest()


@dataclass(frozen=True)
class Plan:
    """A whole experiment with nothing left to decide. Plans with the same hash are the same experiment."""

    document: dict[str, Any]
    """Exactly the types of ``crates/plan``, without the hash."""

    places: Places | None = field(default=None, compare=False, repr=False)
    """The scenario that it was made from; None for one that was read from a file."""

    @cached_property
    def warnings(self) -> tuple[PlanWarning, ...]:
        """What to look at before trusting a result; most of it follows from the document alone."""
        from tsnbench.planning.warning import warnings

        return warnings(self.document, self.places)

    @property
    def hash(self) -> str:
        return content_hash(self.document)

    @property
    def name(self) -> str:
        return str(self.document["name"])

    def to_json(self) -> str:
        """The canonical content with its hash; the same scenario gives the same bytes."""
        return canonical({**self.document, "hash": self.hash}) + "\n"

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        """A Plan from its file.

        Raises:
            PlanReadError: the file is missing, no Plan, of another version, changed, or contradicts itself.
        """
        path = Path(path)
        try:
            text = foreign.read_text(path, foreign.MOST_JSON)
        except OSError as error:
            raise PlanReadError(f"{path}: the plan cannot be read: {error.strerror}") from error
        try:
            document = json.loads(text)
            check(text, document)
        except (ValueError, RecursionError) as error:
            raise PlanReadError(f"{path}: {error}") from error
        return cls({name: value for name, value in document.items() if name != "hash"})

    def run(self, on: Backend, into: str | Path) -> Run:
        """Runs the Plan on a backend; the run folder ``into`` is made."""
        return on.execute(self, Path(into))


def check(text: str, document: Any) -> None:
    """Proves that a Plan's text can be obeyed.

    The native module knows every rule; where it is not built, format and hash are checked alone.

    Raises:
        ValueError: with the first problem.
    """
    if not isinstance(document, dict):
        raise ValueError("the plan cannot be read: not a JSON object")
    try:
        from tsnbench import _native
    except ImportError:
        if document.get("format") != FORMAT:
            raise ValueError(f"the plan has format {document.get('format')!r}, not {FORMAT!r}") from None
        found = document.get("hash")
        if found is not None and found != content_hash(document):
            raise ValueError(
                f"the plan's content hash is {found}, but its content hashes to another"
            ) from None
    else:
        _native.check_plan(text)
