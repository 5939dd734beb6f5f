"""What a network of calibrated devices will show, with an interval for each figure.

The Plan is simulated once for each draw of the devices' parameters, each time with another seed. Times of
software on a shared processor are those of instructions, so that a path of the kernel always takes as long:
each draw has one time for each host and key, between the least and the greatest that the key has. A next
measurement, if the description holds, is one more such run: of its figures, 38 of 40 are between the least
and the greatest of 39 draws, whatever their distribution (order statistics).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from tsnbench import foreign
from tsnbench.backends.simulation import Simulation
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.fit import LEVEL
from tsnbench.libraries import polars as pl
from tsnbench.measure import measure_run
from tsnbench.plan.document import Plan
from tsnbench.plan.frames import R_TAG, sizes
from tsnbench.runs.measures import figures
from tsnbench.runs.tables.predicted import QUANTITIES, PathPrediction, Prediction

if TYPE_CHECKING:
    from tsnbench.plan.types import Distribution, Node, PerOctetFurther, PlanDocument
    from tsnbench.scenario.model import Scenario

_COLUMNS = {"draw", "per_octet_ps", "time_ns", "count"}
MOST_SEED = (1 << 63) - 1
DRAWS = 39
"""Of 40 figures, 38 are between the least and the greatest of 39 (decision 0069)."""
EXTRAPOLATED = "extrapolated"
"""The kind of the warning that a Plan has conditions that no device was measured at."""


@dataclass(frozen=True)
class _Drawn:
    """The processing of one node in one draw."""

    per_octet_ps: int
    times: list[int]
    counts: list[int]

    def at(self, node: Node, largest: int) -> Node:
        """The node with this processing."""
        least = min(self.times)
        further: PerOctetFurther = {
            "kind": "per-octet",
            "per_octet_ps": self.per_octet_ps,
            "most_octets": largest,
            "values_ns": [time - least for time in self.times],
            "counts": self.counts,
        }
        return {**node, "processing_ns": least, "further": further}


def predict(
    scenario: Scenario, plan: Plan, tell: Callable[[int, int], None] = lambda _, __: None
) -> Prediction:
    """The intervals of all figures of a Plan's streams.

    Args:
        scenario: the scenario of the Plan; its nodes have calibrated devices, or its hosts share processors.
            tell: is called with the number of the draw that begins, and the number of all.

    Raises:
        CalibrationError: no node has a calibrated device, or a table of draws is unusable.
    """
    tables = _tables(scenario)
    if not tables and not any(map(_shares, plan.document["nodes"])):
        raise CalibrationError(
            "--predict: expected nodes with a calibrated device, or hosts on one processor, found none",
            "tsnbench calibrate RUN --for sw1 --into my-switch.yaml; then write "
            "bridges: {sw1: {device: my-switch.yaml}}",
        )
    draws = min((len(table) for table in tables.values()), default=DRAWS)
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for number in range(draws):
        tell(number, draws)
        for key, values in _simulated(drawn(plan.document, tables, number)).items():
            for name, value in values.items():
                found.setdefault(key, {}).setdefault(name, []).append(value)
    tick = max((tap["granularity_ns"] for tap in plan.document["taps"]), default=1)
    paths: list[PathPrediction] = [
        {
            "stream": stream,
            "listener": listener,
            "quantities": {
                name: [min(values) - tick, max(values) + tick]
                for name, values in own.items()
                if len(values) == draws
            },
        }
        for (stream, listener), own in found.items()
    ]
    outside = [warning.text for warning in plan.warnings if warning.kind == EXTRAPOLATED]
    return {"level": LEVEL, "draws": draws, "outside": outside, "paths": paths}


def _tables(scenario: Scenario) -> dict[str, list[_Drawn]]:
    """By node, the processing in each draw. A node with a processing of its own is not calibrated."""
    read: dict[str, list[_Drawn]] = {}
    found: dict[str, list[_Drawn]] = {}
    for name, node in scenario.network.nodes.items():
        device = node.device
        if device is None or device.calibration is None or device.calibration.draws is None:
            continue
        if node.processing_jitter is not device.processing_jitter:
            continue
        path = device.calibration.draws
        if path not in read:
            read[path] = _read(Path(path))
        found[name] = read[path]
    return found


def _read(path: Path) -> list[_Drawn]:
    """The draws of a description's table."""
    try:
        table = foreign.read_parquet(path)
        with foreign.table_errors(path):
            if missing := sorted(_COLUMNS - set(table.columns)):
                raise CalibrationError(
                    f"{path}: expected a table of draws, found none of {', '.join(missing)}"
                )
            whole = table.select(pl.col(sorted(_COLUMNS)).cast(pl.Int64)).filter(pl.col("count") > 0)
            wrong = whole.filter((pl.col("time_ns") < 0) | (pl.col("per_octet_ps") < 0))
            if whole.is_empty() or not wrong.is_empty():
                raise CalibrationError(f"{path}: expected times of at least 0 ns with counts, found others")
            return [
                _Drawn(part["per_octet_ps"][0], part["time_ns"].to_list(), part["count"].to_list())
                for part in whole.sort("draw", "time_ns").partition_by("draw", maintain_order=True)
            ]
    except OSError as error:
        raise CalibrationError(f"{path}: {error.strerror or error}", "calibrate again") from error


def _shares(node: Node) -> bool:
    """Whether a node's software shares a processor."""
    return "processor" in node.get("host", {})


def _with_times(node: Node, seed: int, number: int) -> Node:
    """The node with one time for each key of its software."""
    drawing = random.Random(f"{seed}/{number}/{node['name']}")
    host = {
        key: _one_time(cast("Distribution", one), drawing) if isinstance(one, dict) else one
        for key, one in sorted(node["host"].items())
    }
    return cast("Node", {**node, "host": host})


def _one_time(latency: Distribution, drawing: random.Random) -> Distribution:
    """One of the times of a distribution, all between its ends equally likely."""
    if latency["kind"] == "uniform":
        low, high = latency["from_ns"], latency["to_ns"]
    elif latency["kind"] == "histogram":
        met = [ns for ns, count in zip(latency["ns"], latency["counts"], strict=True) if count]
        low, high = met[0], met[-1] + latency.get("width_ns", 0)
    else:
        return latency
    return {"kind": "constant", "ns": drawing.randint(low, high)}


def drawn(document: PlanDocument, tables: Mapping[str, Sequence[_Drawn]], number: int) -> Plan:
    """The Plan with the processing and the software of one draw, and with a seed of its own."""
    largest = max(
        (
            node["further"]["most_octets"]
            for node in document["nodes"]
            if "further" in node and node["further"]["kind"] == "per-octet"
        ),
        default=0,
    )
    nodes = [
        tables[node["name"]][number].at(node, largest or _largest(document))
        if node["name"] in tables
        else _with_times(node, document["seed"], number)
        if _shares(node)
        else node
        for node in document["nodes"]
    ]
    return Plan({**document, "nodes": nodes, "seed": (document["seed"] + number + 1) & MOST_SEED})


def _largest(document: PlanDocument) -> int:
    """Octets of the largest frame, with a tag for redundancy."""
    return max((sizes(stream["size"]).largest for stream in document["streams"]), default=0) + R_TAG


def _simulated(plan: Plan) -> dict[tuple[str, str], dict[str, float]]:
    """The figures of one simulation by stream and listener."""
    with TemporaryDirectory(prefix="tsnbench-predict-") as scratch:
        folder = Path(scratch) / "run"
        backend = Simulation()
        backend.prepare(plan, folder)
        backend.run(plan, folder)
        measures = measure_run(folder)
    return {
        (path["stream"], path["listener"]): {
            name: float(value) for name, value in figures(path["delay"]).items() if name in QUANTITIES
        }
        for path in measures["paths"]
        if path["delay"] is not None
    }
