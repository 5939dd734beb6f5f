"""tsnkit's task and topology files as a scenario.

As in the export, a size is the size on the wire, so that a bridge's processing, which begins with the last
bit, is ``t_proc`` plus the gap. Deadlines count to the end of the listener's ``t_proc``.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass
from math import inf, lcm

from tsnbench.errors import ContentError
from tsnbench.exports import scenario_text
from tsnbench.exports.scenario_text import Notes, flow, listed
from tsnbench.exports.tsnkit import GRID_NS, RATES, WIRE_OCTETS, gap_ns
from tsnbench.sheet import csv_text

_BPS = {cost: bps for bps, cost in RATES.items()}
_WORDS = {1: "1 Gbit/s", 10: "100 Mbit/s", 100: "10 Mbit/s", 1000: "1 Mbit/s"}
_LINK = re.compile(r"[\[(]\s*(\d{1,9})\s*,\s*(\d{1,9})\s*[\])]")
_LIST = re.compile(r"\[\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\]")
SMALLEST_FRAME = 64
LARGEST_FRAME = 1522
SCHEDULED_PCP = 7
LARGEST_FILE = 64 << 20
LARGEST_NUMBER = 10**15
"""Up to here doubles, as pandas writes them, are exact; in ns it is eleven days."""
HYPERPERIODS = 2
LONGEST_NS = 1_000_000_000


@dataclass(frozen=True)
class _Row:
    where: str
    cells: dict[str, str]

    def whole(self, name: str) -> int:
        text = (self.cells.get(name) or "").strip()
        try:
            # Spreadsheets and pandas may write the whole number 5 as 5.0.
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number <= LARGEST_NUMBER or number != int(number):
            large = LARGEST_NUMBER < number < inf
            expected = f"a whole number of at most {LARGEST_NUMBER}" if large else "a whole number"
            raise ContentError(f"{self.where}: {name}: expected {expected}, found {text[:60] or 'nothing'}")
        return int(number)


def _rows(text: str, name: str, columns: tuple[str, ...]) -> list[_Row]:
    reader = csv.DictReader(io.StringIO(text))
    try:
        return _read_rows(reader, name, columns)
    except csv.Error as error:
        raise ContentError(f"{name}:{reader.line_num}: expected a CSV file, found another: {error}") from None


def _read_rows(reader: csv.DictReader[str], name: str, columns: tuple[str, ...]) -> list[_Row]:
    missing = [one for one in columns if one not in (reader.fieldnames or [])]
    if missing:
        raise ContentError(
            f"{name}:1: expected the columns {', '.join(columns)}, "
            f"found {', '.join(reader.fieldnames or []) or 'nothing'}"
        )
    rows = [_Row(f"{name}:{reader.line_num}", dict(cells)) for cells in reader]
    if not rows:
        raise ContentError(f"{name}: expected rows, found the header alone")
    return rows


@dataclass(frozen=True)
class Imported:
    """A scenario, and the table of its streams if one was requested."""

    scenario: str
    table: str


def scenario(
    task: str, topo: str, task_name: str = "task.csv", topo_name: str = "topo.csv", table: str = ""
) -> Imported:
    """A scenario's YAML from the texts of both files.

    Args:
        task: the streams.
        topo: the links.
        task_name: the name of the file of the streams, for messages.
        topo_name: the name of the file of the links, for messages.
        table: the name of the table that the streams go into; empty: they go into the scenario.

    Raises:
        InputError: with the place, what was expected and what was found.
    """
    links = _read_links(topo, topo_name)
    count = Counter(node for pair in links for node in pair)
    names = {node: f"es{node}" if count[node] == 2 else f"sw{node}" for node in sorted(count)}
    streams = _streams(task, task_name, names, links)
    periods = lcm(*(one.period_ns for one in streams))
    bridges = [
        f"  {name}: {{processing: {_processing(links, node, topo_name)} ns}}"
        for node, name in names.items()
        if count[node] > 2
    ]
    cables = [f"  - {_group(links, pair, row, names)}" for pair, row in links.items() if pair[0] < pair[1]]
    most = min(8, min(row.whole("q_num") for row in links.values()))
    if most < 1:
        raise ContentError(f"{topo_name}: q_num: expected 1 or more, found {most}")
    classes = flow({"0": 0} if most == 1 else {str(SCHEDULED_PCP): most - 1, "0": 0})
    network = [
        f"stations: {listed(name for node, name in names.items() if count[node] == 2)}",
        *(["bridges:", *bridges] if bridges else []),
        *("links:", *cables, f"queues: {flow({'classes': classes})}"),
    ]
    beside = [f"streams: {{table: {json.dumps(table, ensure_ascii=False)}}}"]
    text = scenario_text.text(
        [
            f"From tsnkit's {task_name} and {topo_name}. Sizes there are what frames take on the wire.",
            "So `processing` is t_proc and an inter-frame gap, and `delay` is the deadline without both.",
        ],
        {
            "name": "tsnkit",
            "title": "A problem of tsnkit",
            "duration": f"{min(max(HYPERPERIODS * periods, 1), LONGEST_NS)} ns",
        },
        network,
        [
            *("# tsnkit's grid", f"schedule: {{granularity: {GRID_NS} ns}}", ""),
            *(beside if table else ["streams:", *(stream.line for stream in streams)]),
        ],
        Notes(),
    )
    return Imported(text, _table(streams) if table else "")


def _processing(links: dict[tuple[int, int], _Row], node: int, file: str) -> int:
    """The processing time of a bridge in ns, from the links that lead to it."""
    into = [row for pair, row in links.items() if pair[1] == node]
    taken = {row.whole("t_proc") for row in into}
    whole = {row.whole("t_proc") + _gap_ns(row) for row in into}
    # In an export of tsnbench, t_proc differs between links of different rates, because their gaps differ;
    # then the sum of t_proc and gap is the same for all links.
    if len(taken) > 1 and len(whole) > 1:
        raise ContentError(
            f"{file}: t_proc: expected one value for all links to node {node}, found {sorted(taken)}"
        )
    return max(whole)


def _read_links(topo: str, name: str) -> dict[tuple[int, int], _Row]:
    links: dict[tuple[int, int], _Row] = {}
    for row in _rows(topo, name, ("link", "q_num", "rate", "t_proc", "t_prop")):
        text = row.cells["link"] or ""
        match = _LINK.fullmatch(text.strip())
        if match is None:
            raise ContentError(
                f"{row.where}: link: expected two nodes such as (0, 1), found {text or 'nothing'}"
            )
        pair = (int(match[1]), int(match[2]))
        if pair in links or pair[0] == pair[1]:
            raise ContentError(f"{row.where}: link: expected each pair of two nodes once, found {text}")
        links[pair] = row
    for pair, row in links.items():
        if pair[::-1] not in links:
            raise ContentError(
                f"{row.where}: link: expected ({pair[1]}, {pair[0]}) besides {pair}, found none"
            )
    return links


def _group(
    links: dict[tuple[int, int], _Row], pair: tuple[int, int], row: _Row, names: dict[int, str]
) -> str:
    ends = []
    for one in (row, links[pair[::-1]]):
        # A signal takes 5 ns per metre.
        ends.append({"rate": _WORDS[_rate(one)], "cable": f"{one.whole('t_prop') * 200} mm"})
    between = f"{names[pair[0]]} -- {names[pair[1]]}"
    return flow({**ends[0], "between": between, "back": None if ends[0] == ends[1] else flow(ends[1])})


def _rate(row: _Row) -> int:
    rate = row.whole("rate")
    if rate not in _WORDS:
        raise ContentError(
            f"{row.where}: rate: expected one of {', '.join(map(str, _WORDS))} (ns per bit), found {rate}"
        )
    return rate


def _gap_ns(row: _Row) -> int:
    return gap_ns(_BPS[_rate(row)])


def _streams(
    task: str, name: str, names: dict[int, str], links: dict[tuple[int, int], _Row]
) -> list[_Stream]:
    streams = []
    seen: set[int] = set()
    header = "id" if task.startswith("id,") else "stream"
    for row in _rows(task, name, (header, "src", "dst", "size", "period", "deadline", "jitter")):
        number, source, period = row.whole(header), row.whole("src"), row.whole("period")
        if number in seen:
            raise ContentError(f"{row.where}: {header}: expected each number once, found {number} again")
        seen.add(number)
        match = _LIST.fullmatch((row.cells["dst"] or "").strip())
        if match is None:
            raise ContentError(
                f"{row.where}: dst: expected a list such as [3], found {row.cells['dst'] or 'nothing'}"
            )
        listeners = [int(one) for one in match[1].split(",")]
        for node in (source, *listeners):
            if node not in names:
                raise ContentError(f"{row.where}: expected a node of the topology, found {node}")
        if not period:
            raise ContentError(f"{row.where}: period: expected more than 0, found 0")
        frame = max(row.whole("size") - WIRE_OCTETS, SMALLEST_FRAME)
        if frame > LARGEST_FRAME:
            raise ContentError(
                f"{row.where}: size: expected up to {LARGEST_FRAME + WIRE_OCTETS} octets, "
                f"found {row.whole('size')}"
                "\n  hint: split it into several streams"
            )
        deadline, jitter = row.whole("deadline"), row.whole("jitter")
        behind = max(
            row.whole("t_proc") + _gap_ns(row) for pair, row in links.items() if pair[1] in listeners
        )
        if 0 < deadline <= behind:
            raise ContentError(
                f"{row.where}: deadline: expected more than the {behind} ns that the listener's t_proc and "
                f"the gap take, found {deadline}"
            )
        delay = f"{deadline - behind} ns" if deadline else ""
        # tsnkit's jitter is the spread of arrivals; a jitter of a whole period is no requirement.
        spread = f"{jitter} ns" if 0 < jitter < period else ""
        to = names[listeners[0]] if len(listeners) == 1 else listed(names[one] for one in listeners)
        streams.append(_Stream(f"s{number}", names[source], to, period, frame, delay, spread))
    return streams


@dataclass(frozen=True)
class _Stream:
    """A stream as the scenario writes it; ``delay`` and ``spread`` are empty where nothing is required."""

    name: str
    talker: str
    to: str
    period_ns: int
    frame: int
    delay: str
    spread: str

    @property
    def line(self) -> str:
        """One line of YAML."""
        ends = {"from": self.talker, "to": self.to, "pcp": SCHEDULED_PCP}
        frames = {"period": f"{self.period_ns} ns", "frame": f"{self.frame} B", "scheduled": "true"}
        requires = flow({"delay": self.delay or None, "jitter spread": self.spread or None})
        return f"  {self.name}: {flow({**ends, **frames, 'requires': requires})}"


def _table(streams: list[_Stream]) -> str:
    """The streams as a table beside the scenario."""
    limits = ("requires.delay", "requires.jitter spread")
    header = ("name", "from", "to", "pcp", "period (ns)", "frame (B)", "scheduled", *limits)
    rows = (
        (one.name, one.talker, one.to, SCHEDULED_PCP, one.period_ns, one.frame, "true", one.delay, one.spread)
        for one in streams
    )
    return csv_text(header, rows)
