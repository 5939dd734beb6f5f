"""The data files of this folder, read with the grammar that scenarios are read with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.grammar.gates import GATE_LIST
from tsnbench.scenario.grammar.streams import TRAFFIC
from tsnbench.scenario.kinds.combinators import Field, Fields, ListOf, MapOf, Record
from tsnbench.scenario.kinds.common import PROSE, SPAN
from tsnbench.scenario.kinds.data import read_data
from tsnbench.scenario.kinds.values import Count, Quantity, Text
from tsnbench.scenario.units import SHARE

_NAME = re.compile(r"[A-Za-z0-9.]+/[A-Za-z0-9-]+")
_FILES = ("engine.yaml", "flextest.yaml")


@dataclass(frozen=True)
class SrClass:
    """A stream reservation class; ``letter`` is None for best effort, which has no reservation."""

    pcp: int
    letter: Any
    requirements: model.Requirements


@dataclass(frozen=True)
class GateList:
    """Slots of open PCPs; ``guard_ns`` is None where the list has no guard band."""

    slot_ns: int
    slots: tuple[tuple[int, ...], ...]
    guard_ns: int | None


def _named(what: str, record: Record) -> MapOf:
    return MapOf(what, record, _NAME, "a name such as engine/lidar")


_SR_CLASS = Record(
    "an SR class",
    {
        "pcp": Field(Count(0, 7)),
        "delay": Field(SPAN),
        "jitter": Field(SPAN),
        "loss": Field(Quantity(SHARE, 0, 10**6, zero=True)),
    },
)
_SOURCE = Field(PROSE, example="a paper")


@cache
def sr_classes() -> Mapping[str, SrClass]:
    """``sr/A`` to ``sr/BE``, highest first."""
    file = read_data(
        "sr_classes.yaml",
        Record("a file", {"source": _SOURCE, "classes": Field(_named("classes", _SR_CLASS))}),
    )
    found: dict[str, SrClass] = {}
    for name, fields in file["classes"].items():
        letter = name.removeprefix("sr/")
        jitter = (
            [model.JitterLimit(kind="delay-step-abs", limit=fields["jitter"])] if "jitter" in fields else []
        )
        limits = model.Requirements(
            delay=fields.get("delay"), jitter=tuple(jitter), loss_ppm=fields.get("loss")
        )
        found[str(name)] = SrClass(fields["pcp"], letter if letter != "BE" else None, limits)
    return found


_PRINTED = MapOf("the row as printed", Text("a word", swept=False), re.compile("[a-z]+"), "a column")
_PATTERN = Record(
    "a pattern",
    {
        "stream": Field(Record("a stream", TRAFFIC), example="{…}"),
        "printed": Field(_PRINTED, example="{…}"),
        "note": Field(PROSE),
    },
)


@cache
def _pattern_files() -> Mapping[str, Fields]:
    record = Record("a file", {"source": _SOURCE, "patterns": Field(_named("patterns", _PATTERN))})
    return {
        str(name): fields for file in _FILES for name, fields in read_data(file, record)["patterns"].items()
    }


@cache
def patterns() -> Mapping[str, Fields]:
    """Traffic patterns by name, as the keys of a stream."""
    return {name: fields["stream"] for name, fields in _pattern_files().items()}


@cache
def printed() -> Mapping[str, Mapping[str, str]]:
    """Each pattern's row as printed in its paper, and a note on it, if there is one."""
    return {
        name: {str(key): str(value) for key, value in fields["printed"].items()}
        | ({"note": str(fields["note"])} if "note" in fields else {})
        for name, fields in _pattern_files().items()
    }


@cache
def gate_lists() -> Mapping[str, GateList]:
    """Gate control lists by name."""
    slots = ListOf(ListOf(Count(0, 7), "PCPs"), "slots")
    one = Record(
        "a gate list",
        {
            "slot": Field(GATE_LIST.fields["slot"].kind, example="15 us"),
            "guard": Field(SPAN),
            "slots": Field(slots, example="[[6]]"),
        },
    )
    file = read_data(
        "gate_lists.yaml", Record("a file", {"source": _SOURCE, "lists": Field(_named("lists", one))})
    )
    return {
        str(name): GateList(
            fields["slot"], tuple(tuple(slot) for slot in fields["slots"]), fields.get("guard")
        )
        for name, fields in file["lists"].items()
    }
