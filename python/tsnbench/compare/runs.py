"""One run of a comparison: its backend, and its frames with the names of their streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.libraries import polars as pl
from tsnbench.measure import measure_captures
from tsnbench.runs import Run
from tsnbench.runs.errors import FolderError
from tsnbench.runs.lock import refuse_busy
from tsnbench.runs.manifest import KERNELS
from tsnbench.runs.run import with_names
from tsnbench.runs.tables import predicted
from tsnbench.sheet import numbered

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument
    from tsnbench.runs.measures import Measures
    from tsnbench.runs.tables.predicted import Prediction


@dataclass(frozen=True)
class Side:
    """One run of a comparison; without a folder and a Plan if it consists of captures.

    Example:
        >>> from tsnbench.compare import opened
        >>> side = opened("runs/first")
        >>> side.label, side.backend, side.frames.columns[:3]
        ('simulator', 'simulation', ['stream', 'listener', 'seq'])
    """

    label: str
    backend: str
    measures: Measures
    frames: pl.DataFrame
    """``stream``, ``listener``, ``seq``, ``t_tx_ns``, ``t_rx_ns``, ``delay_ns``, ``octets``: one row per sent
    frame and listener."""
    plan: PlanDocument | None = None
    plan_hash: str = ""
    """The Plan's hash; empty without a Plan."""
    manifest: Json | None = None
    folder: Path | None = None
    table: Path | None = None
    """One row per frame, of captures."""
    prediction: Prediction | None = None
    """The intervals in which the calibrated twin of a network predicts measurements."""

    def __repr__(self) -> str:
        return f"Side({self.label!r}, {len(self.frames):,} frames)"

    @property
    def is_kernel(self) -> bool:
        """True if the frames passed a real kernel."""
        return self.backend in KERNELS

    @property
    def dilate(self) -> int:
        """The dilation of the run; its figures are in the Plan's time."""
        return int((self.manifest or {}).get("dilate", 1))

    @property
    def wire(self) -> str:
        """The device that joined the ports of a guest."""
        return str(((self.manifest or {}).get("guest") or {}).get("wire", ""))

    @property
    def kind(self) -> tuple[str, int, str]:
        """The kind of a run; runs of equal kind are repetitions of each other."""
        return self.backend, self.dilate, self.plan_hash


def opened(folder: Path | str) -> Side:
    """One side of a comparison: the run in a folder. The run is measured if it was not measured before.

    Raises:
        InputError: the folder is no run folder, or the run is not complete.
        BackendError: another process writes into it.

    Example:
        >>> from tsnbench.compare import opened
        >>> opened("runs/first")
        Side('simulator', 70 frames)
    """
    run = Run.open(folder)
    refuse_busy(run.folder)
    if run.state.value != "complete":
        raise FolderError(run.folder, f"expected a complete run, found one that is {run.state.value}")
    measures = run.measures()
    return Side(
        label=called(run.manifest),
        backend=str(run.manifest.get("backend")),
        measures=measures,
        frames=_compared(run.frames()),
        plan=run.plan.document,
        plan_hash=run.plan.hash,
        manifest=run.manifest,
        folder=Path(folder),
        prediction=predicted.read(run.folder),
    )


def captured(
    tx: Sequence[Path],
    rx: Sequence[Path],
    into: Path,
    names: Mapping[str, str] | None = None,
    like: Side | None = None,
) -> Side:
    """One side of a comparison: captures of both ends.

    Args:
        tx: capture files at the sender.
        rx: capture files at the receiver.
        into: folder for the table of frames.
        names: names of streams in the captures, and their names in the other runs.
        like: a run whose Plan gives the names of streams.

    Frames of tsnbench's own talkers carry the number of their stream; the Plan of ``like`` has its name.

    Raises:
        MeasureError: a file is no readable capture.
        InputError: a stream of ``names`` is not in the captures.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench.compare import captured, opened
        >>> at = Path("runs/first/captures")
        >>> run = opened("runs/first")
        >>> tx, rx = [at / "controller-switch-tx.pcapng"], [at / "switch-robot-rx.pcapng"]
        >>> captured(tx, rx, Path("."), like=run)
        Side('captures', 20 frames)
    """
    measures, named = _captured(tx, rx, into, names, like.plan if like else None)
    return Side("captures", "captures", measures, _compared(named), table=into / TABLE)


def captured_frames(
    tx: Sequence[Path], rx: Sequence[Path], into: Path, names: Mapping[str, str], plan: PlanDocument
) -> pl.DataFrame:
    """The frames of captures of both ends, with the names of a Plan; arguments and errors as for
    :func:`captured`.
    """
    return _compared(_captured(tx, rx, into, names, plan)[1])


TABLE = "captured-frames.parquet"


def _captured(
    tx: Sequence[Path],
    rx: Sequence[Path],
    into: Path,
    names: Mapping[str, str] | None,
    planned: PlanDocument | None,
) -> tuple[Measures, pl.DataFrame]:
    """Measures and frames of captures, with the names of a Plan."""
    table = into / TABLE
    measures = measure_captures(list(tx), list(rx), offset="auto", frames=table)
    frames = pl.read_parquet(table)
    there = {path["stream"] for path in measures["paths"]}
    if unknown := sorted(set(names or {}) - there):
        raise InputError(
            f"--rename: the captures have no stream {', '.join(unknown)}\n"
            f"hint: they have {', '.join(sorted(there)[:12])}"
        )
    known = (planned_names(planned) if planned else {}) | dict(names or {})
    listeners = _only_listeners(planned) if planned else {}
    for path in [*measures["paths"], *measures["groups"]]:
        path["stream"] = known.get(path["stream"], path["stream"])
        path["group"] = known.get(path.get("group") or path["stream"], path.get("group") or path["stream"])
        path["listener"] = listeners.get(path["stream"], path["listener"])
    return measures, with_names(frames, measures["paths"])


def planned_names(plan: PlanDocument) -> dict[str, str]:
    """The names of a Plan's flows in captures, and their names in the Plan."""
    return {f"tsnbench/{number}": stream["name"] for number, stream in enumerate(plan["streams"])}


def _only_listeners(plan: PlanDocument) -> dict[str, str]:
    return {
        stream["name"]: plan["nodes"][stream["listeners"][0]["node"]]["name"]
        for stream in plan["streams"]
        if len(stream["listeners"]) == 1
    }


def distinct_labels(sides: Sequence[Side]) -> tuple[Side, ...]:
    """Distinct labels: runs with equal labels get the facts that differ, or a number."""
    variants = [side.plan.get("variant", {}) if side.plan else {} for side in sides]
    differ = [
        key
        for key in dict.fromkeys(key for variant in variants for key in variant)
        if len({str(variant.get(key)) for variant in variants}) > 1
    ]
    labels = [
        ", ".join([side.label, *(f"{key} {variant[key]}" for key in differ if key in variant)])
        for side, variant in zip(sides, variants, strict=True)
    ]
    return tuple(replace(side, label=label) for side, label in zip(sides, numbered(labels), strict=True))


def called(manifest: Json) -> str:
    """The backend of a run, in few words."""
    backend = str(manifest.get("backend"))
    if backend == "simulation":
        return "simulator"
    kernel = _kernel(manifest).partition("+")[0]
    slower = f", {manifest['dilate']} times slower" if manifest.get("dilate", 1) != 1 else ""
    return f"Linux {kernel} ({backend}{slower})" if backend in KERNELS else backend


def _kernel(manifest: Json) -> str:
    """The kernel version of a run; if hosts differ, all of their versions."""
    hosts = ((manifest.get("host") or {}).get("hosts") or {}).values()
    if found := dict.fromkeys(str(one["kernel"]) for one in hosts if "kernel" in one):
        return " and ".join(found)
    own = (manifest.get("guest") or {}).get("kernel") or (manifest.get("machine") or {}).get("kernel")
    return str(own or "")


def _compared(frames: pl.DataFrame) -> pl.DataFrame:
    """The columns of a table of frames that comparisons need."""
    numbers = (pl.col(name).cast(pl.Int64) for name in ("seq", "t_tx_ns", "t_rx_ns", "delay_ns", "octets"))
    return frames.select("stream", "listener", *numbers)
