"""``tsnbench plan``: the results of planning, before a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Annotated

from tsnbench.cli.console.completing import streams
from tsnbench.cli.console.options import (
    Interfaces,
    Only,
    ScenarioFile,
    Strict,
    flag,
    option,
    setting,
)
from tsnbench.cli.console.output import data, print_json, print_json_text, print_message, user_errors
from tsnbench.cli.console.plan_tables import print_plan
from tsnbench.cli.console.strict import refuse_warnings
from tsnbench.cli.planning.incremental import plan_incrementally
from tsnbench.cli.planning.limits import print_bounds, print_tightest, print_why
from tsnbench.cli.planning.written import PAGE, Export, formats_of, write_page
from tsnbench.errors import InputError
from tsnbench.planning.passes import Planned, planned
from tsnbench.scenario import load_variants
from tsnbench.scenario.selection import selected

FORMATS = "tc,ptp4l,yang,inet,tsnkit,csv"
"""What is written unless formats are named."""
Tightest = Annotated[
    bool, flag("--tightest", "The tightest limits: worst cases, links, gates, reservations.")
]
Why = Annotated[
    str | None,
    option(
        "STREAM",
        "What the worst case of this stream adds up from, and what would lower each part; with --all for "
        "every listener.",
        autocompletion=streams,
    ),
]
Judge = Annotated[bool, flag("--judge", "With --bounds: exit code 1 if the worst case breaks a requirement.")]
Everything = Annotated[
    bool,
    flag(
        "--all",
        "All rows of the tables; with --bounds all requirements, not only those with the smallest margin.",
    ),
]
Keep = Annotated[
    Path | None,
    option(
        "FILE",
        "Keep the schedule of this earlier Plan (--json) as far as possible, and report what moved.",
        "--keep-schedule",
    ),
]
Folder = Annotated[
    Path | None, option("DIR", "Write files for devices, other tools or people into this folder.")
]
Formats = Annotated[
    str | None,
    option(
        "FORMATS",
        "With --into: some of tc, ptp4l, yang, inet, tsnkit, csv, ansible, trdp, saihu, and html: schedule, "
        f"bounds and network on one page. {FORMATS} by default.",
        "--as",
    ),
]
Taprio = Annotated[str, setting("MODE", "How taprio opens gates: software, txtime-assist or full.")]
Queues = Annotated[
    str,
    setting(
        "MAPPING", "Queues of classes: reversed, renumbered (Linux up to 6.2) or straight (highest first)."
    ),
]
Modules = Annotated[
    Path | None, option("DIR", "Check YANG data against the modules in this folder (yanglint).")
]


def plan(
    file: ScenarioFile,
    as_json: Annotated[bool, flag("--json", "The Plan as JSON; of a sweep, all of them.")] = False,
    bounds: Annotated[bool, flag("--bounds", "Worst-case bounds of delay and backlog.")] = False,
    why: Why = None,
    tight: Tightest = False,
    judge: Judge = False,
    everything: Everything = False,
    only: Only = None,
    keep: Keep = None,
    into: Folder = None,
    formats: Formats = None,
    taprio: Taprio = "software",
    queues: Queues = "reversed",
    yang: Modules = None,
    interface: Interfaces = None,
    strict: Strict = False,
    timing: Annotated[bool, flag("--timing", "The processor time of each planning pass, on stderr.")] = False,
) -> None:
    """Plan a scenario: paths, gates, worst cases; tables, JSON or files."""
    with user_errors():
        for option, value in (("--as", formats), ("--yang", yang), ("--interface", interface)):
            if value and into is None:
                raise InputError(f"{option}: expected --into with it, found none\n  hint: add --into out")
        done = Timing().done if timing else _untimed
        done("start")
        scenarios = selected(load_variants(file), only or [])
        done("read")
        if keep is None:
            made: list[Planned] = [planned(scenario, done=done) for scenario in scenarios]
        else:
            beside, changes = plan_incrementally(scenarios, keep)
            if as_json and not bounds and why is None and into is None:
                print_json("changed-plan", {"plan": json.loads(beside.to_json()), "changes": changes})
                return
            made = [Planned(beside, *beside.written())]
        plans = [one.plan for one in made]
        if strict:
            refuse_warnings(plans)
        if into is not None:
            named = formats_of(formats or FORMATS)
            if PAGE in named:
                write_page(plans, scenarios[0].title, into)
            if exported := [one for one in named if one != PAGE]:
                Export(into, exported, taprio, queues, interface, yang).write(plans)
            return
        if why is not None:
            print_why(plans, why, as_json, everything)
        elif tight:
            print_tightest(plans, as_json, everything)
        elif bounds:
            print_bounds(plans, as_json, judge, everything)
        else:
            _print(made, as_json, everything)
            done("print")


def _print(made: Sequence[Planned], as_json: bool, everything: bool) -> None:
    """Prints Plans: their tables, or their JSON."""
    if as_json:
        texts = [one.text for one in made]
        print_json_text(
            texts[0] if len(texts) == 1 else f'{{"format": "tsnbench-plans/1", "runs": [{",".join(texts)}]}}'
        )
        return
    for each in made:
        print_plan(each.plan, data(), everything, each.hash)


class Timing:
    """Prints how long each step took, in processor time of the whole process."""

    def __init__(self) -> None:
        self.before = 0.0

    def done(self, step: str) -> None:
        """A step has ended."""
        now = process_time()
        print_message(f"{step:<24}{now - self.before:8.3f} s")
        self.before = now


def _untimed(_: str) -> None:
    """Stands in for :meth:`Timing.done` if times were not requested."""
