"""What ``tsnbench plan`` prints for a person: streams with their ways, ports with load, shapers and gates.

Ports that no stream crosses are left out. Figures are rounded here; the Plan has them exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tsnbench.planning import words
from tsnbench.planning.delay import smallest_delay_ns, stamped_points, way
from tsnbench.planning.document import Plan
from tsnbench.planning.load import class_loads, total
from tsnbench.planning.sizes import sizes
from tsnbench.planning.windows import open_ns

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


MOST_ENTRIES = 64
"""Entries of one gate control list that are printed."""


@dataclass(frozen=True)
class StreamRow:
    """Flows of one stream that go the same way to the same listener."""

    stream: str
    flows: int
    pcp: int
    frame: str
    pattern: str
    way: tuple[str, ...]
    """Names of nodes; ``b #2`` where the link to b is one of parallel ones."""
    least_ns: int
    """Delay of the largest frame in an empty network."""
    limit_ns: int | None


@dataclass(frozen=True)
class ClassRow:
    """One traffic class of a port that something crosses or that is shaped."""

    port: str
    traffic_class: int
    pcps: tuple[int, ...]
    flows: int
    load: str
    share: str
    shapers: str


@dataclass(frozen=True)
class CbsRow:
    """One credit-based shaper in both systems of units."""

    port: str
    traffic_class: int
    linux: tuple[int, ...]
    """idleSlope, sendSlope, hiCredit, loCredit in kbit/s and octets."""
    standard: tuple[int, ...]
    """The same in bit/s and bit."""


@dataclass(frozen=True)
class GateRow:
    """One entry of a gate control list, at every port that has the same list."""

    ports: tuple[str, ...]
    begin_ns: int
    length_ns: int
    classes: tuple[int, ...]


def stream_rows(document: dict[str, Any]) -> list[StreamRow]:
    """One row per stream, way and listener, in the order of the Plan."""
    points = stamped_points(document)
    ports = document["ports"]
    rows: dict[tuple[str, tuple[int, ...]], StreamRow] = {}
    for stream in document["streams"]:
        for place in range(len(stream["listeners"])):
            passed = way(stream, place)
            known = rows.get((stream["group"], passed))
            names = [document["nodes"][ports[passed[0]]["node"]]["name"]]
            names += [ports[port]["name"].partition(" -> ")[2] for port in passed]
            rows[stream["group"], passed] = StreamRow(
                stream=stream["group"],
                flows=known.flows + 1 if known else 1,
                pcp=stream["pcp"],
                frame=_frame(stream),
                pattern=_pattern(stream["pattern"]),
                way=tuple(names),
                least_ns=smallest_delay_ns(document, stream, place, points=points),
                limit_ns=stream["requirements"].get("delay_ns"),
            )
    return list(rows.values())


def class_rows(document: dict[str, Any]) -> list[list[ClassRow]]:
    """Per port that is crossed: its classes, highest first."""
    every = []
    for port, loads in zip(document["ports"], class_loads(document), strict=True):
        if all(load.idle for load in loads):
            continue
        rows = []
        for number in reversed(range(len(loads))):
            load, traffic_class = loads[number], port["classes"][number]
            if load.idle and "cbs" not in traffic_class:
                continue
            shapers = ["CBS"] if "cbs" in traffic_class else []
            if "gates" in port:
                open_share = 100 * open_ns(port["gates"], number) / port["gates"]["cycle_ns"]
                shapers.append(f"open {open_share:.3g} %")
            rows.append(
                ClassRow(
                    port=port["name"],
                    traffic_class=number,
                    pcps=tuple(pcp for pcp, mapped in enumerate(port["pcp_to_class"]) if mapped == number),
                    flows=len(load.flows) + len(load.saturating),
                    load=_load(load.rate_bps, bool(load.saturating)),
                    share=words.share(load.rate_bps, port["rate_bps"]) if load.flows else "",
                    shapers=", ".join(shapers),
                )
            )
        every.append(rows)
    return every


def cbs_rows(document: dict[str, Any]) -> list[CbsRow]:
    """Every credit-based shaper, port by port, highest class first."""
    rows = []
    for port in document["ports"]:
        for number in reversed(range(len(port["classes"]))):
            cbs = port["classes"][number].get("cbs")
            if cbs is None:
                continue
            linux = tuple(cbs["linux"][key] for key in ("idleslope", "sendslope", "hicredit", "locredit"))
            standard = tuple(
                cbs[key] for key in ("idle_slope_bps", "send_slope_bps", "hi_credit_bits", "lo_credit_bits")
            )
            rows.append(CbsRow(port["name"], number, linux, standard))
    return rows


def gate_rows(document: dict[str, Any]) -> list[list[GateRow]]:
    """Every different gate control list, with the ports that have it."""
    lists: dict[str, list[dict[str, Any]]] = {}
    for port in document["ports"]:
        if "gates" in port:
            lists.setdefault(repr((port["gates"], len(port["classes"]))), []).append(port)
    return [list(_entries(ports)) for ports in lists.values()]


def _entries(ports: list[dict[str, Any]]) -> Iterator[GateRow]:
    names = tuple(port["name"] for port in ports)
    begin = 0
    for entry in ports[0]["gates"]["entries"]:
        classes = tuple(n for n in reversed(range(len(ports[0]["classes"]))) if entry["open"] >> n & 1)
        yield GateRow(names, begin, entry["interval_ns"], classes)
        begin += entry["interval_ns"]


def _frame(stream: dict[str, Any]) -> str:
    frames = sizes(stream["size"])
    if frames.smallest == frames.largest:
        return f"{frames.largest} B"
    return f"{frames.smallest}-{frames.largest} B"


def _load(rate_bps: Fraction, saturating: bool) -> str:
    """``100 Mbit/s+rest``: saturating flows take what is left."""
    parts = [words.rate(rate_bps)] if rate_bps or not saturating else []
    return "+".join([*parts, "rest"] if saturating else parts)


def _pattern(pattern: dict[str, Any]) -> str:
    if pattern["kind"] == "periodic":
        return words.time(pattern["period_ns"])
    if pattern["kind"] == "poisson":
        return f"~{words.time(pattern['mean_interval_ps'] // 1_000)}"
    return "saturating"


def print_plan(plan: Plan, console: Console) -> None:
    """Everything above as tables, and the warnings by name."""
    document = plan.document
    variant = "".join(f", {name} {value}" for name, value in document["variant"].items())
    console.print(
        f"{document['name']}{variant}: {len(document['nodes'])} nodes, {len(document['ports']) // 2} links, "
        f"{len(document['streams'])} flows, {words.time(document['duration_ns'])}, seed {document['seed']}\n"
        f"plan {plan.hash[:16]}",
        markup=False,
    )
    tables = [("Streams", _stream_table(document)), ("Ports", _class_table(document))]
    if shapers := cbs_rows(document):
        tables.append(
            ("Credit-based shapers: for tc in kbit/s and B, below in bit/s and bit", _cbs_table(shapers))
        )
    for rows in gate_rows(document):
        cycle = words.time(rows[-1].begin_ns + rows[-1].length_ns)
        tables.append((f"Gates of {words.some(list(rows[0].ports))}: cycle {cycle}", _gate_table(rows)))
    for title, table in tables:
        console.print(title, style="bold", markup=False)
        console.print(table)
    for warning in plan.warnings:
        console.print(f"warning ({warning.kind}): {warning}", markup=False)


def _table(*columns: str, right: str = "") -> Table:
    """Left-aligned columns but those named in ``right``."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right.split(",") else "left", overflow="fold")
    return table


def _stream_table(document: dict[str, Any]) -> Table:
    columns = ("stream", "pcp", "frame", "every", "way", "least delay", "limit")
    table = _table(*columns, right="pcp,frame,every,least delay,limit")
    for row in stream_rows(document):
        table.add_row(
            row.stream if row.flows == 1 else f"{row.stream} x{row.flows}",
            str(row.pcp),
            row.frame,
            row.pattern,
            " > ".join(row.way),
            words.time(row.least_ns),
            "" if row.limit_ns is None else words.time(row.limit_ns),
        )
    return table


def _class_table(document: dict[str, Any]) -> Table:
    columns = ("port", "class", "pcp", "flows", "load", "of rate", "shaped by")
    table = _table(*columns, right="class,flows,load,of rate")
    rates = {port["name"]: port["rate_bps"] for port in document["ports"]}
    loads = {port["name"]: load for port, load in zip(document["ports"], class_loads(document), strict=True)}
    for rows in class_rows(document):
        port = rows[0].port
        for place, row in enumerate(rows):
            table.add_row(
                port if place == 0 else "",
                str(row.traffic_class),
                ",".join(str(pcp) for pcp in row.pcps),
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
                words.rate(rates[port]),
                "all",
                "",
                str(sum(row.flows for row in rows)),
                _load(asked, saturating),
                words.share(asked, rates[port]),
                "over its rate" if over else "",
            )
        table.add_section()
    return table


def _cbs_table(rows: list[CbsRow]) -> Table:
    columns = ("idleSlope", "sendSlope", "hiCredit", "loCredit")
    table = _table("port", "class", *columns, right=",".join(("class", *columns)))
    for row in rows:
        numbers = [f"{linux}\n{standard}" for linux, standard in zip(row.linux, row.standard, strict=True)]
        table.add_row(row.port, str(row.traffic_class), *numbers)
    return table


def _gate_table(rows: list[GateRow]) -> Table:
    table = _table("from", "for", "open classes", right="from,for")
    for row in rows[:MOST_ENTRIES]:
        open_classes = ", ".join(str(number) for number in row.classes) or "none"
        table.add_row(words.time(row.begin_ns), words.time(row.length_ns), open_classes)
    if len(rows) > MOST_ENTRIES:
        table.add_row("…", "", f"{len(rows) - MOST_ENTRIES} more")
    return table
