"""What a worst case is made of: the shares add up, for every mechanism, and say what would lower them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.matrix import table, trial
from support.planned import plan_of
from tsnbench.errors import InputError
from tsnbench.plan.bounds.parts import parts_of, parts_table

SHARED = """
name: shared
duration: 10 ms
network:
  stations: [talker, listener, other]
  bridges: [b1]
  links:
    rate: 1 Gbit/s
    cable: 1 m
    between: [talker-b1, other-b1, b1-listener]
streams:
  control: {from: talker, to: listener, pcp: 6, frame: 500 B, period: 1.001 ms}
  twin: {from: other, to: listener, pcp: 6, frame: 300 B, period: 1 ms}
  bulk: {from: other, to: listener, pcp: 0, frame: 1522 B, saturating: true}
"""
TIMES = "time_ms\n0\n1\n1.2\n1.4\n5\n5.1\n9\n"


@pytest.mark.parametrize("row", sorted(table.rows()))
def test_shares_add_up_with_each_mechanism(row: str, tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text(TIMES, encoding="utf-8")
    made = trial.planned(table.combined([row]), tmp_path)
    for flow in made.bounds()["flows"]:
        for start, upper in (("stamp", flow["upper_ps"]), ("release", flow["release_upper_ps"])):
            parts = parts_of(made, flow["stream"], flow["listener"], start)
            assert parts["total_ps"] == upper
            assert sum(share["ps"] for share in parts["shares"]) == (upper or 0)
            below = [share for share in parts["shares"] if share["ps"] < 0]
            assert {share["cause"] for share in below} <= {"once", "besides"}, below
            assert (parts["reason"] is None) == (upper is not None)


def test_the_largest_share_comes_first_with_what_would_lower_it() -> None:
    parts = parts_of(plan_of(SHARED), "control")
    sheet = parts_table(parts)
    assert sheet.title == "control to listener: at most 22.97 us from the talker's stamp"
    assert list(sheet.rows[0]) == [
        "b1 -> listener",
        "12.336",
        "53.7 %",
        "waits for a frame of a lower class that is on the link already: bulk",
        "shorter frames there",
    ]
    # Frame and gap of the other stream of the class: 320 octets.
    waits = {share["cause"]: share for share in parts["shares"]}["same-class"]
    assert (waits["ps"], waits["streams"]) == (2_560_000, ["twin"])
    assert waits["lowers"] == "shorter frames there"


@pytest.mark.parametrize(
    ("changes", "cause", "words"),
    [
        ({}, "transmission", "less payload"),
        # The smallest frame cannot be shorter.
        ({"frame: 300 B": "frame: 64 B"}, "same-class", None),
        # In the highest class it would wait for a frame of the other stream all the same.
        ({"frame: 1522 B, saturating: true": "frame: 1522 B, period: 1 ms", "pcp: 0": "pcp: 7"},
         "higher-classes", "shorter frames there"),
        ({"frame: 1522 B, saturating: true": "frame: 1522 B, period: 1 ms", "pcp: 0": "pcp: 5",
          "pcp: 6, frame: 500 B": "pcp: 4, frame: 500 B"},
         "higher-classes", "shorter frames there, or a higher pcp"),
    ],
)  # fmt: skip
def test_only_changes_that_lower_the_bound_are_named(
    changes: dict[str, str], cause: str, words: str | None
) -> None:
    text = SHARED
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    found = [share for share in parts_of(plan_of(text), "control")["shares"] if share["cause"] == cause]
    assert found[0].get("lowers") == words


def test_without_time_and_of_many_flows_no_change_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = parts_of(plan_of(SHARED), "control", within_s=0)
    with monkeypatch.context() as patched:
        patched.setattr("tsnbench.plan.bounds.parts.MOST_FLOWS", 1)
        assert parts_of(plan_of(SHARED), "control") == parts
    assert parts["shares"] == [
        {key: value for key, value in share.items() if key != "lowers"}
        for share in parts_of(plan_of(SHARED), "control")["shares"]
    ]
    assert not [share for share in parts["shares"] if "lowers" in share]


def test_a_stream_without_a_bound_has_its_reason() -> None:
    parts = parts_of(plan_of(SHARED.replace("period: 1 ms", "saturating: true")), "bulk")
    assert parts["total_ps"] is None
    assert parts["shares"] == []
    assert parts_table(parts).rows == [[parts["reason"]]]


@pytest.mark.parametrize(("stream", "listener", "found"), [("x", None, "x"), ("bulk", "b1", "bulk to b1")])
def test_unknown_names_are_told(stream: str, listener: str | None, found: str) -> None:
    with pytest.raises(InputError, match=f"found {found}\n  hint: it has control, twin, bulk"):
        parts_of(plan_of(SHARED), stream, listener)
