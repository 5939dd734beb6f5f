"""Servers and transmit buffers at the values where a refusal begins."""

from __future__ import annotations

import pytest

from support.planned import plan_of, port_of, refusal_text

TEXT = """\
name: n
duration: 1 ms
network: {{stations: [a, b], bridges: [sw], links: {{rate: 1 Gbit/s, between: [a -- sw, sw -- b]}}}}
streams: {{s: {{from: a, to: b, pcp: 5, period: 1 ms, frame: 1000 B{stream}}}}}
shapers: {{sw -> b: {{{port}}}}}
"""
BUFFER = "queues: {transmit-buffer: %d}"


def test_a_server_is_at_most_as_fast_as_its_link() -> None:
    made = plan_of(TEXT.format(stream="", port="server: {rate: 1 Gbit/s}"))
    assert port_of(made.document, "sw -> b")["server"]["rate_bps"] == 1_000_000_000
    faster = TEXT.format(stream="", port="server: {rate: 1000000001 bit/s}")
    assert "expected at most 1 Gbit/s, the rate of the link" in refusal_text(faster)


@pytest.mark.parametrize(
    ("stream", "more", "words"),
    [
        (", scheduled: true", "", "a port with scheduled streams"),
        (", requires: {delay: 1 ms}", ", gates: plan", "a port with planned windows"),
    ],
)
def test_a_buffer_of_two_frames_is_one_where_gates_are_planned(stream: str, more: str, words: str) -> None:
    """A buffer of one frame has the frame that is sent, and no other."""
    plan_of(TEXT.format(stream=stream, port=BUFFER % 1 + more))
    said = refusal_text(TEXT.format(stream=stream, port=BUFFER % 2 + more))
    assert f"expected no transmit buffer at sw -> b, {words}" in said
    assert "found 2 frames" in said


def test_a_server_has_a_buffer_of_one_frame() -> None:
    plan_of(TEXT.format(stream="", port="server: {rate: 1 Mbit/s}, " + BUFFER % 1))
    said = refusal_text(TEXT.format(stream="", port="server: {rate: 1 Mbit/s}, " + BUFFER % 2))
    assert "expected no queues.transmit-buffer beside server at one port" in said
