"""Checks of the JSON files of a run folder, for the assumptions of their readers.

A user may have edited them, or another program may have written them. The first value of a wrong type is
reported with its place. Additional keys are allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from tsnbench import foreign
from tsnbench.foreign import UnusableFileError
from tsnbench.runs import file_names

MOST_MANIFEST = 16 << 20
"""Octets."""

WHOLE, NUMBER, TEXT, TRUTH = "a whole number", "a number", "text", "true or false"
COUNT = "a whole number from 0"
_TYPES: dict[str, tuple[type, ...]] = {
    WHOLE: (int,),
    COUNT: (int,),
    NUMBER: (int, float),
    TEXT: (str,),
    TRUTH: (bool,),
}
Shape: TypeAlias = "str | list[Shape] | Mapping[str, Shape]"
"""The shape of a value: one of the words above; a list of one shape; or a mapping of keys to shapes.

A key that ends with ``?`` may be missing, and its value null; with ``|null`` its value may be null. ``*``
stands for every key. ``[]`` and ``{}`` are lists and objects of anything.
"""

_STAT: Shape = {
    **dict.fromkeys(("count", "min", "max"), WHOLE),
    **dict.fromkeys(("mean", "median", "p90", "p99", "p99_9", "std"), NUMBER),
    **dict.fromkeys(("min_seq?", "max_seq?"), WHOLE),
    "max_stream?": TEXT,
}
_COUNTS = (
    "never_sent", "late", "duplicate", "reordered", "unmatched_rx", "missing_timestamp", "duplicate_tx",
    "before_first", "in_network_at_end", "restarts",
)  # fmt: skip
_PATH: Shape = {
    "stream": TEXT,
    "listener": TEXT,
    "group?": TEXT,
    "count": {
        **dict.fromkeys(("sent", "received", "lost"), WHOLE),
        **{f"{name}?": WHOLE for name in _COUNTS},
    },
    "delay|null": _STAT,
    "jitter": {"*|null": _STAT},
    "spread|null": NUMBER,
    "lost_where?": [{"after_tap": TEXT, "frames": WHOLE}],
    "delay_percentiles?": [{"share_ppm": WHOLE, "delay_ns": WHOLE}],
    "send_to_tx?": _STAT,
    "rate?": {"*|null": NUMBER},
    "flows?": WHOLE,
    "period_ns?": WHOLE,
}
_SHAPES: dict[str, Shape] = {
    file_names.MANIFEST: {
        "format": TEXT,
        "state": TEXT,
        **dict.fromkeys(("name?", "plan?", "scenario?", "backend?", "started?", "ended?", "problem?"), TEXT),
        **dict.fromkeys(("seed?", "process?", "dilate?"), WHOLE),
        **{key: {} for key in ("variant?", "versions?", "machine?", "host?", "guest?")},
        "wall_seconds?": NUMBER,
        "command?": [TEXT],
        "files?": [TEXT],
    },
    file_names.MEASURES: {
        "paths": [_PATH],
        "groups": [_PATH],
        "source?": {"warnings?": [TEXT], "ignored?": {"*": WHOLE}},
        "offset?": {},
    },
    file_names.VERDICT: {
        "met": TRUTH,
        "rows": [
            {
                **dict.fromkeys(("stream", "listener", "requirement", "met"), TEXT),
                **dict.fromkeys(("group?", "limit_unit?", "proof?", "proof_condition?"), TEXT),
                **dict.fromkeys(("limit?", "found?", "margin?", "worst_case?"), NUMBER),
                "worst_case_margin?": NUMBER,
                "worst_case_reason?": TEXT,
                "worst_seq?": WHOLE,
            }
        ],
    },
    file_names.COUNTERS: {
        **dict.fromkeys(("simulated_ns", "events", "frame_hops", "in_network_at_end"), COUNT),
        "ports": [{"port": TEXT, "dropped_faults": COUNT, "classes": [{"class": COUNT}]}],
        "streams": [{"name": TEXT, "dropped_at_talker": COUNT, "dropped_in_network": COUNT}],
    },
    file_names.STEADY: {
        **dict.fromkeys(("steady_from_ns?", "period_ns?", "repeated?", "simulated_ns?"), COUNT),
        "reason?": TEXT,
    },
    file_names.PREDICTION: {
        "level": NUMBER,
        "draws": COUNT,
        "outside": [TEXT],
        "paths": [{"stream": TEXT, "listener": TEXT, "quantities": {"*": [NUMBER]}}],
    },
    file_names.BOUNDS: {
        "plan?": TEXT,
        "version?": TEXT,
        "flows": [
            {"stream": TEXT, "listener": TEXT, "upper_ns|null": WHOLE, "reason?": TEXT, "source?": TEXT}
        ],
    },
}
_LEGEND: Shape = {"taps": [{}], "streams": [{"name": TEXT}]}


def read(path: Path) -> foreign.Json:
    """A JSON file of a run folder, by its name.

    Raises:
        UnusableFileError: the file is not JSON, or a value has a wrong type.
        OSError: the file cannot be opened.
    """
    most = MOST_MANIFEST if path.name == file_names.MANIFEST else foreign.MOST_JSON
    return checked(foreign.read_json(path, most), path.name, path)


def checked(content: Any, name: str, path: Path) -> foreign.Json:
    """The content, if it has the shape that readers of a file with this name need."""
    return _hold(content, _SHAPES.get(name, {}), path)


def legend(path: Path, key: str) -> foreign.Json:
    """The legend of a file of observations.

    Raises:
        UnusableFileError: the file has none.
    """
    return _hold(foreign.parquet_note(path, key), _LEGEND, path)


def _hold(content: Any, shape: Shape, path: Path) -> foreign.Json:
    wrong = _wrong(content, shape)
    if wrong is not None:
        place, expected, found = wrong
        raise UnusableFileError(path, f"{expected} at {place}" if place else expected, found)
    found_content: foreign.Json = content
    return found_content


def _wrong(value: Any, shape: Shape) -> tuple[str, str, str] | None:
    """The first value with a wrong shape: its place, the expected shape, what is there; None if all fit.

    A place is put together on the way out, so values that fit cost no text.
    """
    if isinstance(shape, str):
        if shape is COUNT and isinstance(value, int) and value < 0:
            return "", shape, str(value)
        if isinstance(value, _TYPES[shape]) and (shape is TRUTH or not isinstance(value, bool)):
            return None
        return "", shape, _words(value)
    inside: Iterator[tuple[str, Any, Shape]]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return "", "a list", _words(value)
        inside = ((str(number), one, own) for own in shape for number, one in enumerate(value))
    elif isinstance(value, dict):
        inside = _members(value, shape)
    else:
        return "", "a JSON object", _words(value)
    for name, one, own in inside:
        if isinstance(own, str) and own is not COUNT and type(one) in _TYPES[own]:
            continue
        if one is _MISSING:
            return name, "a value", "nothing"
        if (wrong := _wrong(one, own)) is not None:
            return _below(name, wrong[0]), *wrong[1:]
    return None


_MISSING = object()


def _members(value: foreign.Json, shape: Mapping[str, Shape]) -> Iterator[tuple[str, Any, Shape]]:
    """The members of an object that have to fit a shape, in the shape's order."""
    for word, own in shape.items():
        key, may_miss, may_be_null = _key(word)
        for name in value if key == "*" else (key,):
            one = value.get(name, _MISSING)
            if not ((one is _MISSING and may_miss) or (one is None and may_be_null)):
                yield name, one, own


@cache
def _key(word: str) -> tuple[str, bool, bool]:
    """A member's name, whether it may be missing, and whether it may be null."""
    key = word.removesuffix("?").removesuffix("|null")
    return key, word.endswith("?"), word != key


def _below(name: str, place: str) -> str:
    return f"{name}.{place}" if place else name


def _words(value: Any) -> str:
    kinds = ((str, "text"), (list, "a list"), (dict, "a JSON object"))
    return next((words for kind, words in kinds if isinstance(value, kind)), None) or json.dumps(value)
