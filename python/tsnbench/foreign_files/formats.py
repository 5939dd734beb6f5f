"""The table of formats: recognition by a file's first octets, useful commands, and the reader.

The order matters: the first format that recognises a file is used. Formats that many tools write
(CSV, JSON, text) come last.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from tsnbench import foreign
from tsnbench.errors import InputError
from tsnbench.foreign_files import (
    cyclictest,
    engine,
    flextest,
    isochron,
    netlatency,
    omnetpp,
    packet_generators,
    rtc_testbench,
)
from tsnbench.foreign_files.figures import ForeignMeasures

LARGEST_FILE = 1 << 28
"""Octets of a file that is read as a whole."""
HEAD = 1 << 16
"""Octets that recognition looks at."""
_CAPTURES = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)
_PACKED = (
    (b"\x1f\x8b", "gzip -d"),
    (b"\xfd7zXZ\x00", "xz -d"),
    (b"\x28\xb5\x2f\xfd", "zstd -d"),
    (b"BZh", "bzip2 -d"),
    (b"PK\x03\x04", "unzip"),
)
_LINUXPTP = re.compile(rb"(?:^|\s)(?:ptp4l|phc2sys|ts2phc)(?:\[\d+(?:\.\d+)?\])?: ", re.MULTILINE)


@dataclass(frozen=True)
class Format:
    """One format of files."""

    name: str
    what: str
    """The kind of file in words, as in "is a netlatency log"."""
    hint: str
    """A useful command; ``FILE`` stands for the path."""
    recognised: Callable[[bytes], bool]
    measure: Callable[[str, bytes], ForeignMeasures] | None = None
    capture: bool = False


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _search(pattern: bytes, most: int = HEAD) -> Callable[[bytes], bool]:
    found = re.compile(pattern, re.MULTILINE)
    return lambda head: found.search(head[:most]) is not None


def _is_text(head: bytes) -> bool:
    return bool(head) and not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", head)


def _is_csv(head: bytes) -> bool:
    """Whether the first three lines (or all, if fewer) have an equal number of columns, two or more."""
    if not _is_text(head):
        return False
    lines = [line for line in head.decode("utf-8", errors="replace").splitlines()[:4] if line.strip()][:3]
    for separator in ",;\t":
        try:
            widths = {len(row) for row in csv.reader(lines, delimiter=separator)}
        except csv.Error:
            continue
        if len(lines) > 1 and len(widths) == 1 and widths.pop() > 1:
            return True
    return False


_MEASURE = "tsnbench measure FILE prints its figures"
FORMATS: tuple[Format, ...] = (
    Format(
        "capture",
        "a capture",
        "tsnbench measure --tx FILE --rx FILE compares two",
        _begins(*_CAPTURES),
        capture=True,
    ),
    Format("isochron", "a log of isochron", _MEASURE, isochron.recognised, isochron.measure),
    Format(
        "netlatency", "a log of netlatency's receiver", _MEASURE, netlatency.recognised, netlatency.measure
    ),
    Format(
        "rtc-testbench",
        "a log of RTC-Testbench",
        _MEASURE,
        rtc_testbench.recognised,
        rtc_testbench.measure,
    ),
    Format(
        "linuxptp",
        "a log of linuxptp",
        "tsnbench measure --sync FILE prints offsets and states",
        lambda head: _LINUXPTP.search(head[:4096]) is not None,
    ),
    Format(
        "tcpreplay",
        "output of tcpreplay",
        _MEASURE,
        packet_generators.tcpreplay_recognised,
        packet_generators.measure_tcpreplay,
    ),
    Format(
        "trafgen",
        "output of trafgen",
        _MEASURE,
        packet_generators.trafgen_recognised,
        packet_generators.measure_trafgen,
    ),
    Format("cyclictest", "output of cyclictest", _MEASURE, cyclictest.recognised, cyclictest.measure),
    Format(
        "omnetpp",
        "a result file of OMNeT++ (.vec or .sca)",
        _MEASURE,
        omnetpp.recognised,
        omnetpp.measure,
    ),
    Format(
        "omnetpp-ini",
        "a configuration of OMNeT++ (omnetpp.ini)",
        "tsnbench writes such files (tsnbench plan SCENARIO --export FOLDER --to inet) and reads none",
        _search(rb"^\[(?:General|Config [^\]]*)\]\s*$"),
    ),
    Format(
        "ned",
        "a network description of OMNeT++ (NED)",
        "tsnbench writes such files (tsnbench plan SCENARIO --export FOLDER --to inet) and reads none",
        _search(rb"^(?:import inet\.|package [\w.]+;|(?:network|module|simple) \w+(?: extends \w+)?\s*\{?$)"),
    ),
    *(
        Format(f"packed: {tool}", "a compressed file", f"unpack it first: {tool} FILE", _begins(magic))
        for magic, tool in _PACKED
    ),
    Format(
        "parquet",
        "a Parquet table",
        "tsnbench measure takes the run folder that it lies in",
        _begins(b"PAR1"),
    ),
    Format(
        "tsnbench",
        "a JSON document of tsnbench",
        "tsnbench measure takes the run folder",
        _search(rb'\A\s*\{\s*"format"\s*:\s*"tsnbench-', 256),
    ),
    Format(
        "trdp-xml",
        "an XML configuration of TRDP devices",
        "tsnbench import trdp FILE makes a scenario of it",
        _search(rb"\A(?:\xef\xbb\xbf)?\s*<(?:\?xml|!--|device)[\s\S]*<device\s", 16_384),
    ),
    Format(
        "xml",
        "an XML document",
        "tsnbench has no reader for it",
        _search(rb"\A(?:\xef\xbb\xbf)?\s*<[?!a-zA-Z]"),
    ),
    Format(
        "scenario",
        "a scenario of tsnbench",
        "tsnbench run FILE runs and measures it",
        lambda head: (
            _is_text(head) and all(re.search(rb"^%s:" % key, head, re.M) for key in (b"network", b"streams"))
        ),
    ),
    Format(
        "flextest",
        "a table of TSN-FlexTest's frames (CSV)",
        _MEASURE,
        flextest.frames_recognised,
        flextest.measure_frames,
    ),
    Format(
        "flextest-statistics",
        "a table of TSN-FlexTest's statistics (CSV)",
        _MEASURE,
        flextest.statistics_recognised,
        flextest.measure_statistics,
    ),
    Format(
        "engine",
        "a table of EnGINE's packets (CSV)",
        _MEASURE,
        engine.single_recognised,
        engine.measure_single,
    ),
    Format(
        "engine-delays",
        "a table of EnGINE's delays (CSV)",
        _MEASURE,
        engine.combined_recognised,
        engine.measure_combined,
    ),
    Format(
        "tsnkit",
        "a CSV file of tsnkit",
        "tsnbench import tsnkit TASK TOPO makes a scenario of it",
        _search(rb"\A(?:\xef\xbb\xbf)?(?:(?:id|stream),src,dst,size|link,q_num,rate)"),
    ),
    Format(
        "json",
        "a JSON document",
        "tsnbench has no reader for its content",
        _search(rb"\A\s*[\[{]\s*[\"\[{\]}]"),
    ),
    Format("csv", "a CSV table", "tsnbench has no reader for these columns", _is_csv),
    Format("text", "text", "tsnbench has no reader for it", _is_text),
)
"""All formats that are recognised, in the order in which they are tried."""


def recognise(path: str | os.PathLike[str]) -> Format | None:
    """The format of a file by its content; None if the file is empty or no format fits.

    Raises:
        UnusableFileError: it is no regular file.
        OSError: it cannot be opened.
    """
    head = foreign.read_head(path, HEAD)
    return next((one for one in FORMATS if one.recognised(head)), None)


def measure_foreign(path: str | os.PathLike[str]) -> ForeignMeasures:
    """The figures of a file of another tool: see :data:`FORMATS`, those with a reader.

    Returns:
        A dictionary of the format ``tsnbench-foreign/1``: ``["streams"]`` has counts and figures in ns;
        figures that the file does not contain are None.

    Raises:
        InputError: the file is none of these, or damaged; the text names the file and what is wrong with it.
        OSError: it cannot be opened.
    """
    found = recognise(path)
    name = os.fspath(path)
    if found is None or found.measure is None:
        raise InputError(no_measure(name, found))
    return found.measure(name, foreign.read_bytes(path, LARGEST_FILE))


def no_measure(path: str, found: Format | None, expected: str = "a capture or a log") -> str:
    """An error message: the expected and the actual format of a file, and a useful command."""
    if found is None:
        return f"{path}: expected {expected}, found no format that tsnbench knows"
    return f"{path}: expected {expected}, found {found.what}\nhint: {found.hint.replace('FILE', path)}"
