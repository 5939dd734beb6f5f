"""The origin of a run's numbers, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tsnbench.report.facts import RunFacts
from tsnbench.report.formatting import count, span

if TYPE_CHECKING:
    from tsnbench.foreign import Json


def provenance(run: RunFacts) -> list[tuple[str, str]]:
    """(name, value) in words; only facts of the run folder."""
    manifest, plan = run.manifest, run.plan
    lines: list[tuple[str, Any]] = [
        ("Scenario", plan["name"]),
        ("Title", manifest.get("title")),
        ("Source", manifest.get("source")),
        *[(f"Parameter {key}", value) for key, value in plan["variant"].items()],
        ("Plan hash", plan.get("hash")),
        ("Seed", plan["seed"]),
        ("Duration", f"talkers send for {span(plan['duration_ns'])}"),
        ("Repetition", run.steady),
        ("State", run.state),
        ("Backend", manifest.get("backend")),
        *[(f"Version of {key}", value) for key, value in _mapping(manifest.get("versions")).items()],
        ("Started", manifest.get("started")),
        ("Ended", manifest.get("ended")),
        ("Wall time", _seconds(manifest.get("wall_seconds"))),
        ("Events", count(run.counters.events) if run.counters else None),
        ("Frame-hops", count(run.counters.frame_hops) if run.counters else None),
        *[(f"Machine: {key}", value) for key, value in _mapping(manifest.get("machine")).items()],
        *_kernel(manifest),
    ]
    return [(what, str(value)) for what, value in lines if value not in (None, "")]


def _kernel(manifest: Json) -> list[tuple[str, Any]]:
    """The facts about a kernel that ran the Plan."""
    facts = _mapping(manifest.get("host")) or _mapping(manifest.get("guest"))
    if not facts:
        return []
    dilate = manifest.get("dilate")
    late = max((one.get("most_ns", 0) for one in _mapping(facts.get("talkers_late")).values()), default=None)
    steps = [one["late_ns"] for one in facts.get("steps") or () if "late_ns" in one]
    lines: list[tuple[str, Any]] = [
        ("Kernel", facts.get("kernel")),
        ("Time was stretched", f"{dilate} times" if dilate not in (None, 1) else None),
        ("Talkers were late by at most", span(late) if late is not None else None),
        ("Faults began late by at most", span(max(steps)) if steps else None),
    ]
    for name, one in _mapping(facts.get("hosts")).items():
        ports = ", ".join(f"{port} ({what})" for port, what in _mapping(one.get("ports")).items())
        lines.append((f"Host {name}", f"Linux {one.get('kernel')}, {one.get('machine')}, {ports}"))
    lines += [("Clocks of hosts", facts.get("clock")), ("Attempts", facts.get("attempts"))]
    for port, qdiscs in _mapping(facts.get("qdiscs")).items():
        dropped = [f"{name}: {one['drops']} frames" for name, one in qdiscs.items() if one.get("drops")]
        lines += [(f"Dropped at {port}", ", ".join(dropped))]
    return [*lines, *[("Note", note) for note in facts.get("notes") or ()]]


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


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


def commands(runs: Sequence[RunFacts]) -> list[str]:
    """The commands that repeat several runs: one for those of one sweep, with their common parts."""
    given = [run.manifest.get("command") for run in runs]
    lists = [[str(part) for part in one] for one in given if isinstance(one, list)]
    if len(lists) == len(runs) and len({tuple(_without_only(one)) for one in lists}) == 1:
        shared = [pair for pair in _only(lists[0]) if all(pair in _only(one) for one in lists)]
        chosen = [part for pair in shared for part in ("--only", pair)]
        return [shlex.join([*_without_only(lists[0]), *chosen])]
    return list(dict.fromkeys(command(run) for run in runs))


def _only(given: Sequence[str]) -> list[str]:
    """The conditions of ``--only``."""
    return [value for option, value in pairwise(given) if option == "--only"]


def _without_only(given: Sequence[str]) -> list[str]:
    return [part for before, part in pairwise(["", *given]) if part != "--only" and before != "--only"]
