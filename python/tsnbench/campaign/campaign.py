"""A campaign: every run of a scenario, each planned, simulated, measured, judged and reported.

EnGINE calls the seven runs of one experiment over one to seven hops a campaign. Here, a campaign is all runs
of one scenario file, also if there is only one.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.backends.simulation import Simulation
from tsnbench.campaign.names import folder_names
from tsnbench.libraries import Lazy
from tsnbench.measure import measure_run
from tsnbench.measure.verdict import verdict_of
from tsnbench.plan.indented import for_people
from tsnbench.runs import Run, State, clearing, engine, file_names, lock, sweep
from tsnbench.runs.errors import FolderError, writing
from tsnbench.runs.manifest import note
from tsnbench.runs.tables import repeats

if TYPE_CHECKING:
    from tsnbench import report
    from tsnbench.backends.protocol import Backend, Progress
    from tsnbench.foreign import Json
    from tsnbench.plan.document import Plan
    from tsnbench.runs.measures import Measures, Verdict
    from tsnbench.scenario.model import Scenario
else:
    report = Lazy("tsnbench.report")

_REPORTS = threading.Lock()
"""Reports are made one at a time: the library that draws figures does not support threads."""


@dataclass(frozen=True)
class Options:
    """Options of a campaign; the defaults are those of ``tsnbench run``."""

    pcap: bool = False
    force: bool = False
    figures: tuple[str, ...] = ()
    report: bool = True
    replace: bool = False
    """Whether another run of the same scenario is replaced, as in the default folder."""
    summary: bool = False
    """Whether a summary of one page is written, too."""
    away: str = "name another folder with --into"
    """What the command offers where the folder holds something else."""


@dataclass(frozen=True)
class Outcome:
    """One run of a campaign: its folder, whether an earlier run was used again, and the results."""

    run: Run
    reused: bool
    verdict: Verdict


def folder_of(scenario: Scenario, into: Path) -> Path:
    """The run folder of one scenario of a campaign: ``into`` itself, or one folder per run of a sweep."""
    if not scenario.variant:
        return into
    return into / folder_names([scenario.variant])[0]


def folders_of(every: Sequence[Scenario], chosen: Sequence[Scenario], into: Path) -> list[Path]:
    """The run folders of the ``chosen`` runs among ``every`` run of a scenario file."""
    names = dict(zip(map(_values, every), folder_names([one.variant for one in every]), strict=True))
    return [into / names[_values(one)] if one.variant else into for one in chosen]


def _values(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    return tuple(scenario.variant.items())


@contextmanager
def numbered(into: Path) -> Iterator[Path]:
    """``into``, or ``into`` with the first number from 2 on whose folder is missing or empty, so that no run
    is replaced. It is locked meanwhile: commands that begin together have folders of their own.
    """
    for number in itertools.count(1):
        path = into if number == 1 else into.with_name(f"{into.name}-{number}")
        if not _is_free(path):
            continue
        with ExitStack() as stack:
            try:
                stack.enter_context(lock.held(path))
            except lock.FolderBusyError:
                continue
            # Another command may have used it between the look and the lock.
            if _is_free(path):
                yield path
                return


def _is_free(path: Path) -> bool:
    return not path.exists() or (path.is_dir() and clearing.is_empty(path))


def begin_sweep(
    into: Path, folders: Sequence[Path], whole: bool, options: Options, name: str, file: Path
) -> list[str]:
    """Records in a sweep's folder the runs that are made now; returns runs that the sweep no longer contains.

    ``whole``: these are all runs of the sweep. Earlier runs stay unless ``options.force`` is on.

    Raises:
        FolderError: the folder holds something else.
        BackendError: another process writes into it, or the disk is full.
    """
    clearing.refuse_file(into)
    own = sweep.Sweep(name=name, file=called(file))
    with writing(into), lock.held(into, sweep.PATIENCE_S):
        if (into / file_names.MANIFEST).exists():
            _refuse_single(into, own, options)
            clearing.clear(into)
        there = sweep.read(into) if (into / sweep.NAME).exists() else own
        if (there.name, there.file) != (own.name, own.file) and not options.force:
            raise FolderError(into, f"holds the runs of another sweep, of {there.file}", options.away)
        made = [folder.name for folder in folders]
        now = sweep.Sweep(
            own.name,
            own.file,
            runs=sorted({*there.runs, *made}),
            current=made if whole else there.current,
            files=there.files,
        )
        earlier = [one for one in now.earlier if (into / one).is_dir()]
        if options.force and whole:
            for one in earlier:
                with lock.held(into / one):
                    clearing.clear(into / one)
                (into / one).rmdir()
            now, earlier = replace(now, runs=sorted(made)), []
        sweep.write(into, now)
    return earlier


def _refuse_single(into: Path, own: sweep.Sweep, options: Options) -> None:
    """Checks that a sweep replaces a single run only if that run is of the same scenario.

    Raises:
        FolderError: the run is of another scenario, and ``options.force`` is off.
    """
    found = Run.open(into).manifest
    same = found.get("name") == own.name and _file(found) in ("", own.file)
    if not options.force and not (options.replace and same):
        raise FolderError(into, "holds a single run, and this is a sweep", options.away)


def run_one(
    plan: Plan,
    into: Path,
    options: Options,
    progress: Progress | None = None,
    on: Backend | None = None,
    about: Json | None = None,
    stage: Callable[[str], None] | None = None,
) -> Outcome:
    """Run, measure and judge one Plan; a complete run of the same Plan is used again.

    ``about`` goes into the manifest: :func:`about_run`. ``stage`` is called with the name of each step after
    the run:
    ``measuring``, ``worst case``, ``report``.

    Raises:
        InputError: ``into`` holds another experiment and ``options.force`` is off, or files of others.
        BackendError: the backend failed, another process writes into the folder, or the disk is full.
        KeyboardInterrupt: the run folder then says ``interrupted`` and can be read.
    """
    clearing.refuse_foreign(into)
    with writing(into), lock.held(into):
        return _run_one(plan, into, options, progress, on, about or {}, stage)


def _run_one(
    plan: Plan,
    into: Path,
    options: Options,
    progress: Progress | None,
    on: Backend | None,
    about: Json,
    stage: Callable[[str], None] | None,
) -> Outcome:
    backend = on or Simulation()
    run = None if options.force else _finished(plan, into, options, backend)
    reused = run is not None
    if run is None:
        _refuse_other(plan, into, options, backend, about)
        before = _begun(into)
        try:
            run = backend.execute(plan, into, pcap=options.pcap, progress=progress)
        finally:
            # A refused run has not changed the earlier run in the folder.
            if _begun(into) != before:
                note(into, about)
    tell = stage or (lambda _: None)
    tell("measuring")
    measured = reused and (into / file_names.MEASURES).exists()
    measures = run.measures() if measured else measure_run(into)
    tell("worst case")
    verdict = judge_run(run, measures)
    if options.report and not (reused and (into / file_names.REPORT).exists() and not options.figures):
        tell("report")
        with _REPORTS:
            report.write(Run.open(into), figures=options.figures)
    if options.summary:
        tell("summary")
        with _REPORTS:
            report.write(Run.open(into), summary=True)
    return Outcome(run=Run.open(into), reused=reused, verdict=verdict)


def judge_run(run: Run, measures: Measures) -> Verdict:
    """Judges a run by its measures and by the worst case of its Plan; stores verdict and bounds in its
    folder.

    Raises:
        InputError: the Plan contradicts itself.
    """
    verdict = verdict_of(run, measures, keep=True)
    write_json(run.folder / file_names.VERDICT, verdict)
    return verdict


def about_run(scenario: Scenario, file: Path, duration: str | None = None, seed: int | None = None) -> Json:
    """The scenario's title and source, and the command that repeats this run alone."""
    command = ["tsnbench", "run", called(file)]
    for key, value in scenario.variant.items():
        command += ["--only", f"{key}={value}"]
    command += ["--duration", duration] if duration is not None else []
    command += ["--seed", str(seed)] if seed is not None else []
    words = {"title": scenario.title, "source": scenario.source}
    return {**{key: text for key, text in words.items() if text}, "command": command}


def called(file: Path) -> str:
    """A file as a word of a command; a file outside of the working directory by its name alone."""
    try:
        name = str(file.resolve().relative_to(Path.cwd()))
    except ValueError:
        name = file.name
    # Octets that are not UTF-8 become visible: manifests and pages are UTF-8.
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def report_all(outcomes: Sequence[Outcome], into: Path, options: Options) -> Path:
    """The report of a campaign: a new one over all runs, or that of the only run."""
    if len(outcomes) == 1:
        return outcomes[0].run.folder / file_names.REPORT
    return report.write([outcome.run for outcome in outcomes], into=into, figures=options.figures)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step, so that a reader never sees half of it."""
    part = path.with_name(path.name + ".part")
    part.write_text(for_people(value) + "\n", encoding="utf-8")
    part.replace(path)


def _finished(plan: Plan, into: Path, options: Options, on: Backend) -> Run | None:
    """The earlier run in ``into``, if it is complete, is of this Plan, and has the requested results."""
    if not (into / file_names.MANIFEST).exists():
        return None
    run = Run.open(into)
    manifest = run.manifest
    same_engine = manifest.get("versions", {}).get("engine") == engine.identity()
    if manifest.get("plan") != plan.hash or not same_engine or manifest.get("state") != "complete":
        return None
    if (manifest.get("backend"), manifest.get("dilate", 1)) != (on.name, getattr(on, "dilate", 1)):
        return None
    if options.pcap and not (into / "captures").exists():
        return None
    whole = isinstance(on, Simulation) and on.whole_below is None
    if whole and "repeated" in (repeats.steady(into) or {}):
        # Every frame is to be simulated, and there one period stands for many.
        return None
    return run


def _begun(into: Path) -> Any:
    """The start time of the run in a folder; None if the folder has no run."""
    return Run.open(into).manifest.get("started") if (into / file_names.MANIFEST).exists() else None


def _refuse_other(plan: Plan, into: Path, options: Options, on: Backend, about: Json) -> None:
    """Checks that only a run of the same scenario is replaced, unless ``--force`` is given.

    Raises:
        FolderError: there is one.
    """
    if options.force or clearing.is_empty(into):
        return
    if (into / sweep.NAME).exists():
        there = sweep.read(into)
        if options.replace and (there.name, there.file) == (plan.name, _file(about)):
            return
        raise FolderError(into, "holds the runs of a sweep", options.away)
    manifest = Run.open(into).manifest
    if manifest.get("name") != plan.name:
        raise FolderError(into, f"holds a run of another scenario, {manifest.get('name')}", options.away)
    if manifest["state"] != State.COMPLETE:
        return
    if not options.replace:
        how = ", or without each frame" if (into / file_names.STEADY).exists() else ""
        raise FolderError(into, f"holds another run: of another plan, version or kernel{how}", options.away)
    if _file(manifest) and _file(manifest) != _file(about):
        raise FolderError(into, f"holds a run of another scenario file, {_file(manifest)}", options.away)
    where = [(manifest.get("backend"), manifest.get("dilate", 1)), (on.name, getattr(on, "dilate", 1))]
    if where[0] != where[1]:
        slower = f" --dilate {where[0][1]}" if where[0][1] != 1 else ""
        raise FolderError(into, f"holds a run of --on {where[0][0]}{slower}", options.away)


def _file(about: Json) -> str:
    """The scenario file, as the command of a manifest calls it; empty where there is no command."""
    command = about.get("command")
    return str(command[2]) if isinstance(command, list) and len(command) > 2 else ""


__all__ = [
    "Options",
    "Outcome",
    "about_run",
    "begin_sweep",
    "folder_of",
    "folders_of",
    "judge_run",
    "numbered",
    "report_all",
    "run_one",
    "write_json",
]
