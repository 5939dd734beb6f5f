"""``--keep-schedule old.plan.json``: a scenario planned beside an earlier Plan, for ``plan`` and ``run``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tsnbench.cli.console.output import print_message
from tsnbench.cli.parts import incremental
from tsnbench.errors import InputError
from tsnbench.planning import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import Scenario


def plan_incrementally(scenarios: Sequence[Scenario], keep: Path) -> tuple[Plan, list[dict[str, str | int]]]:
    """The Plan beside an earlier one, and the changes of its schedule, which are also printed on stderr.

    Raises:
        InputError: there are several runs to plan, or the earlier Plan cannot be read.
    """
    if len(scenarios) != 1:
        raise InputError(
            f"--keep-schedule: expected one run, found {len(scenarios)}\n  "
            "hint: choose with --only, such as hops=3"
        )
    earlier = incremental.read_earlier(keep)
    made = make_plan(scenarios[0], earlier)
    found = incremental.changes(earlier.document, made.document)
    for line in incremental.change_lines(found):
        print_message(line)
    return made, [one.document() for one in found]
