"""Where a run's numbers come from, and how to get them again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from tsnbench.report.facts import RunFacts
from tsnbench.report.words import count, span


def provenance(run: RunFacts) -> list[tuple[str, str]]:
    """(what, value) in words; nothing that the run folder does not say."""
    manifest, network = run.manifest, run.network
    lines: list[tuple[str, Any]] = [
        ("Scenario", network.name),
        *[(f"Parameter {key}", value) for key, value in network.variant.items()],
        ("Plan hash", network.hash),
        ("Seed", network.seed),
        ("Duration", f"talkers talk for {span(network.duration_ns)}"),
        ("State", run.state),
        ("Backend", manifest.get("backend")),
        *[(f"Version of {key}", value) for key, value in _mapping(manifest.get("versions")).items()],
        ("Started", manifest.get("started")),
        ("Ended", manifest.get("ended")),
        ("Wall time", _seconds(manifest.get("wall_seconds"))),
        ("Events", count(run.counters.events) if run.counters else None),
        ("Frame-hops", count(run.counters.frame_hops) if run.counters else None),
        *[(f"Machine: {key}", value) for key, value in _mapping(manifest.get("machine")).items()],
    ]
    return [(what, str(value)) for what, value in lines if value not in (None, "")]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _seconds(value: Any) -> str | None:
    return span(value * 1e9) if isinstance(value, int | float) else None


def command(run: RunFacts) -> str:
    """The command that repeats the run."""
    given = run.manifest.get("command")
    if isinstance(given, str) and given:
        return given
    if isinstance(given, list) and given:
        return shlex.join(str(part) for part in given)
    return (
        "python -c 'from tsnbench import Simulation; from tsnbench.planning import Plan; "
        'Plan.read("plan.json").run(on=Simulation(), into="again")\'  # in the run folder'
    )
