"""``tsnbench cnc``: a network that admits streams while it runs."""

from __future__ import annotations

from typing import Any

import typer

from tsnbench.cli.cnc import asking
from tsnbench.cli.cnc.serve import serve
from tsnbench.cli.console.overview import Group


class Cnc(Group):
    """The command, whose first word is a subcommand or the scenario to serve."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """A word that is no subcommand is the scenario of ``serve``."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["serve", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=Cnc,
    help="Admit streams while the network runs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def root() -> None:
    """Admit streams while the network runs."""


app.command("serve")(serve)
for _name in ("add", "remove", "tidy", "devices", "list", "explain"):
    app.command(_name)(getattr(asking, "list_streams" if _name == "list" else _name))
