"""Numbers of industrial protocols: losses, copies and delays without a test payload, and tshark's numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from support.commands import tsnbench
from support.written_captures import Stamped, dissected, ethernet, pcap, udp
from tsnbench.measure import measure_captures
from tsnbench.measure.inspection import InspectedStream, inspect_capture

PERIOD_NS, DELAY_NS = 2_000_000, 50_000


@dataclass(frozen=True)
class Family:
    """One protocol: its frames, and how tshark prints their numbers."""

    frame: Callable[[int], bytes]
    """The n-th frame of a stream."""
    named: str
    """The name of the stream."""
    payload: str
    field: str = ""
    options: tuple[str, ...] = ()
    number: Callable[[int], int] = int
    """The number that the n-th frame contains."""
    first: int = 0
    """Of the numbers that the tests use: some before a wrap-around, some behind it."""


def avtp(n: int, subtype: bytes = b"\x02") -> bytes:
    head = subtype + struct.pack(">BBBQI", 0x81, n % 256, 0, 0x0200000000010005, 125_000 * n % 2**32)
    return ethernet(0x22F0, head + struct.pack(">BBBBHBB", 4, 0x50, 1, 16, 2, 0, 0) + bytes(2), vlan=2)


def profinet(n: int, cycle: int = 64) -> bytes:
    head = struct.pack(">H", 0x8000) + b"\x80" * 40
    return ethernet(0x8892, head + struct.pack(">HBB", n * cycle % 65_536, 0x35, 0), vlan=0)


def uadp(n: int) -> bytes:
    head = b"\x71\x2a\x0b\x05\0\x01\0\0\0" + struct.pack("<H", n % 65_536)
    return udp(head + b"\x01\x07\0" + b"\x01\x01\0\x06\x07\0\0\0", 4840)


def uadp_at_another_port(n: int) -> bytes:
    return udp(b"\xd1\x01\x2a\x01\x01\x07\0\x09" + struct.pack("<H", n % 65_536) + bytes(8), 14_840)


def uadp_over_ethernet(n: int) -> bytes:
    return ethernet(0xB62C, b"\xd1\x01\x2a\x01\x01\x07\0\x09" + struct.pack("<H", n % 65_536) + bytes(30))


def someip(n: int) -> bytes:
    head = struct.pack(">HHIHH", 0x1234, 0x8001, 8 + 12, 0, n % 65_535 + 1)
    return udp(head + bytes([1, 2, 2, 0]) + bytes(12), 30_501, source_port=30_500)


def rtps(n: int) -> bytes:
    data = (
        bytes(2) + struct.pack("<H", 16) + bytes(4) + bytes.fromhex("00001203") + struct.pack("<II", 0, n + 1)
    )
    data += b"\0\x01\0\0" + bytes(8)
    time = b"\x09\x01\x08\0" + bytes(8)
    return udp(
        b"RTPS\x02\x03\x01\x0f"
        + bytes(range(1, 13))
        + time
        + b"\x15\x05"
        + struct.pack("<H", len(data))
        + data,
        7411,
    )


def tlv(tag: int, value: bytes) -> bytes:
    return bytes([tag, len(value)]) + value


def samples(n: int) -> bytes:
    asdu = tlv(0x80, b"MU01") + tlv(0x82, struct.pack(">H", n % 4000)) + tlv(0x83, b"\0\0\0\x01")
    asdu += tlv(0x85, b"\x02") + tlv(0x87, bytes(64))
    pdu = tlv(0x60, tlv(0x80, b"\x01") + tlv(0xA2, tlv(0x30, asdu)))
    return ethernet(0x88BA, struct.pack(">HHHH", 0x4000, 8 + len(pdu), 0, 0) + pdu, vlan=1)


def goose(n: int) -> bytes:
    # Nine frames of each state.
    state, sequence = n // 9 + 1, n % 9
    fields = (
        tlv(0x80, b"IED1/LLN0$GO$g") + tlv(0x81, b"\x07\xd0") + tlv(0x82, b"IED1/LLN0$d") + tlv(0x83, b"g")
    )
    fields += tlv(0x84, bytes(8)) + tlv(0x85, state.to_bytes(2, "big")) + tlv(0x86, bytes([sequence]))
    fields += (
        tlv(0x87, b"\0")
        + tlv(0x88, b"\x01")
        + tlv(0x89, b"\0")
        + tlv(0x8A, b"\x01")
        + tlv(0xAB, tlv(0x83, b"\0"))
    )
    pdu = tlv(0x61, fields)
    return ethernet(0x88B8, struct.pack(">HHHH", 1, 8 + len(pdu), 0, 0) + pdu, vlan=1)


def enip(n: int) -> bytes:
    head = struct.pack("<HHHIIHH", 2, 0x8002, 8, 0x12345678, n % 2**32, 0x00B1, 6)
    return udp(head + struct.pack("<HI", n // 4 % 65_536, 0), 2222, source_port=2222)


def ethercat(n: int) -> bytes:
    datagram = struct.pack("<BBIHH", 12, n % 256, 0x01000000, 8, 0) + struct.pack("<Q", n) + b"\0\0"
    return ethernet(0x88A4, struct.pack("<H", len(datagram) | 1 << 12) + datagram)


def rtp(n: int) -> bytes:
    return udp(struct.pack(">BBHII", 0x80, 96, n % 65_536, 160 * n % 2**32, 0x01020304) + bytes(20), 5004)


def sync(n: int) -> bytes:
    head = struct.pack(">BBHBBHqI", 0x10, 0x12, 44, 3, 0, 0x0208, 0, 0)
    port = bytes.fromhex("020000fffe000001") + b"\0\x01"
    return ethernet(0x88F7, head + port + struct.pack(">HBb", n % 65_536, 0, -9) + bytes(10))


ADDRESSES = "02:00:00:00:00:01 > 02:00:00:00:00:02"
FAMILIES = {
    "avtp": Family(
        avtp, "avtp 0x0200000000010005", "IEEE 1722 (AVTP)", "aaf.seqnum", number=lambda n: n % 256, first=236
    ),
    "profinet": Family(
        profinet, f"profinet 0x8000 {ADDRESSES}", "PROFINET RT", "pn_rt.cycle_counter",
        number=lambda n: n * 64 % 65_536, first=1004,
    ),
    "uadp": Family(
        uadp, "uadp publisher 42 group 5 10.0.0.1:40000 > 10.0.0.2:4840", "OPC UA PubSub (UADP)", first=65_516
    ),
    "uadp at another port": Family(
        uadp_at_another_port, "uadp 10.0.0.1:40000 > 10.0.0.2:14840", "OPC UA PubSub (UADP)", first=65_516
    ),
    "uadp over ethernet": Family(
        uadp_over_ethernet, "uadp publisher 298 writer 7", "OPC UA PubSub (UADP)", first=65_516
    ),
    "some/ip": Family(
        someip, "some/ip 0x1234.0x8001 notification 10.0.0.1:30500 > 10.0.0.2:30501", "SOME/IP",
        "someip.sessionid",
        ("-d", "udp.port==30501,someip"), lambda n: n % 65_535 + 1, 65_515,
    ),
    "rtps": Family(
        rtps, "rtps 0102030405060708090a0b0c.00001203 10.0.0.1:40000 > 10.0.0.2:7411", "RTPS (DDS)",
        "rtps.sm.seqNumber", number=lambda n: n + 1, first=100,
    ),
    "sampled values": Family(
        samples, "sv 0x4000 MU01", "Sampled Values", "sv.smpCnt", number=lambda n: n % 4000, first=3980
    ),
    "goose": Family(
        goose, "goose 0x0001 IED1/LLN0$GO$g", "GOOSE", "goose.sqNum", number=lambda n: n % 9, first=9
    ),
    "ethernet/ip": Family(
        enip, "enip 0x12345678 10.0.0.1:2222 > 10.0.0.2:2222", "EtherNet/IP", "enip.cpf.sai.seq",
        number=lambda n: n % 2**32, first=2**32 - 20,
    ),
    "ethercat": Family(
        ethercat, f"ethercat {ADDRESSES}", "EtherCAT", "ecat.idx", number=lambda n: n % 256, first=236
    ),
    "rtp": Family(
        rtp, "rtp 10.0.0.1:40000 > 10.0.0.2:5004", "RTP", "rtp.seq", ("-d", "udp.port==5004,rtp"),
        lambda n: n % 65_536, 65_516,
    ),
    "ptp": Family(
        sync, "ptp Sync domain 3 020000.fffe.000001-1", "PTP", "ptp.v2.sequenceid",
        number=lambda n: n % 65_536, first=65_516,
    ),
}  # fmt: skip
EVERY = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def stamped(family: Family, numbers: list[int], delay_ns: int = 0) -> list[Stamped]:
    return [((n - family.first) * PERIOD_NS + delay_ns, family.frame(n)) for n in numbers]


def numbers_of(family: Family) -> list[int]:
    return list(range(family.first, family.first + 40))


def only(path: Path) -> InspectedStream:
    (one,) = inspect_capture(path)["streams"]
    return one


SET_BACK_NS = 48_128 * 10**9


@EVERY
def test_a_clock_that_is_set_back_takes_no_frame_from_its_stream(family: Family, tmp_path: Path) -> None:
    """Otherwise one side is read to its end first, and the other one has numbers of later frames."""
    frames = [(0, FAMILIES["rtps" if family is not FAMILIES["rtps"] else "rtp"].frame(1))]
    numbers = range(family.first, family.first + 1000)
    frames += [(at_ns - SET_BACK_NS, octets) for at_ns, octets in stamped(family, [*numbers])]
    path = pcap(tmp_path / "back.pcap", frames)
    counts = {one["stream"]: one["count"] for one in measure_captures([path], [path])["paths"]}
    count = counts[family.named]
    assert (count["sent"], count["received"], count["unmatched_rx"]) == (1000, 1000, 0)
    assert count["never_sent"] == 0


@pytest.mark.parametrize("side", ["tx", "rx", "both", "one stamp"])
def test_a_clock_of_one_side_is_set_back(side: str, tmp_path: Path) -> None:
    """20,000 frames in 2 s: more than may be lost one after the other before they count as lost."""

    def frames(back: range, delay_ns: int) -> list[Stamped]:
        return [
            (n * 100_000 + delay_ns - SET_BACK_NS * (n in back), FAMILIES["rtp"].frame(n))
            for n in range(20_000)
        ]

    behind, single, never = range(5_000, 20_000), range(5_000, 5_001), range(0)
    tx = pcap(tmp_path / "tx.pcap", frames(behind if side in ("tx", "both") else never, 0))
    own = behind if side in ("rx", "both") else single if side == "one stamp" else never
    rx = pcap(tmp_path / "rx.pcap", frames(own, DELAY_NS))
    (path,) = measure_captures([tx], [rx])["paths"]
    assert (path["count"]["sent"], path["count"]["received"], path["count"]["lost"]) == (20_000, 20_000, 0)


@EVERY
def test_a_stream_is_told_with_its_losses_and_copies(family: Family, tmp_path: Path) -> None:
    numbers = numbers_of(family)
    found = inspect_capture(pcap(tmp_path / "whole.pcap", stamped(family, numbers)))
    (one,) = found["streams"]
    assert (found["payloads"], one["stream"]) == ([family.payload], family.named)
    assert (one["frames"], one["missing"], one["duplicate"], one["reordered"]) == (40, 0, 0, 0)
    interval = one["interval"]
    assert interval is not None
    assert (interval["min"], interval["max"]) == (PERIOD_NS, PERIOD_NS)
    # One frame before the wrap-around is missing, one behind it, and one is there twice.
    some = [n for place, n in enumerate(numbers) if place not in (11, 30)]
    some.insert(25, some[24])
    one = only(pcap(tmp_path / "some.pcap", stamped(family, some)))
    assert (one["frames"], one["missing"], one["duplicate"]) == (38, 2, 1)
    assert [gap["missing"] for gap in one["gaps"]] == [1, 1]


@EVERY
def test_frames_of_both_ends_are_paired_by_the_protocols_numbers(family: Family, tmp_path: Path) -> None:
    numbers = numbers_of(family)
    tx = pcap(tmp_path / "tx.pcap", stamped(family, numbers))
    received = [n for place, n in enumerate(numbers) if place not in (0, 11, 30)]
    rx = pcap(tmp_path / "rx.pcap", stamped(family, received, DELAY_NS))
    (path,) = measure_captures(tx, rx)["paths"]
    count, delay = path["count"], path["delay"]
    assert (count["sent"], count["received"], count["lost"], count["never_sent"]) == (40, 37, 3, 0)
    assert delay is not None
    assert (delay["min"], delay["max"]) == (DELAY_NS, DELAY_NS)


@pytest.mark.parametrize("family", [one for one in FAMILIES.values() if one.field], ids=lambda one: one.field)
def test_the_numbers_are_those_of_tshark(family: Family, tmp_path: Path) -> None:
    path = pcap(tmp_path / "a.pcap", stamped(family, numbers_of(family)))
    printed = [int(line[0], 0) for line in dissected(path, family.field, options=family.options)]
    assert printed == [family.number(n) for n in numbers_of(family)]
    table = tmp_path / "frames.parquet"
    (one,) = inspect_capture(path, frames=table)["streams"]
    ours = pl.read_parquet(table).sort("t_tx_ns")["seq"].to_list()
    if family.payload == "GOOSE":
        # Messages of all states are numbered one after the other.
        assert ours == list(range(ours[0], ours[0] + 40))
        return
    meant = one["numbers"] or {"modulus": 0, "step": 1, "residue": 0, "first": 0}
    found = [number * meant["step"] + meant["residue"] for number in ours]
    found = [(number % meant["modulus"] if meant["modulus"] else number) + meant["first"] for number in found]
    assert [number % 2**32 for number in found] == printed
    assert ours == list(range(ours[0], ours[0] + 40))


def test_a_gap_is_told_by_the_number_in_the_frame(tmp_path: Path) -> None:
    """300 numbers of 8 bits without number 100, and once more with the second number 100."""
    for missing in (100, 356):
        frames = [(n * 125_000, avtp(n)) for n in range(400) if n != missing]
        done = tsnbench("inspect", pcap(tmp_path / f"{missing}.pcap", frames))
        assert done.returncode == 0
        assert "avtp 0x0200000000010005: missing 1 at 100" in " ".join(done.stdout.split())


def test_a_goose_publisher_that_begins_again_has_no_gap(tmp_path: Path) -> None:
    """Numbers 4 to 6 of state 1, and then 1 to 3 of state 1; then state 3."""
    numbers = [*range(4, 7), *range(1, 4), 18, 19]
    one = only(pcap(tmp_path / "a.pcap", [(place * 10**9, goose(n)) for place, n in enumerate(numbers)]))
    assert (one["frames"], one["missing"], one["duplicate"], one["reordered"]) == (8, 1, 0, 0)


@pytest.mark.parametrize("cycle", [32, 64, 48, 4096])
def test_the_cycle_of_profinet_is_learned(cycle: int, tmp_path: Path) -> None:
    frames = [(n * cycle * 31_250, profinet(n, cycle)) for n in range(40) if n not in (11, 20, 21)]
    one = only(pcap(tmp_path / "a.pcap", frames))
    assert (one["frames"], one["missing"]) == (37, 3)
    assert one["gaps"] == [{"after": 10, "missing": 1}, {"after": 19, "missing": 2}]
    assert one["numbers"] == {"modulus": 65_536, "step": cycle, "residue": 0, "first": 0}


def test_measure_of_one_capture_tells_its_streams(tmp_path: Path) -> None:
    path = pcap(tmp_path / "a.pcap", [(n * 2_000_000, profinet(n)) for n in range(40) if n != 11])
    for command in ("measure", "inspect"):
        done = tsnbench(command, path)
        assert done.returncode == 0, done.stderr
        said = " ".join(done.stdout.split())
        assert "profinet 0x8000" in said
        assert "missing 1 at 704" in said
    assert tsnbench("measure", path, "--into", tmp_path / "page.html").returncode == 0
    refused = tsnbench("measure", path, "--timeout", "1s")
    assert refused.returncode == 2
    assert "expected one capture with TRDP telegrams" in refused.stderr


def test_presentation_times_against_arrival(tmp_path: Path) -> None:
    def frame(n: int, margin_ns: int, tai_ns: int = 0) -> Stamped:
        at_ns = n * 125_000
        time = (1_795_234_296 * 10**9 + at_ns + margin_ns + tai_ns) % 2**32
        octets = avtp(n)
        return at_ns, octets[:30] + struct.pack(">I", time) + octets[34:]

    margins = [2_000_000 if n != 7 else -5_000 for n in range(50)]
    for tai_ns in (0, 37 * 10**9):
        path = pcap(tmp_path / "a.pcap", [frame(n, margin, tai_ns) for n, margin in enumerate(margins)])
        (one,) = inspect_capture(path)["protocols"]["streams"]
        margin = one["margin"]
        assert margin is not None
        assert (margin["min"], margin["median"], one["late"]) == (-5_000, 2_000_000, 1)
        assert one["clock_offset_ns"] == tai_ns
    # Times of another clock are no margins.
    path = pcap(tmp_path / "b.pcap", [(n * 125_000, avtp(6 * n)) for n in range(50)])
    assert inspect_capture(path)["protocols"]["streams"][0]["margin"] is None


def test_status_and_working_counters(tmp_path: Path) -> None:
    bad = profinet(3)[:-2] + b"\x15\0"
    counted = [ethercat(n)[:34] + struct.pack("<H", n % 3) + bytes(24) for n in range(9)]
    frames = [profinet(1), profinet(2), bad, *counted]
    path = pcap(tmp_path / "a.pcap", list(enumerate(frames)))
    found = inspect_capture(path)["protocols"]["streams"]
    assert [(one["bad_status"], one["working_counter"]) for one in found] == [(1, None), (None, [0, 2])]


def message(kind: int, n: int, log: int, correction_ns: int = 0) -> bytes:
    octets = bytearray(sync(n))
    octets[14] = 0x10 | kind
    octets[22:30] = struct.pack(">q", correction_ns << 16)
    octets[47] = log % 256
    return bytes(octets)


def test_ptp_is_told_by_type_of_message(tmp_path: Path) -> None:
    frames: list[Stamped] = []
    for n in range(20):
        at_ns = n * 125_000_000
        if n != 7:
            frames.append((at_ns, message(0, n, -3)))
        frames.append((at_ns + 1_000_000, message(8, n, -3, 300 + n)))
        # Announce messages come every 250 ms, and say every second.
        if n % 2:
            frames.append((at_ns + 2_000_000, message(11, n // 2, 0)))
    path = pcap(tmp_path / "a.pcap", frames)
    ptp = {one["message"]: one for one in inspect_capture(path)["protocols"]["ptp"]}
    assert list(ptp) == ["Sync", "Follow_Up", "Announce"]
    first, second = ptp["Sync"], ptp["Follow_Up"]
    assert (first["messages"], first["missing"], first["domain"], first["sdo"]) == (19, 1, 3, 1)
    assert (first["port"], first["interval_told_ns"]) == ("020000.fffe.000001-1", 125_000_000)
    interval, correction = first["interval"], second["correction"]
    assert interval is not None
    assert correction is not None
    assert (interval["min"], interval["max"], interval["count"]) == (125_000_000, 125_000_000, 17)
    assert (correction["min"], correction["max"]) == (300, 319)
    said = " ".join(tsnbench("inspect", path).stdout.split())
    assert "Announce of 020000.fffe.000001-1: sent every 250 ms, logMessageInterval says 1 s" in said
    printed = dissected(path, "ptp.v2.correction.ns")
    assert sorted(int(line[0]) for line in printed if line[0] not in ("", "0")) == list(range(300, 320))


def test_one_capture_shows_the_residence_in_a_transparent_clock(tmp_path: Path) -> None:
    frames = [
        (n * 125_000_000 + later, message(0, n, -3, 10 + later))
        for n in range(10)
        for later in (0, 5_000 + n)
    ]
    (one,) = inspect_capture(pcap(tmp_path / "a.pcap", frames))["protocols"]["ptp"]
    assert one["messages"] == 10
    for stat in (one["again"], one["correction_added"]):
        assert stat is not None
        assert (stat["count"], stat["min"], stat["max"]) == (10, 5_000, 5_009)


def rtps_samples(first: int, count: int, writer: int = 0x12) -> bytes:
    """DATA submessages of one writer."""
    found = b""
    for n in range(first, first + count):
        data = (
            bytes(2) + struct.pack("<H", 16) + bytes(4) + bytes([0, 0, writer, 3]) + struct.pack("<II", 0, n)
        )
        data += b"\0\x01\0\0" + bytes(8)
        found += b"\x15\x05" + struct.pack("<H", len(data)) + data
    return found


def rtps_of_two_writers(n: int) -> bytes:
    head = b"RTPS\x02\x03\x01\x0f" + bytes(range(1, 13))
    return udp(head + rtps_samples(2 * n + 1, 2) + rtps_samples(n + 1, 1, writer=0x22), 7411)


def calls(n: int) -> bytes:
    made = b""
    for service, session in ((0x1234, n), (0x5678, 3 * n), (0x5678, 3 * n + 1), (0x5678, 3 * n + 2)):
        made += (
            struct.pack(">HHIHH", service, 0x8001, 12, 0, session % 65_535 + 1)
            + bytes([1, 2, 2, 0])
            + bytes(4)
        )
    return udp(made, 30_501, source_port=30_500)


def data_sets(n: int) -> bytes:
    """Two data set messages without a number of the group."""
    parts = [b"\x09" + struct.pack("<H", number % 65_536) + bytes(5) for number in (n, n + 500)]
    return udp(b"\x51\x2a\x02\x07\0\x08\0" + struct.pack("<HH", 8, 8) + b"".join(parts), 4840)


def two_units(n: int) -> bytes:
    """Two ASDUs of one merging unit, and one of another."""
    asdus = b""
    for name, count in ((b"MU01", 2 * n % 4000), (b"MU01", (2 * n + 1) % 4000), (b"MU02", n % 4000)):
        asdu = tlv(0x80, name) + tlv(0x82, struct.pack(">H", count)) + tlv(0x83, b"\0\0\0\x01")
        asdus += tlv(0x30, asdu + tlv(0x85, b"\x02") + tlv(0x87, bytes(8)))
    pdu = tlv(0x60, tlv(0x80, b"\x03") + tlv(0xA2, asdus))
    return ethernet(0x88BA, struct.pack(">HHHH", 0x4000, 8 + len(pdu), 0, 0) + pdu, vlan=1)


def datagrams(n: int) -> bytes:
    """Frame n has 1 + n % 3 datagrams, whose indices count on: 0, 1 2, 3 4 5, 6, 7 8, ..."""
    count, first = 1 + n % 3, n // 3 * 6 + (0, 1, 3)[n % 3]
    made = b""
    for place in range(count):
        more = 0x8000 if place + 1 < count else 0
        made += struct.pack("<BBIHH", 12, (first + place) % 256, 0x01000000, 8 | more, 0) + bytes(10)
    return ethernet(0x88A4, struct.pack("<H", len(made) | 1 << 12) + made)


@dataclass(frozen=True)
class Several:
    """Frames with several messages, and how many numbers of each stream are in one frame."""

    frame: Callable[[int], bytes]
    numbers: tuple[int, ...]
    field: str
    options: tuple[str, ...] = ()


SEVERAL = {
    "rtps": Several(rtps_of_two_writers, (2, 1), "rtps.sm.seqNumber"),
    "some/ip": Several(calls, (1, 3), "someip.sessionid", ("-d", "udp.port==30501,someip")),
    "uadp": Several(data_sets, (1, 1), ""),
    "sampled values": Several(two_units, (2, 1), "sv.smpCnt"),
}


@pytest.mark.parametrize("several", SEVERAL.values(), ids=SEVERAL)
def test_every_message_of_a_frame_counts(several: Several, tmp_path: Path) -> None:
    """Frames 11, 20 and 21 of 40 are missing at both ends, 7 and 30 at the receiver."""
    numbers = [n for n in range(40) if n not in (11, 20, 21)]
    tx = pcap(tmp_path / "tx.pcap", [(n * PERIOD_NS, several.frame(n)) for n in numbers])
    streams = inspect_capture(tx)["streams"]
    assert [one["frames"] for one in streams] == [37] * len(several.numbers)
    assert [one["missing"] for one in streams] == [3 * of_frame for of_frame in several.numbers]
    assert all((one["duplicate"], one["reordered"]) == (0, 0) for one in streams)
    names = [one["stream"] for one in streams]
    received = [(n * PERIOD_NS + DELAY_NS, several.frame(n)) for n in numbers if n not in (7, 30)]
    for path in measure_captures(tx, pcap(tmp_path / "rx.pcap", received))["paths"]:
        count, delay = path["count"], path["delay"]
        assert (count["sent"], count["received"], count["lost"]) == (37, 35, 2)
        assert count["never_sent"] == 3 * several.numbers[names.index(path["stream"])]
        assert delay is not None
        assert (delay["min"], delay["max"]) == (DELAY_NS, DELAY_NS)


@pytest.mark.parametrize("several", [one for one in SEVERAL.values() if one.field], ids=lambda one: one.field)
def test_tshark_finds_as_many_messages(several: Several, tmp_path: Path) -> None:
    path = pcap(tmp_path / "a.pcap", [(n * PERIOD_NS, several.frame(n)) for n in range(9)])
    for line in dissected(path, several.field, options=several.options):
        assert len(line[0].split(",")) == sum(several.numbers)


def test_a_message_that_is_missing_among_others_is_seen(tmp_path: Path) -> None:
    """The second writer has a gap although every frame is there."""
    head = b"RTPS\x02\x03\x01\x0f" + bytes(range(1, 13))
    frames = [
        udp(head + rtps_samples(n + 1, 1) + (rtps_samples(n + 1, 1, writer=0x22) if n != 5 else b""), 7411)
        for n in range(12)
    ]
    streams = inspect_capture(pcap(tmp_path / "a.pcap", list(enumerate(frames))))["streams"]
    assert [(one["frames"], one["missing"]) for one in streams] == [(12, 0), (11, 1)]
    assert streams[1]["gaps"] == [{"after": 5, "missing": 1}]
    # A sample that was sent too late is one more number in its frame.
    late = [head + rtps_samples(n, 1) for n in (1, 2, 4)] + [head + rtps_samples(5, 1) + rtps_samples(3, 1)]
    (one,) = inspect_capture(
        pcap(tmp_path / "b.pcap", [(n, udp(frame, 7411)) for n, frame in enumerate(late)])
    )["streams"]
    assert (one["frames"], one["missing"]) == (4, 0)


def test_indices_of_ethercat_count_over_all_datagrams(tmp_path: Path) -> None:
    path = pcap(tmp_path / "a.pcap", [(n * PERIOD_NS, datagrams(n)) for n in range(300) if n != 100])
    one = only(path)
    assert (one["frames"], one["missing"], one["duplicate"]) == (299, 2, 0)
    printed = [line[0].split(",") for line in dissected(path, "ecat.idx")]
    assert [len(indices) for indices in printed[:6]] == [1, 2, 3, 1, 2, 3]
    # A master that sends the same indices in every frame counts nothing.
    same = [(n * PERIOD_NS, datagrams(1)) for n in range(40)]
    assert only(pcap(tmp_path / "b.pcap", same))["missing"] is None


@pytest.mark.parametrize(("first", "last"), [(0, 15), (0x80, 0xEF)])
def test_masters_count_in_ranges_of_their_own(first: int, last: int, tmp_path: Path) -> None:
    """SOEM counts from 0 to 15, TwinCAT from 0x80 to 0xef: frames 100 and 300 are missing."""
    frames = [
        (n * PERIOD_NS, ethercat(first + n % (last - first + 1))) for n in range(400) if n not in (100, 300)
    ]
    path = pcap(tmp_path / "a.pcap", frames)
    one = only(path)
    assert (one["frames"], one["missing"], one["duplicate"], one["reordered"]) == (398, 2, 0, 0)
    assert len(dissected(path, "ecat.idx")) == 398
    said = " ".join(tsnbench("inspect", path).stdout.split())
    missing = [first + n % (last - first + 1) for n in (100, 300)]
    assert f"missing 1 at {missing[0]}, 1 at {missing[1]}" in said


def test_segments_of_a_message_are_no_copies_of_it(tmp_path: Path) -> None:
    """Ten messages of SOME/IP, each in four segments with the session of the message; one more is missing."""

    def segment(session: int, place: int) -> bytes:
        head = struct.pack(">HHIHH", 0x0101, 9, 8 + 4 + 32, 0, session) + bytes([1, 2, 0x20, 0])
        return udp(head + struct.pack(">I", place << 5 | (place < 3)) + bytes([place]) * 32, 30_501)

    frames = [
        (n * PERIOD_NS + place, segment(n + 1, place)) for n in range(11) for place in range(4) if n != 6
    ]
    path = pcap(tmp_path / "a.pcap", frames)
    options = ("-d", "udp.port==30501,someip")
    offsets = [line[0] for line in dissected(path, "someip.tp.offset", options=options)]
    assert [int(offset) for offset in offsets[:4]] == [0, 32, 64, 96]
    first, others = inspect_capture(path)["streams"]
    assert first["stream"] == "some/ip 0x0101.0x0009 request 10.0.0.1:40000 > 10.0.0.2:30501"
    assert (first["frames"], first["missing"], first["duplicate"]) == (10, 1, 0)
    assert (others["frames"] + others["duplicate"], others["missing"]) == (30, None)
