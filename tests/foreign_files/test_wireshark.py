"""The dissector in tshark: every field of frames that these tests write octet by octet."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from support.captures import recorded
from support.commands import tsnbench, uncoded
from tsnbench.errors import InputError
from tsnbench.foreign_files.wireshark import FOLDER, NAME, PROFILE, dissector, install

AT_NS = 1_795_234_296_009_049_381
FIELDS = ("_ws.col.Protocol", "tsnbench.stream", "tsnbench.sequence", "tsnbench.intended", "tsnbench.late")


def payload(stream: int, sequence: int, intended_ns: int | None, filler: int = 0) -> bytes:
    head = b"TSN\x01" + struct.pack(">I", stream) + sequence.to_bytes(6, "big")
    return head + (b"" if intended_ns is None else struct.pack(">q", intended_ns) + bytes(filler))


def capture(payloads: list[bytes], into: Path) -> Path:
    """A pcap with ns and one UDP datagram per payload."""
    content = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for one in payloads:
        udp = struct.pack(">HHHH", 5000, 5001, 8 + len(one), 0) + one
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, bytes(4), bytes(4))
        frame = bytes.fromhex("02000000000102000000000208 00") + ip + udp
        content += struct.pack("<IIII", *divmod(AT_NS, 10**9), len(frame), len(frame)) + frame
    into.write_bytes(content)
    return into


def dissected(path: Path, home: Path, *words: str) -> list[list[str]]:
    """The fields that tshark prints with the plugins of this home directory."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("needs tshark")
    fields = [word for name in FIELDS for word in ("-e", name)]
    words = (tshark, "-r", str(path), *(words or ("-T", "fields", *fields)))
    home_of = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    done = subprocess.run(words, capture_output=True, text=True, env=home_of, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Lua" not in done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_tshark_prints_every_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    done = tsnbench("wireshark", "install")
    assert done.returncode == 0
    assert (tmp_path / FOLDER / NAME).read_text() == dissector()
    frames = [
        payload(7, 258, AT_NS - 1_234, 20),
        payload(1, (1 << 48) - 1, AT_NS + 5),
        payload(3, 4, None),
        payload(3, 5, 0),
        b"TSN\x02" + bytes(30),
        b"TSN\x01" + bytes(9),
    ]
    found = dissected(capture(frames, tmp_path / "some.pcap"), tmp_path)
    assert found == [
        ["tsnbench", "7", "258", str(AT_NS - 1_234), "1234"],
        ["tsnbench", "1", str((1 << 48) - 1), str(AT_NS + 5), "-5"],
        ["tsnbench", "3", "4", "", ""],
        ["tsnbench", "3", "5", "0", ""],
        ["UDP", "", "", "", ""],
        ["UDP", "", "", "", ""],
    ]


def test_only_a_file_of_tsnbench_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / NAME
    words = ["wireshark", "install", "--into", str(tmp_path)]
    path.write_text(dissector().splitlines()[0] + "\n-- older\n")
    assert tsnbench(*words).returncode == 0
    assert path.read_text() == dissector()
    path.write_text("-- mine\n")
    done = tsnbench(*words)
    assert done.returncode == 2
    assert uncoded(done.stderr) == f"{path}: expected a file of tsnbench or no file, found another file\n"
    assert path.read_text() == "-- mine\n"


TELEGRAM = ("type", "fcs_good", "version", "length")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "process_data",
            {
                ("process data", "1", "256", "1432"): 167,
                ("process data", "1", "256", "256"): 167,
                ("pull reply", "1", "256", "1432"): 15,
                ("pull reply", "1", "256", "256"): 15,
                ("pull request", "1", "256", "0"): 12,
                ("pull request", "1", "256", "256"): 12,
            },
        ),
        # 20 of the 40 telegrams have a header of 16 octets.
        ("version_2", {("process data (TSN)", "1", "2", "24"): 40}),
        (
            "message_data",
            {
                ("request", "1", "256", "64"): 10,
                ("reply, confirm requested", "1", "256", "23"): 10,
                ("confirm", "1", "256", "0"): 10,
                ("", "", "", ""): 40,
            },
        ),
    ],
)
def test_telegrams_of_tcnopen(tmp_path: Path, name: str, expected: dict[tuple[str, ...], int]) -> None:
    install(tmp_path / FOLDER)
    path = recorded(f"trdp/{name}.pcap", tmp_path)
    fields = [word for one in TELEGRAM for word in ("-e", f"tsnbench.trdp.{one}")]
    rows = dissected(path, tmp_path, "-T", "fields", *fields)
    found = Counter(
        (kind, good, str(int(version or "0", 16)) if version else "", length)
        for kind, good, version, length in rows
    )
    assert found == expected


def test_a_damaged_telegram_has_a_wrong_check_sequence(tmp_path: Path) -> None:
    install(tmp_path / FOLDER)
    path = recorded("trdp/process_data.pcap", tmp_path)
    content = bytearray(path.read_bytes())
    # Headers of the file, of the packet, and up to UDP's payload; then the second octet of the sequence
    # counter.
    content[24 + 16 + 42 + 1] ^= 1
    path.write_bytes(content)
    rows = dissected(path, tmp_path, "-T", "fields", "-e", "tsnbench.trdp.fcs_good")
    assert (rows[0], Counter(good for (good,) in rows)) == (["0"], {"0": 1, "1": 387})


def test_names_and_columns_of_the_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    written = install(names=["loop", 'a "b" \\ ] ü'])
    assert [path.name for path in written] == [NAME, "preferences"]
    frames = [payload(1, 5, AT_NS - 7), payload(2, 6, None)]
    rows = dissected(capture(frames, tmp_path / "named.pcap"), tmp_path, "-C", PROFILE, "-T", "tabs")
    assert [row[6:10] for row in rows] == [
        ['a "b" \\ ] ü', "5", str(AT_NS - 7), "7"],
        ["2", "6", "", ""],
    ]
    written[1].write_text("mine")
    with pytest.raises(InputError, match="found another file"):
        install()
