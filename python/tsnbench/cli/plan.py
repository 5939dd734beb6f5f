"""``tsnbench plan``: what a scenario means, before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.output import data, print_json, print_table, told


def plan(
    file: Annotated[Path, typer.Argument(help="Scenario file.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="The Plan as JSON (a list for a sweep).")] = False,
    bounds: Annotated[bool, typer.Option("--bounds", help="Worst-case bounds of delay and backlog.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Only the runs with this parameter: hops=3.", show_default=False)
    ] = None,
) -> None:
    """Plan a scenario: routes, classes, shapers and loads, or its worst case; as tables or JSON."""
    from tsnbench.planning import plan as make_plan
    from tsnbench.runs.campaign import selected
    from tsnbench.scenario import load_variants

    with told():
        from tsnbench.planning.bounds import bounds as make_bounds
        from tsnbench.planning.bounds import bounds_table

        plans = [make_plan(scenario) for scenario in selected(load_variants(file), only or [])]
        if as_json:
            documents = [make_bounds(one) if bounds else json.loads(one.to_json()) for one in plans]
            print_json(documents[0] if len(documents) == 1 else documents)
            return
        from tsnbench.planning.tables import print_plan

        for one in plans:
            if bounds:
                print_table(bounds_table(make_bounds(one)))
            else:
                print_plan(one, data())
