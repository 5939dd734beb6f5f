"""A campaign: every run of a scenario, each planned, simulated, measured, judged and reported.

EnGINE calls the seven runs of one experiment over one to seven hops a campaign; here it is what one scenario
file stands for, a single run included.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.errors import InputError
from tsnbench.scenario.sweep import same

if TYPE_CHECKING:
    from tsnbench.backends.protocol import Backend
    from tsnbench.planning.document import Plan
    from tsnbench.runs import Run
    from tsnbench.scenario.model import Scenario

Progress = Callable[[int, int], None]
"""Called with (simulated ns, frame-hops so far)."""


@dataclass(frozen=True)
class Options:
    """How a campaign is run; the defaults are those of ``tsnbench run``."""

    pcap: bool = False
    force: bool = False
    figures: tuple[str, ...] = ()
    report: bool = True


@dataclass(frozen=True)
class Outcome:
    """One run of a campaign: where it is, whether it was there already, and what came out."""

    run: Run
    reused: bool
    verdict: dict[str, Any]


def folder_of(scenario: Scenario, into: Path) -> Path:
    """The run folder of one scenario of a campaign: ``into`` itself, or one folder per run of a sweep."""
    if not scenario.variant:
        return into
    name = ",".join(f"{key}={value}" for key, value in scenario.variant.items())
    return into / "".join(c if c.isalnum() or c in "=,._-+" else "_" for c in name)


def run_one(
    plan: Plan,
    into: Path,
    options: Options,
    progress: Progress | None = None,
    on: Backend | None = None,
    about: Mapping[str, Any] | None = None,
) -> Outcome:
    """Run, measure and judge one Plan; a complete run of the same Plan is used again.

    ``about`` goes into the manifest: :func:`about_run`.

    Raises:
        InputError: ``into`` holds another experiment and ``options.force`` is off.
        BackendError: the backend failed.
        KeyboardInterrupt: the run folder then says ``interrupted`` and can be read.
    """
    from tsnbench.backends.simulation import Simulation
    from tsnbench.measure import measure_run
    from tsnbench.runs import Run
    from tsnbench.runs.manifest import note

    backend = on or Simulation()
    run = None if options.force else _finished(plan, into, options, backend)
    reused = run is not None
    if run is None:
        _clear(into, options)
        try:
            run = backend.execute(plan, into, pcap=options.pcap, progress=progress)
        finally:
            note(into, about or {})
    measured = reused and (into / "measures.json").exists()
    measures = run.measures() if measured else measure_run(into)
    verdict = judge_run(run, measures)
    if options.report and not (reused and (into / "report.html").exists() and not options.figures):
        from tsnbench import report

        report.write(Run.open(into), figures=options.figures)
    return Outcome(run=Run.open(into), reused=reused, verdict=verdict)


def judge_run(run: Run, measures: Mapping[str, Any]) -> dict[str, Any]:
    """Judge a run by its measures and by the worst case of its Plan; both are then in its folder.

    Raises:
        InputError: the Plan contradicts itself.
    """
    from tsnbench.measure import judge
    from tsnbench.measure.verdict import required_of
    from tsnbench.runs.bounds import bounds_of_run

    document = run.plan.document
    bounds = bounds_of_run(run.folder, keep=True) if required_of(document) else None
    verdict = judge(document, measures, bounds, str(run.manifest.get("backend", "simulation")))
    write_json(run.folder / "verdict.json", verdict)
    return verdict


def about_run(
    scenario: Scenario, file: Path, duration: str | None = None, seed: int | None = None
) -> dict[str, Any]:
    """Title and source as the scenario says them, and the command that repeats this run alone."""
    command = ["tsnbench", "run", called(file)]
    for key, value in scenario.variant.items():
        command += ["--only", f"{key}={value}"]
    command += ["--duration", duration] if duration is not None else []
    command += ["--seed", str(seed)] if seed is not None else []
    words = {"title": scenario.title, "source": scenario.source}
    return {**{key: text for key, text in words.items() if text}, "command": command}


def called(file: Path) -> str:
    """A file in a command; one elsewhere by its name: where it was is the machine's affair."""
    try:
        return str(file.resolve().relative_to(Path.cwd()))
    except ValueError:
        return file.name


def report_all(outcomes: Sequence[Outcome], into: Path, options: Options) -> Path:
    """One report over all runs of a campaign; the run's own where there is one."""
    from tsnbench import report

    if len(outcomes) == 1:
        return outcomes[0].run.folder / "report.html"
    return report.write([outcome.run for outcome in outcomes], into=into, figures=options.figures)


def shortened(scenario: Scenario, duration_ns: int | None, seed: int | None) -> Scenario:
    """The same scenario with another duration or seed."""
    changes: dict[str, int] = {}
    if duration_ns is not None:
        changes["duration"] = duration_ns
    if seed is not None:
        changes["seed"] = seed
    return scenario.model_copy(update=changes)


def selected(scenarios: Sequence[Scenario], only: Sequence[str]) -> list[Scenario]:
    """The runs of a sweep whose parameters have the values of ``only`` (``hops=3``; ``45us`` is ``45 us``).

    Raises:
        InputError: a condition that is not ``name=value``, or that no run fulfils.
    """
    chosen = list(scenarios)
    for condition in only:
        key, separator, value = condition.partition("=")
        if not separator:
            raise InputError(f"--only: expected name=value, found {condition}")
        kept = [one for one in chosen if key in one.variant and same(one.variant[key], value)]
        if not kept:
            there = sorted({f"{k}={v}" for s in scenarios for k, v in s.variant.items()})
            choices = ", ".join(there) if there else "none: the scenario is no sweep"
            raise InputError(f"--only: no run has {condition}\nhint: there are {choices}")
        chosen = kept
    return chosen


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step, so that a reader never sees half of it."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def _finished(plan: Plan, into: Path, options: Options, on: Backend) -> Run | None:
    """The run that is already in ``into``, when it is complete, of this Plan, and has what is asked for."""
    from tsnbench import __version__
    from tsnbench.runs import Run

    if not (into / "manifest.json").exists():
        return None
    run = Run.open(into)
    manifest = run.manifest
    same = manifest.get("plan") == plan.hash and manifest.get("versions", {}).get("tsnbench") == __version__
    if not same or manifest.get("state") != "complete":
        return None
    if (manifest.get("backend"), manifest.get("dilate", 1)) != (on.name, getattr(on, "dilate", 1)):
        return None
    if options.pcap and not (into / "captures").exists():
        return None
    return run


def _clear(into: Path, options: Options) -> None:
    """Make room for a run: what is ours and unfinished, or forced, goes; all else stays and is an error."""
    if not into.exists() or not any(into.iterdir()):
        return
    manifest = into / "manifest.json"
    if not manifest.exists() and not (into / "plan.json").exists():
        raise InputError(f"{into}: expected an empty folder or a run folder, found other files")
    state = None
    if manifest.exists():
        try:
            state = json.loads(manifest.read_text(encoding="utf-8")).get("state")
        except (ValueError, AttributeError):
            state = None
    if state == "complete" and not options.force:
        raise InputError(
            f"{into}: holds another run: of another plan, version or kernel\n"
            "hint: name another folder with --into, or --force"
        )
    shutil.rmtree(into)


__all__ = [
    "Options",
    "Outcome",
    "about_run",
    "folder_of",
    "judge_run",
    "report_all",
    "run_one",
    "selected",
    "shortened",
    "write_json",
]
