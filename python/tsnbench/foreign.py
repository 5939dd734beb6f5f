"""Files that others wrote: regular files alone, and never more octets of them than the reader allows.

A device or a FIFO can hang a program or fill its memory. So a file is opened without waiting for a writer,
examined, and refused unless it is a regular file of a supported size. Parquet is read here, too, because a
damaged page must end in a message.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tsnbench.errors import InputError
from tsnbench.libraries import polars as pl

MOST_JSON = 1 << 30
"""Octets of a Plan, of measures, of a record: the largest of a scenario with 10,000 streams have a tenth."""
MOST_TABLE = 1 << 36
"""Octets of a Parquet file or a capture; these are read piece by piece, or by columns."""
Json = dict[str, Any]
"""A JSON object without a type for its keys: written by another program or version, or only printed.

Plans, measures, verdicts and bounds have types of their own."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)


class UnusableFileError(InputError, OSError):
    """A file that exists and cannot be used; ``strerror`` has the expected and the found content."""

    def __init__(self, path: str | os.PathLike[str], expected: str, found: str) -> None:
        self.expected = expected
        self.found = found
        super().__init__(errno.EINVAL, f"expected {expected}, found {found}", os.fspath(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of a regular file of at most ``most`` octets.

    Raises:
        UnusableFileError: it is no regular file, or larger.
        OSError: it cannot be opened or read.
    """
    descriptor = _open(path, most)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        # Files of /proc have no size, and others can grow.
        raise UnusableFileError(path, f"at most {octets(most)}", "more")
    return content


def read_head(path: str | os.PathLike[str], most: int) -> bytes:
    """The first ``most`` octets of a regular file, to recognise its kind.

    Raises:
        UnusableFileError: it is no regular file, or far too large.
        OSError: it cannot be opened or read.
    """
    with os.fdopen(_open(path, MOST_TABLE), "rb") as file:
        return file.read(most)


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """The content of a file as text in UTF-8, with or without a byte order mark.

    Raises:
        UnusableFileError: besides, it is no text in UTF-8.
    """
    content = read_bytes(path, most)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{content[error.start]:02x} in line {line}"
        raise UnusableFileError(path, "text in UTF-8", found) from None


def read_json(path: str | os.PathLike[str], most: int = MOST_JSON) -> Any:
    """The value of a JSON file.

    Raises:
        UnusableFileError: besides, it is no JSON, or too deep.
    """
    text = read_text(path, most)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{error.msg.lower()} in line {error.lineno}, column {error.colno}"
        raise UnusableFileError(path, "JSON", where if text.strip() else "an empty file") from None
    except RecursionError:
        raise UnusableFileError(path, "JSON", "too many levels of nesting") from None
    except ValueError as error:
        # A number of thousands of digits.
        raise UnusableFileError(path, "JSON", str(error)) from None


def regular(path: str | os.PathLike[str], most: int = MOST_TABLE) -> Path:
    """The path, when a regular file of at most ``most`` octets is there: for readers that open it themselves.

    Raises:
        UnusableFileError: something else is there.
        OSError: nothing is there, or it cannot be opened.
    """
    os.close(_open(path, most))
    return Path(path)


def read_parquet(path: str | os.PathLike[str]) -> pl.DataFrame:
    """A table.

    Raises:
        UnusableFileError: it is no Parquet file, or a page of it is damaged.
        OSError: it cannot be opened.
    """
    regular(path)
    _refuse_unnamable(path)
    with table_errors(path):
        return pl.read_parquet(os.fspath(path), glob=False)


def parquet_note(path: str | os.PathLike[str], key: str) -> Any:
    """The JSON value of ``key`` in the metadata of a Parquet file.

    Raises:
        UnusableFileError: it says nothing, or is no Parquet file.
        OSError: it cannot be opened.
    """
    regular(path)
    _refuse_unnamable(path)
    with table_errors(path):
        notes = pl.read_parquet_metadata(os.fspath(path))
        if key not in notes:
            raise UnusableFileError(path, f"metadata under {key}", "none")
        return json.loads(notes[key])


@contextmanager
def table_errors(path: str | os.PathLike[str], what: str = "a Parquet file") -> Iterator[None]:
    """Turns every error of polars at a damaged table, also a panic, into an :class:`UnusableFileError`.

    Also around queries of ``scan_parquet``, which read when they are collected.
    """
    try:
        yield
    except UnusableFileError:
        raise
    except (
        OSError,
        ValueError,
        MemoryError,
        RecursionError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    ) as error:
        raise UnusableFileError(path, what, _first_line(error)) from None


def octets(count: int) -> str:
    """A limit as people read it: 16 MiB."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << shift and count % (1 << shift) == 0:
            return f"{count >> shift} {unit}"
    return f"{count} B"


def _refuse_unnamable(path: str | os.PathLike[str]) -> None:
    """Polars opens files by names in UTF-8 only."""
    try:
        os.fspath(path).encode("utf-8")
    except UnicodeEncodeError:
        raise UnusableFileError(path, "a path in UTF-8", "octets of another encoding") from None


def _open(path: str | os.PathLike[str], most: int) -> int:
    """A descriptor of a regular file; without waiting for the writer of a FIFO or the carrier of a line."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise UnusableFileError(path, "a regular file", "a socket or a device") from None
        raise
    except ValueError:
        raise UnusableFileError(path, "the path of a file", "a path with a zero octet") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "something else")
        raise UnusableFileError(path, "a regular file", kind)
    if status.st_size > most:
        os.close(descriptor)
        raise UnusableFileError(path, f"at most {octets(most)}", f"{status.st_size} B")
    return descriptor


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
