"""Frames of a stimulus as arrays: what entered the device, and what left it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.conform.estimate import Frames
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Tap
    from tsnbench.runs import Run

PREAMBLE = 8
"""Octets before the bit that a stamp at the frame's start means: preamble and start delimiter."""


@dataclass(frozen=True)
class Seen:
    """The frames of one run at the taps of its Plan."""

    plan: PlanDocument
    table: pl.DataFrame
    """As :meth:`tsnbench.runs.Run.observations`."""
    folder: Path | None = None
    """Of the run, with its captures."""

    @classmethod
    def of(cls, run: Run) -> Seen:
        """Reads the observations of a run.

        Raises:
            FolderError: the run has no observations, or they cannot be read.
        """
        return cls(run.plan.document, run.observations().filter(pl.col("t_ns").is_not_null()), run.folder)

    def capture(self, tap: str) -> Path | None:
        """The capture of a tap, by its name; None if the run has none."""
        if self.folder is None:
            return None
        names = _native.capture_names(json.dumps(self.plan))
        place = next(place for place, one in enumerate(self.plan["taps"]) if one["name"] == tap)
        file = self.folder / "captures" / names[place]
        return file if file.is_file() else None

    @cached_property
    def taps(self) -> Mapping[tuple[str, int], Tap]:
        """Taps by stage and port."""
        return {(tap["stage"], tap["port"]): tap for tap in self.plan["taps"]}

    def left(self, port: int, stream: str) -> pl.DataFrame:
        """Frames of a stream that left a port, by the stamps at the other end of its link.

        Columns: ``begin`` and ``wire`` (ns), ``seq``, ``octets``, ``pcp``, ``vid``; in order of time. The
        stamps of a device are about its own clock, those of its neighbour are not.
        """
        return self._at(("rx", self.plan["ports"][port]["peer"]), port, stream)

    def entered(self, port: int, stream: str) -> pl.DataFrame:
        """Frames of a stream that left a neighbour towards the device; columns as :meth:`left`."""
        return self._at(("tx", port), port, stream)

    def _at(self, place: tuple[str, int], port: int, stream: str) -> pl.DataFrame:
        tap, sender = self.taps[place], self.plan["ports"][port]
        octet_ns = 8e9 / sender["rate_bps"]
        whole = (pl.col("octets").cast(pl.Int64) + PREAMBLE) * octet_ns
        behind = whole if tap["point"] == "end" else pl.lit(PREAMBLE * octet_ns)
        on_the_way = sender["propagation_ps"] / 1000 if tap["stage"] == "rx" else 0.0
        own = self.table.filter((pl.col("tap") == tap["name"]) & (pl.col("stream") == stream))
        return own.select(
            (pl.col("t_ns") - (behind + on_the_way).round(0).cast(pl.Int64)).alias("begin"),
            whole.round(0).cast(pl.Int64).alias("wire"),
            *("seq", "octets", "pcp", "vid"),
        ).sort("begin")

    def residence(self, ingress: int, egress: int, stream: str) -> np.ndarray:
        """The time of each frame of a stream in the device: first bit out less first bit in, in ns (int64).

        Args:
            ingress: the port of the neighbour that sends into the device.
            egress: the device's port.
            stream: its name.
        """
        cable = round(self.plan["ports"][ingress]["propagation_ps"] / 1000)
        both = (
            self.left(egress, stream)
            .unique("seq", keep="first")
            .join(self.entered(ingress, stream).unique("seq", keep="first"), on="seq")
        )
        waited: np.ndarray = (both["begin"] - both["begin_right"] - cable).to_numpy()
        return waited

    def ingress(self, stream: str, egress: int) -> int:
        """The neighbour's port by which a stream enters the device that it leaves by a port; the latter if
        the device is the talker."""
        route = next(one["route"] for one in self.plan["streams"] if one["name"] == stream)
        ports = [hop["port"] for hop in route]
        return ports[max(ports.index(egress) - 1, 0)]

    def arrives(self, stream: str, node: int) -> int:
        """The neighbour's port by which a stream enters a node."""
        ports, own = self.plan["ports"], next(one for one in self.plan["streams"] if one["name"] == stream)
        every = [hop["port"] for hop in own["route"]]
        return next(port for port in every if ports[ports[port]["peer"]]["node"] == node)

    def frames(self, port: int, stream: str) -> Frames:
        """The times of :meth:`left` as arrays."""
        table = self.left(port, stream)
        return Frames(table["begin"].to_numpy(), table["wire"].to_numpy())
