"""Scheduled streams in the simulator: every frame has its planned delay, under any other load."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

from support.planned import plan_of, problems_of, run_of
from tsnbench.plan.document import Plan
from tsnbench.planning.errors import PlanningErrors
from tsnbench.planning.scheduling.schedule import prove

CLOCKS = """\
clocks:
  default: {drift-within: 20 ppm, offset: 100 us, granularity: 8 ns, jitter: 4 ns}
  gptp: {grandmaster: b0, sync-interval: 1/32 s, pdelay-interval: 1/8 s, pcp: 6}
"""


def _text(seed: int, margin: str = "0 ns", duration: str = "8 ms", start: str = "0 ns") -> str:
    """A tree of bridges; scheduled streams of several periods and sizes; saturating streams everywhere."""
    draw = random.Random(seed)
    bridges, stations = draw.randint(1, 5), draw.randint(3, 6)
    lines = [f"name: schedule-{seed}", f"duration: {duration}", f"seed: {seed}", "network:", "  bridges:"]
    lines += [f"    b{n}: {{processing: {draw.choice([0, 500, 1_300, 4_000])} ns}}" for n in range(bridges)]
    lines += [f"  stations: [{', '.join(f's{n}' for n in range(stations))}]", "  links:"]
    for n in range(1, bridges):
        rate, cable = draw.choice(["1 Gbit/s", "100 Mbit/s", "2.5 Gbit/s"]), draw.choice([1, 7, 100])
        lines.append(f"    - {{rate: {rate}, cable: {cable} m, between: [b{draw.randrange(n)} -- b{n}]}}")
    for n in range(stations):
        at = draw.randrange(bridges)
        lines.append(f"    - {{rate: 1 Gbit/s, cable: {draw.choice([1, 10])} m, between: [s{n} -- b{at}]}}")
    lines += [f"schedule: {{margin: {margin}}}", "streams:"]
    for n in range(draw.randint(1, 7)):
        talker, *listeners = draw.sample(range(stations), draw.choice([2, 2, 3]))
        size = draw.choice(["frame: 64 B", "frame: 700 B", "frame: 1522 B", "units: [4000 B]"])
        to, period, count = (
            ", ".join(f"s{to}" for to in listeners),
            draw.choice([1, 2, 4]),
            draw.choice([1, 1, 3]),
        )
        lines.append(
            f"  c{n}: {{from: s{talker}, to: [{to}], pcp: 7, {size}, period: {period} ms, count: {count}, "
            f"scheduled: true, start: {start}}}"
        )
    for n in range(stations):
        other = draw.choice([other for other in range(stations) if other != n])
        pcp = draw.choice([0, 3])
        lines.append(f"  rest{n}: {{from: s{n}, to: s{other}, pcp: {pcp}, saturating: true, frame: 1522 B}}")
    return "\n".join(lines) + "\n"


def _made(text: str) -> Plan | None:
    """The Plan; none if the random links cannot carry the random streams."""
    try:
        return plan_of(text)
    except PlanningErrors as error:
        if all(problem.expected == "a schedule" for problem in error.problems):
            return None
        raise


def _delays(made: Plan, folder: Path) -> pl.DataFrame:
    rows = run_of(made, folder).observations()
    rows = rows.filter(pl.col("stream").str.starts_with("c"))
    sent = rows.filter(pl.col("stage") == "tx").select("stream", "seq", sent="t_ns")
    received = rows.filter(pl.col("stage") == "rx").select("stream", "seq", "tap", received="t_ns")
    return sent.join(received, on=["stream", "seq"]).with_columns(delay=pl.col("received") - pl.col("sent"))


def _within_proof(made: Plan, delays: pl.DataFrame, folder: Path) -> None:
    """No delay is outside the bounds of the schedule's proof, and the report shows the same bounds."""
    from tsnbench.plan.bounds import PROOF, bounds
    from tsnbench.report.parts.bounds import read_bounds

    document = made.document
    proved = {(f["stream"], f["listener"]): f for f in bounds(made)["flows"] if f["stream"][0] == "c"}
    assert all(flow["source"].startswith(PROOF) for flow in proved.values())
    listeners = {
        tap["name"]: document["nodes"][document["ports"][tap["port"]]["node"]]["name"]
        for tap in document["taps"]
    }
    for (stream, tap), rows in delays.group_by("stream", "tap"):
        own = proved[str(stream), listeners[str(tap)]]
        assert own["lower_ns"] <= rows["delay"].min() <= rows["delay"].max() <= own["upper_ns"], (stream, tap)
    (folder / "plan.json").write_text(made.to_json(), encoding="utf-8")
    shown, _ = read_bounds(folder)
    assert {key: shown[key].upper_ns for key in proved} == {k: f["upper_ns"] for k, f in proved.items()}


def _frames_per_unit(made: Plan) -> dict[str, int]:
    return {
        stream["name"]: -(-stream["size"]["octets"][0] // stream["size"]["most_per_frame"])
        if stream["size"]["kind"] == "units"
        else 1
        for stream in made.document["streams"]
    }


@pytest.mark.parametrize("seed", range(24))
def test_every_frame_has_its_planned_delay(seed: int, tmp_path: Path) -> None:
    made = _made(_text(seed))
    if made is None:
        return
    delays, units = _delays(made, tmp_path), _frames_per_unit(made)
    for (stream, tap), rows in delays.group_by("stream", "tap"):
        for place in range(units[str(stream)]):
            same = rows.filter(pl.col("seq") % units[str(stream)] == place)
            assert same.height >= 2
            # Stamps are whole nanoseconds, so a fraction of a nanosecond may appear as either neighbour.
            assert same["delay"].max() - same["delay"].min() <= 1, (stream, tap, place)
    _within_proof(made, delays, tmp_path)
    planned = {stream["name"]: stream for stream in made.document["streams"] if "scheduled" in stream}
    assert {str(name) for name in delays["stream"].unique()} == set(planned)


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_within_the_margin_clocks_may_differ(seed: int, tmp_path: Path) -> None:
    margin = 2_000
    # The servos need this time to settle.
    made = _made(_text(seed, f"{margin} ns", "1.2 s", "1 s") + CLOCKS)
    assert made is not None
    delays, units = _delays(made, tmp_path), _frames_per_unit(made)
    assert delays.height > 100
    _within_proof(made, delays, tmp_path)
    for (stream, tap), rows in delays.group_by("stream", "tap"):
        for place in range(units[str(stream)]):
            same = rows.filter(pl.col("seq") % units[str(stream)] == place)
            assert same["delay"].max() - same["delay"].min() <= 2 * margin, (stream, tap, place)


def test_errors_of_a_changed_schedule_are_found() -> None:
    made = _made(_text(3))
    assert made is not None
    assert prove(made.document, made.to_json()) == []
    document = {key: value for key, value in made.document.items() if key != "hash"}
    gates = next(port["gates"] for port in document["ports"] if "gates" in port)
    gates["base_time_ns"] += 1_500
    import json

    (first, *_) = prove(document, json.dumps(document))
    assert "stream c" in first or "port" in first


SHUT = "{open: 0, for: 1 ms}"
TWO = """\
name: two
duration: 10 ms
network: {{stations: [a, b, c], bridges: [s], links: {{rate: 100 Mbit/s, between: [a-s, b-s, s-c]}}}}
streams:
  x: {{from: a, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true{x}}}
  y: {{from: b, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true{y}}}
{more}
"""


@pytest.mark.parametrize(
    ("x", "y", "more", "path", "words"),
    [
        (", requires: {delay: 100 us}", "", "", "streams.x", "x needs at least 161.28 us over 2 links"),
        (", offset: 1 us", ", offset: 1 us", "", "streams.y", "y"),
        (", jitter: 1 us", "", "", "streams.x.jitter", "jitter"),
        ("", "", f"shapers: {{all: {{gates: {{entries: [{SHUT}]}}}}}}", "shapers.all.gates", "0 ns at most"),
        ("", "", "  z: {from: a, to: c, pcp: 7, period: 1 ms, frame: 64 B}", "streams.z", "PCP 7"),
        ("", "", "schedule: {margin: 600 us}", "streams.x", "link a -> s for"),
    ],
)  # fmt: skip
def test_an_impossible_schedule_has_a_reason(x: str, y: str, more: str, path: str, words: str) -> None:
    (first, *_) = problems_of(TWO.format(x=x, y=y, more=more))
    assert (first.path, words in first.found) == (path, True), first
    assert first.where
