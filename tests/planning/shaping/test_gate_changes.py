"""Lists that replace each other, hold frames back or are limited by hardware: ``gate-changes.yaml``."""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from support.planned import document_of, refusal_text

TEXT = """\
name: gated
duration: 10 ms
network: {line: {hops: 1, kind: host, rate: 1 Gbit/s}}
streams:
  x: {from: host1, to: host2, pcp: 5, period: 1 ms, frame: 1000 B}
shapers:
  host1 -> host2:
    cbs: {5: 100 Mbit/s}
    preemption: {express: [6]}
    gates:
"""


def text(gates: str) -> str:
    return TEXT + "".join(f"      {line}\n" for line in gates.splitlines())


@pytest.mark.parametrize("row", table(__file__, "gate-changes.yaml"), ids=lambda row: row["case"])
def test_gates(row: dict[str, Any]) -> None:
    if "refused" in row:
        assert refusal_text(document_of, text(row["gates"])) == row["refused"]
        return
    port = document_of(text(row["gates"]))["ports"][0]
    cbs, gates = port["classes"][5]["cbs"], port["gates"]
    del cbs["linux"]
    changes = [row["change"]] if "change" in row else []
    assert (gates.pop("changes", []), gates, cbs, port["preemption"]) == (
        changes,
        row["list"],
        row["cbs"],
        row["preemption"],
    )


def test_a_list_has_1024_entries_unless_the_hardware_has_more() -> None:
    many = f"entries: [{', '.join(['{open: all, for: 1 us}'] * 1025)}]"
    assert "1 to 1024 entries" in refusal_text(document_of, text(many))
    gates = document_of(text(f"{many}\nmost-entries: 2000"))["ports"][0]["gates"]
    assert len(gates["entries"]) == 1025
