"""Devices: the limits of hardware, with their sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from tsnbench.scenario import model
from tsnbench.scenario.kinds.combinators import Field, MapOf, Record, record_of
from tsnbench.scenario.kinds.common import PROSE
from tsnbench.scenario.kinds.data import read_data

_NAME = re.compile(r"[a-z0-9.]+/[a-z0-9-]+")


@cache
def devices() -> Mapping[str, model.Device]:
    """``nxp/sja1105``, ``ti/icssg``, …."""
    described = MapOf("devices", record_of(model.Device, "a device"), _NAME, "a name such as nxp/sja1105")
    record = Record("a file", {"source": Field(PROSE, example="drivers"), "devices": Field(described)})
    found: dict[str, model.Device] = {}
    for name, fields in read_data("devices.yaml", record)["devices"].items():
        own = {key: value for key, value in fields.items() if key != "gates"}
        gates = {key.replace("-", "_"): value for key, value in fields.get("gates", {}).items()}
        found[str(name)] = model.Device(name=str(name), gates=model.GateLimits(**gates), **own)
    return found
