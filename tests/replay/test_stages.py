"""Waits for a rate-latency server, and for frames that a transmit buffer took before."""

from __future__ import annotations

from pathlib import Path

from replay.test_why_frames_waited import replayed

NETWORK = """\
name: stages
duration: 2 ms
network:
  stations: [a, b, sink]
  bridges: [sw]
  links:
    - {rate: 1 Gbit/s, between: [a -- sw, b -- sw]}
    - {rate: 100 Mbit/s, between: [sw -- sink]}
  queues: {classes: {7: 1, 0: 0}}
streams:
  low: {from: a, to: sink, pcp: 0, period: 2 ms, units: [3000 B]}
  high: {from: b, to: sink, pcp: 7, period: 2 ms, offset: 100 us, phy: 1250 B}
shapers: {sw -> sink: STAGE}
"""


def waits(stage: str, stream: int, seq: int, folder: Path) -> list[tuple[str, int]]:
    """The reasons and lengths of a frame's parts at the port to the sink, in us."""
    _, history, _ = replayed(NETWORK.replace("STAGE", stage), folder)
    parts = history.parts(history.journey(stream, seq, 2)[-1])
    return [(part.reason.value, round(part.length_ns / 1_000)) for part in parts]


def test_the_first_frame_waits_for_the_server_and_the_next_one_for_the_frame_before(tmp_path: Path) -> None:
    """A frame of 123 us of the link takes 247 us of a server of 50 Mbit/s."""
    stage = "{server: {rate: 50 Mbit/s, latency: 20 us}}"
    low = waits(stage, 0, 0, tmp_path / "low")
    assert low[0] == ("server", 20)
    assert [reason for reason, _ in low] == ["server", "wire"]
    second = waits(stage, 0, 1, tmp_path / "second")
    # The latency of the first frame; then this is on the link, and the server has it for as long again.
    assert [reason for reason, _ in second] == ["server", "own class ahead", "server", "wire"]
    assert abs(second[1][1] - second[2][1]) <= 1


def test_a_high_frame_waits_for_the_low_frames_of_the_buffer(tmp_path: Path) -> None:
    """Three low frames of 123, 123 and 12 us come at 12, 24 and 25 us: with the buffer, the second one leaves
    before the high frame, and so does the third one if the buffer has three frames."""
    plain = waits("{queues: {transmit-buffer: 1}}", 1, 0, tmp_path / "plain")
    two = waits("{queues: {transmit-buffer: 2}}", 1, 0, tmp_path / "two")
    assert [reason for reason, _ in plain] == ["other frames", "wire"]
    assert [reason for reason, _ in two] == ["other frames", "transmit buffer", "wire"]
    assert abs(two[1][1] - 124) <= 1
    assert abs(two[0][1] - plain[0][1]) <= 1
