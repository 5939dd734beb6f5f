"""The page of one run: all its parts in order, as figures and text; no file is written here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tsnbench.libraries import jinja2, markupsafe
from tsnbench.measure.outcome import LEGEND, WORDS, WORST_CASES, Outcome
from tsnbench.report import formatting
from tsnbench.report.definitions import definitions
from tsnbench.report.facts import FaultSpan, Measure, RunFacts
from tsnbench.report.figures.clocks import clock_error
from tsnbench.report.figures.distributions import boxes, ccdf, jitter
from tsnbench.report.figures.faults import faults_over_time
from tsnbench.report.figures.gates import gantt
from tsnbench.report.figures.load import load_over_time, port_loads
from tsnbench.report.figures.program import policy, program
from tsnbench.report.figures.schedule import schedule
from tsnbench.report.figures.style import Drawing, inline
from tsnbench.report.figures.time import delay_over_time
from tsnbench.report.figures.topology import NAME as NETWORK
from tsnbench.report.figures.topology import topology
from tsnbench.report.layout import MOST_NODES
from tsnbench.report.parts import shown
from tsnbench.report.parts.bounds import bound_rows
from tsnbench.report.parts.clocks import against, clock_rows
from tsnbench.report.parts.curves import Panel, panels
from tsnbench.report.parts.faults import drawn, losses
from tsnbench.report.parts.ingress import ingress_rows, left_out
from tsnbench.report.parts.losses import drops, gaps
from tsnbench.report.parts.ports import loads, over_time, tapped_ports
from tsnbench.report.parts.provenance import command, provenance
from tsnbench.report.parts.schedule import folded
from tsnbench.report.parts.verdicts import KINDS, every_flow, notes, rows, summary, tightest_first

if TYPE_CHECKING:
    from jinja2 import Environment

    from tsnbench.runs.measures import Stat


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates; all text that this room has not marked as HTML is escaped."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("tsnbench.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "count": formatting.count,
        "place": formatting.place,
        "micros": formatting.micros,
        "span": formatting.span,
        "rate": formatting.rate,
    }
    found.globals |= {"WORDS": WORDS, "LEGEND": LEGEND, "WORST_CASES": WORST_CASES}
    found.globals |= {"POLICY": markupsafe.Markup(policy()), "PROGRAM": markupsafe.Markup(program())}
    return found


def drawings(run: RunFacts) -> list[Drawing]:
    """Every figure for which the run has data, in the order of the page."""
    found = _distributions(panels(run), drawn(run.faults))
    if run.faults:
        found.append(faults_over_time(run.faults, losses(run), run.plan["duration_ns"]))
    sent = loads(run)
    if sent:
        found.append(port_loads(sent, run.priorities))
    if flowed := over_time(run):
        found.append(load_over_time(flowed, len(tapped_ports(run.plan)), run.priorities))
    if run.planned is not None:
        found += schedule(run.planned)
    if gated := folded(run):
        found.append(gantt(gated, run.priorities))
    if timed := clock_rows(run):
        found.append(clock_error(timed, against(run)))
    return [*network_drawing(run), *found]


def network_drawing(run: RunFacts) -> list[Drawing]:
    """The network with the loads of its links, if it can be drawn."""
    drawable = 1 < len(run.plan["nodes"]) <= MOST_NODES
    return [topology(run.plan, loads(run))] if drawable else []


def _distributions(delays: Sequence[Panel], faults: Sequence[FaultSpan]) -> list[Drawing]:
    if not delays:
        return []
    found = [ccdf(delays)]
    if any(curve.jitter for panel in delays for curve in panel.curves):
        found.append(jitter(delays))
    found.append(boxes(delays))
    if any(curve.over_time for panel in delays for curve in panel.curves):
        found.append(delay_over_time(delays, faults))
    return found


def charts(figures: Sequence[Drawing]) -> list[dict[str, Any]]:
    """Figures ready for a template."""
    return [
        {
            "name": f.name,
            "title": f.title,
            "caption": f.caption,
            "spoken": f.spoken,
            "svg": markupsafe.Markup(inline(f)),
            "wide": f.wide,
        }
        for f in figures
    ]


MOST_BARS = 12
"""Requirements that a page shows before a fold."""


def _common(run: RunFacts) -> dict[str, object]:
    """What a page of one run and its summary both have."""
    return {
        "title": run.plan["name"],
        "about": run.title,
        "run": run,
        "outcome": formatting.outcome(run.judged, run.groups),
        "overall": run.overall,
        "badge": run.badge,
        "uncertain": any(row.outcome is Outcome.UNCERTAIN for row in run.judged),
        "facts": headline(run),
        "command": command(run),
    }


def render(run: RunFacts, figures: Sequence[Drawing]) -> str:
    """The whole HTML file of one run."""
    run = replace(
        run,
        groups=tightest_first(run.groups, run.judged),
        flows=tightest_first(run.flows, run.judged),
    )
    verdicts = rows(run.judged)
    found = gaps(run)
    single = every_flow(shown.judged(run.judged).rows)
    return (
        environment()
        .get_template("run.html")
        .render(
            **_common(run),
            verdicts=shown.verdicts(verdicts),
            outcomes={row.outcome for row in verdicts},
            single=single if len(run.judged) > len(verdicts) else [],
            judged_note=shown.judged(run.judged).note,
            summary=summary(run),
            kinds=KINDS,
            notes=notes(verdicts),
            network=charts([one for one in figures if one.name == NETWORK]),
            charts=charts([one for one in figures if one.name != NETWORK]),
            most_nodes=MOST_NODES,
            most_bars=MOST_BARS,
            groups=shown.measures(run.groups),
            flows=shown.measures(run.flows if len(run.flows) > len(run.groups) else ()),
            statistics=statistics,
            planned=shown.scheduled(run.planned.streams if run.planned else ()),
            bounds=shown.bounds(bound_rows(run)),
            clocks=clock_rows(run),
            against=against(run),
            gaps=found[: shown.MOST_ROWS],
            gaps_left=len(found[shown.MOST_ROWS :]),
            drops=drops(run.counters),
            ingress=ingress_rows(run.counters),
            ingress_left_out=left_out(run.counters),
            definitions=definitions(run),
            provenance=provenance(run),
        )
    )


SUMMARY_ROWS = 22
"""Requirements on a page of A4 with a drawn network."""
SUMMARY_ROWS_ALONE = 32
"""Requirements on a page of A4 without a drawn network."""
SUMMARY_PROVENANCE = ("Source", "Plan hash", "Seed", "Backend", "Version of tsnbench", "Started")


def render_summary(run: RunFacts) -> str:
    """The most important results of one run on one page of A4."""
    verdicts = rows(run.judged)
    # The drawing is small, so its letters have the size for a narrow page.
    network = charts([replace(one, wide=False) for one in network_drawing(run)])
    doubts = list(run.warnings)
    if run.state != "complete":
        doubts.insert(0, f"this run is {run.state}, not complete.")
    most = SUMMARY_ROWS if network else SUMMARY_ROWS_ALONE
    kept = set(SUMMARY_PROVENANCE)
    return (
        environment()
        .get_template("summary.html")
        .render(
            **_common(run),
            doubts=doubts[:1],
            more_doubts=len(doubts[1:]),
            network=network,
            verdicts=verdicts[:most],
            left_out=len(verdicts[most:]),
            provenance=[(what, value) for what, value in provenance(run) if what in kept],
        )
    )


def headline(run: RunFacts) -> list[tuple[str, str]]:
    """The main numbers beside the outcome."""
    return [
        ("streams", formatting.count(len({group.group for group in run.groups}))),
        ("flows", formatting.count(len(run.plan["streams"]))),
        *formatting.totals(run.groups),
        ("duration", formatting.span(run.plan["duration_ns"])),
    ]


def statistics(measure: Measure) -> list[tuple[str, Stat | None]]:
    """The rows of the statistics table for one stream: delay and every named jitter."""
    known = measure.uncertainty or {}

    def named(name: str, key: str = "difference_ns") -> str:
        return name + formatting.plus_minus(known.get(key), "ns")

    waited = [("send to tx", measure.send_to_tx)] if measure.send_to_tx else []
    if measure.release_delay:
        waited.append((named("delay from release", "release_delay_ns"), measure.release_delay))
    jitters = [
        (named(kind, "arrivals_ns" if kind == "interval" else "difference_ns"), stat)
        for kind, stat in measure.jitter.items()
    ]
    return [(named("delay", "delay_ns"), measure.delay), *jitters, *waited]
