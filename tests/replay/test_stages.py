"""Waits for a rate-latency server, and for frames that a transmit buffer took before."""

from __future__ import annotations

from pathlib import Path

from replay.test_why_frames_waited import replayed
from tsnbench.replay.waiting import Part, Reason

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


def parts(stage: str, stream: int, seq: int, folder: Path) -> list[Part]:
    """A frame's parts at the port to the sink."""
    _, history, _ = replayed(NETWORK.replace("STAGE", stage), folder)
    return history.parts(history.journey(stream, seq, 2)[-1])


def waits(stage: str, stream: int, seq: int, folder: Path) -> list[tuple[str, int]]:
    """The reasons and lengths of these parts, in us."""
    return [(part.reason.value, round(part.length_ns / 1_000)) for part in parts(stage, stream, seq, folder)]


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
    """Three low frames of 123, 123 and 10 us come at 12, 24 and 25 us: with the buffer, the second one leaves
    before the high frame, and so does the third one if the buffer has three frames."""
    plain = waits("{queues: {transmit-buffer: 1}}", 1, 0, tmp_path / "plain")
    two = waits("{queues: {transmit-buffer: 2}}", 1, 0, tmp_path / "two")
    three = waits("{queues: {transmit-buffer: 3}}", 1, 0, tmp_path / "three")
    assert [reason for reason, _ in plain] == ["other frames", "wire"]
    assert [reason for reason, _ in two] == ["other frames", "transmit buffer", "wire"]
    assert abs(two[1][1] - 124) <= 1
    assert abs(two[0][1] - plain[0][1]) <= 1
    assert [reason for reason, _ in three] == [reason for reason, _ in two]
    assert abs(three[1][1] - two[1][1] - 10) <= 1


def test_the_buffer_names_the_stream_that_the_port_sends(tmp_path: Path) -> None:
    found = parts("{queues: {transmit-buffer: 2}}", 1, 0, tmp_path)
    assert [part.stream for part in found if part.reason is Reason.BUFFER] == [0]


def test_a_frame_that_waits_for_its_gate_is_in_no_buffer(tmp_path: Path) -> None:
    """The low frames have left at 275 us, and the link is idle until the gate opens at 400 us."""
    gates = "gates: {cycle: 1 ms, entries: [{open: [0], for: 400 us}, {open: [7], for: 600 us}]}"
    found = waits(f"{{queues: {{transmit-buffer: 2}}, {gates}}}", 1, 0, tmp_path)
    assert [reason for reason, _ in found] == ["gate closed", "wire"]
