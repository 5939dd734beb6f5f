"""What the table of mechanisms says is what a small scenario with the mechanism does."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from support import mechanisms
from support.mechanism_pages import BASE, add
from support.mechanisms import KERNELS, Mechanism
from tsnbench import Simulation
from tsnbench.backends.kernel.tsnport.device import TSNPORT
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth.device import VETH
from tsnbench.errors import InputError
from tsnbench.hosts.returned import HostPorts
from tsnbench.plan.bounds import bounds
from tsnbench.plan.bounds.types import FlowBounds
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.replay.passages import ReplayError, recorded
from tsnbench.runs import Run
from tsnbench.scenario import load

PORTS = dict(zip(KERNELS, (TSNPORT, VETH, HostPorts(frozenset())), strict=True))
HAS = {"yes", "partly", mechanisms.DASH}


def made(row: Mechanism, folder: Path, scheduled: str = "") -> Plan:
    """The Plan of a row's example; ``scheduled``: the name of a stream that is scheduled."""
    whole = deepcopy(BASE)
    add(whole, row.example)
    if scheduled:
        whole["streams"][scheduled]["scheduled"] = "true"
    (folder / "times.csv").write_text("time_s\n0\n0.001\n0.002\n", encoding="utf-8")
    file = folder / "example.yaml"
    file.write_text(json.dumps(whole), encoding="utf-8")
    return plan(load(file))


@pytest.mark.parametrize("row", mechanisms.mechanisms(), ids=lambda row: row.name)
def test_an_example_does_what_the_table_says(row: Mechanism, tmp_path: Path) -> None:
    example = made(row, tmp_path)
    run, flows = bounded_run(example, tmp_path / "run")
    bounded = {flow["upper_ns"] is not None for flow in flows}
    assert bounded in {"yes": [{True}], "no": [{False}, {True, False}]}.get(row.answer("bounds"), [bounded])
    for column, ports in PORTS.items():
        refused = unsupported(example.document, ports)
        assert row.answer(column) in ({"no", "partly"} if refused else HAS), (column, refused)
    try:
        recorded(run)
        replayed = HAS
    except ReplayError:
        replayed = {"no", "partly"}
    assert row.answer("replay") in replayed


@pytest.mark.parametrize("row", mechanisms.mechanisms(), ids=lambda row: row.name)
def test_a_scheduled_stream_is_proved_as_the_table_says(row: Mechanism, tmp_path: Path) -> None:
    talker = "t" if "t" in row.example.get("streams", {}) else "s"
    try:
        example = made(row, tmp_path, talker)
    except InputError:
        proved = {False}
    else:
        _, flows = bounded_run(example, tmp_path / "run")
        proved = {"proof" in flow.get("source", "") for flow in flows if flow["stream"] == talker}
    assert row.answer("proof") in (HAS if proved == {True} else {"no", "partly"})


def bounded_run(example: Plan, folder: Path) -> tuple[Run, list[FlowBounds]]:
    """A run of a Plan and its bounds, which no frame exceeds."""
    run, flows = example.run(on=Simulation(), into=folder), bounds(example)["flows"]
    limits = {(flow["stream"], flow["listener"]): flow["upper_ns"] for flow in flows}
    for path in run.measures()["paths"]:
        limit = limits[path["stream"], path["listener"]]
        assert limit is None or not path["delay"] or path["delay"]["max"] <= limit
    return run, flows
