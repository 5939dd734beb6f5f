"""A run beside INET's result file of the same scenario: packet by packet, in the order of arrival.

INET counts a delay from the creation of a packet in the application to its arrival there: it is held against
the stages ``send`` to ``rx``. A vector does not have the last packet of a run, because INET records a packet
when the next one arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tsnbench import foreign
from tsnbench.compare.frames import Spread, spread
from tsnbench.compare.tidy import COLUMNS, spread_rows
from tsnbench.foreign import Json
from tsnbench.foreign_files import omnetpp
from tsnbench.foreign_files.formats import FormatError
from tsnbench.libraries import polars as pl
from tsnbench.measure import measure_run
from tsnbench.measure.errors import MeasureError
from tsnbench.measure.tidy import Row
from tsnbench.quantities import UNKNOWN, micros, some
from tsnbench.runs import Run
from tsnbench.sheet import Column, Sheet, csv_text

FORMAT = "tsnbench-compare-inet/1"
WITHIN_NS = 2.0
"""Both sides round each time to whole nanoseconds."""
_LARGEST = 4 << 30


@dataclass(frozen=True)
class Beside:
    """One stream at one listener in both simulators; times in ns."""

    stream: str
    listener: str
    frames: int
    """Frames that arrived in the run."""
    theirs: int
    """Packets in INET's vector."""
    delay: Spread | None
    their_delay: Spread | None
    difference: Spread | None
    """INET's delay minus the run's: the first packet of both, the second of both, and so on."""
    agrees: bool
    """Whether each packet's delay agrees, and no packet is missing but the last one."""


def beside(folder: Path, file: Path, within_ns: float = WITHIN_NS) -> list[Beside]:
    """Every stream of the run, as INET has it.

    Args:
        folder: a simulated run whose scenario has ``taps: {send: true}``.
        file: a ``.vec`` file of the exported scenario.
        within_ns: how far two delays of one packet may be apart.

    Raises:
        InputError: the run has no stamps of the stage ``send``, or the file is none of OMNeT++'s, or has no
            stream of the run.
    """
    content = foreign.read_bytes(file, _LARGEST)
    if not omnetpp.recognised(content):
        raise FormatError(
            f"{file}: expected a run folder, or a result file (.vec) of OMNeT++, found another file"
        )
    theirs = omnetpp.arrivals(str(file), content)
    ours = dict(_delays(folder))
    found = []
    for (stream, listener), delays in ours.items():
        own = [one for one in theirs if one.stream == stream]
        if len(own) > 1:
            own = [one for one in own if _at(one.module, listener)]
        if own:
            found.append(_held(stream, listener, delays, own[0].delays_ns, within_ns))
    if not found:
        raise MeasureError(
            f"{file}: expected a stream of {folder}, found {some([one.stream for one in theirs]) or 'none'}\n"
            "hint: names come from the display-name of applications, as tsnbench plan --as inet writes it"
        )
    return found


def _delays(folder: Path) -> Iterator[tuple[tuple[str, str], list[int]]]:
    """The run's delays from the stage ``send`` by stream and listener, in the order of arrival."""
    run = Run.open(folder)
    if not any(tap["stage"] == "send" for tap in run.plan.document["taps"]):
        raise MeasureError(
            f"{folder}: expected stamps of the stage send, from which INET counts, found none\n"
            "hint: write taps: {send: true} in the scenario, and run it again"
        )
    measures = measure_run(folder, "send", "rx")
    frames: pl.DataFrame = pl.read_parquet(folder / "frames-send-rx.parquet")
    arrived = frames.filter(pl.col("delay_ns").is_not_null()).sort("t_rx_ns", "seq")
    for number, path in enumerate(measures["paths"]):
        own: Any = arrived.filter(pl.col("path") == number)["delay_ns"].cast(pl.Int64)
        yield (path["stream"], path["listener"]), own.to_list()


def _at(module: str, listener: str) -> bool:
    """Whether an application is a listener's: ``Network.node_host.app[0]``."""
    node = module.partition(".")[2].partition(".")[0]
    own = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in listener)
    return node.strip("_") in (own.strip("_"), f"{own}_host".strip("_"))


def _held(stream: str, listener: str, ours: list[int], theirs: list[int], within_ns: float) -> Beside:

    pairs = zip(theirs, ours, strict=False)
    apart = spread(pl.Series([their - our for their, our in pairs], dtype=pl.Int64))
    complete = len(theirs) in (len(ours), len(ours) - 1)
    return Beside(
        stream,
        listener,
        len(ours),
        len(theirs),
        spread(pl.Series(ours, dtype=pl.Int64)),
        spread(pl.Series(theirs, dtype=pl.Int64)),
        apart,
        complete and (apart is None or max(-apart.min, apart.max) <= within_ns),
    )


def table_of(found: list[Beside]) -> Sheet:
    """One row per stream and listener; times in us, differences in ns."""
    columns = [
        Column("stream", name=True),
        Column("to", name=True, spare=3),
        Column("frames"),
        Column("INET's"),
        Column("median", spare=2),
        Column("INET's median", spare=2),
        Column("max", spare=1),
        Column("INET's max", spare=1),
        Column("apart, ns"),
        Column("", left=True),
    ]
    sheet = Sheet("delay from the application, us: the run, and INET", columns)
    for one in found:
        times = [
            micros(getattr(side, name) if side else None)
            for name in ("median", "max")
            for side in (one.delay, one.their_delay)
        ]
        apart = UNKNOWN if one.difference is None else f"{one.difference.min} to {one.difference.max}"
        words = "agrees" if one.agrees else "differs"
        sheet.rows.append(
            [one.stream, one.listener, f"{one.frames:,}", f"{one.theirs:,}", *times, apart, words]
        )
    return sheet


def document_of(found: list[Beside], within_ns: float = WITHIN_NS) -> Json:
    """The comparison, ready for JSON."""
    streams = [asdict(one) for one in found]
    return {
        "format": FORMAT,
        "within_ns": within_ns,
        "agrees": all(one.agrees for one in found),
        "streams": streams,
    }


def csv_of(found: list[Beside]) -> str:
    """One row per figure, with the columns of ``tsnbench compare --csv``."""
    rows: list[Row] = []
    for one in found:
        for run, frames, delay in (("run", one.frames, one.delay), ("INET", one.theirs, one.their_delay)):
            who = (one.stream, one.listener, run)
            rows.append((*who, "frames", "received", frames, "frames"))
            rows += spread_rows(who, "delay", delay)
        who = (one.stream, one.listener, "INET")
        rows += spread_rows(who, "difference", one.difference)
        rows.append((*who, "agrees", "value", int(one.agrees), ""))
    return csv_text(COLUMNS, rows)
