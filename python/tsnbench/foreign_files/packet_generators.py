"""The final output of tcpreplay and trafgen: counts of packets and the mean interval."""

from __future__ import annotations

import re

from tsnbench.foreign_files.figures import Figure, ForeignFile, ForeignMeasures, known

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
    """Whether a file is output of tcpreplay."""
    return _ACTUAL.search(head) is not None


def trafgen_recognised(head: bytes) -> bool:
    """Whether a file is output of trafgen."""
    return _PACKETS.search(head) is not None and _OCTETS.search(head) is not None


def measure_tcpreplay(file: ForeignFile) -> ForeignMeasures:
    """The counts at the end of the last replay, and the mean interval between its packets."""
    ended = file.content.rfind(b"Test complete: ")
    found = _ACTUAL.search(file.content, ended) if ended >= 0 else None
    if found is None:
        # An interrupted replay has the lines of --stats alone, and the last of them counts.
        *_, found = _ACTUAL.finditer(file.content)
        file.warnings.append("the replay has no end: figures are those of its last line")
    packets, octets = int(found[1]), int(found[2])
    seconds, _, rest = found[3].decode().partition(".")
    length = int(seconds) * 10**9 + int(rest.ljust(9, "0"))
    counts: dict[str, int | None] = {"sent": packets, "octets": octets}
    tail = file.content[found.end() :]
    for word, why, number in _COUNT.findall(tail):
        if word != b"Successful":
            counts[f"{word.decode().lower()}{f' {why.decode()}' if why else ''}"] = int(number)
    device = _DEVICE.search(tail)
    name = device[1].decode("utf-8", errors="replace") if device else "all"
    file.add(name, _mean_interval(packets, length, 10**7), counts)
    return file.measures("tcpreplay", "packets of tcpreplay")


def measure_trafgen(file: ForeignFile) -> ForeignMeasures:
    """The counts of all processors, and the mean interval between packets of each.

    Raises:
        InputError: the output has no counts.
    """
    packets, octets = _PACKETS.search(file.content), _OCTETS.search(file.content)
    if packets is not None and octets is not None:
        file.add("all", [], {"sent": int(packets[1]), "octets": int(octets[1])})
        for seconds, micros, processor, own in _TIME.findall(file.content):
            length = int(seconds) * 10**9 + int(micros) * 1_000
            file.add(f"CPU{int(processor)}", _mean_interval(int(own), length, 1_000), {"sent": int(own)})
    return file.measures("trafgen", "the counts with which trafgen ends")


def _mean_interval(packets: int, length_ns: int, step_ns: int) -> list[Figure]:
    """The mean interval; none of a time of a few steps, in which the tool prints times: it is rounding."""
    if packets < 2 or length_ns < 100 * step_ns:
        return []
    return [known("mean interval", mean=length_ns / packets, samples=packets)]
