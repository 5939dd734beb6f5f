"""The kernel's configuration, read back, against the requested one. Needs no kernel."""

from __future__ import annotations

import json

import pytest

from support.planned import document_of
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.veth.device import differences
from tsnbench.linux import read_qdiscs

TEXT = """
name: star
duration: 20 ms
network:
  stations: [controller, robot]
  bridges: [switch]
  links: {rate: 100 Mbit/s, cable: 5 m, between: [controller -- switch, switch -- robot]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 1 ms, payload: 100 B}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
    gates: {cycle: 1 ms, entries: [{open: [6], for: 200 us}, {open: [0], for: 800 us}]}
"""


def _said(
    kind: str, dev: str, handle: str, parent: str | None = None, **options: object
) -> dict[str, object]:
    place = {"root": True} if parent is None else {"parent": parent}
    return {"kind": kind, "dev": dev, "handle": handle, **place, "options": options}


@pytest.fixture
def gated(tmp_path):
    """The Plan, the bridge's namespace, and the output of a kernel that accepted every setting."""
    plan = document_of(TEXT)
    number = next(n for n, port in enumerate(plan["ports"]) if port["name"] == "switch -> robot")
    other = next(n for n, port in enumerate(plan["ports"]) if port["name"] == "switch -> controller")
    entries = [(2, 187_487), (0, 12_513), (1, 800_000)]
    rows = [{"index": i, "cmd": "S", "gatemask": hex(m), "interval": t} for i, (m, t) in enumerate(entries)]
    device = f"p{number}"
    listed = [
        _said("taprio", device, "100:", cycle_time=1_000_000, base_time=0, schedule=rows),
        *(_said("htb", device, f"1{n}:", f"100:{n + 1}") for n in range(2)),
        *(_said("pfifo", device, f"2{n}:", f"1{n}:1", limit=1000) for n in range(2)),
        _said("htb", f"p{other}", "1:"),
        _said("prio", f"p{other}", "2:", "1:1"),
        *(_said("pfifo", f"p{other}", f"2{n}:", f"2:{8 - n}", limit=1000) for n in range(8)),
    ]
    return plan, f"n{plan['ports'][number]['node']}", listed


def _differ(gated, listed: list[dict[str, object]]) -> list[str]:
    plan, space, _ = gated
    return [one.what for one in differences(plan, {space: read_qdiscs(json.dumps(listed))}, Capabilities())]


def test_what_was_configured_as_requested_does_not_differ(gated):
    plan, space, listed = gated
    found = differences(plan, {space: read_qdiscs(json.dumps(listed))}, Capabilities())
    assert [str(one) for one in found] == []


def test_each_thing_that_differs_is_named(gated):
    _, _, listed = gated
    change = json.loads(json.dumps(listed))
    change[0]["options"]["schedule"][0]["gatemask"] = "0x3"
    assert "gates" in _differ(gated, change)
    change = json.loads(json.dumps(listed))
    change[0]["options"]["cycle_time"] = 2_000_000
    assert "running cycle" in _differ(gated, change)
    change = json.loads(json.dumps(listed))
    change[3]["options"]["limit"] = 1
    assert _differ(gated, change) == ["limit"]
    assert _differ(gated, listed[:-1]) == ["its kind"]
    change = json.loads(json.dumps(listed))
    change[0]["kind"] = "mq"
    assert "its kind" in _differ(gated, change)


def test_a_wire_of_another_rate_differs(gated):
    plan, _, _ = gated
    wires = [
        _said("netem", f"w{n}", f"800{n}:", rate={"rate": 12_500_000 if n else 1_250_000})
        for n in range(len(plan["ports"]))
    ]
    found = differences(plan, {"wires": read_qdiscs(json.dumps(wires))}, Capabilities())
    assert [str(one) for one in found] == ["w0 root: rate: requested 100000000 bit/s, found 10000000 bit/s"]
    assert differences(plan, {"wires": []}, Capabilities(qdiscs=frozenset(["htb"]))) == []
