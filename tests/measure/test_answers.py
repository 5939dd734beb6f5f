"""Times from a request to the reception of its answer: by hand, with losses, limits and chains."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.commands import tsnbench
from support.planned import plan_of, run_of
from tsnbench.errors import InputError
from tsnbench.measure import measure_run
from tsnbench.measure.answers import (
    Answered,
    _after_the_end,
    _answered_by,
    _check,
    _Path,
    _time_outs,
    _Trigger,
    answered,
    answers_table,
)
from tsnbench.quantities import UNKNOWN
from tsnbench.runs import Run

HEAD = """\
name: poll
duration: 20 ms
network:
  stations: [master, slave, other]
  bridges: [switch]
  links: {rate: 100 Mbit/s, between: [master -- switch, slave -- switch, other -- switch]}
streams:
"""
POLL = """\
  ask: {from: master, to: [slave, other], pcp: 6, period: 1 ms, frame: 125 B}
  reply: {answers: ask, from: slave, to: master, pcp: 6, after: 50 us, frame: 100 B}
"""


def measured(folder: Path, streams: str, more: str = "") -> Path:
    run_of(plan_of(HEAD + streams + more), folder)
    measure_run(folder / "run")
    return folder / "run"


def by_chain(folder: Path) -> dict[str, Answered]:
    return {" > ".join(one.chain): one for one in answered(folder)}


def test_a_round_trip_by_hand(tmp_path: Path) -> None:
    """125 octets take 10 us on each link, 100 octets 8 us; a preamble of 640 ns comes before each frame.

    Times count from behind the preamble. The request: 10 us, preamble, 10 us. 50 us later the answer is
    released: preamble, 8 us, preamble, 8 us.
    """
    (reply,) = answered(measured(tmp_path, POLL))
    expected = 10_000 + 640 + 10_000 + 50_000 + 640 + 8_000 + 640 + 8_000
    assert set(reply.times) == {expected}
    assert (reply.requests, len(reply.pairs), len(reply.times)) == (20, 20, 20)
    assert (reply.listener, reply.returns) == ("master", True)
    assert [pair.request for pair in reply.pairs] == list(range(20))
    told = reply.as_dict()
    assert told["time"] is not None
    assert {key: told["time"][key] for key in ("count", "std", "max")} == {
        "count": 20,
        "std": 0,
        "max": expected,
    }
    assert {**told, "time": None} == {
        "chain": ["ask", "reply"], "listener": "master", "round_trip": True, "requests": 20, "answered": 20,
        "received": 20, "time_outs": None, "time": None, "worst_request": 0,
    }  # fmt: skip
    table = answers_table([reply])
    heads = "chain to requests answered received min us mean us median us p99 us max us request"
    assert " ".join(column.header for column in table.columns) == heads
    assert table.rows == [["ask > reply", "master (round trip)", "20", "20", "20", *["87.920"] * 5, "0"]]
    lost = replace(reply, pairs=(), time_outs=2, returns=False)
    table = answers_table([lost, reply], most=1)
    assert ([column.header for column in table.columns][5], table.most) == ("time-outs", 1)
    assert table.rows[0] == ["ask > reply", "master", "20", "0", "0", "2", *[UNKNOWN] * 6]
    assert table.rows[1][5] == UNKNOWN
    nothing = lost.as_dict()
    assert (nothing["received"], nothing["time_outs"]) == (0, 2)
    assert (nothing["time"], nothing["worst_request"]) == (None, None)


def test_lost_requests_have_no_answer_and_lost_answers_no_time(tmp_path: Path) -> None:
    """The n-th answer belongs to the n-th request that arrived; other pairs are whole periods apart."""
    loss = "faults: [{loss: 30 %, on: switch -> slave}, {loss: 30 %, on: slave -> switch}]\n"
    folder = measured(tmp_path, POLL, loss)
    (reply,) = answered(folder)
    assert set(reply.times) == {87_920}
    table = pl.read_parquet(folder / "frames.parquet")
    arrived = table.filter((pl.col("path") == 0) & pl.col("t_rx_ns").is_not_null())["seq"].to_list()
    assert 5 < len(arrived) < 20
    assert [pair.request for pair in reply.pairs] == arrived
    received = table.filter((pl.col("path") == 2) & pl.col("t_rx_ns").is_not_null())
    assert len(reply.times) == len(received) < len(arrived)


def test_a_request_at_the_end_of_the_run_expects_no_answer(tmp_path: Path) -> None:
    """The last request is sent at 19.95 ms, and has arrived at 19.97: its answer would be released after 20.

    Its wait until the end of the run was taken for a round trip of 100 ms, beyond the worst case.
    """
    late = POLL.replace("period: 1 ms", "period: 1 ms, offset: 950 us").replace(
        "frame: 100 B", "frame: 100 B, requires: {round-trip: 1 ms}"
    )
    folder = measured(tmp_path, late)
    (reply,) = answered(folder)
    assert (reply.requests, len(reply.times), reply.unanswered) == (20, 19, ())
    (row,) = Run.open(folder).verdict()["rows"]
    assert (row["met"], row["proof"], row["found"]) == ("yes", "proved", 87_920)
    # Nor does a chain expect one.
    chain = late + "  confirm: {answers: reply, to: slave, after: 5 us, pcp: 6, frame: 64 B}\n"
    (tmp_path / "chain").mkdir()
    found = answered(measured(tmp_path / "chain", chain))
    assert [(len(one.times), one.unanswered) for one in found] == [(19, ()), (19, ())]


def test_a_request_without_an_answer_waits_until_the_end(tmp_path: Path) -> None:
    """Request 3 is lost. What is not limited has no round trip: here the first of two answers in a chain."""
    limited = "frame: 64 B, requires: {round-trip: 1 ms}}\n"
    chain = f"{POLL}  confirm: {{answers: reply, to: slave, after: 5 us, pcp: 6, {limited}"
    chain += "  other: {answers: ask, from: other, to: master, pcp: 6, frame: 64 B}\n"
    chain += f"  last: {{answers: ask, from: other, to: master, pcp: 6, after: 90 us, {limited}"
    folder = measured(tmp_path, chain, "faults: [{down: switch -> slave, at: 2900 us, for: 500 us}]\n")
    found = {path["stream"]: path.get("round_trip") for path in Run.open(folder).measures()["paths"]}
    confirm, last = found.pop("confirm"), found.pop("last")
    assert set(found.values()) == {None}
    assert confirm is not None
    assert (confirm["count"], confirm["min"]) == (20, 87_920 + 5_000 + 640 + 5_120 + 640 + 5_120)
    # The stamp of request 3 is a preamble behind its release.
    document = Run.open(folder).plan.document
    assert (confirm["max"], confirm["max_seq"]) == (20_000_000 + document["drain_ns"] - 3_000_640, 3)
    assert confirm["min_seq"] == 0
    assert last is not None
    assert last["count"] == 20


SLAVE = "hosts: {slave: {kernel-rx: {from: 20 us, to: 40 us}, app-rx: {from: 10 us, to: 20 us}}}\n"


def test_a_request_in_software_at_the_end_of_the_run_expects_no_answer(tmp_path: Path) -> None:
    """The last request arrives at 19.925 ms: 30 to 60 us in software and 50 us later the run has ended.

    The hardware's time and 50 us alone are before the end.
    """
    late = POLL.replace("period: 1 ms", "period: 1 ms, offset: 903720 ns").replace(
        "frame: 100 B", "frame: 100 B, requires: {round-trip: 1 ms}"
    )
    folder = measured(tmp_path, late, SLAVE)
    (reply,) = answered(folder)
    assert (reply.requests, len(reply.times), reply.unanswered) == (20, 19, ())
    (row,) = Run.open(folder).verdict()["rows"]
    assert (row["met"], row["proof"]) == ("yes", "proved")


def test_software_beside_a_limit_is_refused(tmp_path: Path) -> None:
    """The request arrives 21.28 us after 2 ms; 80 to 110 us later may be before 2.11 ms or after."""
    near = POLL.replace("after: 50 us,", "after: 50 us, start: 2110 us,")
    with pytest.raises(InputError, match="reply cannot be paired: a release may be before or after start"):
        answered(measured(tmp_path, near, SLAVE))


def test_an_answer_that_stops_has_no_worst_case(tmp_path: Path) -> None:
    stops = POLL.replace("frame: 100 B", "frame: 100 B, stop: 10 ms, requires: {round-trip: 1 ms}")
    (row,) = Run.open(measured(tmp_path, stops)).verdict()["rows"]
    assert (row["met"], row["proof"]) == ("no", "none")
    assert row["worst_case_reason"] == "reply answers no request before its start or after its stop"


def test_a_chain_counts_from_its_first_request(tmp_path: Path) -> None:
    chain = POLL + "  confirm: {answers: reply, to: slave, after: 5 us, pcp: 6, frame: 64 B}\n"
    found = by_chain(measured(tmp_path, chain))
    confirm = found["ask > reply > confirm"]
    # 64 octets take 5.12 us on each link.
    assert set(confirm.times) == {87_920 + 5_000 + 640 + 5_120 + 640 + 5_120}
    assert (confirm.listener, confirm.returns, confirm.requests) == ("slave", False, 20)


def test_answers_of_several_listeners_and_limits(tmp_path: Path) -> None:
    """Between 2 ms and 15 ms: the requests released at 2 ms, …, 14 ms are answered, numbers 2 to 14."""
    more = POLL + (
        "  late: {answers: ask, from: other, to: master, after: 60 us, jitter: 10 us, pcp: 5, frame: 100 B,\n"
        "         start: 2 ms, stop: 15 ms}\n"
    )
    late = by_chain(measured(tmp_path, more))["ask > late"]
    assert [pair.request for pair in late.pairs] == list(range(2, 15))
    assert all(97_920 <= time <= 97_920 + 10_000 + 8_160 for time in late.times)
    assert len(set(late.times)) > 5


def test_jitter_beside_a_limit_is_refused(tmp_path: Path) -> None:
    """The request arrives 21.28 us after 2 ms, and 50 to 80 us later may be before 2.09 ms or after."""
    near = POLL.replace("after: 50 us,", "after: 50 us, jitter: 30 us, start: 2090 us,")
    with pytest.raises(InputError, match="reply cannot be paired: a release may be before or after start"):
        answered(measured(tmp_path, near))


@pytest.mark.parametrize(
    ("streams", "more", "problem"),
    [
        (
            "  a: {from: master, to: slave, period: 1 ms, frame: 100 B}\n",
            "",
            "expected streams with answers:, found none",
        ),
        (
            POLL.replace("after: 50 us, frame: 100 B", "after: 50 us, units: {sizes: [3 kB]}"),
            "",
            "reply cannot be paired: an answer has several frames",
        ),
        (
            POLL,
            "faults: [{duplicate: 50 %, on: switch -> slave}]\n",
            "reply cannot be paired: requests arrived more than once",
        ),
        (
            POLL.replace("after: 50 us,", "after: 50 us, jitter: 900 us,").replace(
                "period: 1 ms", "period: 500 us"
            ),
            "",
            "requests arrive closer together than the jitter of the answer$",
        ),
        (
            POLL.replace("after: 50 us,", "after: 50 us, jitter: 950 us,"),
            SLAVE,
            "requests arrive closer together than the jitter of the answer and the software of its host",
        ),
    ],
)
def test_answers_that_cannot_be_paired(tmp_path: Path, streams: str, more: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        answered(measured(tmp_path, streams, more))


def answering(**more: Any) -> Any:
    pattern = {"kind": "periodic", "jitter_ns": more.pop("jitter_ns", 0)}
    stream = {"name": "reply", "talker": 0, "pattern": pattern, "size": {"kind": "frame"}}
    return stream | {"answers": {"stream": 0, "after_ns": 50}, "start_ns": 0, "stop_ns": 10_000} | more


DOCUMENT: Any = {"duration_ns": 10_000, "nodes": [{"host": {"app_rx": {"kind": "constant", "ns": 20}}}]}


@pytest.mark.parametrize(
    ("arrival", "jitter", "stop", "late"),
    [
        # 20 ns in software, 50 ns and up to 30 ns later is the end of the run, or a nanosecond before it.
        (9_900, 30, 10_000, True),
        (9_899, 30, 10_000, False),
        # An answer that stops before releases none then.
        (9_990, 30, 9_999, False),
    ],
)
def test_answers_at_the_end_of_the_run(arrival: int, jitter: int, stop: int, late: bool) -> None:
    path = _Path(0, ((4, 0, arrival), (5, 0, None)), 0)
    found = _after_the_end(answering(jitter_ns=jitter, stop_ns=stop), path, DOCUMENT)
    assert found == ([4] if late else [])


@pytest.mark.parametrize(
    ("limits", "arrivals", "answered_by"),
    [
        # 50 ns after 2,000 is the start, and 50 ns after 4,000 the stop. Jitter and software may add 30 ns.
        ({"start_ns": 2_050, "stop_ns": 4_050}, [1_969, 2_000, 3_969, 4_000], [1, 2]),
        ({"start_ns": 2_050}, [1_970, 4_000], "before or after start"),
        ({"start_ns": 2_050}, [1_999, 4_000], "before or after start"),
        ({"stop_ns": 4_050}, [2_000, 3_999], "before or after stop"),
        # The begin and the end of the run are no limits.
        ({"start_ns": 0, "stop_ns": 10_000}, [0, 9_930], [0, 1]),
        # 30 ns apart is far enough.
        ({}, [2_000, 2_030], [0, 1]),
        ({}, [2_000, 2_029], "closer together"),
    ],
)
def test_requests_near_start_and_stop(limits: dict[str, int], arrivals: list[int], answered_by: Any) -> None:
    path = _Path(0, tuple((seq, 0, at) for seq, at in enumerate(arrivals)), 0)
    stream = answering(jitter_ns=10, **limits)
    if isinstance(answered_by, str):
        with pytest.raises(InputError, match=answered_by):
            _answered_by(stream, path, DOCUMENT, "folder")
    else:
        found = _answered_by(stream, path, DOCUMENT, "folder")
        assert [seq for _, seq in found] == answered_by


@pytest.mark.parametrize(
    ("answer", "sent", "fits"), [(1, 5_050, True), (1, 5_049, False), (2, 9_000, False), (2, None, True)]
)
def test_an_answer_leaves_after_its_request(answer: int, sent: int | None, fits: bool) -> None:
    """The second of two requests arrives at 7 us, its answer waits for 50 ns; stamps differ by up to 2 us."""
    path = _Path(0, ((answer, sent, None),), 0)
    requests = [(1_000, 8), (7_000, 9)]
    if fits:
        _check(answering(), requests, path, "folder")
    else:
        with pytest.raises(InputError, match=f"answer {answer} left before the request"):
            _check(answering(), requests, path, "folder")


@pytest.mark.parametrize(
    ("kind", "talker", "limit", "found"),
    [
        # Request 0 is answered at the limit and 1 behind it; the wait of 2 ends with the run.
        ("message-reply", 1, 100, 1),
        ("message-reply", 1, 99, 3),
        ("message-reply", 1, 0, None),
        ("message-reply", 2, 100, None),
        ("message-request", 1, 100, None),
        ("message-notify", 1, 100, None),
        ("push", 1, 100, None),
        (None, 1, 100, None),
        ("message-reply", 1, None, None),
    ],
)
def test_waits_that_end_before_the_answer(
    kind: str | None, talker: int, limit: int | None, found: Any
) -> None:
    asking: Any = {"talker": talker, "trdp": {"time_out_ns": limit}}
    if limit is None:
        del asking["trdp"]
    streams = [asking, {**answering(), "trdp": {"kind": kind}}]
    if kind is None:
        del streams[1]["trdp"]
    asked = _Path(0, ((0, 1_000, 1_010), (1, 2_000, 2_010), (2, 9_900, None), (3, None, None)), 0)
    answers = _Path(1, ((0, 0, 1_100), (1, 0, 2_101), (2, 0, None), (7, 0, 1_000)), 0)
    triggers = {seq: _Trigger(seq, at, seq, at) for seq, at in ((0, 1_000), (1, 2_000), (2, 9_900))}
    assert _time_outs(streams, 1, answers, [[asked]], triggers, 10_000) == found


def test_a_table_of_another_run_is_refused(tmp_path: Path) -> None:
    folder = measured(tmp_path, POLL)
    table = pl.read_parquet(folder / "frames.parquet")
    earlier = pl.when(pl.col("path") == 2).then(pl.col("t_tx_ns") - 500_000).otherwise(pl.col("t_tx_ns"))
    table.with_columns(t_tx_ns=earlier).write_parquet(folder / "frames.parquet")
    with pytest.raises(InputError, match="answer 0 left before the request that it would belong to"):
        answered(folder)


def test_the_command(tmp_path: Path) -> None:
    folder = measured(tmp_path, POLL)
    table = tsnbench("measure", folder, "--answers")
    assert table.returncode == 0
    assert "ask > reply" in table.stdout
    assert "87.920" in table.stdout
    found = json.loads(tsnbench("measure", folder, "--answers", "--json").stdout)
    assert found["format"] == "tsnbench-answers/1"
    assert found["answers"][0]["chain"] == ["ask", "reply"]
    assert found["answers"][0]["time"]["max"] == 87_920
    text = tsnbench("measure", folder, "--answers", "--csv").stdout
    (row,) = [one for one in csv.DictReader(io.StringIO(text)) if one["statistic"] == "max"]
    assert (row["stream"], row["listener"], row["quantity"]) == ("reply", "master", "time from ask")
    wrong = tsnbench("measure", "--answers")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (2, "--answers: expected a run folder")
