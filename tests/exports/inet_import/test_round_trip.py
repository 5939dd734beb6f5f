"""What the export writes for INET is imported again as the same Plan, for shipped scenarios.

Gates are compared as functions of time, and paths and ports by the names of their nodes. Left out are parts
that INET does not have (clocks, hosts, taps), identifiers, and ports without streams.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.shipped import ROOT, SCENARIOS
from tsnbench.exports import export
from tsnbench.exports.inet import identifier
from tsnbench.exports.inet_import import scenario
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

OTHER = {
    "bench/star.yaml": "vid: INET needs a VLAN for each path to one address",
    "papers/engine/ex-ucc.yaml": "vid: INET needs a VLAN for each path to one address",
    "papers/flextest/cut-through.yaml": "cut: INET decides after 18 octets",
    "tutorial/10-trace-replay.yaml": "pcp: a recording that repeats becomes one of the whole run",
    "tutorial/7-frer-and-faults.yaml": "route: INET has no standby paths",
    "twin/act-gate.yaml": "policing: filters without named streams are not exported",
    "twin/police.yaml": "policing: filters without named streams are not exported",
}
"""Scenarios that come back otherwise: the first part that differs, and why."""
CBS = ("idle_slope_bps", "send_slope_bps", "hi_credit_bits", "lo_credit_bits")
PATHS = [
    *(path for path in SCENARIOS if path.relative_to(ROOT).parts[1] in ("tutorial", "twin")),
    *(
        ROOT / "scenarios" / name
        for name in (
            "bench/frer-ring.yaml", "bench/preemption.yaml", "bench/star.yaml", "papers/cots/l3.yaml",
            "papers/engine/ex-cs1.yaml", "papers/engine/ex-taprio.yaml", "papers/engine/ex-ucc.yaml",
            "papers/flextest/cut-through.yaml", "papers/flextest/tas-guard-band.yaml",
            "papers/ocora/frer.yaml", "papers/ocora/schedules.yaml",
        )
    ),
]  # fmt: skip


def gates(port: Any) -> Any:
    """When the gates of a port change, within a cycle from 0 on."""
    own = port.get("gates")
    if not own:
        return None
    at, changes = own["base_time_ns"], []
    for entry in own["entries"]:
        changes.append((at % own["cycle_ns"], entry["open"]))
        at += entry["interval_ns"]
    changes.sort()
    kept = [one for one, before in zip(changes, changes[-1:] + changes, strict=False) if one[1] != before[1]]
    if not kept:
        return None if changes[0][1] == (1 << len(port["classes"])) - 1 else changes[0][1]
    return own["cycle_ns"], kept, bool(own.get("unguarded"))


def parts(document: Any) -> Iterator[tuple[str, Any]]:
    """Named parts of a Plan, without its numbers of nodes and ports."""
    nodes = [identifier(one["name"]) for one in document["nodes"]]
    ports = document["ports"]
    ends = [(nodes[one["node"]], nodes[ports[one["peer"]]["node"]]) for one in ports]
    used = {hop["port"] for one in document["streams"] for hop in one["route"]}
    yield "times", (document["duration_ns"], document["drain_ns"])
    yield (
        "processing",
        {name: one["processing_ns"] for name, one in zip(nodes, document["nodes"], strict=True)},
    )
    yield (
        "cut",
        {name: one.get("cut_through_octets") for name, one in zip(nodes, document["nodes"], strict=True)},
    )
    for one in sorted(document["streams"], key=lambda stream: str(stream["name"])):
        yield "pcp", (one["name"], one["pcp"], one["size"])
        yield "vid", (one["name"], one.get("vid"))
        yield "pattern", (one["name"], one["pattern"], one["start_ns"], one["stop_ns"])
        yield "route", (one["name"], sorted(ends[hop["port"]] for hop in one["route"]))
    for number in sorted(used, key=lambda number: ends[number]):
        port = ports[number]
        limits = [{key: one[key] for key in one if key.startswith("limit")} for one in port["classes"]]
        shapers = [{key: one["cbs"][key] for key in CBS} if "cbs" in one else None for one in port["classes"]]
        yield "port", (ends[number], port["rate_bps"], port["propagation_ps"], port["pcp_to_class"], limits)
        yield "shapers", (ends[number], shapers)
        yield "gates", (ends[number], gates(port))
    yield "policing", document.get("policing")
    yield (
        "faults",
        [
            {ends[one["port"]], ends[one["port"]][::-1]} | {one["from_ns"], one["until_ns"]}
            for one in document.get("faults", [])
            if one["kind"] == "link-down"
        ],
    )


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT / "scenarios")))
def test_an_export_is_imported_as_the_same_plan(path: Path, tmp_path: Path) -> None:
    document = plan(load_variants(path)[0]).document
    for place, text in export(document, ["inet"]).files.items():
        (tmp_path / Path(place).name).write_text(text, encoding="utf-8")
    made = scenario(tmp_path / "omnetpp.ini")
    for place, text in {"scenario.yaml": made.text, **made.files}.items():
        (tmp_path / place).write_text(text, encoding="utf-8")
    again = plan(load_variants(tmp_path / "scenario.yaml")[0]).document
    ours, theirs = list(parts(document)), list(parts(again))
    found = next((one[0] for one, other in zip(ours, theirs, strict=False) if one != other), "")
    expected = OTHER.get(str(path.relative_to(ROOT / "scenarios")), "").partition(":")[0]
    if found != expected:
        assert ours == theirs
    assert found == expected
