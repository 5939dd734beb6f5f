"""The Plan in Python: its document, its content hash, and its warnings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tsnbench import _native, foreign, steps
from tsnbench.errors import InputError
from tsnbench.libraries import Lazy
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.warnings.collect import warnings
from tsnbench.plan.warnings.doubt import Places, PlanWarning

if TYPE_CHECKING:
    from tsnbench.plan import bounds as worst_cases
    from tsnbench.plan.bounds.types import Bounds
    from tsnbench.plan.types import PlanDocument
else:
    worst_cases = Lazy("tsnbench.plan.bounds")


Run = TypeVar("Run", covariant=True)
"""What a backend returns."""


class Executor(Protocol[Run]):
    """A backend as :meth:`Plan.run` needs it."""

    def execute(self, plan: Plan, into: Path) -> Run: ...


class PlanReadError(InputError):
    """A file that is not a Plan, or a Plan that was changed.

    Example:
        >>> from tsnbench import Plan
        >>> Plan.read("first.yaml")
        Traceback (most recent call last):
        ...
        tsnbench.plan.document.PlanReadError: first.yaml: Expecting value: line 1 column 1 (char 0)
    """


FORMAT = "tsnbench-plan/1"
"""The only one there is so far."""


def canonical(document: object) -> str:
    """JSON with sorted keys and no white space, byte for byte what ``crates/plan`` hashes."""
    return _native.canonical(document)


def content_hash(document: PlanDocument) -> str:
    """SHA-256 of the canonical JSON without the field ``hash``, as lower-case hex."""
    return _native.plan_text(document)[1]


def without_hash(document: PlanDocument) -> PlanDocument:
    """The content of the hash."""
    content = document.copy()
    content.pop("hash", None)
    return content


@dataclass(frozen=True)
class Plan:
    """A fully resolved experiment, in integer nanoseconds. Plans with the same hash are the same experiment.

    ``docs/reference/plan.md`` describes every field of the document.

    Example:
        >>> from tsnbench import Plan
        >>> plan = Plan.read("runs/first/plan.json")
        >>> plan.name, plan.document["duration_ns"], plan.warnings
        ('first', 5000000, ())
        >>> len(plan.hash), plan.hash in plan.to_json()
        (64, True)
    """

    document: PlanDocument
    """The content in the types of ``crates/plan``, without the hash."""

    places: Places | None = field(default=None, compare=False, repr=False)
    """The scenario of the Plan; None if the Plan was read from a file."""

    def __repr__(self) -> str:
        variant = "".join(f", {name} {value}" for name, value in self.document["variant"].items())
        return f"Plan({self.name!r}, {len(self.document['streams'])} flows{variant})"

    def _repr_html_(self) -> str:
        return steps.html("plan", self)

    @cached_property
    def warnings(self) -> tuple[PlanWarning, ...]:
        """Warnings, to check before the results are trusted."""
        return warnings(self.facts, self.places)

    @cached_property
    def facts(self) -> Facts:
        """What checks and tables ask about the document; each answer is computed once.

        A Plan is not changed after that: :attr:`hash` reads a changed document again, the facts do not.
        """
        return Facts(self.document)

    @property
    def hash(self) -> str:
        """The hash of the present document: a changed document is another experiment."""
        return content_hash(self.document)

    @property
    def name(self) -> str:
        return str(self.document["name"])

    def to_json(self) -> str:
        """The canonical content with its hash; equal scenarios give equal bytes."""
        return _native.plan_text(self.document)[0]

    def written(self) -> tuple[str, str]:
        """The canonical content with its hash, and the hash alone: both in the time of one."""
        return _native.plan_text(self.document)

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        """Reads a Plan from its JSON file.

        Raises:
            PlanReadError: the file is missing, no Plan, of another version, changed, or contradicts itself.

        Example:
            >>> from tsnbench import Plan
            >>> Plan.read("runs/first/plan.json")
            Plan('first', 2 flows)
        """
        path = Path(path)
        try:
            text = foreign.read_text(path, foreign.MOST_JSON)
        except OSError as error:
            runs = sorted(one.parent for one in path.parent.glob("*/plan.json"))
            hint = (
                f"\nhint: this folder has {len(runs)} runs: name one, for example {runs[0]}" if runs else ""
            )
            raise PlanReadError(f"{path}: the plan cannot be read: {error.strerror}{hint}") from error
        try:
            document = json.loads(text)
            check(text, document)
        except (ValueError, RecursionError) as error:
            raise PlanReadError(f"{path}: {error}") from error
        return cls(without_hash(document))

    def bounds(self) -> Bounds:
        """The worst case of every flow, which no frame exceeds, from the Plan alone; ready for JSON.

        ``flows`` has one entry for each flow and listener, with ``upper_ns`` (None without a bound: then
        ``reason`` says why), ``lower_ns`` and ``jitter_ns``. ``ports`` has the backlog of every queue.
        :func:`~tsnbench.plan.bounds.bounds_of` describes all keys.

        Raises:
            BoundsError: the Plan contradicts itself.

        Example:
            >>> from tsnbench import load
            >>> loop, video = load("first.yaml").plan().bounds()["flows"]
            >>> loop["stream"], loop["lower_ns"], loop["upper_ns"]
            ('loop', 4514, 16850)
        """
        return worst_cases.bounds_of(self.to_json())

    def run(self, on: Executor[Run], into: str | Path) -> Run:
        """Runs the Plan on a backend.

        Args:
            on: a backend, for example ``Simulation()``.
            into: the run folder; it is created.

        Raises:
            InputError: the folder has files that tsnbench has not written.
            BackendError: the backend could not run the Plan, or the disk is full.

        Example:
            >>> from tsnbench import Simulation, load
            >>> load("first.yaml").plan().run(on=Simulation(), into="runs/new")
            Run('runs/new', 'first', complete)
        """
        return on.execute(self, Path(into))


def check(text: str, document: Any) -> None:
    """Checks that a Plan's text is consistent.

    Raises:
        ValueError: with the first problem.
    """
    if not isinstance(document, dict):
        raise ValueError("the plan cannot be read: not a JSON object")
    _native.check_plan(text)
