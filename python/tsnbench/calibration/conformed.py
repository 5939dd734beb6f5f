"""The folder of ``tsnbench conform`` as a description: the least time in the device, by its forwarding tests.

A list of gates, a shaper or a filter that passed its test shows one setting that the device can hold, not the
limits of its hardware, so no other key follows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import foreign
from tsnbench.calibration.calibrate import load_ppm
from tsnbench.calibration.errors import CalibrationError
from tsnbench.plan.document import Plan
from tsnbench.plan.frames import sizes
from tsnbench.runs import file_names
from tsnbench.scenario.units import DURATION, RATE

if TYPE_CHECKING:
    pass

SLOPE = "forwarding.slope"
"""That it passed means: an octet takes the time of the wire and no more, within the error of the testers."""
TIME = "forwarding.residence"
"""Not run, if the residence is no line of the length, or grows by more than the wire takes."""


def lines_of(folder: Path, names: Sequence[str]) -> list[str]:
    """The lines of the description of a folder's device.

    Args:
        folder: with ``conform.json`` and the runs of the stimuli. names: of the device alone.

    Raises:
        CalibrationError: it is the folder of another device, or forwarding was not tested.
        PlanReadError: the Plan of a stimulus is missing.
    """
    found = foreign.read_json(folder / file_names.CONFORM)
    try:
        own, scenario = found["dut"]["node"], found["dut"]["scenario"]
        times = [one for one in found["tests"] if one["id"] == TIME and one["found"] is not None]
        if list(names) != [own]:
            raise CalibrationError(f"--for: expected {own}, the device of {folder}, found {', '.join(names)}")
        if not times:
            raise CalibrationError(
                f"{folder}: expected results of {TIME}, found none",
                "tsnbench conform FILE --dut NODE --suite forwarding; if its slope fails, calibrate runs",
            )
        ends = [max(0, round(pick(one["found"][key] for one in times))) for pick, key in _ENDS]
        values = sorted({max(0, round(one["found"]["value"])) for one in times})
        if values[-1] <= ends[0] + 2 * (ends[1] - values[-1]):
            # The ports differ by no more than the error of the testers.
            values = [round(sum(values) / len(values))]
        slopes = [one["found"] for one in found["tests"] if one["id"] == SLOPE and one["found"] is not None]
        unsure = max((one["high"] - one["value"] for one in slopes), default=0)
        frames = sum(one["frames"] for one in times)
        plans = {one["stimulus"]: Plan.read(folder / one["stimulus"] / file_names.PLAN) for one in times}
    except (KeyError, TypeError, IndexError) as error:
        path = folder / file_names.CONFORM
        raise CalibrationError(f"{path}: expected a result of conform, found {error!r}") from error
    source = f"conform of {own} in {scenario} on {found.get('backend')}: {TIME} of {len(times)} ports"
    return [
        f"source: {json.dumps(source, ensure_ascii=False)}",
        f"processing: {_processing(values)}",
        "calibrated:",
        f"  frames: {frames}",
        *_conditions(own, list(plans.values())),
        f"  fixed: [{', '.join(map(DURATION.text, ends))}]",
        f"  per-octet: [0 ps, {math.ceil(1e3 * unsure)} ps]",
    ]


_ENDS = ((min, "low"), (max, "high"))


def _processing(values: Sequence[int]) -> str:
    """The times of the ports: one, or equally likely ones."""
    texts = list(map(DURATION.text, values))
    return texts[0] if len(texts) == 1 else f"{{values: [{', '.join(texts)}]}}"


def _conditions(device: str, plans: Sequence[Plan]) -> list[str]:
    """Sizes, rates and load of the stimuli."""
    octets: set[int] = set()
    rates: set[int] = set()
    load = 0
    for plan in plans:
        document = plan.document
        octets |= {sizes(stream["size"]).largest for stream in document["streams"]}
        names = [node["name"] for node in document["nodes"]]
        load = max(load, load_ppm(document, [names.index(device)]))
        rates |= {port["rate_bps"] for port in document["ports"] if names[port["node"]] == device}
    return [
        f"  sizes: [{', '.join(f'{size} B' for size in sorted(octets))}]",
        f"  rates: [{', '.join(RATE.text(rate) for rate in sorted(rates))}]",
        f"  load: {load} ppm",
    ]
