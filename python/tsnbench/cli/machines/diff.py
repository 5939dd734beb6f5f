"""``tsnbench diff``: the running state of a lab against a Plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.new_file import write_new
from tsnbench.cli.console.options import ScenarioFile, json_of, option, pairs_of, setting
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_message, user_errors
from tsnbench.discover import recorded
from tsnbench.discover.asking import Asked, hear
from tsnbench.discover.differences import Difference, differences
from tsnbench.errors import InputError
from tsnbench.exports.scenario_text import one_line
from tsnbench.hosts import load_inventory, map_plan
from tsnbench.plan.slow_motion import dilated
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import load_variants
from tsnbench.scenario.selection import selected

ANOTHER = "hint: remove it, or choose another name"


def diff(
    file: ScenarioFile,
    hosts: Annotated[Path, option("FILE", "The lab (lab.yaml), whose hosts are asked over ssh.")],
    only: Annotated[list[str] | None, option("PARAMETER=VALUE", "Of a sweep, this run: hops=3.")] = None,
    place: Annotated[list[str] | None, setting("NODE=MACHINE", "The machine of a node.", "--map")] = None,
    dilate: Annotated[int, option("TIMES", "The hosts' time is slower by this factor.", min=1)] = 1,
    record: Annotated[
        Path | None, option("FILE", "Write what the hosts said into this new file, for --from.")
    ] = None,
    earlier: Annotated[
        Path | None, option("FILE", "Ask no host: compare a state that --record wrote.", "--from")
    ] = None,
    as_json: Annotated[bool, json_of("The differences")] = False,
) -> None:
    """Compare the running state of hosts with a Plan.

    Each setting that differs is named, with the command that repairs it. Nothing is changed. Exit code 1 if a
    setting differs or is not known, 3 if no host answered.
    """
    if record is not None and earlier is not None:
        fail(Exit.INPUT_WRONG, "--record: not with --from, which asks no host")
    with user_errors():
        plan = dilated(make_plan(selected(load_variants(file), only or [])[0]).document, dilate)
        inventory = load_inventory(hosts)
        mapped = map_plan(inventory, plan, pairs_of("--map", "NODE=MACHINE", place or []))
        if record is not None and record.exists():
            raise InputError(f"{record}: expected a file that is not there yet, found one\n{ANOTHER}")
        names = [name for name in inventory.hosts if mapped.node(name) is not None]
        heard = recorded.read(earlier) if earlier is not None else hear(inventory, names)
        if record is not None:
            write_new(record, recorded.text(heard), ANOTHER)
        nothing = recorded.Heard(why=f"{earlier} has no such host")
        asked = {name: heard.get(name, nothing).state(name) for name in names}
        found = differences(plan, inventory, mapped, asked)
    if as_json:
        print_json("diff", {"differences": [asdict(one) for one in found]})
    else:
        _print(found, asked)
    if asked and all(state is None for state, _ in asked.values()):
        raise typer.Exit(Exit.BACKEND_FAILED)
    raise typer.Exit(Exit.REQUIREMENT_FAILED if found else Exit.MET)


def _print(found: Sequence[Difference], asked: Mapping[str, Asked]) -> None:
    for one in found:
        print_line(str(one))
        if one.repair:
            print_line(f"  on {one.host}: {one_line(one.repair)}")
    if found:
        unknown = sum(one.found is None for one in found)
        counts = {"different": len(found) - unknown, "not known": unknown}
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        print_message(f"settings: {said}; nothing was changed")
    else:
        print_message(f"no difference on {len(asked)} hosts")
