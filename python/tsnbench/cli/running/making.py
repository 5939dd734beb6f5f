"""Making runs: how many at the same time, what is said before, and their progress."""

from __future__ import annotations

from collections.abc import Sequence

from tsnbench.backends.protocol import Backend
from tsnbench.campaign.announcement import Expected
from tsnbench.campaign.campaign import Options, Outcome, run_one
from tsnbench.campaign.together import Job, run_together
from tsnbench.cli.console.output import Exit, fail, print_message
from tsnbench.cli.console.progress import busy, progress_together
from tsnbench.cli.console.progress import progress as progress_of
from tsnbench.cli.parts import calibration_tables, prediction
from tsnbench.cli.running.chosen import Chosen
from tsnbench.plan.document import Plan
from tsnbench.runs.process import cores
from tsnbench.runs.room import need
from tsnbench.runs.tables import predicted
from tsnbench.scenario import Scenario
from tsnbench.sheet import Sheet


def workers_of(workers: int | None, on: str, runs: int) -> int:
    """The number of runs at the same time: one on kernels and hosts, where runs would disturb each other."""
    if workers is not None and workers < 1:
        fail(Exit.INPUT_WRONG, f"--workers: expected at least 1, found {workers}")
    if workers is not None and workers > 1 and on != "simulation":
        fail(
            Exit.INPUT_WRONG, "--workers: only for --on simulation: runs on a kernel would disturb each other"
        )
    if on != "simulation":
        return 1
    return min(runs, workers or cores())


def announce(plans: Sequence[Plan], backend: Backend, pcap: bool, workers: int, dilate: int) -> None:
    """Says before long runs what they will send, write and take."""
    expected = Expected.of([need(plan.document, backend.name, pcap) for plan in plans])
    if backend.name == "simulation":
        said = expected.said(workers)
    else:
        spans = [plan.document["duration_ns"] + plan.document["drain_ns"] for plan in plans]
        said = expected.said_of_kernels(dilate * sum(spans) / 1e9)
    if said:
        print_message(said)


def make(
    jobs: Sequence[Job],
    scenarios: Sequence[Scenario],
    options: Options,
    backend: Backend,
    workers: int,
    progress: str,
) -> list[Outcome]:
    """Makes all runs, one after the other or several at the same time."""
    labels = [", ".join(f"{k} {v}" for k, v in one.variant.items()) or one.name for one in scenarios]
    lengths = [job.plan.document["duration_ns"] for job in jobs]
    if workers > 1:
        with progress_together(labels, lengths, progress) as watchers:
            return run_together(jobs, options, workers, watchers)
    outcomes = []
    for number, (job, label, length) in enumerate(zip(jobs, labels, lengths, strict=True), 1):
        with progress_of(label, number, len(jobs), length, progress) as shown:
            made = run_one(
                job.plan, job.folder, options, shown.progress, on=backend, about=job.about, stage=shown.stage
            )
            outcomes.append(made)
    return outcomes


def foretell(chosen: Chosen, outcomes: Sequence[Outcome], progress: str) -> list[Sheet]:
    """Predicts the figures of each run with intervals, notes them in its folder, and returns their tables.

    Raises:
        CalibrationError: no node has a calibrated device.
    """
    tables = []
    for scenario, plan, outcome in zip(chosen.scenarios, chosen.plans, outcomes, strict=True):
        with busy(f"prediction of {scenario.name}", progress):
            found = prediction.predict(scenario, plan)
        predicted.write(outcome.run.folder, found)
        tables.append(calibration_tables.predicted(found))
    return tables
