"""``tsnbench``: one scenario, from plan to verdict."""

from __future__ import annotations

import typer

from tsnbench.cli import (
    check,
    compare,
    deploy,
    doctor,
    importing,
    init,
    measure,
    plan,
    receive,
    report,
    restore,
    run,
    send,
)

app = typer.Typer(
    name="tsnbench",
    help="Find out whether a time-sensitive network is on time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 every requirement was met, 1 a requirement failed (or runs differ), "
    "2 the input is wrong, 3 the backend failed.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init")(init.init)
app.command("check")(check.check)
app.command("schema")(check.schema)
app.command("catalogue")(check.catalogue)
app.command("plan")(plan.plan)
app.add_typer(importing.app, name="import")
app.command("deploy")(deploy.deploy)
app.command("run")(run.run)
app.command("doctor")(doctor.doctor)
app.command("restore")(restore.restore)
app.command("measure")(measure.measure)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("send")(send.send)
app.command("receive")(receive.receive)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Find out whether a time-sensitive network is on time.

    Exit codes: 0 every requirement was met, 1 a requirement failed, 2 the input is wrong,
    3 the backend failed.
    """
    if version:
        from tsnbench import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Entry point of the ``tsnbench`` program."""
    import sys

    from tsnbench.cli.net import guarded

    sys.exit(guarded(app))
