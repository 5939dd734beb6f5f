"""Plans beside an earlier one: what runs stays, who moves is change_lines, and the proof holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.commands import tsnbench
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.planning.scheduling.incremental import Change, change_lines, changes, read_earlier
from tsnbench.planning.scheduling.schedule import prove
from tsnbench.scenario import read_scenario

HEAD = """\
name: keeping
duration: 10 ms
network:
  stations: [a, b, c, d]
  bridges: {left: {processing: 2 us}, right: {processing: 2 us}}
  links: {rate: 1 Gbit/s, between: [a-left, b-left, left-right, right-c, right-d]}
streams:
"""
LOOP = "  loop: {from: a, to: c, pcp: 7, period: 500 us, payload: 100 B, count: 4, scheduled: true}\n"
VIDEO = "  video: {from: b, to: [c, d], pcp: 7, period: 2 ms, units: [4000 B], scheduled: true}\n"
ALARM = "  alarm: {from: b, to: d, pcp: 7, period: 1 ms, payload: 300 B, scheduled: true}\n"
FILES = "  files: {from: a, to: d, saturating: true, payload: 1472 B}\n"


def _plan(*streams: str, earlier: Plan | None = None, head: str = HEAD) -> Plan:
    return plan(read_scenario(head + "".join(streams))[0], earlier)


def _by(found: list[Change], what: str) -> list[str]:
    return [one.flow for one in found if one.what == what]


def _windows(made: Plan, port: str) -> list[tuple[int, int, int]]:
    """(begin, end, mask) of what is open for class 7, over 4 ms."""
    gates = next(one for one in made.document["ports"] if one["name"] == port)["gates"]
    found, at = [], gates["base_time_ns"]
    for _ in range(4_000_000 // gates["cycle_ns"]):
        for entry in gates["entries"]:
            if entry["open"] >> 7 & 1:
                found.append((at % 4_000_000, (at + entry["interval_ns"]) % 4_000_000, entry["open"]))
            at += entry["interval_ns"]
    return found


def test_who_is_added_moves_nobody_where_there_is_room() -> None:
    before = _plan(LOOP, VIDEO, FILES)
    # First in the file, first in the order of the search: without the earlier plan it would come first.
    after = _plan(ALARM, LOOP, VIDEO, FILES, earlier=before)
    found = changes(before.document, after.document)
    assert _by(found, "moved") == _by(found, "removed") == []
    assert _by(found, "added") == ["alarm"]
    assert len(_by(found, "kept")) == 5
    assert prove(after.document, after.to_json()) == []
    for name, start in _released(before).items():
        assert _released(after)[name] == start
    # Every window that was open is still open, where nobody was added at all the very same.
    assert _windows(after, "right -> c") == _windows(before, "right -> c")


def _released(made: Plan) -> dict[str, Any]:
    return {s["name"]: (s["pattern"], s["scheduled"]) for s in made.document["streams"] if "scheduled" in s}


def test_who_is_removed_lets_all_others_stay() -> None:
    before = _plan(ALARM, VIDEO, LOOP, FILES)
    after = _plan(VIDEO, LOOP, FILES, earlier=before)
    found = changes(before.document, after.document)
    assert (_by(found, "removed"), _by(found, "moved")) == (["alarm"], [])
    # Planned afresh they would be elsewhere: what stayed stayed because it was kept.
    assert _released(_plan(VIDEO, LOOP, FILES)) != _released(after)
    assert prove(after.document, after.to_json()) == []


def test_the_same_again_is_the_same_plan() -> None:
    before = _plan(ALARM, LOOP, VIDEO, FILES)
    assert _plan(ALARM, LOOP, VIDEO, FILES, earlier=before).hash == before.hash


def test_who_makes_room_is_told_and_nobody_else_moves() -> None:
    """The new stream's release is written, and taken: only who is there has to go."""
    first = "  one: {from: a, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true}\n"
    second = "  two: {from: b, to: d, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true}\n"
    before = _plan(first, second)
    release = {n: s["pattern"]["offset_ns"] for n, s in zip("12", before.document["streams"], strict=True)}
    offset = release["1"] or 1_000
    new = second.replace("two: {from: b", "new: {from: a").replace(
        "scheduled", f"offset: {offset} ns, scheduled"
    )
    after = _plan(first, second, new, earlier=before)
    found = {one.flow: one for one in changes(before.document, after.document)}
    assert found["one"].what == "moved"
    assert found["one"].why == "it made room for new"
    assert found["new"].now_ns == offset
    assert prove(after.document, after.to_json()) == []
    first_line, *lines = change_lines(list(found.values()))
    assert first_line == "scheduled streams: 1 kept, 1 moved, 1 added, 0 removed"
    assert [line.split(":")[0] for line in lines] == ["one", "new"]


def test_the_command_says_it_in_words_and_in_json(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(HEAD + LOOP + VIDEO, encoding="utf-8")
    (tmp_path / "new.yaml").write_text(HEAD + ALARM + VIDEO, encoding="utf-8")
    old = tsnbench("plan", "old.yaml", "--json", cwd=tmp_path)
    (tmp_path / "old.plan.json").write_text(old.stdout, encoding="utf-8")
    done = tsnbench("plan", "new.yaml", "--keep-schedule", "old.plan.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "scheduled streams: 1 kept, 0 moved, 1 added, 4 removed" in done.stderr
    printed = json.loads(done.stdout)
    assert {one["stream"]: one["what"] for one in printed["changes"]}["video"] == "kept"
    # What was printed can be kept in turn.
    (tmp_path / "next.json").write_text(done.stdout, encoding="utf-8")
    assert read_earlier(tmp_path / "next.json").hash == printed["plan"]["hash"]
    again = tsnbench("plan", "new.yaml", "--keep-schedule", "next.json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "2 kept, 0 moved, 0 added, 0 removed" in again.stderr
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    assert tsnbench("plan", "new.yaml", "--keep-schedule", "broken.json", cwd=tmp_path).returncode == 2
