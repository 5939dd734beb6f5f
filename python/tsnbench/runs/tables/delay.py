"""The delays of one stream's frames, and their distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.libraries import matplotlib
from tsnbench.libraries import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DelaySeries:
    """The delays of the frames of one stream, in order of sending.

    Example:
        >>> from tsnbench import Run
        >>> loop = Run.open("runs/first").delay("loop")
        >>> loop.missing, loop.frames["delay_ns"].min()
        (0, 4514)
        >>> loop.ccdf()["later"].to_list()[-1]
        0.0
        >>> loop.plot().get_xlabel()
        'delay (µs)'
    """

    def __init__(self, stream: str, frames: pl.DataFrame) -> None:
        self.stream = stream
        self.frames = frames
        """The columns of :meth:`~tsnbench.Run.frames`, for these frames.

        ``delay_ns`` is null if a frame was lost or a timestamp is missing.
        """

    @property
    def missing(self) -> int:
        """Number of frames without a delay."""
        return self.frames["delay_ns"].null_count()

    def ccdf(self) -> pl.DataFrame:
        """The complementary distribution of the delay, exact, one row per distinct delay.

        Columns: ``delay_ns``, and ``later``, the share of frames with a greater delay (0 to 1). Frames
        without a delay are left out; ``missing`` counts them.
        """
        counted = (
            self.frames.lazy()
            .filter(pl.col("delay_ns").is_not_null())
            .group_by("delay_ns")
            .len("frames")
            .sort("delay_ns")
            .with_columns(not_later=pl.col("frames").cum_sum())
        )
        return counted.select(
            "delay_ns", later=(pl.col("frames").sum() - pl.col("not_later")) / pl.col("frames").sum()
        ).collect()

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draws the CCDF with a logarithmic axis.

        Args:
            axes: the axes to draw on; a new figure by default.
        """
        if axes is None:
            axes = matplotlib.figure.Figure().add_subplot()
        table = self.ccdf()
        delays = [delay / 1e3 for delay in table["delay_ns"]]
        later = table["later"].to_list()
        if delays:
            # The last share is zero, which a log axis cannot show: the curve ends at the slowest frame.
            shares = [1.0, *later[:-1]]
            axes.step([delays[0], *delays], [*shares, shares[-1]], where="post")
            axes.set_yscale("log")
        axes.set_xlabel("delay (µs)")
        axes.set_ylabel("share of frames later")
        axes.set_title(self.stream)
        return axes

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return f"DelaySeries({self.stream!r}, {len(self)} frames, {self.missing} without a delay)"
