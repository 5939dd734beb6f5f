"""Output of commands: data on stdout, messages on stderr, and exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer

from tsnbench.cli.console.visible import json_in, json_text, visible
from tsnbench.cli.parts import messages, terminal
from tsnbench.errors import BackendError, InputError
from tsnbench.libraries import rich
from tsnbench.plan.indented import write_indented
from tsnbench.sheet import Sheet

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

TAB = 8
"""Columns from one tab stop to the next."""
WIDEST = 100
"""Columns of sentences: longer lines are hard to read."""


def progress_console() -> Console:
    """The console for progress bars."""
    return terminal.Terminal(stderr=True)


def print_message(line: str) -> None:
    """Prints a note or an error on stderr, without wrapping."""
    _write(sys.stderr, line)


def print_line(line: str) -> None:
    """Prints one line of results on stdout, without wrapping."""
    _write(sys.stdout, line)


def print_prose(text: str) -> None:
    """Prints sentences on stdout, each line wrapped at a word to the width of the terminal.

    At most :data:`WIDEST` columns are used; a pipe has 80, or those of ``COLUMNS``. Lines that begin with a
    blank and a word continue below the word behind two blanks, as in a table.
    """
    width = min(shutil.get_terminal_size().columns, WIDEST)
    for line in text.split("\n"):
        column = re.match(r" +(?:\S+  +)?", line)
        how = {"subsequent_indent": " " * column.end() if column else "", "break_long_words": False}
        for part in textwrap.wrap(line, width, break_on_hyphens=False, **how) or [""]:  # type: ignore[arg-type]
            print_line(part)


def _write(stream: TextIO, line: str) -> None:
    stream.write(visible(line).expandtabs(TAB) + "\n")
    stream.flush()


def data() -> Console:
    """The console for tables; wide enough not to break them when piped."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return terminal.Terminal()
    return terminal.Terminal(width=120)


PIPE = 1000
"""Columns of a file or a pipe."""
_COLOURS = {"FORCE_COLOR", "TTY_COMPATIBLE"}
"""Variables by which users describe their terminal."""


def print_table(table: RenderableType) -> None:
    """Prints a table that fits the terminal if it is a :class:`~tsnbench.sheet.Sheet`, and otherwise at its
    own width: a number that is cut short is a wrong number."""
    if isinstance(table, Sheet) and not _COLOURS & set(os.environ) and not sys.stdout.isatty():
        width = os.environ.get("COLUMNS", "")
        if (text := table.plain(int(width) if width.isdigit() else PIPE)) is not None:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
    console = data()
    sheets = table.renderables if isinstance(table, rich.console.Group) else [table]
    if not all(isinstance(one, Sheet) for one in sheets):
        needs = rich.measure.Measurement.get(console, console.options.update(width=1000), table).maximum
        console.width = max(console.width, needs)
    elif not console.is_terminal and "COLUMNS" not in os.environ:
        # A file or a pipe has space for every line.
        console.width = PIPE
    console.print(table)


class Exit(IntEnum):
    """Exit codes, equal for all commands."""

    MET = 0
    REQUIREMENT_FAILED = 1
    INPUT_WRONG = 2
    BACKEND_FAILED = 3
    INTERRUPTED = 130
    """By Ctrl-C; 143 by SIGTERM and 129 by SIGHUP (:mod:`tsnbench.cli.console.net`)."""


def fail(code: Exit, text: str, error: BaseException | None = None) -> NoReturn:
    """Print the reason on stderr, and where more about it is told; end with ``code``.

    Args:
        code: the exit code.
        text: the reason.
        error: the error that gives the reason; without one, the input is wrong.
    """
    print_message(text)
    if code != Exit.INTERRUPTED:
        print_more(messages.codes_of(error or InputError(text)))
    raise typer.Exit(code)


def print_more(codes: Sequence[str]) -> None:
    """Prints, on stderr, the command that explains messages of these codes."""
    if codes:
        about = "it" if len(codes) == 1 else "these mistakes"
        print_message(f"more about {about}: tsnbench explain {' '.join(codes)}")


def print_json(kind: str, value: Mapping[str, Any]) -> None:
    """Prints one JSON object on stdout, with its format.

    Args:
        kind: the name of the format, unless the object has a format.
        value: the object.
    """
    print_json_text(json.dumps({"format": f"tsnbench-{kind}/1", **value}, ensure_ascii=False))


def print_json_runs(kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
    """Prints the object of one run, or one with ``runs`` of several; arguments as above."""
    print_json(kind, documents[0] if len(documents) == 1 else {"runs": documents})


def print_json_text(text: str) -> None:
    """Prints a JSON document, given as text, on stdout."""
    write_indented(json_in(sys.stdout.encoding, json_text(text)), sys.stdout.write)
    sys.stdout.write("\n")


def print_csv(text: str) -> None:
    """Prints CSV on stdout."""
    sys.stdout.write(text)


@contextmanager
def user_errors(measuring: bool = False) -> Iterator[None]:
    """Converts the errors that a user can cause into messages and exit codes; ``net`` handles all others.

    Args:
        measuring: whether an interrupt leaves results that can be used.
    """
    try:
        yield
    except InputError as error:
        fail(Exit.INPUT_WRONG, str(error), error)
    except BackendError as error:
        fail(Exit.BACKEND_FAILED, str(error), error)
    except FileNotFoundError as error:
        fail(Exit.INPUT_WRONG, f"{error.filename}: expected a file, found none", error)
    except IsADirectoryError as error:
        fail(Exit.INPUT_WRONG, f"{error.filename}: expected a file, found a folder", error)
    except (NotADirectoryError, FileExistsError) as error:
        fail(Exit.INPUT_WRONG, f"{error.filename}: expected a folder, found a file", error)
    except PermissionError as error:
        fail(Exit.INPUT_WRONG, f"{error.filename}: no permission", error)
    except KeyboardInterrupt:
        kept = "; what was measured until then is kept" if measuring else ""
        fail(Exit.INTERRUPTED, f"interrupted{kept}")


def print_files(files: Sequence[Path], as_json: bool) -> None:
    """Print the written files on stdout: one on each line, or ``files`` of a JSON object."""
    if as_json:
        print_json("files", {"files": [str(file) for file in files]})
        return
    for file in files:
        print_line(str(file))


def print_warnings(warnings: Iterable[object]) -> None:
    """Prints warnings on stderr, marked as such."""
    for warning in warnings:
        print_message(f"warning: {warning}")


def print_written(files: Sequence[Path], figure: Sequence[str] | None, page: str = "report") -> None:
    """Print the path of the page, or of single figures, on stderr: the tables are on stdout."""
    for file in files:
        print_message(f"{'figure' if figure else page}: {file}")


def figure_kinds(
    words: str, into: Path | None, option: str = "--into", names: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The kinds of figure files that ``--figures`` names; single figures of ``--figure`` are pdf without it.

    Without a place for the files it is an error.
    """
    kinds = tuple(kind for kind in words.split(",") if kind)
    if unknown := [kind for kind in kinds if kind not in ("svg", "pdf", "png", "pgf", "csv")]:
        fail(Exit.INPUT_WRONG, f"--figures: expected svg, pdf, png, pgf or csv, found {', '.join(unknown)}")
    if kinds and into is None:
        fail(Exit.INPUT_WRONG, f"--figures: expected {option}")
    if names and into is None:
        fail(Exit.INPUT_WRONG, f"--figure: expected {option}")
    return kinds or (("pdf",) if names else ())
