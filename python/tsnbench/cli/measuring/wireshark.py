"""``tsnbench wireshark``: a dissector of tsnbench's test payload and of TRDP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import option
from tsnbench.cli.console.output import print_line, user_errors
from tsnbench.cli.console.overview import Group
from tsnbench.cli.measuring.plan_file import read_plan
from tsnbench.foreign_files.wireshark import install as write

app = typer.Typer(
    cls=Group,
    help="Install a dissector for Wireshark and tshark.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def root() -> None:
    """Install a dissector for Wireshark and tshark."""


@app.command("install")
def install(
    into: Annotated[
        Path | None,
        option(
            "DIR", "Folder of the dissector; without a profile. ~/.local/lib/wireshark/plugins by default."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        option("FILE", "Plan with the names of the streams: plan.json, or a run folder.", "--plan"),
    ] = None,
) -> None:
    """Install the dissector for Wireshark and tshark, and a profile with columns; print their paths."""
    with user_errors():
        names = []
        if plan is not None:
            names = [stream["name"] for stream in read_plan(plan).document["streams"]]
        for path in write(into, names):
            print_line(str(path))
