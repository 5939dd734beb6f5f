"""Arguments and options of commands whose default, none, need not be printed."""

from __future__ import annotations

from typing import Any

import typer


def argument(metavar: str, help: str) -> Any:
    """An argument: how usage lines name it, and a sentence."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value: how usage lines name the value, a sentence, and names other than its own."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **more)
