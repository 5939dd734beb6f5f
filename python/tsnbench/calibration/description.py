"""The files of a description: for people and for ``device: my-device.yaml`` in a scenario.

``NAME.yaml`` has the numbers with their intervals and where they are from, ``NAME.times.csv`` the histogram
of the processing time, ``NAME.draws.parquet`` the parameters for predictions: ``draw``, ``per_octet_ps``,
``time_ns``, ``count``. Only files that a description of ours names are replaced.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.calibration.distribution import Draw, Histogram
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.fit import Interval
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.report.files import write_bytes
from tsnbench.runs.errors import writing
from tsnbench.scenario.catalogue.devices import ENDINGS
from tsnbench.scenario.units import DURATION, RATE
from tsnbench.version import __version__

if TYPE_CHECKING:
    from tsnbench.calibration.calibrate import Calibrated
    from tsnbench.calibration.printed import Printed

_MARK = "# Written by tsnbench "


def files_of(into: Path, force: bool) -> tuple[Path, Path, Path]:
    """The three files of a description.

    Raises:
        CalibrationError: it has another ending, or is there and must not be replaced.
    """
    if into.suffix.lower() not in ENDINGS:
        raise CalibrationError(f"--into: expected a file that ends in .yaml, found {into}")
    if into.exists():
        ours = into.is_file() and into.read_bytes()[: len(_MARK)] == _MARK.encode()
        if not ours:
            raise CalibrationError(f"{into}: expected a new file, found one that tsnbench has not written")
        if not force:
            raise CalibrationError(f"{into}: expected a new file, found a description", "--force replaces it")
    known = into.read_text(encoding="utf-8") if into.exists() else ""
    times, draws = into.with_suffix(".times.csv"), into.with_suffix(".draws.parquet")
    for table in (times, draws):
        # A table of another program may have this name.
        if table.exists() and table.name not in known:
            text = f"{table}: expected a new file, found one that no description of this name has"
            raise CalibrationError(text, "move it away, or choose another name with --into")
    return into, times, draws


def write(into: Path, lines: Sequence[str], tables: Mapping[Path, bytes], use: str = "") -> list[Path]:
    """Writes a description: its tables first, so that it never names one that is missing.

    Args:
        use: what to do with it; by default, to name it in a scenario.

    Raises:
        BackendError: the disk is full, or a file cannot be written.
    """
    with writing(into):
        into.parent.mkdir(parents=True, exist_ok=True)
    for path, content in tables.items():
        write_bytes(path, content)
    use = use or f"Name it in a scenario: bridges: {{sw1: {{device: {into.name}}}}}"
    head = f"{_MARK}{__version__}. {use}"
    write_bytes(into, ("\n".join([head, *lines]) + "\n").encode("utf-8"))
    return [into, *tables]


@dataclass(frozen=True)
class Described:
    """What a description says of a device."""

    source: str
    fixed: Interval
    per_octet: Interval
    times: Histogram
    draws: Sequence[Draw]
    sizes: Sequence[int]
    rates: Sequence[int]
    frames: int | None = None
    """Of the fit; None if they are not known, as of printed figures."""
    load_ppm: int = 0

    @classmethod
    def measured(cls, found: Calibrated) -> Described:
        """What follows from frames."""
        return cls(
            found.source,
            found.fit.fixed,
            found.fit.per_octet,
            found.times,
            found.draws,
            found.sizes,
            found.rates,
            found.frames,
            found.load_ppm,
        )

    @classmethod
    def printed(cls, found: Printed) -> Described:
        """What follows from printed figures."""
        return cls(
            found.source,
            found.fixed,
            found.per_octet,
            found.times,
            found.draws,
            found.sizes,
            found.rates,
        )


def write_described(found: Described, into: Path, force: bool = False) -> list[Path]:
    """Writes a description and its tables.

    Raises:
        CalibrationError: the file is there, and must not be replaced.
        BackendError: the disk is full, or a file cannot be written.
    """
    main, times, draws = files_of(into, force)
    tables = {times: _csv(found.times), draws: _parquet(found.draws)}
    return write(main, _lines(found, times.name, draws.name), tables)


def write_calibrated(found: Calibrated, into: Path, force: bool = False) -> list[Path]:
    """Writes the description of a calibration; errors as for :func:`write_described`."""
    return write_described(Described.measured(found), into, force)


def _lines(found: Described, times: str, draws: str) -> list[str]:
    fixed, slope = found.fixed, found.per_octet
    bounds = [DURATION.text(max(0, round(end))) for end in (np.floor(fixed.low), np.ceil(fixed.high))]
    each = [f"{max(0, round(end))} ps" for end in (np.floor(slope.low * 1e3), np.ceil(slope.high * 1e3))]
    per_octet = round(max(slope.value, 0.0) * 1e3)
    own = [f"file: {times}", *([f"per-octet: {per_octet} ps"] if per_octet else [])]
    return [
        f"source: {json.dumps(found.source, ensure_ascii=False)}",
        f"processing: {{{', '.join(own)}}}",
        "calibrated:",
        *([] if found.frames is None else [f"  frames: {found.frames}"]),
        f"  sizes: [{', '.join(f'{size} B' for size in found.sizes)}]",
        f"  rates: [{', '.join(RATE.text(rate) for rate in found.rates)}]",
        f"  load: {found.load_ppm} ppm",
        f"  fixed: [{', '.join(bounds)}]",
        f"  per-octet: [{', '.join(each)}]",
        f"  draws: {draws}",
    ]


def _csv(times: Histogram) -> bytes:
    rows = (f"{time},{count}" for time, count in zip(times.times, times.counts, strict=True) if count)
    return ("\n".join(["time_ns,count", *rows]) + "\n").encode()


def _parquet(draws: Sequence[Draw]) -> bytes:
    table = pl.concat(
        pl.DataFrame(
            {
                "draw": np.full(len(one.histogram.times), number, dtype=np.int32),
                "per_octet_ps": np.full(len(one.histogram.times), one.per_octet_ps, dtype=np.int32),
                "time_ns": one.histogram.times,
                "count": one.histogram.counts,
            }
        )
        for number, one in enumerate(draws)
    )
    written = io.BytesIO()
    table.write_parquet(written, compression="zstd")
    return written.getvalue()
