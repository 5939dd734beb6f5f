"""Data files of the catalogue, read with the grammar that scenarios are read with."""

from __future__ import annotations

from importlib.resources import files

from tsnbench.scenario.kinds.combinators import Fields, Record
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.source import parse


def read_data(name: str, record: Record) -> Fields:
    """A data file by its grammar; the files are ours, so a mistake in one is a defect of the package."""
    text = files("tsnbench.catalogue").joinpath(name).read_text(encoding="utf-8")
    reading = Reading(name, {})
    fields = record.read(reading, parse(text, name), "")
    if reading.problems or not isinstance(fields, Fields):
        raise AssertionError("\n".join(str(problem) for problem in reading.problems))
    return fields
