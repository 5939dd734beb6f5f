"""Logs of ptp4l, phc2sys, ts2phc and chronyd: offsets, servo and port states, path delays; and the gate.

Lines of ``-m`` (``ptp4l[17.024]: …``), of syslog and of the journal are read; other programs' lines are left
out. The gate is the one for which runs on real hosts wait (:class:`tsnbench.hosts.clocks.sync.Gate`): it gets
a reading for every offset and every change of a port's state in the log.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from tsnbench import foreign
from tsnbench.foreign_files.clock_logs import chrony
from tsnbench.foreign_files.clock_logs.causes import MOST_CAUSES, Cause, grouped, is_cause, negative_delay
from tsnbench.foreign_files.figures import Figure, figure
from tsnbench.foreign_files.formats import LARGEST_FILE, FormatError, recognise, unsuitable
from tsnbench.hosts.clocks.sync import FOLLOWS, LEADS, Gate, Reading
from tsnbench.hosts.inventory.types import SyncBounds
from tsnbench.quantities import UNKNOWN, count, exact, time
from tsnbench.sheet import Column, Sheet

FORMAT = "tsnbench-sync/1"
PROGRAMS = "ptp4l, phc2sys, ts2phc or chronyd"
MOST_TEXT = 200
"""Characters of a line that states a cause."""
WINDOWS = 12
"""Rows of a table over time."""
_LINE = re.compile(
    r"(?:^|.*?\s)(ptp4l|phc2sys|ts2phc)(?:\[(\d{1,12}\.\d{1,9})\]|(?:\[\d{1,9}\])?): "
    r"(?:\[(\d{1,12}\.\d{1,9})\]:? )?(?:\[[^\]]{1,40}\] )*(.*)"
)
_NUMBER = r"([+-]?\d{1,18})"
_OFFSET = re.compile(
    rf"(?:master|(\S+)(?: \S+)?) offset\s+{_NUMBER} s(\d) freq\s+{_NUMBER}"
    rf"(?: (?:path )?delay\s+{_NUMBER})?\s*"
)
_SUMMARY = re.compile(
    rf"(?:(\S+) )?rms\s+(\d{{1,18}}) max\s+{_NUMBER} freq\s+{_NUMBER} \+/-\s+\d+"
    rf"(?: delay\s+{_NUMBER} \+/-\s+\d+)?\s*"
)
_STATE = re.compile(r"port (\d{1,5})(?: \([^)]{1,40}\))?: ([A-Z_]+) to ([A-Z_]+) on (.{1,100})")
_BEST = re.compile(r"selected best master clock (\S{1,40})")
_LOCAL = re.compile(r"selected local clock (\S{1,40}) as best master")
_LOCKED = 2


class State(TypedDict):
    """A port that changes its state."""

    at_ns: int
    port: int
    before: str
    after: str
    why: str


class Sample(TypedDict):
    """One line with an offset; ``summary``: it is the largest of several offsets, without a sign."""

    at_ns: int
    offset_ns: int
    summary: bool
    servo: int | None
    frequency_ppb: int
    delay_ns: int | None


class GateReport(TypedDict):
    """Whether a run could have begun, by the rules of runs on real hosts."""

    below_ns: int
    steady_ns: int
    open: bool
    """Whether the gate is open at the end of the log."""
    first_open_ns: int | None
    """Time of the first opening since the log's begin."""
    open_ns: int
    """Total time during which the gate was open."""
    closed: int
    """Number of times that the gate closed again."""
    why: str | None
    """The reason why the gate is closed at the end, or was closed the last time."""


class ClockReport(TypedDict):
    """One clock that a program steers."""

    clock: str
    begin_ns: int
    end_ns: int
    offset: Figure
    path_delay: Figure
    frequency: Figure
    """Frequency adjustments in ppb."""
    unlocked: int
    """Offsets while the servo was not locked (s0, s1)."""
    grandmasters: list[str]
    states: list[State]
    causes: list[Cause]
    """Lines that state why the clock does not follow, of all clocks of the program."""
    samples: list[Sample]
    gate: GateReport | None
    """The gate; None if the log contains no offsets, because of a grandmaster or a short log."""


class SyncMeasures(TypedDict):
    """``tsnbench-sync/1``; times are those of the log, in ns."""

    format: str
    file: str
    clocks: list[ClockReport]
    warnings: list[str]


@dataclass
class _Clock:
    """The entries of the log about one clock, in the order of the log."""

    name: str
    samples: list[Sample] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    grandmasters: list[str] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    ports: dict[int, str] = field(default_factory=dict)
    local: str = ""

    @property
    def program(self) -> str:
        """The program that steers it."""
        return self.name.partition(" ")[0]

    @property
    def port_state(self) -> str | None:
        """The decisive port state: one following port is enough. None if the log begins later."""
        states = [state for port, state in sorted(self.ports.items()) if port > 0]
        return min(states, key=lambda state: (state != FOLLOWS, state not in LEADS), default=None)

    def read(self, at_ns: int, told: Mapping[str, int | str | None]) -> None:
        gm = self.grandmasters[-1] if self.grandmasters else ""
        own = {"gm_identity": gm, "clock_identity": self.local, "port_state": self.port_state}
        self.readings.append(Reading(self.name, at_ns, {**own, **told}))


def measure_sync(path: str | os.PathLike[str], below_ns: int | None = None) -> SyncMeasures:
    """The clocks in a log of ptp4l, phc2sys or ts2phc, or of chronyd (also its ``tracking.log``).

    Args:
        path: the log.
        below_ns: the largest offset for the gate; by default 1 us for phc2sys and chronyd, 100 ns for
        the others.

    Raises:
        InputError: the file has no lines of these programs with a time.
        OSError: it cannot be opened.
    """
    name = os.fspath(path)
    found = recognise(path)
    if found is None or found.name not in ("linuxptp", "chrony"):
        raise unsuitable(name, found, f"a log of {PROGRAMS}")
    text = foreign.read_bytes(path, LARGEST_FILE).decode("utf-8", errors="replace")
    warnings: list[str] = []
    clocks: dict[str, _Clock] = {}
    causes: list[Cause] = []
    latest: dict[str, int] = {}
    for program, at_ns, said in _lines(text):
        # chronyd's lines have the time of the system's log.
        timeline = "chronyd" if program == "chronyd" else ""
        if (back := latest.get(timeline, at_ns) - at_ns) > 0:
            warnings.append(
                f"times go back by {time(back)}: the log holds several runs, or lines out of order"
            )
        latest[timeline] = at_ns
        if is_cause(said) and len(causes) < MOST_CAUSES:
            causes.append({"at_ns": at_ns, "program": program, "text": said[:MOST_TEXT]})
        _take(clocks, program, at_ns, said)
    _track(clocks, text)
    for cause in causes:
        # A program that states a cause, and nothing else, has a clock without offsets.
        if not any(one.program == cause["program"] for one in clocks.values()):
            clocks[cause["program"]] = _Clock(cause["program"])
    if not clocks:
        raise FormatError(f"{name}: expected offsets or port states of {PROGRAMS}, found none")
    bounds = SyncBounds()
    made = [_report(one, bounds, below_ns, causes) for one in clocks.values()]
    for clock in made:
        delays = [sample["delay_ns"] for sample in clock["samples"] if sample["delay_ns"] is not None]
        if negative := negative_delay(clock["clock"], delays):
            warnings.append(negative)
    return {"format": FORMAT, "file": name, "clocks": made, "warnings": list(dict.fromkeys(warnings))}


def _lines(text: str) -> Iterator[tuple[str, int, str]]:
    for line in text.splitlines():
        found = _LINE.match(line[:400])
        if found and (stamp := found[2] or found[3]):
            seconds, _, rest = stamp.partition(".")
            yield found[1], int(seconds) * 10**9 + int(rest.ljust(9, "0")), found[4]
        elif "chronyd" in line and (other := chrony.said(line[:400])):
            yield "chronyd", *other


def _track(clocks: dict[str, _Clock], text: str) -> None:
    """Adds the rows of chronyd's ``tracking.log``."""
    for row in chrony.rows(text):
        one = clocks.setdefault("chronyd", _Clock("chronyd"))
        one.samples.append(
            {
                "at_ns": row.at_ns,
                "offset_ns": row.offset_ns,
                "summary": False,
                "servo": None,
                "frequency_ppb": row.frequency_ppb,
                "delay_ns": row.delay_ns,
            }
        )
        if one.grandmasters[-1:] != [row.source]:
            one.grandmasters.append(row.source)
        one.read(row.at_ns, {"master_offset_ns": row.offset_ns, "port_state": FOLLOWS})


def _take(clocks: dict[str, _Clock], program: str, at_ns: int, said: str) -> None:
    def clock(label: str | None) -> _Clock:
        # ptp4l names its port in place of a clock; the others steer several clocks.
        name = f"{program} {label}" if label and program != "ptp4l" else program
        return clocks.setdefault(name, _Clock(name))

    if found := _OFFSET.fullmatch(said) or _SUMMARY.fullmatch(said):
        summary = found.re is _SUMMARY
        offset, servo = (found[3], None) if summary else (found[2], int(found[3]))
        one = clock(found[1])
        one.samples.append(
            {
                "at_ns": at_ns,
                "offset_ns": int(offset),
                "summary": summary,
                "servo": servo,
                "frequency_ppb": int(found[4]),
                "delay_ns": None if found[5] is None else int(found[5]),
            }
        )
        told: dict[str, int | str | None] = {"master_offset_ns": int(offset)}
        if servo is not None and servo < _LOCKED:
            told["error"] = f"its servo is not locked (s{servo})"
        if program != "ptp4l" or one.port_state is None:
            # A log that begins later, or a log of phc2sys or ts2phc, contains no port states.
            told["port_state"] = FOLLOWS
        one.read(at_ns, told)
    elif program == "ptp4l" and (found := _STATE.fullmatch(said)):
        one = clock(None)
        one.ports[int(found[1])] = found[3]
        one.states.append(
            {"at_ns": at_ns, "port": int(found[1]), "before": found[2], "after": found[3], "why": found[4]}
        )
        # A following clock is judged by its next offset: a change of another port does not close the gate.
        if one.port_state not in (FOLLOWS, *LEADS):
            one.read(at_ns, {"error": f"its port is {found[3]}"})
    elif program == "ptp4l" and (found := _BEST.fullmatch(said) or _LOCAL.fullmatch(said)):
        one = clock(None)
        if said.startswith("selected local"):
            one.local = found[1]
        if one.grandmasters[-1:] != [found[1]]:
            one.grandmasters.append(found[1])


def _report(one: _Clock, bounds: SyncBounds, below_ns: int | None, causes: list[Cause]) -> ClockReport:
    causes = [cause for cause in causes if cause["program"] == one.program]
    places = [event["at_ns"] for event in (*one.samples, *one.states)] or [cause["at_ns"] for cause in causes]
    begin, end = min(places, default=0), max(places, default=0)
    delays = [sample["delay_ns"] for sample in one.samples if sample["delay_ns"] is not None]
    summaries = any(sample["summary"] for sample in one.samples)
    usual = bounds.system_ns if one.program in ("phc2sys", "chronyd") else bounds.below_ns
    limit = usual if below_ns is None else below_ns
    return {
        "clock": one.name,
        "begin_ns": begin,
        "end_ns": end,
        "offset": figure(
            "largest offset per summary" if summaries else "offset",
            [sample["offset_ns"] for sample in one.samples],
        ),
        "path_delay": figure("path delay", delays, len(one.samples) - len(delays)),
        "frequency": figure("frequency", [sample["frequency_ppb"] for sample in one.samples]),
        "unlocked": sum(sample["servo"] in (0, 1) for sample in one.samples),
        "grandmasters": one.grandmasters,
        "states": one.states,
        "causes": causes,
        "samples": one.samples,
        "gate": _gate(one, begin, SyncBounds(below_ns=limit)) if one.samples else None,
    }


def _gate(one: _Clock, begin_ns: int, bounds: SyncBounds) -> GateReport:
    gate = Gate((one.name,), bounds)
    first: int | None = None
    closed, total = 0, 0
    since: int | None = None
    """Since when it is open."""
    for reading in one.readings:
        before = since
        gate.take(reading)
        if gate.open and since is None:
            since = reading.tai_ns
            first = reading.tai_ns - begin_ns if first is None else first
        elif not gate.open and before is not None:
            closed += 1
            total += max(0, reading.tai_ns - before)
            since = None
    if since is not None:
        total += max(0, one.readings[-1].tai_ns - since)
    why = gate.why.get(one.name)
    if since is None and not why:
        length = one.readings[-1].tai_ns - begin_ns
        why = f"the log ends after {time(length)}, before offsets were good for {exact(bounds.steady_ns)}"
    return {
        "below_ns": bounds.below_ns,
        "steady_ns": bounds.steady_ns,
        "open": since is not None,
        "first_open_ns": first,
        "open_ns": total,
        "closed": closed,
        "why": why,
    }


def sync_tables(measures: SyncMeasures) -> list[Sheet]:
    """Offsets and path delays of every clock, then each clock over time."""
    columns = [
        Column("clock", name=True),
        Column("samples"),
        Column("offset: min ns"),
        Column("median ns", spare=1),
        Column("max ns"),
        Column("delay: min ns", spare=3),
        Column("median ns", spare=2),
        Column("max ns", spare=4),
        Column("unlocked", spare=5),
        Column("gate", left=True),
    ]
    whole = Sheet("clocks", columns)
    over_time = []
    for one in measures["clocks"]:
        whole.rows.append(_row(one))
        whole.captions += _captions(one)
        if one["samples"]:
            over_time.append(_windows(one))
    return [whole, *over_time]


def _row(one: ClockReport) -> list[str]:
    offset, delay, gate = one["offset"], one["path_delay"], one["gate"]
    numbers = [of[key] for of in (offset, delay) for key in ("min", "median", "max")]
    word = UNKNOWN if gate is None else "open" if gate["open"] else "closed"
    return [one["clock"], count(offset["count"]), *map(count, numbers), count(one["unlocked"]), word]


def _captions(one: ClockReport) -> list[str]:
    name, gate = one["clock"], one["gate"]
    found = [f"{name}: grandmaster {gm}" for gm in one["grandmasters"]]
    found += _events(one)
    if gate is None:
        return [*found, f"{name}: no offsets: the gate cannot be judged"]
    rule = f"offsets of at most {exact(gate['below_ns'])} for {exact(gate['steady_ns'])}"
    if gate["first_open_ns"] is None:
        return [*found, f"{name}: the gate never opened ({rule}): {gate['why']}"]
    times = f"first after {time(gate['first_open_ns'])}, {time(gate['open_ns'])} in all"
    again = f", closed {gate['closed']} times: {gate['why']}" if gate["closed"] else ""
    return [*found, f"{name}: the gate opened ({rule}) {times}{again}"]


def _events(one: ClockReport) -> list[str]:
    """Changes of states and the causes that the log states, in the order of time."""
    begin = one["begin_ns"]
    events = [
        (state["at_ns"], f"port {state['port']} {state['before']} to {state['after']} ({state['why']})")
        for state in one["states"]
        if state["port"] > 0
    ]
    for cause, times, last_ns in grouped(one["causes"]):
        again = f", {times} times until {time(last_ns - begin)}" if times > 1 else ""
        events.append((cause["at_ns"], f"the log says: {cause['text']} [{cause['at_ns'] / 1e9:.3f}]{again}"))
    events.sort(key=lambda event: event[0])
    return [f"{one['clock']}: at {time(at_ns - begin)} {text}" for at_ns, text in events]


def _windows(one: ClockReport) -> Sheet:
    """Equal parts of the log, with the offsets of each."""
    headers = ("from s", "samples", "offset: min ns", "max ns", "delay: max ns")
    sheet = Sheet(f"{one['clock']} over time", [Column(one) for one in headers])
    samples = one["samples"]
    begin = min(sample["at_ns"] for sample in samples)
    rows = min(WINDOWS, len(samples))
    width = max(1, -(-(max(sample["at_ns"] for sample in samples) + 1 - begin) // rows))
    for place in range(rows):
        part = [sample for sample in samples if (sample["at_ns"] - begin) // width == place]
        offsets = [sample["offset_ns"] for sample in part]
        delays = [sample["delay_ns"] for sample in part if sample["delay_ns"] is not None]
        least, most = min(offsets, default=None), max(offsets, default=None)
        since = f"{(begin - one['begin_ns'] + place * width) / 1e9:.1f}"
        sheet.rows.append([since, *map(count, (len(part), least, most, max(delays, default=None)))])
    return sheet
