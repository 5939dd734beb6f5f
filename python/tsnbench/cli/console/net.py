"""The frame of every command: signals, closed pipes, and errors that no other code handles.

No command ends with a traceback, and exit code 1 always means a failed requirement.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO, cast

from tsnbench.cli.console.output import print_more
from tsnbench.cli.console.signals import heed_signals, is_interrupt, stopped_by
from tsnbench.cli.console.visible import PLAIN, visible
from tsnbench.cli.parts import folder_errors, messages
from tsnbench.errors import BackendError, InputError

TRACEBACK = "TSNBENCH_TRACEBACK"
"""The environment variable that switches tracebacks on."""
_GONE = {errno.EPIPE, errno.EIO}
"""Errors of a pipe or a terminal that is closed."""


_failed: list[OSError] = []
"""Errors of standard output."""


def guarded(command: Callable[[], object]) -> int:
    """Runs a command and always returns an exit code; prints errors on stderr that no other code has
    printed."""
    _open_missing()
    heed_signals()
    out = _patient("stdout")
    _patient("stderr")
    try:
        code = ended(command)
        # A language server closes its output itself.
        if out is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except OSError as error:
        code = _say(_words(error), error=error)
    return stopped_by() or code if code == 128 + signal.SIGINT else code


def ended(command: Callable[[], object]) -> int:
    """Runs a command, and returns its exit code; prints errors that it has not printed."""
    try:
        command()
    except SystemExit as error:
        # The library of commands has printed what is wrong with its options.
        if error.__context__ is not None and error.code == 2:
            print_more(messages.codes_of(error.__context__))
        return (
            error.code if isinstance(error.code, int) else 0 if error.code is None else _say(str(error.code))
        )
    except InputError as error:
        return _say(str(error), 2, error)
    except BackendError as error:
        return _say(str(error), error=error)
    except OSError as error:
        return _say(_words(error), error=error)
    except MemoryError as error:
        hint = "a smaller network or a shorter duration needs less"
        return _say(f"there is not enough memory\nhint: {hint}", error=error)
    except BaseException as error:
        if is_interrupt(error):
            return 128 + signal.SIGINT
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return _say(
            f"this is a defect of tsnbench: {said}\nhint: {TRACEBACK}=1 shows where; please report it",
            stopped_by() or 3,
        )
    return 0


def _say(text: str, code: int = 3, error: BaseException | None = None) -> int:
    if os.environ.get(TRACEBACK):
        traceback.print_exc()
    print(visible(text), file=sys.stderr)
    if error is not None:
        print_more(messages.codes_of(error))
    return code


def _words(error: OSError) -> str:
    said = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    if error in _failed:
        return f"standard output cannot be written: {said}"
    where = "" if error.filename is None else f"{error.filename}: "
    hint = folder_errors.HINTS.get(error.errno or 0)
    return f"{where}{said}" + (f"\nhint: {hint}" if hint else "")


def _open_missing() -> None:
    """Opens the null device in place of standard streams that are closed (``>&-``).

    Otherwise the next file that a command opens would take the number of the stream, and get its text.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest free number is that of the stream, because the streams before it are open.
            number = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


class _Patient(io.FileIO):
    """A stream that ignores a closed reader; another error is raised once."""

    lost = False
    silent = False
    """Errors of stderr cannot be printed."""

    def write(self, octets: bytes) -> int:  # type: ignore[override]
        if self.lost:
            return len(octets)
        try:
            return super().write(octets)
        except OSError as error:
            self.lost = True
            _failed.append(error)
            if self.silent or error.errno in _GONE:
                return len(octets)
            raise


def _patient(name: str) -> TextIO | None:
    """Replaces ``sys.stdout`` or ``sys.stderr`` by a patient stream, if it is a file."""
    old = getattr(sys, name)
    try:
        raw = _Patient(old.fileno(), "wb", closefd=False)
    except (AttributeError, OSError, ValueError):
        return None
    raw.silent = name == "stderr"
    with suppress(OSError):
        old.flush()
    new = io.TextIOWrapper(
        io.BufferedWriter(cast(io.RawIOBase, raw)),
        encoding=old.encoding,
        # What a user named stays: a locale of C has surrogateescape, which a terminal would get as it is.
        errors=PLAIN if old.errors in ("strict", "surrogateescape") else old.errors,
        line_buffering=old.line_buffering or raw.silent,
        write_through=old.write_through,
    )
    setattr(sys, name, new)
    return new
