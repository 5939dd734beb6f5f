"""Arguments and options: how they are declared, and those of several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tsnbench.cli.console.completing import choices, scenario_files
from tsnbench.errors import InputError
from tsnbench.scenario.units import DURATION, SIZE, Dimension, UnitError


def argument(metavar: str, help: str, **more: Any) -> Any:
    """An argument with its name in usage lines, and a sentence; its default need not be printed.

    Args:
        metavar: the argument's name in usage lines.
        help: a sentence.
        more: what :func:`typer.Argument` also takes.
    """
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option whose default, none, need not be printed.

    Args:
        metavar: the value's name in usage lines.
        help: a sentence.
        names: the option's names, if they are not the parameter's.
        more: what :func:`typer.Option` also takes.
    """
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **more)


def setting(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value whose default is printed; arguments as for :func:`option`."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(names: str, help: str) -> Any:
    """An option without a value; ``names`` as ``--quiet -q``."""
    return typer.Option(*names.split(), help=help)


def json_of(what: str) -> Any:
    """``--json`` of a command that prints this as JSON."""
    return flag("--json", f"{what} as JSON on stdout.")


def csv_of(what: str) -> Any:
    """``--csv`` of a command that prints this as CSV."""
    return flag("--csv", f"{what} as tidy CSV on stdout: one row per figure.")


ScenarioFile = Annotated[Path, argument("FILE", "Scenario file.", autocompletion=scenario_files)]
Only = Annotated[
    list[str] | None,
    option("PARAMETER=VALUE", "Only the runs with this parameter: hops=3.", autocompletion=choices),
]
"""Of a sweep, the runs with these values."""
Strict = Annotated[bool, flag("--strict", "A warning counts as an error.")]
AllRows = Annotated[bool, flag("--all", "All rows of the table.")]

FigureKinds = Annotated[
    str, typer.Option("--figures", metavar="KINDS", help="Also write figures: svg,pdf,png,pgf,csv.")
]
"""The kinds of the files of all figures, beside a page."""
FigureNames = Annotated[
    list[str] | None,
    option("NAME", "Write this figure alone, and no page; kinds as --figures, or pdf.", "--figure"),
]
"""Single figures by their names."""

StageFolder = Annotated[Path | None, option("DIR", "Folder for stage timestamps of every frame.")]
Hardware = Annotated[bool, flag("--hardware", "Request hardware timestamps.")]
Processor = Annotated[int | None, option("NUMBER", "Processor to run on.")]
Priority = Annotated[int, setting("0..99", "Under SCHED_FIFO; 0: ordinary.")]


def duration_ns(option: str, text: str, usual: str = "") -> int:
    """Nanoseconds of an option such as ``--duration``; ``usual`` is the unit that hints name.

    Raises:
        InputError: it is no duration.
    """
    return _quantity(DURATION, option, text, usual)


def size_octets(option: str, text: str) -> int:
    """Octets of an option such as ``--ring``.

    Raises:
        InputError: it is no size.
    """
    return _quantity(SIZE, option, text)


def _quantity(dimension: Dimension, option: str, text: str, usual: str = "") -> int:
    try:
        return dimension.parse(text, usual)
    except UnitError as error:
        raise InputError(f"{option}: expected {error.expected}, found {text}\nhint: {error.hint}") from None


def given_ns(option: str, text: str | None, usual: str = "") -> int | None:
    """Nanoseconds of an option, or None if it is not given; the rest as for :func:`duration_ns`."""
    return None if text is None else duration_ns(option, text, usual)


def pairs_of(option: str, form: str, texts: list[str] | None) -> dict[str, str]:
    """The values of ``--map NODE=MACHINE`` and other options that name pairs.

    Raises:
        InputError: a text has no ``=``.
    """
    for text in texts or ():
        if "=" not in text:
            raise InputError(f"{option}: expected {form}, found {text}")
    return dict(text.split("=", 1) for text in texts or ())


def interfaces_of(ports: set[str], texts: list[str] | None, example: str) -> dict[str, str]:
    """The devices' names for ports: the values of ``--interface 'a -> b=eth0'``.

    Args:
        ports: the names of all ports.
        texts: the values of the option.
        example: an interface for the message.

    Raises:
        InputError: there is no such port, or no name.
    """
    names = {}
    for text in texts or ():
        port, _, name = text.rpartition("=")
        if port not in ports or not name:
            raise InputError(
                f"--interface: expected a port and its interface, such as `a -> b={example}`, found {text}"
            )
        names[port] = name
    return names


Interfaces = Annotated[list[str] | None, option("PORT=NAME", "Interface of a port: 'sw1 -> sw2=enp3s0'.")]
