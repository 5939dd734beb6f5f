"""The pages of captures: measures of captures of both ends, and figures of one capture alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.measure.conformance import STAMPS, in_words, kept
from tsnbench.measure.protocols.trdp import exchanges_table, trdp_table
from tsnbench.quantities import UNKNOWN
from tsnbench.report import formatting
from tsnbench.report.data import gather_captured
from tsnbench.report.definitions import definitions
from tsnbench.report.facts import Measure
from tsnbench.report.figures.distributions import ccdf, jitter
from tsnbench.report.figures.intervals import gaps, gaps_over_time, moments
from tsnbench.report.figures.style import Drawing
from tsnbench.report.figures.time import delay_over_time
from tsnbench.report.files import destination, write_page
from tsnbench.report.page import charts, environment, statistics
from tsnbench.report.parts import shown
from tsnbench.report.parts.curves import panels
from tsnbench.report.parts.intervals import gap_panel, lost_shares, rates
from tsnbench.report.parts.losses import gaps as missing

if TYPE_CHECKING:
    from tsnbench.measure.inspection import InspectedStream, Inspection
    from tsnbench.measure.protocols.trdp import TrdpMeasures
    from tsnbench.report.facts import RunFacts
    from tsnbench.runs.measures import Measures, SourceFile
    from tsnbench.sheet import Sheet

INSPECTED = (
    ("interval", "the gap between two frames of a stream that follow each other in number."),
    ("burst", "the most frames of a stream within the window that the table names."),
    (
        "missing",
        "numbers without a frame. Only the sequence number of a payload proves that a frame is missing; a "
        "stream without one has a dash.",
    ),
    ("octets", "length of the frames from destination address to FCS. Rates count the same octets."),
)

GATES = (
    (
        "began, ended while closed",
        "a frame is on the wire from its preamble to the last bit of its FCS. It has to begin while the gate "
        "of its traffic class is open, and to end before this gate closes.",
    ),
)

TELEGRAMS = (
    (
        "gaps, missed, repeated, restarted, time-outs",
        "the counts of a TRDP subscriber at the place of the capture: missing sequence numbers, numbers that "
        "do not follow the last one, publishers that begin again, and times without a telegram.",
    ),
)


def write_captures(measures: Measures, frames: Path, into: Path, figures: Sequence[str] = ()) -> Path:
    """Write the page of captures of both ends, and figure files for papers beside it.

    Args:
        measures: ``tsnbench-measures/1`` of captures.
        frames: the table of single frames that was written with them.
        into: the folder for ``report.html`` and ``figures/``, or the HTML file itself.
        figures: kinds of figure files: ``svg``, ``pdf``, ``png``, ``pgf``, and ``csv`` for their numbers.

    Returns:
        The HTML file.
    """
    run = gather_captured(measures, frames)
    drawn = _of_captures(run, frames)
    source = measures["source"]
    text = (
        environment()
        .get_template("captures.html")
        .render(
            title=" and ".join(_names([Path(one["path"]) for one in source["files"][:2]])),
            kind="tsnbench report of captures",
            outcome=formatting.outcome((), run.groups).replace("; none has a requirement", ""),
            facts=[("streams", formatting.count(len(run.groups))), *formatting.totals(run.groups)],
            warnings=run.warnings,
            charts=charts(drawn),
            groups=shown.measures(run.groups),
            statistics=statistics,
            gaps=missing(run),
            definitions=[
                *(pair for pair in definitions(run) if pair[0] not in ("verdict", "margin", "bound", "hop")),
            ],
            provenance=_files(source["files"], source["formats"]),
        )
    )
    return write_page(destination([], into), text, drawn, figures)


def captures_drawings(measures: Measures, frames: Path) -> list[Drawing]:
    """Every figure of captures of both ends for which they have data; arguments as :func:`write_captures`."""
    return _of_captures(gather_captured(measures, frames), frames)


def _of_captures(run: RunFacts, frames: Path) -> list[Drawing]:
    delays = panels(run)
    found = []
    if delays:
        found.append(ccdf(delays))
        if any(curve.jitter for panel in delays for curve in panel.curves):
            found.append(jitter(delays))
        if any(curve.over_time for panel in delays for curve in panel.curves):
            found.append(delay_over_time(delays))
    ends = (
        gap_panel(frames, run.groups, "t_tx_ns", "As sent"),
        gap_panel(frames, run.groups, "t_rx_ns", "As received"),
    )
    if there := [end for end in ends if end is not None]:
        found += [gaps(there), gaps_over_time(there)]
    if lost := lost_shares(frames, run.groups):
        found.append(
            moments(
                "losses-over-time",
                "Losses over time",
                "Share of the frames sent in each moment that were not received, by time of sending; the "
                "streams that lost the most.",
                "lost frames (%)",
                lost,
            )
        )
    return found


def write_inspection(
    found: Inspection,
    frames: Path,
    into: Path,
    figures: Sequence[str] = (),
    telegrams: TrdpMeasures | None = None,
) -> Path:
    """Write the page of one capture, and figure files for papers beside it.

    Args:
        found: ``tsnbench-inspection/1``.
        frames: the table of single frames that was written with it.
        into: the folder for ``report.html`` and ``figures/``, or the HTML file itself.
        figures: kinds of figure files: ``svg``, ``pdf``, ``png``, ``pgf``, and ``csv`` for their numbers.
        telegrams: ``tsnbench-trdp/1`` of the same capture, if there is TRDP in it.

    Returns:
        The HTML file.
    """
    drawn = inspection_drawings(found, frames)
    many = len(found["streams"])
    frames_of = formatting.count(sum(one["frames"] for one in found["streams"]))
    text = (
        environment()
        .get_template("inspection.html")
        .render(
            title=Path(found["file"]).name,
            kind="tsnbench report of one capture",
            outcome=f"{frames_of} frames of {formatting.count(many)} {'stream' if many == 1 else 'streams'}.",
            facts=[
                ("frames", formatting.count(found["frames"])),
                ("payloads", ", ".join(found["payloads"]) or UNKNOWN),
            ],
            warnings=found["warnings"],
            charts=charts(drawn),
            found=found,
            gates_kept=found["gates"] is not None and kept(found["gates"]),
            stamps=STAMPS[found["gates"]["stamp"]] if found["gates"] else "",
            in_words=in_words,
            telegrams=_telegrams(telegrams),
            definitions=[*INSPECTED, *(GATES if found["gates"] else ()), *(TELEGRAMS if telegrams else ())],
            provenance=[("Capture", found["file"]), ("Unreadable frames", str(found["unreadable_frames"]))],
        )
    )
    return write_page(destination([], into), text, drawn, figures)


def inspection_drawings(found: Inspection, frames: Path) -> list[Drawing]:
    """Every figure of one capture for which it has data; arguments as :func:`write_inspection`."""
    streams = [_stream(one, place) for place, one in enumerate(found["streams"])]
    drawn = []
    if (panel := gap_panel(frames, streams, "t_tx_ns", "Streams")) is not None:
        drawn += [gaps([panel]), gaps_over_time([panel])]
    if flowed := rates(frames, streams):
        drawn.append(
            moments(
                "rates-over-time",
                "Rates over time",
                "Octets of each stream's frames in each moment, destination address to FCS; the streams with "
                "the most frames.",
                "rate (Mbit/s)",
                flowed,
            )
        )
    return drawn


def _telegrams(measures: TrdpMeasures | None) -> list[Sheet]:
    """The tables of TRDP."""
    if measures is None:
        return []
    return [trdp_table(measures), *([exchanges_table(measures)] if measures["exchanges"] else [])]


def _stream(one: InspectedStream, place: int) -> Measure:
    return Measure(
        stream=one["stream"],
        group=one["stream"],
        listener="",
        counts={"sent": one["frames"]},
        lost_where=(),
        delay=None,
        jitter={},
        spread_ns=None,
        rates={},
        paths=(place,),
    )


def _names(files: list[Path]) -> list[str]:
    """The labels of files: their names, with the folder if names are equal."""
    if len({one.name for one in files}) == len(files):
        return [one.name for one in files]
    return [str(Path(*one.parts[-2:])) for one in files]


def _files(files: Sequence[SourceFile], payloads: Sequence[str]) -> list[tuple[str, str]]:
    sides = {"tx": "Capture at the talker", "rx": "Capture at the listener"}
    return [
        *(
            (sides.get(one["side"], one["side"]), f"{one['path']}, {formatting.count(one['frames'])} frames")
            for one in files
        ),
        ("Payloads", ", ".join(payloads) or UNKNOWN),
    ]
