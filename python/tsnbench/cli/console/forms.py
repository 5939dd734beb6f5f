"""The form of results on stdout: tables for people, CSV or JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from tsnbench.cli.console.output import Exit, fail, print_csv, print_json, print_table

if TYPE_CHECKING:
    from rich.console import RenderableType


class Form(Enum):
    """The form of results."""

    TABLES = "tables"
    CSV = "csv"
    JSON = "json"


def form_of(as_json: bool, as_csv: bool) -> Form:
    """The form that ``--json`` and ``--csv`` ask for; both end the command."""
    if as_csv and as_json:
        fail(Exit.INPUT_WRONG, "--csv: expected no --json")
    return Form.JSON if as_json else Form.CSV if as_csv else Form.TABLES


def print_found(
    form: Form, document: Any, csv: Callable[[], str], tables: Callable[[], Iterable[RenderableType]]
) -> None:
    """Prints results in one form.

    Args:
        form: the form.
        document: the results for JSON.
        csv: makes their CSV.
        tables: makes their tables.
    """
    if form is Form.JSON:
        print_json("figures", document)
    elif form is Form.CSV:
        print_csv(csv())
    else:
        for table in tables():
            print_table(table)
