"""A paper's testbed as a description that was fitted to some of its printed numbers, to predict the others.

``twins:`` of ``printed.yml`` says, before anything is fitted, which rows of a table are fitted. All other
rows of the table are held out: the fit never reads them (``fitting``), and the twin predicts them
(``prediction``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paper_figures.quantity import Quantity

FOLDER = "twins"
"""Of a paper: the fitted scenarios, and what the fit found."""
_TOP = r"(?ms)^{}:.*?(?=^\S|\Z)"


@dataclass(frozen=True)
class Twin:
    """One fit: the software of a scenario's hosts."""

    name: str
    scenario: str
    """The scenario whose hosts are fitted; the twin's is ``twins/<name>``."""
    talker: str
    """The host whose sending is fitted apart from the others' forwarding."""
    fit: tuple[str, ...]
    """Rows of the tables, by the values of the scenario's parameters, that are fitted."""
    predict: tuple[str, ...]
    """Rows that are held out."""
    streams: Mapping[str, str] = field(hash=False)
    """Streams whose numbers count, each with the stages between which the paper measures; none: the ports."""

    def measures(self, quantity: Quantity) -> bool:
        """Whether a printed number is one of this twin's."""
        rows = (*self.fit, *self.predict)
        return (
            quantity.file == self.scenario and quantity.variant in rows and quantity.subject in self.streams
        )

    def quantity(self, printed: Quantity) -> Quantity:
        """What the twin's run gives for a printed number."""
        stages, path = self.streams[printed.subject], printed.path.rpartition("/")[2]
        own = f"{stages}/{path}" if stages else path
        return Quantity(f"{FOLDER}/{self.name}", printed.variant, printed.subject, own)


def twin(name: str, keys: Mapping[str, Any]) -> Twin:
    """
    Raises:
        ValueError: a key that is not known, or a row that is both fitted and held out.
    """
    known = {"scenario", "talker", "fit", "predict", "streams"}
    if unknown := sorted(set(keys) ^ known):
        raise ValueError(f"twins: {name}: expected {', '.join(sorted(known))}; see {', '.join(unknown)}")
    found = Twin(
        name,
        keys["scenario"],
        keys["talker"],
        tuple(keys["fit"]),
        tuple(keys["predict"]),
        dict(keys["streams"]),
    )
    if both := sorted(set(found.fit) & set(found.predict)):
        raise ValueError(f"twins: {name}: fitted and held out: {', '.join(both)}")
    return found


@dataclass(frozen=True)
class Latency:
    """How long a stage of software takes, in ns: nearly always the usual time, and sometimes much longer.

    EnGINE, Section V-B, shows delay over time: a narrow band, with spikes.
    """

    usual: float
    width: float
    """From the least to the greatest of the usual times."""
    share: float
    """Of frames that take longer."""
    longer: float
    """How much longer, on average."""

    @classmethod
    def of(cls, parameters: Sequence[float]) -> Latency:
        """Us of the usual time and its width, the share, us of how much longer."""
        usual, width, share, longer = parameters
        return cls(usual * 1_000, width * 1_000, min(share, 0.5), longer * 1_000)

    def histogram(self) -> dict[str, list[Any]]:
        """As the language has it: the band in eight values, the tail in four of an exponential's steps."""
        low = max(self.usual - self.width / 2, 0.0)
        bins = [(low + self.width * (part + 0.5) / 8, (1 - self.share) / 8) for part in range(8)]
        bins += [(low + self.width + self.longer * far, self.share * part) for far, part in TAIL]
        merged: dict[int, int] = {}
        for value, part in sorted(bins):
            merged[round(value)] = merged.get(round(value), 0) + round(part * 1_000_000)
        return {"values": [f"{value} ns" for value in merged], "counts": list(merged.values())}


TAIL = ((0.5, 0.5), (1.0, 0.3), (2.0, 0.15), (3.0, 0.05))
"""How far beyond the band, in units of ``longer``, and with what share: in place of an exponential."""


def hosts(own: Twin, parameters: Sequence[float]) -> dict[str, dict[str, Any]]:
    """The key ``hosts``: what every host takes to receive a frame, and the talker to hand it over."""
    return {
        "default": {"kernel-rx": Latency.of(parameters[4:]).histogram()},
        own.talker: {"tx": Latency.of(parameters[:4]).histogram()},
    }


def scenario(text: str, own: Twin, parameters: Sequence[float], head: str = "", duration: str = "") -> str:
    """The text of a twin's scenario: the original's, with other hosts."""
    text = re.sub(r"\A(#.*\n)+", head, text)
    text = re.sub(r"(?m)^name:.*$", f"name: {own.name}-twin", text)
    for key in ("hosts", "taps"):
        text = re.sub(_TOP.format(key), "", text)
    if duration:
        text = re.sub(r"(?m)^duration:.*$", f"duration: {duration}", text)
    blocks = ["", "hosts:"]
    for name, stages in hosts(own, parameters).items():
        for stage, histogram in stages.items():
            values, counts = ", ".join(histogram["values"]), ", ".join(map(str, histogram["counts"]))
            blocks += [
                f"  {name}:",
                f"    {stage}:",
                f"      values: [{values}]",
                f"      counts: [{counts}]",
            ]
    return text.rstrip("\n") + "\n" + "\n".join([*blocks, "", "taps: {stages: [driver]}", ""])
