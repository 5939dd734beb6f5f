"""The JSON files of a run folder, held against what their readers take for granted.

Somebody may have edited them, or another program may have written them. The first value of a wrong type ends
in a message with its place. More keys than these are no mistake.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from tsnbench import foreign
from tsnbench.foreign import UnusableFileError

MOST_MANIFEST = 16 << 20
"""Octets."""


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True)


class _Stat(_Shape):
    count: int
    min: int
    max: int
    mean: float
    median: float
    p90: float
    p99: float
    p99_9: float
    std: float
    min_seq: int | None = None
    max_seq: int | None = None
    max_stream: str | None = None


class _Lost(_Shape):
    after_tap: str
    frames: int


class _Percentile(_Shape):
    share_ppm: int
    delay_ns: int


class _Count(_Shape):
    sent: int
    received: int
    lost: int
    never_sent: int | None = None
    late: int | None = None
    duplicate: int | None = None
    reordered: int | None = None
    unmatched_rx: int | None = None
    missing_timestamp: int | None = None
    duplicate_tx: int | None = None
    before_first: int | None = None
    in_network_at_end: int | None = None
    restarts: int | None = None


class _Path(_Shape):
    stream: str
    listener: str
    group: str | None = None
    count: _Count
    delay: _Stat | None
    jitter: dict[str, _Stat | None]
    spread: float | None
    lost_where: list[_Lost] | None = None
    delay_percentiles: list[_Percentile] | None = None
    send_to_tx: _Stat | None = None
    rate: dict[str, float | None] | None = None
    flows: int | None = None
    period_ns: int | None = None


class _Source(_Shape):
    warnings: list[str] | None = None
    ignored: dict[str, int] | None = None


class _Measures(_Shape):
    paths: list[_Path]
    groups: list[_Path]
    source: _Source | None = None
    offset: dict[str, Any] | None = None


class _Row(_Shape):
    stream: str
    listener: str
    requirement: str
    met: str
    group: str | None = None
    limit: float | None = None
    limit_unit: str | None = None
    found: float | None = None
    margin: float | None = None
    worst_seq: int | None = None
    proof: str | None = None
    proof_condition: str | None = None
    worst_case: float | None = None
    worst_case_margin: float | None = None
    worst_case_reason: str | None = None


class _Verdict(_Shape):
    met: bool
    rows: list[_Row]


class _Port(_Shape):
    port: str
    dropped_faults: int
    classes: list[dict[str, Any]]


class _StreamCount(_Shape):
    name: str
    dropped_at_talker: int
    dropped_in_network: int


class _Counters(_Shape):
    simulated_ns: int
    events: int
    frame_hops: int
    in_network_at_end: int
    ports: list[_Port]
    streams: list[_StreamCount]


class _Manifest(_Shape):
    format: str
    state: str
    name: str | None = None
    plan: str | None = None
    seed: int | None = None
    variant: dict[str, Any] | None = None
    backend: str | None = None
    versions: dict[str, Any] | None = None
    machine: dict[str, Any] | None = None
    started: str | None = None
    ended: str | None = None
    wall_seconds: float | None = None
    problem: str | None = None
    process: int | None = None
    command: list[str] | None = None
    dilate: int = 1
    host: dict[str, Any] | None = None
    guest: dict[str, Any] | None = None


class _Bound(_Shape):
    stream: str
    listener: str
    upper_ns: int | None
    reason: str | None = None
    source: str | None = None


class _Bounds(_Shape):
    plan: str | None = None
    version: str | None = None
    flows: list[_Bound]


class _Named(_Shape):
    name: str


class _Legend(_Shape):
    taps: list[dict[str, Any]]
    streams: list[_Named]


_EXPECTED = {
    "missing": "a value",
    "model_type": "a JSON object",
    "dict_type": "a JSON object",
    "list_type": "a list",
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
}
"""pydantic's kinds of mistakes in the words of all messages."""
_SHAPES: dict[str, Any] = {
    "measures.json": _Measures,
    "verdict.json": _Verdict,
    "counters.json": _Counters,
    "bounds.json": _Bounds,
    "manifest.json": _Manifest,
}


def read(path: Path) -> dict[str, Any]:
    """A JSON file of a run folder, by its name.

    Raises:
        UnusableFileError: it is no JSON, or a value in it has another type than its readers need.
        OSError: it cannot be opened.
    """
    most = MOST_MANIFEST if path.name == "manifest.json" else foreign.MOST_JSON
    return checked(foreign.read_json(path, most), path.name, path)


def checked(content: Any, name: str, path: Path) -> dict[str, Any]:
    """The same content, when it is what the readers of such a file need."""
    shape = _SHAPES.get(name, dict[str, Any])
    _hold(content, shape, path)
    found: dict[str, Any] = content
    return found


def legend(path: Path, key: str) -> dict[str, Any]:
    """What a file of observations says its numbers mean.

    Raises:
        UnusableFileError: it does not say it.
    """
    found: dict[str, Any] = foreign.parquet_note(path, key)
    _hold(found, _Legend, path)
    return found


def _hold(content: Any, shape: Any, path: Path) -> None:
    try:
        _adapter(shape).validate_python(content, strict=True)
    except ValidationError as errors:
        first = errors.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        expected = _EXPECTED.get(first["type"], str(first["msg"]))
        found = "nothing" if first["type"] == "missing" else _found(first["input"])
        raise UnusableFileError(path, f"{expected} at {place}" if place else expected, found) from None


def _found(value: Any) -> str:
    kinds = ((str, "a text"), (list, "a list"), (dict, "a JSON object"))
    return next((words for kind, words in kinds if isinstance(value, kind)), None) or json.dumps(value)


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)
