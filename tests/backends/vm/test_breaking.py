"""Guests and their cache after failures: killed, interrupted, damaged files, a full disk."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tsnbench.backends.vm import cache, kernel, machine, unavailable
from tsnbench.errors import BackendError
from tsnbench.runs import manifest

SCENARIO = """
name: long
duration: 20 s
network:
  stations: [a, b]
  links: {rate: 100 Mbit/s, between: [a -- b]}
streams:
  loop: {from: a, to: b, period: 1 ms, payload: 100 B}
"""
RUN = "from tsnbench.cli.main import main; main()"


def _children(process: int) -> Iterator[int]:
    """All descendants of the process."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == process:
            yield int(path.parts[2])
            yield from _children(int(path.parts[2]))


def _guests(process: int) -> list[int]:
    found = []
    for child in _children(process):
        try:
            if machine.QEMU.encode() in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]:
                found.append(child)
        except OSError:
            continue
    return found


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _started(tmp_path: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A run whose guest has started."""
    if why := unavailable():
        pytest.skip(f"no guests here: {why}")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    words = [sys.executable, "-c", RUN, "run", str(tmp_path / "scenario.yaml"), "--on", "vm"]
    process = subprocess.Popen(
        [*words, "--into", str(tmp_path / "run")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not (found := _guests(process.pid)):
        assert process.poll() is None, process.returncode
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(random.random() * 2)
    return process, found


def _gone(guests: list[int]) -> bool:
    end = time.monotonic() + 10
    while any(map(_alive, guests)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(_alive, guests))


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_guest_outlives_its_run(tmp_path: Path, blow: signal.Signals):
    process, guests = _started(tmp_path)
    process.send_signal(blow)
    code = process.wait(timeout=30)
    assert _gone(guests), f"after {blow.name}"
    assert code == {signal.SIGKILL: -9, signal.SIGINT: 130}.get(blow, code)
    if blow == signal.SIGINT:
        assert manifest.read(tmp_path / "run")["state"] == "interrupted"


def test_a_spoilt_file_is_not_taken(tmp_path: Path):
    path = tmp_path / "image.cpio"
    digest = cache.keep(path, b"whole")
    assert cache.whole(path) == digest
    for octets in (b"whol", b"Whole", b""):
        path.write_bytes(octets)
        assert cache.whole(path) is None
    assert cache.keep(path, b"whole") == digest
    assert sorted(found.name for found in tmp_path.iterdir()) == ["image.cpio", "image.cpio.sha256"]
    path.unlink()
    assert cache.whole(path) is None
    # Somebody put the file there by hand.
    (tmp_path / "other").write_bytes(b"x")
    assert cache.whole(tmp_path / "other") is not None


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(path: Path, to: Path) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(BackendError, match=r"No space left on device\nhint: TSNBENCH_CACHE"):
        cache.keep(tmp_path / "image.cpio", b"whole")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_kernel_is_unpacked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TSNBENCH_CACHE", str(tmp_path))
    folder = tmp_path / "kernel"
    folder.mkdir()
    package = folder / "linux-image-6.12.5-amd64-unsigned_1_amd64.deb"
    package.write_bytes(b"deb")
    unpacked = []

    def unpack(package: Path, into: Path) -> None:
        unpacked.append(into)
        (into / "lib/modules/6.12.5-amd64").mkdir(parents=True)
        (into / "boot").mkdir()
        cache.keep(into / "boot/vmlinux-6.12.5-amd64", b"\x7fELF")

    monkeypatch.setattr(kernel, "_unpack", unpack)
    there = kernel.find().image
    assert kernel.find().image == there
    assert len(unpacked) == 1
    there.write_bytes(b"\x7fEL")
    assert kernel.find().image.read_bytes() == b"\x7fELF"
    there.unlink()
    (there.parents[1] / "lib/modules/6.12.5-amd64").rmdir()
    kernel.find()
    assert len(unpacked) == 3
    assert [path.name for path in folder.iterdir() if path.name.startswith("part-")] == []
