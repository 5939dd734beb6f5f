"""``--keep old.plan.json``: a scenario planned beside an earlier Plan, for ``plan`` and ``run``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.cli.console.output import print_message

if TYPE_CHECKING:
    from tsnbench.planning import Plan
    from tsnbench.scenario import Scenario


def plan_incrementally(scenarios: Sequence[Scenario], keep: Path) -> tuple[Plan, list[dict[str, str | int]]]:
    """The Plan beside an earlier one, and the changes of its schedule, which are also printed on stderr.

    Raises:
        InputError: there are several runs to plan, or the earlier Plan cannot be read.
    """
    from tsnbench.errors import InputError
    from tsnbench.planning import plan as make_plan
    from tsnbench.planning.scheduling.incremental import change_lines, changes, read_earlier

    if len(scenarios) != 1:
        raise InputError(
            f"--keep: expected one run, found {len(scenarios)}\n  hint: choose with --only, such as hops=3"
        )
    earlier = read_earlier(keep)
    made = make_plan(scenarios[0], earlier)
    found = changes(earlier.document, made.document)
    for line in change_lines(found):
        print_message(line)
    return made, [one.document() for one in found]
