"""Results of Saihu (``NAME_data.json``): bounds of end-to-end delays by flow, tool and method."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from tsnbench import foreign
from tsnbench.errors import ContentError

_HEAD = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{[\s\S]{0,4096}"flow_e2e_delay"\s*:')
_NETWORK = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{[\s\S]*"(?:arrival_curve|service_curve)"\s*:')
_PHYSICAL = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<[\s\S]*<elements>")
LARGEST = 1 << 26
_MULTIPLIERS = {letter: 1000.0**power for power, letter in enumerate("afpnum", -6)} | {"": 1.0}
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_TOOLS = 64


@dataclass(frozen=True)
class Results:
    """Bounds of a file."""

    name: str
    tools: list[str]
    """Tools with their methods, in the order of the file: ``xTFA_TFA``, ``Panco_PLP``."""
    flows: dict[str, dict[str, float]]
    """ns by flow and tool."""


def recognised(head: bytes) -> bool:
    """Whether a file begins as results of Saihu do."""
    return _HEAD.match(head) is not None


def is_network(head: bytes) -> bool:
    """Whether a file begins as a network of Saihu does: output ports in JSON, or physical in XML."""
    return (_NETWORK.match(head) or _PHYSICAL.match(head)) is not None


def results(file: str) -> Results:
    """The bounds of a file.

    Raises:
        ContentError: the file has no bounds, or one that is no time.
        InputError: it is no JSON.
    """
    found = foreign.read_json(file, LARGEST)
    flows = found.get("flow_e2e_delay") if isinstance(found, dict) else None
    if not isinstance(flows, dict) or not flows:
        raise ContentError(
            f"{file}: flow_e2e_delay: expected bounds by flow and tool, as Saihu's NAME_data.json has them, "
            "found none"
        )
    worth = _unit_ns(file, found.get("units"))
    bounds = {name: _bounds(f"{file}: flow_e2e_delay: {name}", own, worth) for name, own in flows.items()}
    tools = list(dict.fromkeys(tool for own in bounds.values() for tool in own))
    if not 1 <= len(tools) <= _MOST_TOOLS:
        raise ContentError(f"{file}: flow_e2e_delay: expected 1 to {_MOST_TOOLS} tools, found {len(tools)}")
    return Results(str(found.get("name", "")), tools, bounds)


def _unit_ns(file: str, units: Any) -> float:
    """The nanoseconds of a delay of 1."""
    unit = units.get("flow_delay") if isinstance(units, dict) else None
    if isinstance(unit, str) and unit[-1:] in _SECONDS and unit[:-1] in _MULTIPLIERS:
        return _MULTIPLIERS[unit[:-1]] * _SECONDS[unit[-1:]] * 1e9
    raise ContentError(f"{file}: units: flow_delay: expected a unit such as us, found {unit}")


def _bounds(where: str, written: Any, worth: float) -> dict[str, float]:
    """ns by tool; tools without a bound (infinite, or none) are left out."""
    if not isinstance(written, dict):
        raise ContentError(f"{where}: expected bounds by tool, found {written}")
    found = {}
    for tool, value in written.items():
        if value is None or value == math.inf:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e30:
            raise ContentError(f"{where}: {tool}: expected a time of 0 or more, found {str(value)[:40]}")
        found[tool] = value * worth
    return found
