"""``tsnbench lab``: hosts on this machine to learn with, before the real ones arrive."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import print_line, print_message, user_errors
from tsnbench.cli.console.overview import Group
from tsnbench.hosts import lab as hosts_lab
from tsnbench.plan.slow_motion import dilated
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import load_variants
from tsnbench.scenario.selection import selected


class Kind(StrEnum):
    """The kind of a lab's hosts."""

    CELLS = "cells"
    GUEST = "guest"
    GUESTS = "guests"


app = typer.Typer(
    cls=Group,
    help="Make a lab of hosts on this machine, or end it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def up(
    file: Annotated[Path, argument("FILE", "Scenario file: a host for each node, a wire for each link.")],
    folder: Annotated[Path, argument("DIR", "Folder of the lab's keys and its lab.yaml; it is made.")],
    sshd: Annotated[
        Path | None, option("FILE", "The ssh server's program, if openssh-server is not installed.")
    ] = None,
    only: Annotated[
        list[str] | None, option("PARAMETER=VALUE", "For a sweep, the network of this run: hops=3.")
    ] = None,
    dilate: Annotated[
        int, option("TIMES", "Links that are slower by this factor, for runs with the same --dilate.")
    ] = 1,
    kind: Annotated[
        Kind,
        option(
            "KIND",
            "cells (default): namespaces of this machine, as root. guest: one emulated machine, whose "
            "network cards have clocks, gates and stamps. guests: an emulated machine for each host, "
            "which can crash, and whose clock is its own. Emulated machines end after 8 hours.",
            "--kind",
        ),
    ] = Kind.CELLS,
) -> None:
    """Make hosts on this machine. No other network is changed."""
    with user_errors():
        plan = make_plan(selected(load_variants(file), only or [])[0])
        made = hosts_lab.up(dilated(plan.document, dilate), folder, sshd, hosts_lab.Kind(kind.value))
    print_message(f"{len(plan.document['nodes'])} hosts are up")
    print_line(f"export TSNBENCH_SSH={shlex.quote(made.ssh)}")
    more = "".join(f" --only {shlex.quote(one)}" for one in only or ())
    more += f" --dilate {dilate}" if dilate != 1 else ""
    said = f"then: tsnbench run {file}{more} --on hosts --hosts {made.inventory}"
    print_message(f"{said}\nlast: tsnbench lab down {folder}")


@app.command()
def down(folder: Annotated[Path, argument("DIR", "Folder of the lab.")]) -> None:
    """End a lab, and remove everything that it made."""
    with user_errors():
        ended = hosts_lab.down(folder)
    print_message("the lab is gone" if ended else f"no lab is up in {folder}")
