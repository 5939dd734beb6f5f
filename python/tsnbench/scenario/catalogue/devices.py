"""Devices: the limits and times of hardware, with their sources.

The catalogue has the devices of public sources. A file of one's own, as ``tsnbench calibrate`` writes it,
describes one more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from tsnbench.scenario import model
from tsnbench.scenario.catalogue.processing import processing
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.scenario.grammar.bridging import PROCESSING
from tsnbench.scenario.kinds.combinators import Field, Fields, MapOf, Record, record_of
from tsnbench.scenario.kinds.common import PROSE
from tsnbench.scenario.kinds.data import read_data
from tsnbench.scenario.text import source
from tsnbench.scenario.text.reading import Reading

_NAME = re.compile(r"[a-z0-9.]+/[a-z0-9-]+")
ENDINGS = (".yaml", ".yml")
"""Of a description that is a file beside the scenario."""
_SUBJECT = source.Subject("a description of a device", "source: my measurement")
_TIMES = Field(PROCESSING, "from a frame's last bit in to its place in the egress queue")
DESCRIPTION = record_of(
    model.Device, "a device", more={"processing": _TIMES}, example="{source: a data sheet, processing: 1 us}"
)


@cache
def devices() -> Mapping[str, model.Device]:
    """``nxp/sja1105``, ``ti/icssg``, …."""
    described = MapOf("devices", DESCRIPTION, _NAME, "a name such as nxp/sja1105")
    record = Record("a file", {"source": Field(PROSE, example="drivers"), "devices": Field(described)})
    reading = Reading("devices.yaml", {})
    rows = read_data("devices.yaml", record)["devices"]
    made = {str(name): _device(reading, str(name), fields) for name, fields in rows.items()}
    return {name: device for name, device in made.items() if device is not None}


def described(path: str) -> model.Device:
    """The device that a file describes, named by its path.

    Raises:
        ScenarioErrors: the file cannot be read, or has mistakes.
    """
    try:
        changed = os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        changed = 0
    return _described(path, changed)


@lru_cache(maxsize=256)
def _described(path: str, _changed: int) -> model.Device:
    reading = Reading(path, {})
    text = source.read_file(Path(path), _SUBJECT)
    fields = DESCRIPTION.read(reading, source.parse(text, path, _SUBJECT), "")
    found = _device(reading, path, fields) if isinstance(fields, Fields) else None
    if reading.problems or found is None:
        raise ScenarioErrors(reading.problems)
    return found


@dataclass(frozen=True)
class _NoNames:
    """A description names no node and no stream."""

    reading: Reading

    def node(self, name: object) -> None:
        """Nothing."""

    ports = stream = node


def _device(reading: Reading, name: str, fields: Fields) -> model.Device | None:
    least, jitter = None, None
    if "processing" in fields:
        least, jitter = processing(reading, fields["processing"])
    made = fields.part(_NoNames(reading), name=name, processing=least, processing_jitter=jitter)
    return made if isinstance(made, model.Device) else None
