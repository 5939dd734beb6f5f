"""Captures through the Python interface: exact figures of recordings, clock offsets, errors of bad files."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import polars as pl
import pytest

from support.captures import picked, rtc_ends
from support.written_captures import A, B, Stamped, ethernet, pcap
from tsnbench.errors import BackendError, InputError
from tsnbench.measure import MeasureError, measure_captures, measures_rows, measures_table


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The RTC-Testbench captures at A and at B, unpacked."""
    return rtc_ends(tmp_path_factory.mktemp("recorded"))


def test_recorded_frames_come_out_exactly(ends: tuple[Path, Path], tmp_path: Path) -> None:
    frames = tmp_path / "frames.parquet"
    measures = measure_captures(*ends, frames=frames)
    (row,) = measures_rows(measures)
    assert (row["stream"], row["sent"], row["received"], row["lost"]) == ("rtc vlan 100 pcp 6", 5100, 5100, 0)
    found = [row[f"delay {name}"] for name in ("min", "median", "p90", "p99", "p99_9", "max", "mean")]
    assert found == [341, 391, 691, 871, 8102, 36223, 486.1362745098039]
    assert row["spread"] == 672.5176088210301
    table = pl.read_parquet(frames)
    assert len(table) == 5100
    assert table["delay_ns"].sum() == 2479295
    assert (table["t_rx_ns"] - table["t_tx_ns"] == table["delay_ns"]).all()
    worst = table.sort("delay_ns").row(-1, named=True)
    assert (worst["delay_ns"], worst["seq"]) == (36223, row["delay max_seq"])
    assert "tsnbench.paths" in pl.read_parquet_metadata(frames)


def test_a_table_of_frames_never_replaces_another_file(ends: tuple[Path, Path], tmp_path: Path) -> None:
    """Not even one of the captures that are measured."""
    notes, folder = tmp_path / "notes.txt", tmp_path / "folder"
    notes.write_text("by hand")
    folder.mkdir()
    for path in (ends[0], notes, folder, Path("/dev/null")):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(InputError, match="expected a new file or a table of frames, found another file"):
            measure_captures(*ends, frames=path)
        assert before is None or path.read_bytes() == before
    table = tmp_path / "deeper/frames.parquet"
    measure_captures(*ends, frames=table)
    # A table of frames is replaced, in one step.
    measure_captures(*ends, frames=table)
    assert [path.name for path in table.parent.iterdir()] == ["frames.parquet"]


def test_a_table_of_frames_that_does_not_fit(ends: tuple[Path, Path], tmp_path: Path) -> None:
    table = tmp_path / "frames.parquet"
    measure_captures(*ends, frames=table)
    before, limits = table.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(BackendError, match=r"frames\.parquet: cannot be written: File too large"):
            measure_captures(*ends, frames=table)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [path.name for path in tmp_path.iterdir()] == ["frames.parquet"]
    assert table.read_bytes() == before


def test_a_capture_that_cannot_be_used_is_named(ends: tuple[Path, Path], tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    said = []
    for path in (tmp_path, tmp_path / "none", fifo):
        with pytest.raises(MeasureError) as refused:
            measure_captures(ends[0], path)
        said.append(str(refused.value))
    assert said == [
        f"{tmp_path}: Is a directory",
        f"{tmp_path}/none: cannot be read: No such file or directory",
        f"{fifo}: expected a regular file, found a FIFO",
    ]


def test_the_table_of_a_capture_can_be_printed(ends: tuple[Path, Path]) -> None:
    import io

    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO())
    console.print(measures_table(measure_captures(*ends)))
    text = console.export_text()
    assert "36.223" in text
    assert "rtc vlan 100 pcp 6" in text
    assert "delay-step-abs" in text


def shifted(path: Path, seconds: int, into: Path) -> Path:
    """The same little-endian pcap with a clock that is ahead by whole seconds."""
    content = bytearray(path.read_bytes())
    place = 24
    while place < len(content):
        stamp = int.from_bytes(content[place : place + 4], "little") + seconds
        content[place : place + 4] = stamp.to_bytes(4, "little")
        place += 16 + int.from_bytes(content[place + 8 : place + 12], "little")
    into.write_bytes(content)
    return into


def test_an_offset_is_named_and_applied_only_on_request(ends: tuple[Path, Path], tmp_path: Path) -> None:
    tx, rx = ends[0], shifted(ends[1], 37, tmp_path / "shifted.pcap")
    found = measure_captures(tx, rx)
    assert found["offset"]["seconds"] == 37
    assert not found["offset"]["applied"]
    assert "TAI minus UTC" in found["offset"]["text"]
    assert found["paths"][0]["delay"]["min"] == 37_000_000_341
    for offset in ("auto", "37s", " 37 s ", 37, "+37"):
        applied = measure_captures(tx, rx, offset=offset)
        assert applied["offset"]["applied"]
        assert applied["paths"][0]["delay"]["sum"] == 2479295, offset
    with pytest.raises(MeasureError, match="expected whole seconds like 37s, or auto, found '37 ms'"):
        measure_captures(tx, rx, offset="37 ms")
    assert measure_captures(*ends, offset="auto")["offset"] is None


def test_files_that_cannot_be_measured_are_errors_of_the_input(
    ends: tuple[Path, Path], tmp_path: Path
) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"")
    words = tmp_path / "words.pcap"
    words.write_text("not a capture")
    for file, problem in (
        (empty, "is empty"),
        (words, "is neither pcap nor pcapng: it begins with 6e 6f 74 20"),
        (tmp_path / "missing.pcap", "cannot be read: No such file"),
    ):
        with pytest.raises(InputError, match=problem) as raised:
            measure_captures(ends[0], file)
        assert str(file) in str(raised.value)
    half = tmp_path / "half.pcap"
    half.write_bytes(ends[1].read_bytes()[:50_000])
    measures = measure_captures(ends[0], half)
    assert 0 < measures["paths"][0]["count"]["received"] < 5100
    assert "breaks off" in measures["source"]["warnings"][0]


def test_swapped_captures_give_a_warning(ends: tuple[Path, Path]) -> None:
    (warning,) = measure_captures(ends[1], ends[0])["source"]["warnings"]
    assert warning == (
        "delays are negative, down to -36.223 us: the captures are swapped, or the receiver's clock is "
        "behind the sender's"
    )
    assert measure_captures(*ends)["source"]["warnings"] == []


def test_streams_of_the_other_direction_are_named(ends: tuple[Path, Path], tmp_path: Path) -> None:
    """Captures of two ports hold frames of both directions; in the other direction delays are negative."""
    there = [picked(path, range(100), tmp_path / f"there-{n}.pcap") for n, path in enumerate(ends)]
    back = [picked(path, range(100), tmp_path / f"back-{n}.pcap", 1) for n, path in enumerate(ends)]
    both = [tmp_path / "both-0.pcap", tmp_path / "both-1.pcap"]
    for into, first, second in zip(both, there, reversed(back), strict=True):
        into.write_bytes(first.read_bytes() + second.read_bytes()[24:])
    measures = measure_captures(*both)
    (name,) = [path["stream"] for path in measures["paths"] if path["delay"]["median"] < 0]
    (warning,) = measures["source"]["warnings"]
    assert warning.startswith("delays of 1 of 2 streams are negative, down to -")
    assert warning.endswith(
        f" us: {name}; captures of a port have frames of both directions, and these went from the "
        "receiver's capture to the sender's: swap the captures for their losses"
    )


def test_the_other_direction_against_a_capture_of_one_is_named(tmp_path: Path) -> None:
    """The sender's port has frames of both directions, the receiver's capture those of one alone."""

    def frames(ether_type: int, source: bytes, to: bytes, delay_ns: int = 0) -> list[Stamped]:
        made = [bytes([n]) * 50 for n in range(40)]
        return [
            (n * 1_000_000 + delay_ns, ethernet(ether_type, content, source=source, to=to))
            for n, content in enumerate(made)
        ]

    there, back = frames(0x88B5, A, B), frames(0x88B5, B, A, 500)
    rx = pcap(tmp_path / "rx.pcap", frames(0x88B5, A, B, 50_000))
    found = measure_captures(pcap(tmp_path / "both.pcap", sorted(there + back)), rx)
    assert [path["count"]["received"] for path in found["paths"]] == [40, 0]
    assert found["source"]["warnings"] == [
        "1 of 2 streams (40 frames) have no frame at the receiver, and neither has any other stream of their "
        "senders: 02:00:00:00:00:02 > 02:00:00:00:00:01 0x88b5; captures of a port have frames of both "
        "directions: if these arrived at the sender's port, they are not lost"
    ]
    # A stream that is lost as a whole is not of the other direction if its sender is heard.
    lost = pcap(tmp_path / "lost.pcap", sorted(there + frames(0x88B6, A, B, 500)))
    found = measure_captures(lost, rx)
    assert [path["count"]["lost"] for path in found["paths"]] == [0, 40]
    assert found["source"]["warnings"] == []


def test_a_whole_second_offset_is_no_swap(ends: tuple[Path, Path], tmp_path: Path) -> None:
    behind = measure_captures(ends[0], shifted(ends[1], -37, tmp_path / "behind.pcap"))
    assert behind["offset"]["seconds"] == -37
    assert behind["source"]["warnings"] == []


def test_captures_that_share_no_frame_are_not_measured(ends: tuple[Path, Path], tmp_path: Path) -> None:
    early = picked(ends[0], range(1500), tmp_path / "early.pcap")
    late = picked(ends[1], range(2000, 3500), tmp_path / "late.pcap")
    with pytest.raises(MeasureError) as raised:
        measure_captures(early, late)
    assert str(raised.value).splitlines()[0] == (
        "the captures share no frame: 1500 frames at the sender, 1500 others at the receiver"
    )


def test_a_stream_with_another_source_address_is_found_by_its_content(
    ends: tuple[Path, Path], tmp_path: Path
) -> None:
    early = picked(ends[0], range(1500), tmp_path / "early.pcap")
    (same,) = measure_captures(early, picked(ends[1], range(1500), tmp_path / "same.pcap"))["paths"]
    other = picked(ends[1], range(1500), tmp_path / "other.pcap", stream=1)
    assert measure_captures(early, other)["paths"] == [same]


def test_captures_that_hardly_share_a_frame_give_a_warning(ends: tuple[Path, Path], tmp_path: Path) -> None:
    early = picked(ends[0], range(1500), tmp_path / "early.pcap")
    late = picked(ends[1], range(1480, 3000), tmp_path / "late.pcap")
    found = measure_captures(early, late)
    assert found["paths"][0]["count"]["received"] == 20
    assert found["source"]["warnings"] == [
        "the captures hardly share a frame: 20 of 1500 sent frames were received, and 1500 other frames: "
        "they may be of different paths or runs, and the losses no losses"
    ]


def test_losses_without_other_frames_at_the_receiver_give_no_warning(
    ends: tuple[Path, Path], tmp_path: Path
) -> None:
    few = measure_captures(ends[0], picked(ends[1], range(3), tmp_path / "few.pcap"))
    assert (few["paths"][0]["count"]["lost"], few["source"]["warnings"]) == (5097, [])
    none = measure_captures(ends[0], picked(ends[1], range(0), tmp_path / "none.pcap"))
    assert none["paths"][0]["count"]["lost"] == 5100
