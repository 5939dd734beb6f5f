"""Files that others wrote: regular files alone, and never more octets of them than the reader allows.

A device or a FIFO can hang a program or fill its memory. So a file is opened without waiting for a writer,
examined, and refused unless it is a regular file of a supported size. Parquet is read here, too, because a
damaged page must end in a message; YAML and XML of other tools are parsed here, without tags, document types
and entities, and in few levels.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tsnbench.errors import ContentError, InputError
from tsnbench.libraries import polars as pl
from tsnbench.libraries import ruamel_yaml

MOST_JSON = 1 << 30
"""Octets of a Plan, of measures, of a record: the largest of a scenario with 10,000 streams have a tenth."""
MOST_TABLE = 1 << 36
"""Octets of a Parquet file or a capture; these are read piece by piece, or by columns."""
Json = dict[str, Any]
"""A JSON object without a type for its keys: written by another program or version, or only printed.

Plans, measures, verdicts and bounds have types of their own."""
Part = Mapping[str, Any]
"""A part of another tool's YAML: no type is fixed, so every value is checked where it is used."""
MOST_SHOWN = 80
MOST_ELEMENTS = 500_000
MOST_NESTED = 200
_BRACKET = re.compile(r"[\[\]{}]")
_DEEP = re.compile(rf"(?:[-?:] +){{{MOST_NESTED}}}")
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


def parse_yaml(file: str, text: str) -> Part:
    """A YAML document that is a mapping. ``yes`` and ``no`` stay texts, as YAML 1.2 has them.

    Raises:
        ContentError: it is no YAML, or no mapping.
    """
    if _DEEP.search(text) or _depth(text) > MOST_NESTED:
        raise ContentError(f"{file}: expected YAML, found more than {MOST_NESTED} levels")
    reader = ruamel_yaml.YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        found = reader.load(text)
    except (ruamel_yaml.error.YAMLError, ValueError, RecursionError, TypeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ContentError(f"{file}: expected YAML, found {shown(first)}") from None
    if not isinstance(found, dict):
        raise ContentError(f"{file}: expected a mapping, found {shown(found)}")
    return found


def _depth(text: str) -> int:
    """The most brackets that are open at once; the parser's time grows with the square of it."""
    depth = most = 0
    for one in _BRACKET.findall(text):
        depth = max(depth + (1 if one in "[{" else -1), 0)
        most = max(most, depth)
    return most


def mapping_of(value: Any) -> Mapping[Any, Any]:
    """The mapping, or an empty one where something else stands."""
    return value if isinstance(value, dict) else {}


def shown(value: Any) -> str:
    """A value of another tool in a message; of lists and mappings the kind: aliases make them endless."""
    kinds = {dict: "a mapping", list: "a list", type(None): "none"}
    text = kinds.get(type(value)) or str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}\u2026"


def parse_xml(file: str, content: bytes | str, most: int = MOST_ELEMENTS) -> ET.Element:
    """The root of an XML document.

    Raises:
        ContentError: it is no XML, has a document type, or is too large or too deep.
    """
    parser = ET.XMLParser(target=_Bounded(file, most))
    try:
        parser.feed(content)
        root: ET.Element = parser.close()
    except (ET.ParseError, ValueError, LookupError) as error:
        raise ContentError(f"{file}: expected XML, found {shown(error)}") from None
    return root


def local(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition("}")[2]


class _Bounded(ET.TreeBuilder):
    """A tree of a limited number of elements, in a limited number of levels."""

    def __init__(self, file: str, most: int) -> None:
        super().__init__()
        self._file = file
        self._most = most
        self._count = self._depth = 0

    def start(self, tag: str, attrs: dict[Any, Any], /) -> ET.Element:
        self._count += 1
        self._depth += 1
        if self._count > self._most or self._depth > MOST_NESTED:
            most = f"{self._most} elements in {MOST_NESTED} levels"
            raise ContentError(f"{self._file}: expected at most {most}, found more")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ET.Element:
        self._depth -= 1
        return super().end(tag)

    def doctype(self, name: str, public: str | None, system: str | None, /) -> None:
        """Refuses entities before one is declared."""
        raise ContentError(f"{self._file}: expected XML without a document type, found <!DOCTYPE {name}>")


def octets(count: int) -> str:
    """A limit as people read it: 16 MiB."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << shift and count % (1 << shift) == 0:
            return f"{count >> shift} {unit}"
    return f"{count} B"


def nameable(path: str | os.PathLike[str]) -> bool:
    """Whether polars can open it by its name, which has to be UTF-8."""
    try:
        os.fspath(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _refuse_unnamable(path: str | os.PathLike[str]) -> None:
    if not nameable(path):
        raise UnusableFileError(path, "a path in UTF-8", "octets of another encoding")


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
