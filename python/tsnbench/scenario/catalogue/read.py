"""The data files of this folder, read with the grammar that scenarios are read with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.grammar.gates import GATE_LIST
from tsnbench.scenario.grammar.streams import TRAFFIC
from tsnbench.scenario.kinds.combinators import Field, Fields, ListOf, MapOf, Record
from tsnbench.scenario.kinds.common import PROSE, SPAN
from tsnbench.scenario.kinds.values import Count, Quantity, Text
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.source import parse
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


def _read(name: str, record: Record) -> Fields:
    """A data file by its grammar; the files are ours, so a mistake in one is a defect of the package."""
    text = files("tsnbench.catalogue").joinpath(name).read_text(encoding="utf-8")
    reading = Reading(name, {})
    fields = record.read(reading, parse(text, name), "")
    if reading.problems or not isinstance(fields, Fields):
        raise AssertionError("\n".join(str(problem) for problem in reading.problems))
    return fields


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
    file = _read(
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


@cache
def pcp_to_class() -> Mapping[str, tuple[int, ...]]:
    """``802.1Q/4`` and ``802.1Q/8``: the class of each PCP from 0 to 7."""
    table = ListOf(Count(0, 7), "classes", 8, 8)
    tables = MapOf("tables", table, re.compile(r"802\.1Q/[48]"), "a table")
    file = _read("pcp_to_class.yaml", Record("a file", {"source": _SOURCE, "tables": Field(tables)}))
    return {str(name): tuple(classes) for name, classes in file["tables"].items()}


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
    return {str(name): fields for file in _FILES for name, fields in _read(file, record)["patterns"].items()}


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
    file = _read(
        "gate_lists.yaml", Record("a file", {"source": _SOURCE, "lists": Field(_named("lists", one))})
    )
    return {
        str(name): GateList(
            fields["slot"], tuple(tuple(slot) for slot in fields["slots"]), fields.get("guard")
        )
        for name, fields in file["lists"].items()
    }
