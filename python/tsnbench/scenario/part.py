"""The base class of a scenario's parts: named values that do not change.

Seventy kinds of parts are described in :mod:`tsnbench.scenario.model`. The grammar checks the written values,
place by place, so a part only stores the given values. Making these classes is cheap: a command starts in the
time that a validating library needs for its own import.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

if TYPE_CHECKING:
    from tsnbench.scenario.kinds.values import Kind

MISSING: Any = object()
"""The default of a value that has none."""
Values = dict[str, Any]
"""Values of a part by name. Each part has its own names, and types that its record has checked."""


@dataclass(frozen=True)
class Key:
    """The spelling of a value of a part in a scenario file; see :func:`key`."""

    kind: Kind
    doc: str
    example: str
    written: str
    default: Any
    sample: str
    range: str
    clause: str
    since: str


def key(
    kind: Kind,
    doc: str = "",
    example: str = "",
    *,
    written: str = "",
    default: Any = MISSING,
    sample: str = "",
    range: str = "",
    clause: str = "",
    since: str = "",
) -> Any:
    """A value of a part that people write as one key of a mapping.

    Args:
        kind: what can be written, and how it is read.
        doc: for the JSON Schema, which editors show.
        example: makes the key required; hints show it.
        written: the key, where it is not the value's name with hyphens for underscores.
        default: the value where the key is not written.
        sample: an example of a key that is not required, where the kind's own example does not fit.
        range: the permitted values, where the kind does not say them.
        clause: the clause that defines the key and the keys below it.
        since: the version of tsnbench that has the key first; a new key needs it.
    """
    return Key(kind, doc, example, written, default, sample, range, clause, since)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(key,))
class Part:
    """A part of a scenario: every annotated name is a value, with its default where the class gives one.

    Values that are made with :func:`key` are written as one key each, of the mapping that ``record_of`` in
    :mod:`tsnbench.scenario.kinds.combinators` makes of the part.

    Names that begin with an underscore are no values: copies keep them, and comparisons ignore them.

    Raises:
        TypeError: a value that the part does not have, or one that is missing.
        AttributeError: a value is assigned after the part was made.
    """

    _defaults: ClassVar[Values] = {}
    """Every value's name with its default, in the order of the class; ``MISSING`` where there is none."""
    _empty: ClassVar[tuple[str, ...]] = ()
    """The names of values that are empty dictionaries by default."""
    _required: ClassVar[tuple[str, ...]] = ()
    """The names of values without a default."""
    _keys: ClassVar[dict[str, Key]] = {}
    """The spelling of values by their names, for values that have a key of their own."""
    _written: ClassVar[tuple[tuple[str, str], ...]] = ()
    """The names of these values, each with its key."""
    model_fields_set: frozenset[str]
    """The names of values that were given when the part was made."""

    def __init_subclass__(cls, hyphens: bool = True, **more: Any) -> None:
        """``hyphens``: whether keys have hyphens where names of values have underscores."""
        super().__init_subclass__(**more)
        own = cls.__dict__
        named = [name for name in own.get("__annotations__", ()) if not name.startswith("_")]
        keys = {name: own[name] for name in named if isinstance(own.get(name), Key)}
        for name, one in keys.items():
            written = one.written or (name.replace("_", "-") if hyphens else name)
            cls._keys = cls._keys | {name: replace(one, written=written)}
            if one.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, one.default)
        cls._written = tuple((name, one.written) for name, one in cls._keys.items())
        cls._defaults = cls._defaults | {name: own.get(name, MISSING) for name in named}
        cls._empty = tuple(name for name, value in cls._defaults.items() if value == {})
        cls._required = tuple(name for name, value in cls._defaults.items() if value is MISSING)

    def __init__(self, **given: Any) -> None:
        values = self._defaults | given
        if len(values) > len(self._defaults):
            unknown = ", ".join(sorted(given.keys() - self._defaults.keys()))
            raise TypeError(f"{type(self).__name__} has no {unknown}")
        own = self.__dict__
        own.update(values)
        for name in self._empty:
            # Each part has its own dictionaries, so that no part changes the dictionary of another one.
            if name not in given:
                own[name] = {}
        for name in self._required:
            if values[name] is MISSING:
                lacking = ", ".join(name for name, value in values.items() if value is MISSING)
                raise TypeError(f"{type(self).__name__} needs {lacking}")
        own["model_fields_set"] = frozenset(given)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} does not change; make another with model_copy")
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} does not change")

    def _values(self) -> list[Any]:
        own = self.__dict__
        return [own[name] for name in self._defaults]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), *self._values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._defaults)
        return f"{type(self).__name__}({shown})"

    def items(self) -> Iterable[tuple[str, Any]]:
        """Every value with its name, in the order of the class."""
        return zip(self._defaults, self._values(), strict=True)

    def model_copy(self, *, update: Values | None = None) -> Self:
        """A copy of the part with other values for the names in ``update``."""
        changes = update or {}
        if not changes.keys() <= self._defaults.keys():
            unknown = changes.keys() - self._defaults.keys()
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **changes)
        if not changes.keys() <= self.model_fields_set:
            made.__dict__["model_fields_set"] = self.model_fields_set | changes.keys()
        return made

    def model_dump(
        self, *, exclude_unset: bool = False, exclude_none: bool = False, exclude_defaults: bool = False
    ) -> Values:
        """The values by name, those of parts within included; ready for JSON where they are.

        Args:
            exclude_unset: without values that were not given. exclude_none: without values that are None.
            exclude_defaults: without values that equal their defaults.
        """
        how = {
            "exclude_unset": exclude_unset,
            "exclude_none": exclude_none,
            "exclude_defaults": exclude_defaults,
        }
        found = {}
        for name, default in self._defaults.items():
            value = self.__dict__[name]
            unset = exclude_unset and name not in self.model_fields_set
            if unset or (exclude_none and value is None) or (exclude_defaults and value == default):
                continue
            found[name] = _plain(value, how)
        return found


def _plain(value: Any, how: dict[str, bool]) -> Any:
    """A value with its parts as dictionaries."""
    if isinstance(value, Part):
        return value.model_dump(**how)
    if isinstance(value, tuple | list):
        return type(value)(_plain(one, how) for one in value)
    if isinstance(value, dict):
        return {key: _plain(one, how) for key, one in value.items()}
    return value
