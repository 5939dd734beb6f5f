"""The causes that logs of clocks state themselves: jumps, missing timestamps, failed messages, faults.

The texts are those of linuxptp (``clockcheck.c``, ``sk.c``, ``port.c``, ``nmea_pps_source.c``) and of
chronyd. A cause is printed as the log has it, with its time, beside the states that it led to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypedDict

MOST_CAUSES = 1000
"""Causes that are kept of a log; all are counted."""
_CAUSES = re.compile(
    r"clockcheck: |timed out (?:while polling|waiting)|poll(?: for tx timestamp)? failed|"
    r"poll for tx timestamp woke up|"
    r"recvmsg.*failed|send (?:\w+ ){1,3}failed|missing timestamp on|received \S+ without timestamp|"
    r"rogue |multiple peer|ignoring (?:master|source|invalid)|quality received is greater|bad message|"
    r"link down|link up|not using PTP timescale|SIOC\w+ failed|failed to |cannot |"
    r"does not support|nmea: |leap second|utc time|invalid (?:master|source)|not valid|"
    r"SKIP extts|not synchronized|excess|nrate|"
    r"(?:Forward|Backward) time jump|no selectable sources|System clock (?:wrong|was stepped)|"
    r"Can't synchronise|Source \S+ (?:offline|replaced)|falseticker|negative path delay",
)
_ADVICE = re.compile(r"increasing tx_timestamp_timeout|new foreign master")
IMPOSSIBLE = "physically impossible"
"""What a path delay below 0 is called."""


class Cause(TypedDict):
    """One line of a log that states why a clock does not follow."""

    at_ns: int
    program: str
    text: str


def is_cause(said: str) -> bool:
    """Whether a line of a program states a cause."""
    return _CAUSES.search(said) is not None and _ADVICE.match(said) is None


def grouped(causes: Iterable[Cause]) -> list[tuple[Cause, int, int]]:
    """Causes with equal texts that follow each other: the first, how many, and the time of the last."""
    found: list[tuple[Cause, int, int]] = []
    for cause in causes:
        if found and (found[-1][0]["text"], found[-1][0]["program"]) == (cause["text"], cause["program"]):
            first, times, _ = found[-1]
            found[-1] = (first, times + 1, cause["at_ns"])
        else:
            found.append((cause, 1, cause["at_ns"]))
    return found


def negative_delay(clock: str, delays: Sequence[int]) -> str | None:
    """A warning that path delays are below 0; None if none is."""
    negative = [delay for delay in delays if delay < 0]
    if not negative:
        return None
    return (
        f"{clock}: {len(negative)} of {len(delays)} path delays are below 0, down to {min(negative)} ns, "
        f"which is {IMPOSSIBLE}: the latencies of the timestamps (ingressLatency, egressLatency) or the "
        "asymmetry of the path (delayAsymmetry) are not corrected, and the offsets are wrong by as much"
    )
