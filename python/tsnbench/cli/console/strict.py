"""``--strict``: warnings end the command."""

from __future__ import annotations

from collections.abc import Iterable

from tsnbench.cli.console.output import Exit, fail
from tsnbench.plan.document import Plan


def refuse_warnings(plans: Iterable[Plan]) -> None:
    """Ends with exit code 2 if a Plan has warnings, and prints them."""
    found = list(dict.fromkeys(str(warning) for plan in plans for warning in plan.warnings))
    if found:
        fail(Exit.INPUT_WRONG, "\n".join([*found, "--strict: a warning counts as an error"]))
