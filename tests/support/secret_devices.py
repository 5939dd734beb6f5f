"""Bridges whose processing is drawn at random and kept from the calibration, which has to find it.

``PYTHONPATH=tests python -m support.secret_devices 100`` prints how often intervals contain the truth.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tsnbench import load
from tsnbench.backends.simulation import Simulation
from tsnbench.calibration.calibrate import Calibrated, calibrate
from tsnbench.calibration.description import write_calibrated
from tsnbench.calibration.prediction import predict
from tsnbench.runs import Run
from tsnbench.runs.measures import figures
from tsnbench.runs.tables.predicted import QUANTITIES, intervals

NETWORK = """\
name: bench
duration: {duration} ms
seed: {seed}
network:
  stations: [a, b]
  bridges: {{sw1: {{{options}}}}}
  links: {{rate: 1 Gbit/s, between: [a -- sw1, sw1 -- b]}}
streams:
"""
PERIOD_US = 250


@dataclass(frozen=True)
class Secret:
    """A bridge: ``times.csv`` has its times without octets, whose mean is ``fixed_ns``."""

    fixed_ns: float
    per_octet_ps: int

    @classmethod
    def drawn(cls, seed: int, folder: Path) -> Secret:
        """Draws a bridge: 0.5 us to 5 us, a lognormal spread, and one frame of a hundred late."""
        draw = random.Random(seed)
        least, middle, wide = draw.uniform(500, 5_000), draw.uniform(3, 5.5), draw.uniform(0.2, 0.7)
        late = draw.uniform(100, 1_000)
        times = Counter(
            round(
                least
                + draw.lognormvariate(middle, wide)
                + (draw.expovariate(1 / late) if draw.random() < 0.01 else 0)
            )
            for _ in range(20_000)
        )
        rows = "".join(f"{time},{count}\n" for time, count in sorted(times.items()))
        (folder / "times.csv").write_text(f"time_ns,count\n{rows}", encoding="utf-8")
        mean = sum(time * count for time, count in times.items()) / times.total()
        return cls(mean, draw.randrange(100, 3_000))

    @property
    def options(self) -> str:
        return f"processing: {{file: times.csv, per-octet: {self.per_octet_ps} ps}}"


def run_of(folder: Path, name: str, options: str, sizes: list[int], seed: int, frames: int) -> Run:
    """Simulates frames of these sizes, one after the other, through the bridge."""
    return simulated(written(folder, name, options, sizes, seed, frames), folder / name)


def written(folder: Path, name: str, options: str, sizes: list[int], seed: int, frames: int) -> Path:
    """Writes the scenario."""
    duration = frames * PERIOD_US * len(sizes) // 1_000
    text = NETWORK.format(duration=duration, seed=seed, options=options)
    for place, size in enumerate(sizes):
        period = f"period: {PERIOD_US * len(sizes)} us, start: {PERIOD_US * place} us"
        text += f"  s{size}: {{from: a, to: b, pcp: 6, {period}, frame: {size} B}}\n"
    file = folder / f"{name}.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def simulated(file: Path, into: Path) -> Run:
    """Runs a scenario."""
    plan, backend = load(file).plan(), Simulation()
    backend.prepare(plan, into)
    backend.run(plan, into)
    return Run.open(into)


@dataclass(frozen=True)
class Tried:
    """What a calibration found of a secret bridge."""

    found: Calibrated
    parameters: dict[str, bool]
    """Whether the interval contains the secret value."""
    figures: dict[str, bool]
    """Whether the predicted interval contains the figure of a size that was not measured."""


def tried(
    seed: int, folder: Path, frames: int = 2_000, sizes: tuple[int, int, int] = (100, 1_500, 700)
) -> Tried:
    """Calibrates with the first two sizes, predicts the third one, and measures it."""
    secret = Secret.drawn(seed, folder)
    known = run_of(folder, "known", secret.options, list(sizes[:2]), 2 * seed, frames)
    found = calibrate([known], ["sw1"])
    write_calibrated(found, folder / "twin-device.yaml")
    twin = load(written(folder, "twin", "device: twin-device.yaml", [sizes[2]], 3, frames))
    inside = intervals(predict(twin, twin.plan()))
    real = run_of(folder, "real", secret.options, [sizes[2]], 2 * seed + 1, frames)
    (path,) = real.measures()["paths"]
    assert path["delay"] is not None
    delay = figures(path["delay"])
    lines = {
        "fixed": (found.fit.fixed, secret.fixed_ns),
        "per octet": (found.fit.per_octet, secret.per_octet_ps / 1e3),
    }
    limits = {name: inside[path["stream"], path["listener"], name] for name in QUANTITIES}
    return Tried(
        found,
        {name: one.low <= true <= one.high for name, (one, true) in lines.items()},
        {name: low <= float(delay[name]) <= high for name, (low, high) in limits.items()},
    )


def counted(seeds: int, frames: int = 2_000) -> Counter[str]:
    """How often each interval contains the truth."""
    counts: Counter[str] = Counter()
    for seed in range(1, seeds + 1):
        with TemporaryDirectory() as scratch:
            one = tried(seed, Path(scratch), frames)
        counts.update(name for name, is_inside in (one.parameters | one.figures).items() if is_inside)
    return counts


if __name__ == "__main__":
    seeds = int(sys.argv[1])
    for name, count in counted(seeds).items():
        print(f"{name}: {count} of {seeds} inside")
