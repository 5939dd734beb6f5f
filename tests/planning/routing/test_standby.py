"""Several paths of a stream by hand: the rows of ``several.yaml`` and ``failovers.yaml`` beside this file."""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from support.planned import document_of

US = 1_000
END = 120_000 * US + 1
"""20 ms of duration, 100 ms in which frames may still arrive, and the instant after them."""

TEXT = """\
name: several
duration: 20 ms
network: {{rate: 1 Gbit/s, stations: [{stations}], bridges: [{bridges}], links: [{links}]}}
streams:
  s: {{from: t, pcp: 5, period: 1 ms, frame: 100 B, {stream}}}
{more}
"""


def planned(stream: str, number: int = 0, more: str = "", **network: str) -> dict[str, Any]:
    """The paths of one flow: hops as they are named in the Plan, each with the hop that it comes from."""
    to = "" if "to: " in stream else "to: l, "
    document = document_of(TEXT.format(stream=to + stream, more=more, **network))
    found = document["streams"][number]
    hops = [(document["ports"][hop["port"]]["name"], hop.get("parent")) for hop in found["route"]]
    redundancy = found["redundancy"]
    return {
        "route": ", ".join(name if parent is None else f"{name} < {parent}" for name, parent in hops),
        "ends": [listener["route"] for listener in found["listeners"]],
        "merges": [merge["from"] for merge in redundancy.get("merges", [])],
        "copies": redundancy.get("copies", []),
        "active": [path["route"] for path in redundancy.get("active", [])],
        "recovery": redundancy.get("recovery", {}),
        "spans": [path["spans"] for path in redundancy.get("active", [])],
    }


@pytest.mark.parametrize("row", table(__file__, "several.yaml"), ids=lambda row: row["case"])
def test_paths(row: dict[str, Any]) -> None:
    network = {key: row[key] for key in ("stations", "bridges", "links")}
    found = planned(row["stream"], row.get("flow", 0), **network)
    assert {key: value for key, value in found.items() if value and key in row["found"]} == row["found"]
    assert {key for key, value in found.items() if value} - {"spans"} == row["found"].keys()


@pytest.mark.parametrize("row", table(__file__, "failovers.yaml"), ids=lambda row: row["case"])
def test_when_each_path_forwards(row: dict[str, Any]) -> None:
    links = "t -- up, up -- l, t -- low, low -- l"
    faults = "".join(f"  - {{{fault}}}\n" for fault in row["faults"])
    more = f"faults:\n{faults}" if faults else ""
    stream = f"via: [up], failover: {{path: [low], {row['failover']}}}"
    found = planned(stream, more=more, stations="t, l", bridges="up, low", links=links)
    first, standby = ([(span["from_ns"], span["until_ns"]) for span in spans] for spans in found["spans"])
    assert {"first": first, "standby": standby} == {
        path: [(begin * US, END if end is None else end * US) for begin, end in row[path]]
        for path in ("first", "standby")
    }
