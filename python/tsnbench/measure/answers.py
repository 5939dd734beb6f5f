"""Times from a request to the reception of its answer: polls and replies, control loops, chains of answers.

An answer numbers its frames itself. Its talker releases one frame for each request that reaches it, in the
order of their arrival, so the n-th answer belongs to the n-th arrival whose release is within ``start`` and
``stop`` of the answering stream (decision 0034).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native, foreign
from tsnbench.errors import InputError
from tsnbench.measure.errors import MeasureError
from tsnbench.plan.streams.software import receiving_ns
from tsnbench.quantities import UNKNOWN, count, micros
from tsnbench.runs import Run, file_names
from tsnbench.runs.measures import figures as figures_of
from tsnbench.runs.tables import repeats
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument, Stream
    from tsnbench.runs.measures import Measures, Stat

FORMAT = "tsnbench-answers/1"
_TOLERANCE_NS = 2_000
"""An answer cannot leave before its request has arrived; the two stamps may be of other points of a frame."""


@dataclass(frozen=True)
class Pair:
    """A request and its answer at one listener. Times in ns; None where the frame has no timestamp there."""

    request: int
    """The sequence number of the first request of the chain."""
    answer: int
    sent_ns: int
    """When the first request of the chain left its talker."""
    asked_ns: int
    """When the request of this answer left its talker; equal to ``sent_ns`` in a chain of two streams."""
    received_ns: int | None
    """When the answer arrived; None if it was lost."""


@dataclass(frozen=True)
class Answered:
    """One answering stream at one listener, over all requests of its chain."""

    chain: tuple[str, ...]
    """The streams from the first request to this answer."""
    listener: str
    returns: bool
    """Whether the listener is the talker of the first request: the time is a round-trip time."""
    requests: int
    """Frames of the first request that were sent."""
    pairs: tuple[Pair, ...]
    """Requests that were answered, in the order of the answers."""
    unanswered: tuple[tuple[int, int], ...]
    """Number and departure in ns of the first requests whose answer did not arrive here.

    Requests do not count whose answer would be released when the talkers of the run have ended.
    """
    time_outs: int | None
    """Requests without an answer in time, as the sender of TRDP message data counts them; None for others.

    The caller waits for a reply, and a replier for a confirmation, from the departure of its own telegram. An
    answer that arrives later does not count. A wait that ends after the run is no time-out.
    """

    @property
    def times(self) -> list[int]:
        """From the departure of the request to the arrival of the answer, in ns."""
        return [one.received_ns - one.sent_ns for one in self.pairs if one.received_ns is not None]

    @property
    def statistics(self) -> Stat | None:
        """The statistics of :attr:`times`; None without any."""
        stat: Stat | None = json.loads(_native.statistics(self.times, None))
        return stat

    @property
    def worst(self) -> Pair | None:
        """The pair with the greatest time; None without any."""
        return max((one for one in self.pairs if one.received_ns is not None), key=_time, default=None)

    def as_dict(self) -> Json:
        """For machines."""
        stat = self.statistics
        figures = None if stat is None else {"count": stat["count"], "std": stat["std"], **figures_of(stat)}
        return {
            "chain": list(self.chain),
            "listener": self.listener,
            "round_trip": self.returns,
            "requests": self.requests,
            "answered": len(self.pairs),
            "received": len(self.times),
            "time_outs": self.time_outs,
            "time": figures,
            "worst_request": None if self.worst is None else self.worst.request,
        }


@dataclass(frozen=True)
class _Path:
    """The frames of one stream at one listener: number, departure, arrival."""

    node: int
    rows: tuple[tuple[int, int | None, int | None], ...]
    duplicates: int


@dataclass(frozen=True)
class _Trigger:
    """The requests of one answer: of its chain's first stream, and of the stream that it answers."""

    first: int
    sent_ns: int
    request: int
    asked_ns: int


def answered(folder: str | Path, measures: Measures | None = None) -> list[Answered]:
    """The times of every answering stream of a run that was measured.

    Args:
        folder: the run folder.
        measures: its measures; by default they are read from the folder.

    Raises:
        InputError: the folder is no measured run, the run has no answers, or they cannot be paired.
    """
    run = Run.open(folder)
    document = run.plan.document
    streams = document["streams"]
    if not any("answers" in stream for stream in streams):
        raise MeasureError(
            f"{folder}: expected streams with answers:, found none\n"
            "hint: a stream that answers another one is written {answers: REQUEST, to: …}"
        )
    paths = _paths(run, measures or run.measures())
    end = document["duration_ns"] + document["drain_ns"]
    found = []
    for number, stream in enumerate(streams):
        if "answers" not in stream:
            continue
        chain = list(_chain(streams, number))
        triggers, ended = _triggers(document, paths, chain, folder)
        first = chain[0]
        for path in paths[number]:
            pairs = tuple(_pairs(path, triggers))
            sent = [(seq, at) for seq, at, _ in paths[first][0].rows if at is not None]
            arrived = {one.request for one in pairs if one.received_ns is not None} | ended
            found.append(
                Answered(
                    chain=tuple(streams[one]["name"] for one in chain),
                    listener=document["nodes"][path.node]["name"],
                    returns=path.node == streams[first]["talker"],
                    requests=len(sent),
                    pairs=pairs,
                    unanswered=tuple((seq, at) for seq, at in sent if seq not in arrived),
                    time_outs=_time_outs(streams, number, path, paths, triggers, end),
                )
            )
    return found


def add_round_trips(folder: Path, measures: Measures) -> None:
    """Adds the round-trip times to the paths of streams that limit them.

    A request without an answer waits until the end of the run. Where requests and answers cannot be paired, a
    warning gives the reason.
    """
    plan = foreign.read_json(folder / file_names.PLAN)
    streams = plan["streams"]
    limited = {stream["name"] for stream in streams if "round_trip_ns" in stream.get("requirements", {})}
    if not limited:
        return
    end = plan["duration_ns"] + plan["drain_ns"]
    try:
        found = answered(folder, measures)
    except InputError as error:
        measures["source"]["warnings"].append(f"round trips are unknown: {error}")
        return
    for one in found:
        if one.chain[-1] not in limited:
            continue
        waits = [(end - at, seq) for seq, at in one.unanswered]
        times = [
            (pair.received_ns - pair.sent_ns, pair.request)
            for pair in one.pairs
            if pair.received_ns is not None
        ]
        stat: Stat | None = json.loads(_native.statistics([ns for ns, _ in times + waits], None))
        if stat is not None:
            # The statistics count samples; a request has its own number.
            numbers = [seq for _, seq in times + waits]
            for key in ("min_seq", "max_seq"):
                place = stat[key]
                stat[key] = None if place is None else numbers[place]
            for path in measures["paths"]:
                if (path["stream"], path["listener"]) == (one.chain[-1], one.listener):
                    path["round_trip"] = stat


def _time_outs(
    streams: Sequence[Stream],
    number: int,
    path: _Path,
    paths: list[list[_Path]],
    triggers: Mapping[int, _Trigger],
    end: int,
) -> int | None:
    """The waits for an answer at one listener that ended before the answer arrived."""
    answers = streams[number]["answers"]["stream"]
    asking, kind = streams[answers], streams[number].get("trdp", {}).get("kind", "push")
    if path.node != asking["talker"] or not kind.startswith("message-") or kind == "message-notify":
        return None
    limit = asking["trdp"]["time_out_ns"] if "trdp" in asking else 0
    if limit == 0 or kind == "message-request":
        return None
    in_time = {
        triggers[seq].request
        for seq, _, received in path.rows
        if seq in triggers and received is not None and received - triggers[seq].asked_ns <= limit
    }
    return sum(
        seq not in in_time and at + limit < end for seq, at, _ in paths[answers][0].rows if at is not None
    )


def _paths(run: Run, measures: Measures) -> list[list[_Path]]:
    """By stream, the frames at each of its listeners, from the table of frames."""
    table = repeats.read(run.folder / file_names.FRAMES)
    document = run.plan.document
    frames: dict[int, list[tuple[int, int | None, int | None]]] = {}
    with foreign.table_errors(run.folder / file_names.FRAMES):
        for path, seq, sent, arrived in table.select("path", "seq", "t_tx_ns", "t_rx_ns").iter_rows():
            frames.setdefault(path, []).append((seq, sent, arrived))
    found: list[list[_Path]] = []
    number = 0
    for stream in document["streams"]:
        own = []
        for listener in stream["listeners"]:
            duplicates = measures["paths"][number]["count"]["duplicate"]
            own.append(_Path(listener["node"], tuple(sorted(frames.get(number, ()))), duplicates))
            number += 1
        found.append(own)
    return found


def _chain(streams: Sequence[Stream], number: int) -> Iterator[int]:
    """The streams from the first request to this answer."""
    if (answers := streams[number].get("answers")) is not None:
        yield from _chain(streams, answers["stream"])
    yield number


def _triggers(
    document: PlanDocument, paths: list[list[_Path]], chain: Sequence[int], folder: str | Path
) -> tuple[dict[int, _Trigger], set[int]]:
    """By number of a frame of the last stream of the chain: the requests that caused it.

    And the first requests of which a talker of the chain releases no answer, because the run has ended.
    """
    streams, ended = document["streams"], set()
    first = {
        seq: _Trigger(seq, sent, seq, sent) for seq, sent, _ in paths[chain[0]][0].rows if sent is not None
    }
    for before, number in pairwise(chain):
        stream = streams[number]
        path = next(one for one in paths[before] if one.node == stream["talker"])
        requests = _answered_by(stream, path, document, folder)
        _check(stream, requests, paths[number][0], folder)
        left = {seq: sent for seq, sent, _ in paths[before][0].rows if sent is not None}
        late = _after_the_end(stream, path, document)
        ended |= {first[seq].first for seq in late if seq in first}
        first = {
            answer: replace(first[seq], request=seq, asked_ns=left[seq])
            for answer, (_, seq) in enumerate(requests)
            if seq in first and seq in left
        }
    return first, ended


def _after_the_end(stream: Stream, path: _Path, document: PlanDocument) -> list[int]:
    """The requests whose answer may be released at the end of the run or later, and so is not."""
    end = document["duration_ns"]
    if stream["stop_ns"] < end:
        return []
    least = end - stream["answers"]["after_ns"] - _jitter(stream) - receiving_ns(document, stream["talker"])
    return [seq for seq, _, at in path.rows if at is not None and at >= least]


def _jitter(stream: Stream) -> int:
    return stream["pattern"]["jitter_ns"] if stream["pattern"]["kind"] == "periodic" else 0


def _answered_by(
    stream: Stream, path: _Path, document: PlanDocument, folder: str | Path
) -> list[tuple[int, int]]:
    """Arrival and number of the requests that a stream answers, in the order of its answers."""
    name = stream["name"]
    if path.duplicates:
        raise MeasureError(f"{folder}: answers of {name} cannot be paired: requests arrived more than once")
    if stream["size"]["kind"] != "frame":
        raise MeasureError(f"{folder}: answers of {name} cannot be paired: an answer has several frames")
    arrived = sorted((at, seq) for seq, _, at in path.rows if at is not None)
    jitter, software = _jitter(stream), receiving_ns(document, stream["talker"])
    varies = jitter + software
    # Software alone keeps the order of requests.
    if jitter and any(after - before < varies for (before, _), (after, _) in pairwise(arrived)):
        beside = " and the software of its host" if software else ""
        raise MeasureError(
            f"{folder}: answers of {name} cannot be paired: requests arrive closer together than the "
            f"jitter of the answer{beside}"
        )
    after = stream["answers"]["after_ns"]
    stop = min(stream["stop_ns"], document["duration_ns"])
    at_once = [at + after for at, _ in arrived]
    # With jitter or software, the release of a request near start or stop may be on either side of it.
    for word, limit in (("start", stream["start_ns"]), ("stop", stream["stop_ns"])):
        near = any(limit - varies <= at < limit for at in at_once)
        if near and 0 < limit < document["duration_ns"]:
            raise MeasureError(
                f"{folder}: answers of {name} cannot be paired: a release may be before or after {word}"
            )
    begin, end = bisect_left(at_once, stream["start_ns"]), bisect_left(at_once, stop)
    return arrived[begin:end]


def _check(stream: Stream, requests: Sequence[tuple[int, int]], answers: _Path, folder: str | Path) -> None:
    """Each answer that was sent has a request, and left its talker after the request had arrived."""
    after = stream["answers"]["after_ns"]
    for answer, sent, _ in answers.rows:
        if sent is None:
            continue
        if answer >= len(requests) or sent < requests[answer][0] + after - _TOLERANCE_NS:
            raise MeasureError(
                f"{folder}: answers of {stream['name']} cannot be paired: answer {answer} left before the "
                "request that it would belong to"
            )


def _pairs(path: _Path, triggers: Mapping[int, _Trigger]) -> Iterator[Pair]:
    for answer, _, received in path.rows:
        if answer in triggers:
            own = triggers[answer]
            yield Pair(own.first, answer, own.sent_ns, own.asked_ns, received)


def answers_table(found: Sequence[Answered], most: int | None = None) -> Sheet:
    """One row per answering stream and listener; times in us."""
    timed = any(one.time_outs is not None for one in found)
    columns = [
        Column("chain", name=True),
        Column("to", left=True),
        Column("requests"),
        Column("answered"),
        Column("received"),
        *([Column("time-outs")] if timed else []),
        Column("min us", spare=2),
        Column("mean us"),
        Column("median us", spare=3),
        Column("p99 us", spare=1),
        Column("max us"),
        Column("request", spare=4),
    ]
    sheet = Sheet("from a request to the reception of its answer", columns, most=most)
    for one in found:
        stat = one.statistics
        times = (
            [UNKNOWN] * 5
            if stat is None
            else [micros(stat[key]) for key in ("min", "mean", "median", "p99", "max")]
        )
        sheet.rows.append(
            [
                " > ".join(one.chain),
                f"{one.listener} (round trip)" if one.returns else one.listener,
                count(one.requests),
                count(len(one.pairs)),
                count(len(one.times)),
                *([UNKNOWN if one.time_outs is None else count(one.time_outs)] if timed else []),
                *times,
                UNKNOWN if one.worst is None else str(one.worst.request),
            ]
        )
    sheet.captions.append("request: the number of the request with the greatest time")
    if timed:
        sheet.captions.append("time-outs: telegrams without an answer within the time-out of their sender")
    return sheet


def _time(pair: Pair) -> int:
    assert pair.received_ns is not None
    return pair.received_ns - pair.sent_ns
