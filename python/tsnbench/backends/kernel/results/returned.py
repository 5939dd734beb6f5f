"""The results of a job, by the names of its files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tsnbench.linux.readback import ReportedQdisc, read_qdiscs

_QDISCS = re.compile(r"qdisc-(.+)\.json")


@dataclass(frozen=True)
class Talked:
    """A talker's report on one stream."""

    frames: int
    refused: int
    latest_ns: int
    mean_ns: int
    missed: int
    """Frames that missed their launch times."""


@dataclass(frozen=True)
class Capture:
    """The outcome of a capture."""

    frames: int | None
    """Number of frames; None if the capture broke off."""
    lost: int
    received: int | None = None
    """Frames that could have been captured, if that is known."""
    said: str = ""


@dataclass(frozen=True)
class Returned:
    """All files of a job's folder of results."""

    files: Mapping[str, bytes]

    def text(self, name: str) -> str:
        """A file as text; empty if there is none."""
        return self.files.get(name, b"").decode(errors="replace")

    @property
    def epoch_ns(self) -> int:
        """The Plan's zero on the clock of captures' timestamps."""
        return int(self.text("epoch"))

    @property
    def tai_epoch_ns(self) -> int:
        """The Plan's zero on the clock of the timestamps of talkers and network cards."""
        return int(self.text("tai-epoch") or self.epoch_ns)

    @property
    def stamped_by_card(self) -> list[int]:
        """Taps whose captures have timestamps of network cards."""
        return [int(name.removeprefix("tap-")) for name in self.text("stamped-by-card").split()]

    def qdiscs(self) -> dict[str, list[ReportedQdisc]]:
        """By namespace, its queueing disciplines and their counters at the end.

        Raises:
            InputError: tc's output has another format.
        """
        return self._qdiscs

    @cached_property
    def _qdiscs(self) -> dict[str, list[ReportedQdisc]]:
        found = ((_QDISCS.fullmatch(name), name) for name in self.files)
        return {match[1]: read_qdiscs(self.text(name)) for match, name in found if match}

    @cached_property
    def talked(self) -> dict[int, Talked]:
        """The talkers' reports by stream."""
        found = {}
        for name in self.files:
            if name.startswith("talk-"):
                for line in self.text(name).splitlines():
                    stream, frames, refused, most, mean, missed, invalid = map(int, line.split())
                    found[stream] = Talked(frames, refused, most, mean, missed + invalid)
        return found

    def capture(self, tap: int) -> Capture:
        """The outcome of a tap's capture: as the device counted, or as tcpdump reported."""
        if counts := self.text(f"tap-{tap}.counts"):
            frames, lost = map(int, counts.split())
            return Capture(frames, lost)
        said = self.text(f"tap-{tap}.log")
        numbers = {
            what: int(count)
            for count, what in re.findall(
                r"(\d+) packets? (captured|dropped by kernel|received by filter)", said
            )
        }
        whole = None if "No space" in said else numbers.get("captured")
        received = numbers.get("received by filter")
        return Capture(whole, numbers.get("dropped by kernel", 0), received, said.strip())

    def steps(self) -> list[dict[str, int]]:
        """The changes made to the network during the run, and their delays (ns)."""
        names = (name for name in sorted(self.files) if name == "steps" or name.startswith("steps-n"))
        rows = (map(int, line.split()) for name in names for line in self.text(name).splitlines())
        return [{"at_ns": at, "late_ns": late} for at, late in rows]

    def dropped_before_qdiscs(self) -> int:
        """Frames for which the kernel's backlog had no room: the second column of softnet_stat."""
        counts = [
            sum(int(line.split()[1], 16) for line in self.text(f"softnet-{when}").splitlines())
            for when in ("before", "after")
        ]
        return counts[1] - counts[0]

    def worked_s(self) -> float:
        """How long the processor worked; a low estimate, as the kernel counts steps of 10 ms."""
        before, after = (
            [float(word) for word in self.text(f"cpu-{when}").split()] for when in ("before", "after")
        )
        passed, idle = (late - early for early, late in zip(before, after, strict=True))
        return max(0.0, passed - idle - 0.03)
