"""A run as one can work with it: manifest, plan, counters, tables, measures, verdict."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench import foreign
from tsnbench.runs import documents, manifest
from tsnbench.runs import folder as folders
from tsnbench.runs.delay import DelaySeries
from tsnbench.runs.errors import FolderError

if TYPE_CHECKING:
    import polars as pl

    from tsnbench.planning.document import Plan

LEGEND_KEY = "tsnbench.legend"
"""Where observations.parquet keeps what its numbers mean."""

NODES_KEY = "tsnbench.nodes"
"""Where clock_error.parquet keeps the names of nodes."""
FRAME_COLUMNS = ("path", "seq", "t_tx_ns", "t_rx_ns", "delay_ns", "octets")


class Run:
    """One run folder. Tables are polars data frames, read when they are asked for."""

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = content

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """The run in a folder, in whatever state it is.

        Raises:
            FolderError: the folder is no run folder.
        """
        path = Path(folder)
        return cls(path, manifest.read(path))

    @property
    def state(self) -> manifest.State:
        """``running`` is what a run that was broken off leaves behind."""
        return manifest.State(self.manifest["state"])

    @cached_property
    def plan(self) -> Plan:
        """What was run.

        Raises:
            PlanReadError: the plan is missing or not the one that was written.
        """
        from tsnbench.planning.document import Plan

        return Plan.read(self.folder / folders.PLAN)

    @cached_property
    def counters(self) -> dict[str, Any]:
        """What the backend counted, per port and stream."""
        return self._json(folders.COUNTERS)

    def observations(self) -> pl.DataFrame:
        """One row per sighting: tap, stage, clock, t_ns, missing, stream, seq, copy, octets, pcp, vid."""
        import polars as pl

        path = self._written(folders.OBSERVATIONS)
        try:
            table, legend = foreign.read_parquet(path), documents.legend(path, LEGEND_KEY)
        except OSError as error:
            raise self._unreadable(folders.OBSERVATIONS, error) from error

        def named(column: str, names: list[str | None]) -> pl.Expr:
            values = pl.Series(names, dtype=pl.String)
            return pl.lit(values).gather(pl.col(column)).alias(column)

        taps, streams = legend["taps"], legend["streams"]

        def of_tap(key: str) -> pl.Expr:
            return named("tap", [tap.get(key) for tap in taps]).alias(key)

        try:
            with foreign.table_errors(path):
                return table.select(
                    of_tap("name").alias("tap"),
                    of_tap("stage"),
                    of_tap("clock"),
                    "t_ns",
                    pl.when(pl.col("t_ns").is_null()).then(of_tap("missing")).alias("missing"),
                    named("stream", [stream["name"] for stream in streams]),
                    "seq",
                    "copy",
                    "octets",
                    "pcp",
                    "vid",
                )
        except OSError as error:
            raise self._unreadable(folders.OBSERVATIONS, error) from error

    def clock_errors(self) -> pl.DataFrame:
        """One row per node and moment: node, t_true_ns, error_ps (against true time), offset_ps (against the
        grandmaster; null without one).

        Raises:
            FolderError: the run's nodes have no clocks of their own.
        """
        import polars as pl

        path = self._written(folders.CLOCK_ERROR)
        try:
            table, names = foreign.read_parquet(path), foreign.parquet_note(path, NODES_KEY)
            with foreign.table_errors(path):
                values = pl.Series(names, dtype=pl.String)
                return table.with_columns(pl.lit(values).gather(pl.col("node")).alias("node"))
        except OSError as error:
            raise self._unreadable(folders.CLOCK_ERROR, error) from error

    def frames(self) -> pl.DataFrame:
        """One row per sent frame and listener: path, seq, t_tx_ns, t_rx_ns, delay_ns, octets.

        Null is lost or missing.
        """
        self.measures()
        try:
            table = foreign.read_parquet(self._written("frames.parquet"))
        except OSError as error:
            raise self._unreadable("frames.parquet", error) from error
        if lacking := [name for name in FRAME_COLUMNS if name not in table.columns]:
            raise FolderError(self.folder, f"its frames.parquet has no column {', '.join(lacking)}")
        return table

    def measures(self) -> dict[str, Any]:
        """Delay, jitter and loss of every path; measured now where nobody has."""
        if not (self.folder / "measures.json").exists():
            from tsnbench.measure import measure_run

            self._written(folders.OBSERVATIONS)
            return dict(measure_run(self.folder))
        return self._json("measures.json")

    def verdict(self) -> dict[str, Any]:
        """Which requirements are met; judged now where nobody has."""
        if not (self.folder / "verdict.json").exists():
            from tsnbench.measure import judge
            from tsnbench.runs.bounds import bounds_of_run

            backend = str(self.manifest.get("backend", "simulation"))
            return dict(judge(self.plan.document, self.measures(), bounds_of_run(self.folder), backend))
        return self._json("verdict.json")

    def delay(self, stream: str, listener: str | None = None) -> DelaySeries:
        """The delays of a flow, or of all flows of a scenario's stream, at its listeners or one of them.

        Raises:
            FolderError: the run has no such stream or listener.
        """
        import polars as pl

        paths = self.measures()["paths"]
        chosen = [
            number
            for number, path in enumerate(paths)
            if stream in (path["stream"], path["group"]) and listener in (None, path["listener"])
        ]
        if not chosen:
            there = sorted({path["group"] for path in paths} | {path["stream"] for path in paths})
            what = f"stream {stream!r}" + (f" at {listener!r}" if listener else "")
            hint = f"it has {', '.join(there[:12])}{', …' if len(there) > 12 else ''}"
            raise FolderError(self.folder, f"the run has no {what}", hint)
        table = self.frames().filter(pl.col("path").is_in(chosen))
        return DelaySeries(stream, table)

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {self.manifest.get('name')!r}, {self.state.value})"

    def _written(self, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            raise FolderError(self.folder, f"has no {name}", self._hint())
        return path

    def _hint(self) -> str | None:
        return folders.half_written(self.folder)

    def _unreadable(self, name: str, error: OSError) -> FolderError:
        return FolderError(self.folder, f"its {name} cannot be read: {error.strerror or error}", self._hint())

    def _json(self, name: str) -> dict[str, Any]:
        try:
            return documents.read(self._written(name))
        except OSError as error:
            raise self._unreadable(name, error) from error
