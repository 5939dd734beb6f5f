"""``tsnbench wireshark``: a dissector of tsnbench's test payload."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import option
from tsnbench.cli.console.output import say, told

app = typer.Typer(help="A dissector of tsnbench's test payload.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def root() -> None:
    """A dissector of tsnbench's test payload."""


@app.command("install")
def install(
    folder: Annotated[
        Path | None,
        option("FOLDER", "Where; ~/.local/lib/wireshark/plugins unless given.", "--folder"),
    ] = None,
) -> None:
    """Install the dissector for Wireshark and tshark; print its path."""
    from tsnbench.foreign_files.wireshark import install as write

    with told():
        say(str(write(folder)))
