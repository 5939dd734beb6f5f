"""Arguments and options of commands whose default, none, need not be printed."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def argument(metavar: str, help: str) -> Any:
    """An argument with its name in usage lines, and a sentence."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value: the value's name in usage lines, a sentence, and additional option names."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **more)


FigureKinds = Annotated[
    str, typer.Option("--figures", metavar="KINDS", help="Also write figures: svg,pdf,png,pgf,csv.")
]
"""The kinds of the files of all figures, beside a page."""

FigureNames = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="NAME",
        help="Write this figure alone, and no page; kinds as --figures, or pdf.",
        show_default=False,
    ),
]
"""Single figures by their names."""
