"""Clocks of nodes in the Plan, value by value."""

from __future__ import annotations

import hashlib
from typing import Any

from support.planned import document_of

TEXT = """\
name: clocks
duration: 10 ms
seed: 7
network:
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a -- b]}
streams:
  s: {from: a, to: b, period: 1 ms, frame: 100 B}
"""


def clocks(written: str) -> Any:
    text = TEXT + f"clocks: {{{written}}}\n"
    return document_of(text)["clocks"]


def test_without_clocks_there_are_none() -> None:
    assert "clocks" not in document_of(TEXT)


def test_every_value_of_a_clock() -> None:
    own = (
        "a: {drift: -12.5 ppm, offset: 3 us, granularity: 8 ns, jitter: 4 ns, "
        "changes: [{at: 2 ms, drift: 21 ppm}], wander: {step: 1 ppb, every: 10 ms}}"
    )
    made = clocks(f"default: {{drift: 20 ppm}}, {own}")
    assert made["nodes"] == [
        {
            "offset_ns": 3_000, "deviation_ppt": -12_500_000, "granularity_ns": 8, "jitter_ns": 4,
            "changes": [{"at_ns": 2_000_000, "deviation_ppt": 21_000_000}],
            "wander": {"most_ppt": 1_000, "every_ns": 10_000_000},
        },
        {"offset_ns": 0, "deviation_ppt": 20_000_000, "granularity_ns": 1, "jitter_ns": 0},
    ]  # fmt: skip


def test_a_promise_and_the_faults_of_clocks() -> None:
    assert "within_ns" not in clocks("a: {}")
    assert clocks("within: 3 us")["within_ns"] == 3_000
    text = TEXT + "clocks: {a: {}}\nfaults: [{clock-step: b, by: 7 ns, at: 2 ms}]\n"
    (fault,) = document_of(text)["clocks"]["faults"]
    assert (fault["kind"], fault["node"]) == ("clock-step", 1)


def test_a_drawn_drift_is_uniform_and_depends_on_seed_and_name() -> None:
    """The first eight octets of a hash are a number below 2^64: its share of all whole numbers within."""
    within = 100_000_000
    for place, name in enumerate(("a", "b")):
        digest = hashlib.sha256(f"7/clock/{name}/drift".encode()).digest()
        share = sum(octet << 8 * (7 - at) for at, octet in enumerate(digest[:8]))
        found = clocks("default: {drift-within: 100 ppm}")["nodes"][place]["deviation_ppt"]
        assert found == share * (2 * within + 1) // 2**64 - within


def test_drawn_drifts_reach_both_ends() -> None:
    """Of seven values, each occurs about as often as the others."""
    text = TEXT.replace("[a, b]", f"[a, b, {', '.join(f'n{i}' for i in range(700))}]")
    text = text.replace("[a -- b]", f"[a -- b, {', '.join(f'a -- n{i}' for i in range(700))}]")
    text = text.replace("stations", "hosts")
    made: Any = document_of(text + "clocks: {default: {drift-within: 3 ppt}}\n")
    drifts = [node["deviation_ppt"] for node in made["clocks"]["nodes"]]
    assert set(drifts) == set(range(-3, 4))
    assert all(60 < drifts.count(value) < 140 for value in range(-3, 4))
