"""The dissector in tshark itself: every field of frames that are written here, octet by octet."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tsnbench.cli.main import app
from tsnbench.foreign_files.wireshark import FOLDER, NAME, dissector

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


def dissected(path: Path, home: Path) -> list[list[str]]:
    """The fields that tshark prints, with the plugins of this home."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("needs tshark")
    words = [tshark, "-r", str(path), "-T", "fields", *(word for name in FIELDS for word in ("-e", name))]
    home_of = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    done = subprocess.run(words, capture_output=True, text=True, env=home_of, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Lua" not in done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_tshark_prints_every_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["wireshark", "install"])
    assert done.exit_code == 0
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


def test_an_own_file_is_replaced_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / NAME
    words = ["wireshark", "install", "--folder", str(tmp_path)]
    path.write_text(dissector().splitlines()[0] + "\n-- older\n")
    assert CliRunner().invoke(app, words).exit_code == 0
    assert path.read_text() == dissector()
    path.write_text("-- mine\n")
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert done.stderr == f"{path}: expected a dissector of tsnbench or no file, found another file\n"
    assert path.read_text() == "-- mine\n"
