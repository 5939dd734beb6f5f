"""The shipped scenarios, and results of shortened runs."""

from __future__ import annotations

import fcntl
import hashlib
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from tsnbench.backends.simulation import Simulation
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.runs import Run
from tsnbench.scenario import load_variants
from tsnbench.scenario.model import Scenario

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(path for path in (ROOT / "scenarios").glob("**/*.yaml") if path.name != "lab.yaml")
MS = 1_000_000


@cache
def variants(name: str) -> dict[str, Scenario]:
    """The runs of ``scenarios/<name>.yaml``, by the values of their parameters: ``1 15us alone``."""
    runs = load_variants(ROOT / "scenarios" / f"{name}.yaml")
    return {" ".join(run.variant.values()): run for run in runs}


@cache
def planned(name: str, variant: str = "") -> Plan:
    return plan(variants(name)[variant])


class Runs:
    """Where runs of shipped scenarios are kept: in a folder that all workers of a test run have in common."""

    own = tempfile.TemporaryDirectory()
    folder = Path(own.name)


def executed(name: str, variant: str, duration: int, seed: int) -> Run:
    """The run of a shipped scenario for ``duration`` ns; one worker simulates it, and the others wait."""
    key = hashlib.sha256(f"{name}|{variant}|{duration}|{seed}".encode()).hexdigest()[:20]
    folder, done = Runs.folder / key, Runs.folder / f"{key}.done"
    with (Runs.folder / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            changed = {"duration": duration, "seed": seed}
            Simulation().execute(plan(variants(name)[variant].model_copy(update=changed)), folder)
            done.touch()
    return Run.open(folder)


@dataclass(frozen=True)
class Result:
    """The results of one run: its Plan, its counters, and one row per delivered frame and listener."""

    plan: dict[str, Any]
    counters: dict[str, Any]
    frames: pl.DataFrame
    """``stream`` (a flow), ``seq``, ``t_tx_ns``, ``t_rx_ns``, ``delay_ns``; in the order of sending."""
    sent: pl.DataFrame
    """``stream``, ``seq`` and ``wait_ns`` at the talker, where hand-overs are tapped."""

    def delays(self, stream: str) -> pl.Series:
        """Delays of one flow in ns, in the order of its frames."""
        return self.frames.filter(pl.col("stream") == stream).sort("seq")["delay_ns"]

    def waits(self, stream: str) -> pl.Series:
        """From a flow's hand-over to the first bit of its preamble, in ns; needs ``send`` taps."""
        return self.sent.filter(pl.col("stream") == stream)["wait_ns"]

    def group(self, name: str) -> pl.Series:
        """Delays of all flows of a scenario stream, in ns."""
        flows = [stream["name"] for stream in self.plan["streams"] if stream["group"] == name]
        return self.frames.filter(pl.col("stream").is_in(flows))["delay_ns"]


@cache
def simulated(name: str, variant: str = "", duration: int = 20 * MS, seed: int = 1) -> Result:
    """A run of a shipped scenario for ``duration`` ns instead of its own.

    One join pairs the observations, deliberately without the measuring engine: an independent computation.
    """
    run = executed(name, variant, duration, seed)
    seen = run.observations()
    handed = seen.filter(pl.col("stage") == "send").select("stream", "seq", "t_ns")
    document, counters = run.plan.document, run.counters
    keys = ["stream", "seq"]
    routes = {stream["name"]: stream["route"] for stream in document["streams"]}
    first = {name: _tap(document, route[0]["port"], "tx") for name, route in routes.items()}
    last = {name: _tap(document, route[-1]["port"], "rx") for name, route in routes.items()}
    ends = pl.DataFrame({"stream": list(first), "first": list(first.values()), "last": list(last.values())})
    seen = seen.select("stream", "seq", "tap", "t_ns").join(ends, on="stream")
    tx = seen.filter(pl.col("tap") == pl.col("first")).select(*keys, t_tx_ns="t_ns")
    rx = seen.filter(pl.col("tap") == pl.col("last")).select(*keys, t_rx_ns="t_ns")
    frames = tx.join(rx, on=keys).with_columns(delay_ns=pl.col("t_rx_ns") - pl.col("t_tx_ns")).sort("t_tx_ns")
    return Result(document, counters, frames, _sent(document, handed, tx))


def _sent(document: dict[str, Any], handed: pl.DataFrame, tx: pl.DataFrame) -> pl.DataFrame:
    """The waits of frames at their talkers; a stamp is taken after the preamble."""
    preamble = {
        stream["name"]: 8 * 8 * 10**9 // document["ports"][stream["route"][0]["port"]]["rate_bps"]
        for stream in document["streams"]
    }
    before = pl.DataFrame({"stream": list(preamble), "preamble": list(preamble.values())})
    both = handed.join(tx, on=["stream", "seq"]).join(before, on="stream")
    return both.with_columns(wait_ns=pl.col("t_tx_ns") - pl.col("t_ns") - pl.col("preamble"))


def _tap(document: dict[str, Any], port: int, stage: str) -> str:
    """The name of the tap that observes frames from ``port``, at either end of the link."""
    at = document["ports"][port]["peer"] if stage == "rx" else port
    return next(tap["name"] for tap in document["taps"] if tap["port"] == at and tap["stage"] == stage)
