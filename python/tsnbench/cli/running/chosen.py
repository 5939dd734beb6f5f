"""The runs of a scenario that ``tsnbench run`` makes: which values, how long, with which seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tsnbench.campaign.campaign import Options, about_run, begin_sweep, called, folders_of
from tsnbench.campaign.together import Job
from tsnbench.cli.console.options import given_ns
from tsnbench.cli.console.output import print_message
from tsnbench.cli.planning.incremental import plan_incrementally
from tsnbench.plan.document import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.runs.sweep import earlier_note
from tsnbench.scenario import Scenario, load_variants
from tsnbench.scenario.selection import selected, shortened
from tsnbench.scenario.units import LENGTH_OF_RUN


@dataclass(frozen=True)
class Choice:
    """The options that choose and change runs of a scenario."""

    file: Path
    only: list[str]
    duration: str | None
    seed: int | None
    keep: Path | None

    def chosen(self) -> Chosen:
        """The runs with their Plans.

        Raises:
            InputError: the scenario or an option is wrong.
        """
        every = load_variants(self.file)
        duration_ns = given_ns("--duration", self.duration, LENGTH_OF_RUN)
        scenarios = [shortened(one, duration_ns, self.seed) for one in selected(every, self.only)]
        if self.keep is None:
            plans = [make_plan(scenario) for scenario in scenarios]
        else:
            plans = [plan_incrementally(scenarios, self.keep)[0]]
        return Chosen(self, every, scenarios, plans)


@dataclass(frozen=True)
class Chosen:
    """Runs of a scenario, with their Plans."""

    choice: Choice
    every: list[Scenario]
    """Also the runs that were not chosen."""
    scenarios: list[Scenario]
    plans: list[Plan]

    def print_warnings(self) -> None:
        """Prints the warnings of all Plans."""
        for plan in self.plans:
            for warning in plan.warnings:
                print_message(str(warning))

    def jobs(self, into: Path, options: Options, elsewhere: Sequence[str]) -> list[Job]:
        """The runs with their folders and what their manifests tell; begins the folder of a sweep.

        Args:
            into: the folder of the run, or of the sweep.
            options: how runs are made.
            elsewhere: the words of the command that name another backend than the simulator.
        """
        folders = folders_of(self.every, self.scenarios, into)
        first, file = self.scenarios[0], self.choice.file
        if first.variant:
            whole = len(self.scenarios) == len(self.every)
            if earlier := begin_sweep(into, folders, whole, options, first.name, file):
                print_message(f"{earlier_note(into, earlier)}\nhint: --force removes them")
        made = []
        for scenario, plan, folder in zip(self.scenarios, self.plans, folders, strict=True):
            about = about_run(scenario, file, self.choice.duration, self.choice.seed)
            about["command"] += (
                [] if self.choice.keep is None else ["--keep-schedule", called(self.choice.keep)]
            )
            about["command"] += elsewhere
            made.append(Job(plan, folder, about))
        return made
