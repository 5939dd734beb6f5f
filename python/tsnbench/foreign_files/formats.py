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
from tsnbench.foreign_files.clock_logs import chrony
from tsnbench.foreign_files.figures import ForeignFile, ForeignMeasures

LARGEST_FILE = 1 << 28
"""Octets of a file that is read as a whole."""
HEAD = 1 << 16
"""Octets that recognition looks at."""
_CAPTURES = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x34\xcd\xb2\xa1",
    b"\xa1\xb2\xcd\x34",
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
    recognised: Callable[[bytes], bool]
    measure: Callable[[ForeignFile], ForeignMeasures] | None = None
    """The reader of its figures, if there is one."""
    hint: str = "tsnbench measure FILE prints its figures"
    """A useful command; ``FILE`` stands for the path."""

    @property
    def capture(self) -> bool:
        """Whether it is a capture, which has readers of its own."""
        return self.name == "capture"


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _search(pattern: bytes, most: int = HEAD) -> Callable[[bytes], bool]:
    found = re.compile(pattern, re.MULTILINE)
    return lambda head: found.search(head[:most]) is not None


def _is_text(head: bytes) -> bool:
    return bool(head) and not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", head)


def _is_excel(head: bytes) -> bool:
    """Whether a ZIP file has the parts of a workbook."""
    return head.startswith(b"PK\x03\x04") and (b"xl/" in head or b"[Content_Types].xml" in head)


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


_IMPORTED = "tsnbench import {} FILE makes a scenario of it"
_NED = rb"^(?:import inet\.|package [\w.]+;|(?:network|module|simple) \w+(?: extends \w+)?\s*\{?$)"
_NED_HINT = "tsnbench import inet omnetpp.ini makes a scenario of it and of its ini file"
_DESCRIBED = (
    ("drawio", "a drawing of draw.io", rb"<(?:mxfile|mxGraphModel)"),
    ("graphml", "a network in GraphML", rb"<graphml"),
    ("arxml", "an AUTOSAR description (ARXML)", rb"<AUTOSAR"),
)
"""XML with an import of this name: what it is, and its first element."""
_TSNKIT = rb"\A(?:\xef\xbb\xbf)?(?:(?:id|stream),src,dst,size|link,q_num,rate)"
_KEYS = [re.compile(rb"^%s:" % key, re.MULTILINE) for key in (b"network", b"streams")]
FORMATS: tuple[Format, ...] = (
    Format(
        "capture", "a capture", _begins(*_CAPTURES), hint="tsnbench measure --tx FILE --rx FILE compares two"
    ),
    Format("isochron", "a log of isochron", isochron.recognised, isochron.measure),
    Format("netlatency", "a log of netlatency's receiver", netlatency.recognised, netlatency.measure),
    Format("rtc-testbench", "a log of RTC-Testbench", rtc_testbench.recognised, rtc_testbench.measure),
    Format(
        "linuxptp",
        "a log of linuxptp",
        lambda head: _LINUXPTP.search(head[:4096]) is not None,
        hint="tsnbench measure --sync FILE prints offsets and states",
    ),
    Format(
        "chrony",
        "a log of chronyd",
        lambda head: (chrony.ROW.search(head[:4096]) or chrony.LINE.search(head[:4096])) is not None,
        hint="tsnbench measure --sync FILE prints offsets and causes",
    ),
    Format(
        "isochron-summary",
        "a summary of isochron",
        isochron.summary_recognised,
        hint="isochron send --output-file isochron.dat writes all stamps: tsnbench measure isochron.dat",
    ),
    Format(
        "tcpreplay",
        "output of tcpreplay",
        packet_generators.tcpreplay_recognised,
        packet_generators.measure_tcpreplay,
    ),
    Format(
        "trafgen",
        "output of trafgen",
        packet_generators.trafgen_recognised,
        packet_generators.measure_trafgen,
    ),
    Format("cyclictest", "output of cyclictest", cyclictest.recognised, cyclictest.measure),
    Format("omnetpp", "a result file of OMNeT++ (.vec or .sca)", omnetpp.recognised, omnetpp.measure),
    Format(
        "omnetpp-ini",
        "a configuration of OMNeT++ (omnetpp.ini)",
        _search(rb"^\[(?:General|Config [^\]]*)\]\s*$"),
        hint=_IMPORTED.format("inet"),
    ),
    Format("ned", "a network description of OMNeT++ (NED)", _search(_NED), hint=_NED_HINT),
    Format("excel", "a workbook of Excel", _is_excel, hint=_IMPORTED.format("matrix")),
    *(
        Format(f"packed: {tool}", "a compressed file", _begins(magic), hint=f"unpack it first: {tool} FILE")
        for magic, tool in _PACKED
    ),
    Format(
        "parquet",
        "a Parquet table",
        _begins(b"PAR1"),
        hint="tsnbench measure takes the run folder that it lies in",
    ),
    Format(
        "tsnbench",
        "a JSON document of tsnbench",
        _search(rb'\A\s*\{\s*"format"\s*:\s*"tsnbench-', 256),
        hint="tsnbench measure takes the run folder",
    ),
    Format(
        "saihu",
        "results of Saihu (JSON)",
        _search(rb'\A(?:\xef\xbb\xbf)?\s*\{[\s\S]*"flow_e2e_delay"\s*:', 4096),
        hint="tsnbench compare SCENARIO FILE prints them beside the bounds of a Plan",
    ),
    Format(
        "saihu-network",
        "a network of Saihu",
        _search(
            rb'\A(?:\xef\xbb\xbf)?\s*(?:\{[\s\S]*"(?:arrival_curve|service_curve)"\s*:|<[\s\S]*<elements>)'
        ),
        hint=_IMPORTED.format("saihu"),
    ),
    Format(
        "trdp-xml",
        "an XML configuration of TRDP devices",
        _search(rb"\A(?:\xef\xbb\xbf)?\s*<(?:\?xml|!--|device)[\s\S]*<device\s", 16_384),
        hint=_IMPORTED.format("trdp"),
    ),
    *(
        Format(
            tool,
            what,
            _search(rb"\A(?:\xef\xbb\xbf)?\s*(?=<)[\s\S]{0,4000}?%s[\s>]" % root),
            hint=_IMPORTED.format(tool),
        )
        for tool, what, root in _DESCRIBED
    ),
    Format(
        "xml",
        "an XML document",
        _search(rb"\A(?:\xef\xbb\xbf)?\s*<[?!a-zA-Z]"),
        hint="tsnbench has no reader for it",
    ),
    Format(
        "scenario",
        "a scenario of tsnbench",
        lambda head: _is_text(head) and all(key.search(head) for key in _KEYS),
        hint="tsnbench run FILE runs and measures it",
    ),
    Format(
        "flextest",
        "a table of TSN-FlexTest's frames (CSV)",
        flextest.frames_recognised,
        flextest.measure_frames,
    ),
    Format(
        "flextest-statistics",
        "a table of TSN-FlexTest's statistics (CSV)",
        flextest.statistics_recognised,
        flextest.measure_statistics,
    ),
    Format("engine", "a table of EnGINE's packets (CSV)", engine.single_recognised, engine.measure_single),
    Format(
        "engine-delays",
        "a table of EnGINE's delays (CSV)",
        engine.combined_recognised,
        engine.measure_combined,
    ),
    Format(
        "tsnkit",
        "a CSV file of tsnkit",
        _search(_TSNKIT),
        hint="tsnbench import tsnkit TASK TOPO makes a scenario of it",
    ),
    Format(
        "json",
        "a JSON document",
        _search(rb"\A\s*[\[{]\s*[\"\[{\]}]"),
        hint="tsnbench has no reader for its content",
    ),
    Format("csv", "a CSV table", _is_csv, hint="tsnbench import matrix FILE reads a communication matrix"),
    Format("text", "text", _is_text, hint="tsnbench has no reader for it"),
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
        InputError: the file is none of these, or damaged; the text names the file and its problem.
        OSError: it cannot be opened.
    """
    found = recognise(path)
    name = os.fspath(path)
    if found is None or found.measure is None:
        raise unsuitable(name, found)
    return found.measure(ForeignFile(name, foreign.read_bytes(path, LARGEST_FILE)))


class FormatError(InputError):
    """A file of another format than the one that is read."""


def unsuitable(path: str, found: Format | None, expected: str = "a capture or a log") -> FormatError:
    """The expected and the actual format of a file, and a useful command."""
    if found is None:
        return FormatError(f"{path}: expected {expected}, found no format that tsnbench knows")
    hint = found.hint.replace("FILE", path)
    return FormatError(f"{path}: expected {expected}, found {found.what}\nhint: {hint}")
