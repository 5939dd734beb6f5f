"""A paper's testbed as a description that was fitted to some of its printed numbers, to predict the others.

``twins:`` of ``printed.yml`` says, before anything is fitted, which rows of a table are fitted. All other
rows of the table are held out: the fit never reads them (``fitting``), and the twin predicts them
(``prediction``). Where a twin has ``across``, a second twin of the same description is fitted the other way
round (``Twin.across``), so each row is predicted by a twin that has not seen it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist, fmean
from typing import Any

from paper_figures.quantity import Quantity

FOLDER = "twins"
"""Of a paper: the fitted scenarios, and what the fit found."""
_TOP = r"(?ms)^{}:.*?(?=^\S|\Z)"


@dataclass(frozen=True)
class Twin:
    """One fit: the software of the hosts of one scenario, or of several with the same hosts."""

    name: str
    scenarios: Mapping[str, str] = field(hash=False)
    """By file of the twin below ``twins``, the scenario whose hosts are fitted."""
    latencies: Mapping[str, str] = field(hash=False)
    """What is fitted: by hosts and their stage (``zgw1 zgw5 tx``), its shape (``SHAPES``)."""
    fit: tuple[str, ...]
    """Rows of the tables that are fitted (``row``)."""
    predict: tuple[str, ...]
    """Rows that are held out."""
    streams: Mapping[str, str] = field(hash=False)
    """Streams whose numbers count, each with the stages between which the paper measures; none: as in
    the table."""
    changes: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Of the scenario's text, beside its hosts."""
    duration: str = "1 s"
    """Of a run while it is fitted."""
    across_duration: str = ""
    """Of a run while the crosswise twin is fitted; none: there is no such twin."""
    crosswise: bool = False
    """It is fitted to what the other twin of this description predicts."""

    def across(self) -> Twin:
        """The same description, fitted to the rows that this twin predicts. Nothing is left to choose."""
        return replace(
            self,
            name=f"{self.name}-across",
            scenarios={f"{file}-across": original for file, original in self.scenarios.items()},
            fit=self.predict,
            predict=self.fit,
            duration=self.across_duration,
            crosswise=True,
        )

    def row(self, table: str, quantity: Quantity) -> str | None:
        """The row of a printed number. A row is named by the values of the scenario's parameters; where
        this is not enough, by the name of the table before them, or by the stream behind them.
        """
        if quantity.file not in self.scenarios.values() or quantity.subject not in self.streams:
            return None
        names = (
            f"{table}: {quantity.variant}",
            f"{quantity.variant} {quantity.subject}",
            quantity.variant,
        )
        return next((name for name in names if name in self.fit or name in self.predict), None)

    def quantity(self, printed: Quantity) -> Quantity:
        """What the twin's run gives for a printed number."""
        stages, path = self.streams[printed.subject], printed.path.rpartition("/")[2]
        own = f"{stages}/{path}" if stages else printed.path
        file = next(file for file, original in self.scenarios.items() if original == printed.file)
        return Quantity(f"{FOLDER}/{file}", printed.variant, printed.subject, own)

    @property
    def start(self) -> list[float]:
        """Where the fit begins."""
        return [one for latency, shape in self.latencies.items() for one in _start(latency, shape)]


def twin(name: str, keys: Mapping[str, Any]) -> Twin:
    """
    Raises:
        ValueError: a key or a shape that is not known, or a row that is both fitted and held out.
    """
    known = {"scenario", "latencies", "fit", "predict", "streams"}
    if unknown := sorted((set(keys) - {"across", "changes", "duration"}) ^ known):
        raise ValueError(f"twins: {name}: expected {', '.join(sorted(known))}; see {', '.join(unknown)}")
    scenarios = {name: keys["scenario"]} if isinstance(keys["scenario"], str) else dict(keys["scenario"])
    if wrong := sorted(set(keys["latencies"].values()) - set(SHAPES)):
        raise ValueError(f"twins: {name}: expected {' or '.join(SHAPES)}; see {', '.join(wrong)}")
    found = Twin(
        name,
        scenarios,
        dict(keys["latencies"]),
        tuple(keys["fit"]),
        tuple(keys["predict"]),
        dict(keys["streams"]),
        dict(keys.get("changes", {})),
        keys.get("duration", "1 s"),
        keys.get("across", ""),
    )
    if both := sorted(set(found.fit) & set(found.predict)):
        raise ValueError(f"twins: {name}: fitted and held out: {', '.join(both)}")
    return found


@dataclass(frozen=True)
class Band:
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
    def of(cls, parameters: Sequence[float]) -> Band:
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


@dataclass(frozen=True)
class Lognormal:
    """How long a stage of software takes, in ns, where a paper prints a mean and a mean deviation alone."""

    mean: float
    sigma: float
    """Of the logarithm."""

    @classmethod
    def of(cls, parameters: Sequence[float]) -> Lognormal:
        """Us of the mean, and sigma."""
        mean, sigma = parameters
        return cls(mean * 1_000, min(sigma, 2.0))

    def histogram(self) -> dict[str, list[Any]]:
        """As the language has it: 20 equal shares, each at its median, with the mean that is stated."""
        normal = NormalDist()
        values = [math.exp(self.sigma * normal.inv_cdf((part + 0.5) / 20)) for part in range(20)]
        scale = self.mean / fmean(values)
        counts: dict[int, int] = {}
        for value in values:
            counts[round(value * scale)] = counts.get(round(value * scale), 0) + 1
        return {"values": [f"{value} ns" for value in counts], "counts": list(counts.values())}


SHAPES: Mapping[str, type[Band] | type[Lognormal]] = {"band": Band, "lognormal": Lognormal}


def _start(latency: str, shape: str) -> tuple[float, ...]:
    """Parameters of a stage before anything is fitted: us, us, share, us; or us and sigma.

    EnGINE, Section VII-A4: about 150 us a hop; Section V-D: a timer is about 3 us late.
    """
    if shape == "lognormal":
        return 50.0, 0.5
    stage = latency.rpartition(" ")[2]
    known = {"send": (1.0, 1.0, 0.01, 5.0), "tx": (10.0, 20.0, 0.02, 20.0), "timer": (3.0, 4.0, 0.01, 20.0)}
    return known.get(stage, (150.0, 5.0, 0.01, 150.0))


def hosts(own: Twin, parameters: Sequence[float]) -> dict[str, dict[str, Any]]:
    """The key ``hosts``: what each stage that is fitted takes."""
    left = list(parameters)
    found: dict[str, dict[str, Any]] = {}
    for latency, shape in own.latencies.items():
        count = len(_start(latency, shape))
        *names, stage = latency.split()
        histogram = SHAPES[shape].of(left[:count]).histogram()
        del left[:count]
        for name in names:
            found.setdefault(name, {})[stage] = histogram
    return dict(sorted(found.items()))


def scenario(
    text: str, own: Twin, file: str, parameters: Sequence[float], head: str = "", duration: str = ""
) -> str:
    """The text of a twin's scenario: the original's, with other hosts."""
    for old, new in own.changes.items():
        text = text.replace(old, new)
    text = re.sub(r"\A(#.*\n)+", head, text)
    text = re.sub(r"(?m)^name:.*$", f"name: {file}-twin", text)
    taps = re.search(_TOP.format("taps"), text)
    for key in ("hosts", "taps"):
        text = re.sub(_TOP.format(key), "", text)
    if duration:
        text = re.sub(r"(?m)^duration:.*$", f"duration: {duration}", text)
    blocks = ["", "hosts:"]
    for name, stages in hosts(own, parameters).items():
        blocks += [f"  {name}:"]
        for stage, histogram in stages.items():
            values, counts = ", ".join(histogram["values"]), ", ".join(map(str, histogram["counts"]))
            blocks += [
                f"    {stage}:",
                f"      values: [{values}]",
                f"      counts: [{counts}]",
            ]
    observed = taps[0].strip() if taps else "taps: {stages: [driver]}"
    return text.rstrip("\n") + "\n" + "\n".join([*blocks, "", observed, ""])
