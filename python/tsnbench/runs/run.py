"""A run for users: manifest, plan, counters, tables, measures, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tsnbench import foreign, steps
from tsnbench.libraries import polars as pl
from tsnbench.plan.document import Plan
from tsnbench.runs import documents, file_names, manifest
from tsnbench.runs import folder as folders
from tsnbench.runs.errors import FolderError
from tsnbench.runs.tables import repeats
from tsnbench.runs.tables.delay import DelaySeries

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.runs.measures import Measures, PathReport, Verdict

LEGEND_KEY = "tsnbench.legend"
"""The metadata key of observations.parquet for the meaning of its numbers."""

NODES_KEY = "tsnbench.nodes"
"""The metadata key of clock_error.parquet for the names of nodes."""
FRAME_COLUMNS = ("path", "seq", "t_tx_ns", "t_rx_ns", "delay_ns", "octets")


def with_names(frames: pl.DataFrame, paths: Sequence[PathReport]) -> pl.DataFrame:
    """A table of frames that begins with the columns ``stream`` and ``listener``.

    Names are categories: a row takes 8 octets more, and tables of different runs can be joined by them.

    Args:
        frames: a table with the column ``path``.
        paths: the measures' paths.
    """
    names = (
        pl.Series(key, [path[key] for path in paths], dtype=pl.Categorical).gather(frames["path"])
        for key in ("stream", "listener")
    )
    return frames.select(*names, pl.all())


class Run:
    """One run folder: manifest, Plan, tables, measures, verdict.

    Tables are polars data frames. A file is read when its method is called.

    Example:
        >>> from tsnbench import Run
        >>> run = Run.open("runs/first")
        >>> run.state, run.plan
        (<State.COMPLETE: 'complete'>, Plan('first', 2 flows))
        >>> run.counters["streams"][0]["delivered"]
        {'robot': 20}
        >>> [(row["requirement"], row["met"]) for row in run.verdict()["rows"]]
        [('delay', 'yes'), ('loss', 'yes')]
    """

    def __init__(self, folder: Path, content: Json) -> None:
        self.folder = folder
        self.manifest = content

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Opens a run folder. The run may be complete, interrupted, failed or still running.

        Raises:
            FolderError: the folder is no run folder.
        """
        path = Path(folder)
        return cls(path, manifest.read(path))

    @property
    def state(self) -> manifest.State:
        """State of the run. A run that was broken off stays in the state ``running``."""
        return manifest.State(self.manifest["state"])

    @cached_property
    def plan(self) -> Plan:
        """The Plan that was run.

        Raises:
            PlanReadError: the Plan is missing, or its content does not match its hash.
        """
        return Plan.read(self.folder / file_names.PLAN)

    @cached_property
    def counters(self) -> Json:
        """Counters of the backend, per port and stream; ``docs/reference/run-folder.md`` lists them.

        Raises:
            FolderError: the run has no counters, or they cannot be read.
        """
        return self._json(file_names.COUNTERS)

    def observations(self) -> pl.DataFrame:
        """One row per sighting of a frame at a tap.

        Columns: ``tap``, ``stage``, ``clock`` (names), ``t_ns`` (null without a stamp, then ``missing`` has
        the reason), ``stream``, ``seq``, ``copy`` (number of the member stream), ``octets``,
        ``pcp``, ``vid``.

        Raises:
            FolderError: the run has no observations, or they cannot be read.

        Example:
            >>> from tsnbench import Run
            >>> table = Run.open("runs/first").observations()
            >>> table.filter(stream="loop", seq=0).select("tap", "t_ns").rows()
            [('controller -> switch tx', 64), ('switch -> robot rx', 4578)]
        """
        path = self._written(file_names.OBSERVATIONS)
        try:
            table, legend = repeats.read(path), documents.legend(path, LEGEND_KEY)
        except OSError as error:
            raise self._unreadable(file_names.OBSERVATIONS, error) from error

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
            raise self._unreadable(file_names.OBSERVATIONS, error) from error

    def clock_errors(self) -> pl.DataFrame:
        """One row per node and moment.

        Columns: ``node``, ``t_true_ns``, ``error_ps`` (ahead of true time), ``offset_ps`` (ahead of the
        grandmaster; null without one).

        Raises:
            FolderError: the run's nodes have no clocks of their own.

        Example:
            >>> from tsnbench import Run
            >>> Run.open("runs/clocks").clock_errors().columns
            ['node', 't_true_ns', 'error_ps', 'offset_ps']
        """
        path = self._written(file_names.CLOCK_ERROR)
        try:
            table, names = foreign.read_parquet(path), foreign.parquet_note(path, NODES_KEY)
            with foreign.table_errors(path):
                values = pl.Series(names, dtype=pl.String)
                return table.with_columns(pl.lit(values).gather(pl.col("node")).alias("node"))
        except OSError as error:
            raise self._unreadable(file_names.CLOCK_ERROR, error) from error

    def frames(self) -> pl.DataFrame:
        """One row per sent frame and listener.

        Columns: ``stream`` and ``listener`` (names, as categories: compare them with ``==``, or cast them to
        ``String`` for functions of texts), ``path`` (place in ``measures()["paths"]``), ``seq``, ``t_tx_ns``,
        ``t_rx_ns``, ``delay_ns``, ``octets``, and where clocks were read ``uncertainty_ns``, by which the
        delay may be wrong. Null means that the frame was lost or that a timestamp is missing.

        Raises:
            FolderError: the run has no observations, or they cannot be read.

        Example:
            >>> import polars as pl
            >>> from tsnbench import Run
            >>> frames = Run.open("runs/first").frames()
            >>> frames.filter(pl.col("stream") == "loop").select("seq", "t_tx_ns", "octets").row(1)
            (1, 250064, 150)
        """
        paths = self.measures()["paths"]
        written = self._written(file_names.FRAMES)
        try:
            table = repeats.read(written)
            if lacking := [name for name in FRAME_COLUMNS if name not in table.columns]:
                raise FolderError(self.folder, f"its frames.parquet has no column {', '.join(lacking)}")
            with foreign.table_errors(written):
                return with_names(table, paths)
        except OSError as error:
            raise self._unreadable(file_names.FRAMES, error) from error

    def measures(self) -> Measures:
        """Delay, jitter and loss of every path, as in ``measures.json``. Delays are in ns.

        The first call measures the run if it was not measured before.

        Raises:
            FolderError: the run has no observations, or they cannot be read.

        Example:
            >>> from tsnbench import Run
            >>> paths = Run.open("runs/first").measures()["paths"]
            >>> [(path["stream"], path["delay"]["min"]) for path in paths]
            [('loop', 4514), ('video', 26466)]
        """
        if not (self.folder / file_names.MEASURES).exists():
            self._written(file_names.OBSERVATIONS)
            measures: Measures = steps.measure(self.folder)
            return measures
        return cast("Measures", self._json(file_names.MEASURES))

    def verdict(self) -> Verdict:
        """The verdict for every requirement, as in ``verdict.json``.

        The first call judges the run if it was not judged before.

        Raises:
            FolderError: the run has no observations, or they cannot be read.
        """
        if not (self.folder / file_names.VERDICT).exists():
            verdict: Verdict = steps.judge(self)
            return verdict
        return cast("Verdict", self._json(file_names.VERDICT))

    def delay(self, stream: str, listener: str | None = None) -> DelaySeries:
        """The delays of one flow, or of all flows of one stream of the scenario.

        Args:
            stream: name of the flow (``loop.1``) or of the stream (``loop``).
            listener: name of one listener; by default all listeners.

        Raises:
            FolderError: the run has no such stream or listener.

        Example:
            >>> from tsnbench import Run
            >>> Run.open("runs/first").delay("loop")
            DelaySeries('loop', 20 frames, 0 without a delay)
        """
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

    def _repr_html_(self) -> str:
        return steps.html("run", self)

    def _written(self, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            raise FolderError(self.folder, f"has no {name}", self._hint())
        return path

    def _hint(self) -> str | None:
        return folders.half_written(self.folder)

    def _unreadable(self, name: str, error: OSError) -> FolderError:
        return FolderError(self.folder, f"its {name} cannot be read: {error.strerror or error}", self._hint())

    def _json(self, name: str) -> Json:
        try:
            return documents.read(self._written(name))
        except OSError as error:
            raise self._unreadable(name, error) from error
