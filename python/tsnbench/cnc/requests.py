"""Streams that clients request: JSON in the language of scenarios, ``{"from": "cam", "period": "1 ms", …}``.

Texts and numbers are read by the grammar of scenarios. Here is only decided what a client may write at all:
nothing that reads a file, depends on another stream, or replaces a setting of the network.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, NoReturn, cast

from tsnbench import foreign
from tsnbench.planning.errors import PlanningProblem
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.reading import NAME, meant
from tsnbench.scenario.text.tree import Mapping as Tree
from tsnbench.scenario.text.tree import Scalar, Sequence, Value, shown

KEYS = (
    *("from", "to", "via", "period", "offset", "arrivals", "frame", "phy", "payload", "units"),
    *("pcp", "class", "vlan", "scheduled", "release", "requires", "frer"),
)
"""Keys of a stream that a client may write."""
DEEPEST = 6
MOST_ITEMS = 256
"""Of one list or mapping: listeners, hops, requirements."""
MOST_TEXT = 240
LARGEST_BODY = 1 << 20
"""Octets of one request."""


class NoJsonError(ValueError):
    """A text that is no JSON object, or one with a key twice."""


def read_object(content: bytes) -> foreign.Json:
    """The JSON object of a request.

    Raises:
        NoJsonError: it is none, has a key twice, or a number that JSON does not have.
    """
    try:
        text = content.decode("utf-8")
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_number)
        if "\\u" in text:
            # Half a character can be written so, and in no file and no answer.
            json.dumps(found, ensure_ascii=False).encode()
    except NoJsonError:
        raise
    except (ValueError, RecursionError) as error:
        why = "too many levels" if isinstance(error, RecursionError) else shown(str(error))
        raise NoJsonError(f"expected a JSON object, found {why}") from None
    if not isinstance(found, dict):
        raise NoJsonError(f"expected a JSON object, found {kind_of(found)}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> foreign.Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise NoJsonError(f"expected each key once, found {shown(key)} again")
            seen.add(key)
    return found


def _number(text: str) -> float:
    """A number with a fraction or an exponent; a greater one than any float has would be no JSON again."""
    found = float(text)
    return found if isfinite(found) else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise NoJsonError(f"expected a number of JSON, found {shown(text)}")


def kind_of(value: object) -> str:
    """What a JSON value is, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else shown(str(value))


def problems_of(name: str, written: object) -> list[PlanningProblem]:
    """What a client may not write; empty if the grammar of scenarios can judge the stream."""
    path = f"streams.{shown(name)}"
    if not NAME.fullmatch(name):
        hint = "begin with a letter; letters, digits and . _ + - may follow"
        return [PlanningProblem("streams", "a name of at most 64 characters", shown(name), hint)]
    if not isinstance(written, dict):
        hint = 'write {"from": "cam", "to": "ctl", "period": "1 ms", "payload": "100 B"}'
        return [PlanningProblem(path, "a mapping of the keys of a stream", kind_of(written), hint)]
    found = [
        PlanningProblem(f"{path}.{shown(key)}", "a key of a requested stream", shown(key), meant(key, KEYS))
        for key in written
        if key not in KEYS
    ]
    return found or list(_unusable(path, written, 0))


def _unusable(path: str, value: object, depth: int) -> list[PlanningProblem]:
    """The values that have no form in a scenario."""
    if depth > DEEPEST:
        return [PlanningProblem(path, f"at most {DEEPEST} levels", "more")]
    if isinstance(value, list | dict):
        if len(value) > MOST_ITEMS:
            return [PlanningProblem(path, f"at most {MOST_ITEMS} entries", f"{len(value)}")]
        parts = (
            [(f"{path}[{number}]", one) for number, one in enumerate(value)]
            if isinstance(value, list)
            else [(f"{path}.{shown(key)}", one) for key, one in value.items()]
        )
        keys = [*map(str, value)] if isinstance(value, dict) else []
        bad = next((key for key in keys if not _plain(key)), None)
        if bad is not None:
            return [PlanningProblem(path, "keys of printable characters", shown(bad))]
        return [problem for where, one in parts for problem in _unusable(where, one, depth + 1)]
    if isinstance(value, str) and _plain(value):
        return []
    if isinstance(value, bool | int) and abs(value) < 1 << 63:
        return []
    return [PlanningProblem(path, "a text, a whole number, true or false", kind_of(value))]


def _plain(text: str) -> bool:
    """Whether a text is short, printable, and no parameter of the scenario (``${…}``)."""
    return len(text) <= MOST_TEXT and text.isprintable() and "${" not in text


def value_of(written: object, place: Place) -> Value:
    """A JSON value that :func:`problems_of` accepts, as the tree of a scenario."""
    if isinstance(written, dict):
        entries = tuple((Scalar(place, str(key)), value_of(one, place)) for key, one in written.items())
        return Tree(place, entries, 1 + sum(value.weight for _, value in entries))
    if isinstance(written, list):
        items = tuple(value_of(one, place) for one in written)
        return Sequence(place, items, 1 + sum(one.weight for one in items))
    text = str(written).lower() if isinstance(written, bool) else str(written)
    return Scalar(place, text, plain=True)


def tree_of(written: foreign.Json, place: Place) -> Tree:
    """A stream as the tree of a scenario."""
    return cast("Tree", value_of(written, place))
