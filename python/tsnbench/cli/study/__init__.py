"""``tsnbench study``: many runs with varied values and repetitions, and one table."""

from __future__ import annotations

import typer

from tsnbench.cli.console.overview import Group
from tsnbench.cli.study import commands
from tsnbench.cli.study.run import run

app = typer.Typer(
    cls=Group,
    help="Run a scenario many times, with varied values and repetitions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def root() -> None:
    """Run a scenario many times, with varied values and repetitions."""


app.command("run")(run)
for _name in ("work", "status", "report", "export", "rerun", "slurm", "k8s"):
    app.command(_name)(getattr(commands, _name))
