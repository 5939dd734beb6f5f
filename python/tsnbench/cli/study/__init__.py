"""``tsnbench study``: many runs with varied values and repetitions, and one table."""

from __future__ import annotations

import typer

from tsnbench.cli.study import commands

app = typer.Typer(
    help="Run a scenario many times, with varied values and repetitions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def root() -> None:
    """Run a scenario many times, with varied values and repetitions."""


for _name in ("run", "work", "status", "report", "export", "rerun", "slurm", "k8s"):
    app.command(_name)(getattr(commands, _name))
