"""The output of ``tsnbench plan`` for people: streams, ports, shapers, gates, and warnings.

Values that a user types into a device are exact: gate control lists, periods, shapers. Delays and loads are
rounded; the Plan contains the exact ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.libraries import rich
from tsnbench.plan.document import Plan
from tsnbench.plan.load import total
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.summary import (
    CbsRow,
    GateRow,
    cbs_rows,
    class_rows,
    fault_rows,
    gate_rows,
    load_text,
    stream_rows,
)
from tsnbench.plan.types import PlanDocument

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_ROWS = 50
"""Most rows of a table that are printed, unless all are requested."""
FEW_LISTS = 4
"""Number of gate control lists that are printed if there are more than :data:`MOST_ROWS`."""
MOST_ENTRIES = 64
"""Most entries of one gate control list that are printed."""


def print_plan(
    plan: Plan, console: Console, everything: bool = True, content_hash: str | None = None
) -> None:
    """Tables of a Plan, and its warnings by name.

    Args:
        plan: the Plan.
        console: where the tables go.
        content_hash: the Plan's hash, if it is known.
        everything: all rows; otherwise the first of each table and how many are left out.
    """
    most = None if everything else MOST_ROWS
    document = plan.document
    flows = f"{len(document['streams'])} flow{'s' * (len(document['streams']) != 1)}"
    variant = "".join(f", {name} {value}" for name, value in document["variant"].items())
    console.print(
        f"{document['name']}{variant}: {len(document['nodes'])} nodes, {len(document['ports']) // 2} links, "
        f"{flows}, {quantities.time(document['duration_ns'])}, seed {document['seed']}\n"
        f"plan {(content_hash or plan.hash)[:16]}",
        markup=False,
    )
    tables = [("Streams", _stream_table(document, most)), ("Ports", _class_table(plan.facts, most))]
    if shapers := cbs_rows(document):
        tables.append(
            ("Credit-based shapers: for tc in kbit/s and B, below in bit/s and bit", _cbs_table(shapers))
        )
    shown, there = gate_rows(document, most, FEW_LISTS)
    for rows in shown:
        cycle = quantities.exact(rows[-1].begin_ns + rows[-1].length_ns)
        asked = rows[0].asked_ns
        then = "" if asked is None else f", requested at {quantities.exact(asked)}"
        base = quantities.exact(rows[0].base_ns)
        title = f"Gates of {quantities.some(list(rows[0].ports))}: cycle {cycle}, base time {base}{then}"
        tables.append((title, _gate_table(rows)))
    left = there - len(shown)
    if faults := fault_rows(document):
        tables.append(("Faults", _fault_table(faults)))
    if "clocks" in document:
        tables.append((f"Clocks: {_gptp(document)}", _clock_table(document)))
    for title, table in tables:
        console.print(title, style="bold", markup=False)
        console.print(table)
    if left:
        console.print(f"… {left} more gate control lists; --all shows them", markup=False)
    for warning in plan.warnings:
        console.print(warning.line(f"warning ({warning.kind})"), markup=False, soft_wrap=True)


def _table(*columns: str, right: str = "") -> Table:
    """A table with left-aligned columns; columns in ``right`` are right-aligned and are not wrapped."""
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for column in columns:
        number = column in right.split(",")
        table.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return table


def _stream_table(document: PlanDocument, most: int | None) -> Table:
    columns = ("stream", "pcp", "frame", "every", "path", "least delay", "limit")
    table = _table(*columns, right="pcp,frame,every,least delay,limit")
    rows, there = stream_rows(document, most)
    for row in rows:
        table.add_row(
            row.stream if row.flows == 1 else f"{row.stream} x{row.flows}",
            str(row.pcp),
            row.frame,
            row.pattern,
            " > ".join(row.path),
            quantities.time(row.least_ns),
            "" if row.limit_ns is None else quantities.time(row.limit_ns),
        )
    if left := there - len(rows):
        table.add_row(f"… {left} more", "", "", "", "--all shows them", "", "")
    return table


def _class_table(facts: Facts, most: int | None) -> Table:
    columns = ("port", "class", "pcp", "flows", "load", "of rate", "shaped by")
    table = _table(*columns, right="class,flows,load,of rate")
    ports = facts.document["ports"]
    rates = {port["name"]: port["rate_bps"] for port in ports}
    loads = {port["name"]: load for port, load in zip(ports, facts.loads, strict=True)}
    every, there = class_rows(facts, most)
    for rows in every:
        port = rows[0].port
        for place, row in enumerate(rows):
            table.add_row(
                port if place == 0 else "",
                str(row.traffic_class),
                quantities.ranges(row.pcps),
                str(row.flows),
                row.load,
                row.share,
                row.shapers,
            )
        asked = total(loads[port])
        over = asked > rates[port]
        if len(rows) > 1 or over:
            saturating = any(load.saturating for load in loads[port])
            table.add_row(
                quantities.rate(rates[port]),
                "all",
                "",
                str(sum(row.flows for row in rows)),
                load_text(asked, saturating),
                quantities.share(asked, rates[port]),
                "over rate" if over else "",
            )
        table.add_section()
    if most and there > most:
        table.add_row(f"… {there - most} more", "", "", "", "", "", "--all shows them")
    return table


def _cbs_table(rows: list[CbsRow]) -> Table:
    columns = ("idleSlope", "sendSlope", "hiCredit", "loCredit")
    table = _table("port", "class", *columns, right=",".join(("class", *columns)))
    for row in rows:
        numbers = [f"{linux}\n{standard}" for linux, standard in zip(row.linux, row.standard, strict=True)]
        table.add_row(row.port, str(row.traffic_class), *numbers)
    return table


def _fault_table(rows: list[tuple[str, str, str, str]]) -> Table:
    table = _table("fault", "where", "from", "for", right="from,for")
    for row in rows:
        table.add_row(*row)
    return table


def _gptp(document: PlanDocument) -> str:
    """The synchronisation of the clocks, in words."""
    gptp = document["clocks"].get("gptp")
    if gptp is None:
        return "free"
    name = document["nodes"][gptp["grandmaster"]]["name"]
    chosen = "elected" if "bmca" in gptp else "grandmaster"
    step = ", one-step" if "one_step" in gptp else ""
    kind = f", IEEE 1588 {gptp['ieee_1588']['delay']}" if "ieee_1588" in gptp else ""
    pace = quantities.time(gptp["sync_interval_ns"])
    return f"{name} is {chosen}, Sync every {pace}, PCP {gptp['pcp']}{kind}{step}"


def _clock_table(document: PlanDocument) -> Table:
    columns = ("node", "follows", "drift", "offset", "tick", "jitter")
    table = _table(*columns, right="drift,offset,tick,jitter")
    ports = document["ports"]
    slaves = document["clocks"].get("gptp", {}).get("slaves", [])
    follows = {ports[slave]["node"]: ports[slave]["name"].partition(" -> ")[2] for slave in slaves}
    for transparent in document["clocks"].get("gptp", {}).get("ieee_1588", {}).get("transparent", []):
        follows[transparent] = "(transparent)"
    clocks = document["clocks"]["nodes"]
    for number, (node, clock) in enumerate(zip(document["nodes"], clocks, strict=True)):
        changing = " *" if "changes" in clock or "wander" in clock else ""
        table.add_row(
            node["name"],
            follows.get(number, ""),
            f"{clock['deviation_ppt'] / 1e6:.3f} ppm{changing}",
            quantities.time(clock["offset_ns"]),
            quantities.time(clock["granularity_ns"]),
            quantities.time(clock["jitter_ns"]),
        )
    return table


def _gate_table(rows: list[GateRow]) -> Table:
    table = _table("after base time", "for", "open classes", right="after base time,for")
    for row in rows[:MOST_ENTRIES]:
        open_classes = ", ".join(str(number) for number in row.classes) or "none"
        open_classes += f"; {row.mac}" if row.mac else ""
        table.add_row(quantities.exact(row.begin_ns), quantities.exact(row.length_ns), open_classes)
    if len(rows) > MOST_ENTRIES:
        table.add_row("…", "", f"{len(rows) - MOST_ENTRIES} more")
    return table
