"""What tcpreplay and trafgen print at their end: counts of packets and the mean interval."""

from __future__ import annotations

import re

from tsnbench.errors import InputError
from tsnbench.foreign_files.figures import FORMAT, ForeignMeasures, known

_ACTUAL = re.compile(
    rb"^Actual: (\d{1,18}) packets \((\d{1,18}) bytes\) sent in (\d{1,12}\.\d{1,9}) seconds", re.M
)
_DEVICE = re.compile(rb"^Statistics for network device: (\S{1,64})\s*$", re.M)
_COUNT = re.compile(
    rb"^\t(Successful|Failed|Truncated|Retried) packets(?: \((\w+)\))?:\s+(\d{1,18})\s*$", re.M
)
_PACKETS = re.compile(rb"^\r?\s*(\d{1,18}) packets outgoing\s*$", re.M)
_OCTETS = re.compile(rb"^\r?\s*(\d{1,18}) bytes outgoing\s*$", re.M)
_TIME = re.compile(rb"^\r?\s*(\d{1,12}) sec, (\d{1,7}) usec on CPU(\d{1,5}) \((\d{1,18}) packets\)\s*$", re.M)


def tcpreplay_recognised(head: bytes) -> bool:
    """Whether a file is what tcpreplay prints."""
    return _ACTUAL.search(head) is not None


def trafgen_recognised(head: bytes) -> bool:
    """Whether a file is what trafgen prints."""
    return _PACKETS.search(head) is not None and _OCTETS.search(head) is not None


def measure_tcpreplay(file: str, content: bytes) -> ForeignMeasures:
    """The counts at the end of the last replay, and the mean interval between its packets."""
    ended = content.rfind(b"Test complete: ")
    found = _ACTUAL.search(content, ended) if ended >= 0 else None
    warnings = []
    if found is None:
        # An interrupted replay has the lines of --stats alone, and the last of them counts.
        *_, found = _ACTUAL.finditer(content)
        warnings.append("the replay has no end: figures are those of its last line")
    packets, octets = int(found[1]), int(found[2])
    seconds, _, rest = found[3].decode().partition(".")
    length = int(seconds) * 10**9 + int(rest.ljust(9, "0"))
    counts: dict[str, int | None] = {"sent": packets, "octets": octets}
    tail = content[found.end() :]
    for word, why, number in _COUNT.findall(tail):
        if word != b"Successful":
            counts[f"{word.decode().lower()}{f' {why.decode()}' if why else ''}"] = int(number)
    return _measures(file, "tcpreplay", _device(tail), counts, packets, length, 10**7, warnings)


def measure_trafgen(file: str, content: bytes) -> ForeignMeasures:
    """The counts of all processors, and the mean interval between packets of each.

    Raises:
        InputError: the output has no counts.
    """
    packets, octets = _PACKETS.search(content), _OCTETS.search(content)
    if packets is None or octets is None:
        raise InputError(f"{file}: expected the counts with which trafgen ends, found none")
    measures = _measures(
        file, "trafgen", "all", {"sent": int(packets[1]), "octets": int(octets[1])}, 0, 0, 1_000, []
    )
    for seconds, micros, processor, own in _TIME.findall(content):
        length = int(seconds) * 10**9 + int(micros) * 1_000
        one = _measures(
            file, "trafgen", f"CPU{int(processor)}", {"sent": int(own)}, int(own), length, 1_000, []
        )
        measures["streams"] += one["streams"]
    return measures


def _device(tail: bytes) -> str:
    found = _DEVICE.search(tail)
    return found[1].decode("utf-8", errors="replace") if found else "all"


def _measures(
    file: str,
    tool: str,
    name: str,
    counts: dict[str, int | None],
    packets: int,
    length_ns: int,
    step_ns: int,
    warnings: list[str],
) -> ForeignMeasures:
    """One stream. ``step_ns``: the step in which the tool prints times."""
    figures = []
    # A time of a few steps is mostly rounding.
    if packets > 1 and length_ns >= 100 * step_ns:
        figures.append(known("mean interval", mean=length_ns / packets, samples=packets))
    return {
        "format": FORMAT,
        "file": file,
        "tool": tool,
        "streams": [{"stream": name, "counts": counts, "figures": figures}],
        "warnings": warnings,
    }
