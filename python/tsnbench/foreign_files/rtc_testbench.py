"""RTC-Testbench's file log: one line per interval, with the statistics of every traffic class so far."""

from __future__ import annotations

import re
from itertools import pairwise

from tsnbench.errors import ContentError
from tsnbench.foreign_files.figures import Figure, ForeignFile, ForeignMeasures, known

_LINE = re.compile(rb"^\[\d{8,20}\.\d{9}\]: \[INFO\]: (?=\S{1,64}Sent=)(.*)$", re.MULTILINE)
_BEGIN = re.compile(rb"\[\d{8,20}\.\d{9}\]: \[[A-Z]{2,10}\]: ")
_CLASS = re.compile(r"(\S{1,64}?)Sent=(\d{1,20}) \|")
_VALUE = re.compile(r"(-?\d{1,20})(\.\d{1,20})?(?: \[us\])?")
_NAMES = {
    "Rtt": "round trip",
    "Oneway": "one way",
    "ProcFirst": "first frame in to first out",
    "ProcBatch": "first frame in to last out",
    "Rx": "hardware to program",
    "RxHw2Xdp": "hardware to XDP",
    "RxXdp2App": "XDP to program",
    "Tx": "program to hardware",
    "RxWorkload": "workload",
}


def recognised(head: bytes) -> bool:
    """Whether a file begins as its log does."""
    return _BEGIN.match(head) is not None


def measure(file: ForeignFile) -> ForeignMeasures:
    """The statistics of the last line: extremes and means, which count from the last reset on.

    Raises:
        InputError: the log has no line with statistics, or the last one is damaged.
    """
    lines = [one.decode("utf-8", errors="replace") for one in _LINE.findall(file.content)]
    if lines and not file.content.endswith(b"\n") and not lines[-1].rstrip().endswith("|"):
        file.warnings.append("the last line breaks off and was left out")
        lines.pop()
    totals = [sum(int(sent) for _, sent in _CLASS.findall(line)) for line in lines]
    resets = sum(after < before for before, after in pairwise(totals))
    if resets:
        file.warnings.append(f"the statistics were reset {resets} times: figures begin at the last reset")
    for name, told in _classes(file, lines[-1]).items() if lines else ():
        counts = _counts(told)
        file.add(name, _figures(told), counts)
        sent, received = counts["sent"], counts["received"]
        if sent is not None and received is not None and received > sent:
            file.warnings.append(f"{name}: more frames were received than sent")
    return file.measures("RTC-Testbench", "a line with statistics of RTC-Testbench")


def _classes(file: ForeignFile, line: str) -> dict[str, dict[str, float]]:
    """The values of each traffic class of one line: keys carry the name of their class in front."""
    classes: dict[str, dict[str, float]] = {}
    name = ""
    for part in line.split("|"):
        key, _, text = part.strip().partition("=")
        if not key:
            continue
        if key.endswith("Sent"):
            name = key.removesuffix("Sent")
            classes[name] = {}
        found = _VALUE.fullmatch(text.strip())
        if not name or not key.startswith(name) or not found:
            damage = f"damaged at {part.strip()[:60]!r}"
            raise ContentError(f"{file.name}: the last line with statistics is {damage}")
        classes[name][key.removeprefix(name)] = float(text.split()[0]) if found[2] else int(found[1])
    return classes


def _counts(told: dict[str, float]) -> dict[str, int | None]:
    """The counts: sent, received, and every counter whose name does not contain a quantity."""
    found: dict[str, int | None] = {"sent": None, "received": None}
    for key, value in told.items():
        if not key.endswith(("Min", "Max", "Avg")):
            found[{"Sent": "sent", "Received": "received"}.get(key, key)] = int(value)
    return found


def _figures(told: dict[str, float]) -> list[Figure]:
    made = []
    for key in (one.removesuffix("Min") for one in told if one.endswith("Min")):
        least, most, mean = (told.get(f"{key}{end}") for end in ("Min", "Max", "Avg"))
        name = _NAMES.get(key, key)
        # Before the first sample, the minimum is the largest value of its type.
        if least is None or most is None or mean is None or least > most:
            made.append(known(name, samples=0))
        else:
            made.append(known(name, int(least) * 1_000, int(most) * 1_000, mean * 1_000))
    return made
