"""The texts and the record of a lab of guests, without a guest; ``make lab`` runs on such hosts."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.planned import document_of
from tsnbench.hosts import lab, load_inventory
from tsnbench.hosts.attempt import MOST_APART_NS, far_apart
from tsnbench.hosts.inventory.types import Clock
from tsnbench.hosts.lab import guests, record
from tsnbench.hosts.lab.inventory import inventory
from tsnbench.plan.network import Network

from .conftest import SCENARIO

S = 10**9


def options(words: list[str]) -> dict[str, str]:
    """The options of QEMU's first word with a comma list."""
    return dict(part.split("=", 1) for part in words[1].split(",")[1:])


def test_each_wire_joins_two_guests() -> None:
    """What one end sends, the other end receives; every card has an address of its own."""
    network = Network(document_of(SCENARIO))
    receives: dict[int, str] = {}
    sends: dict[int, str] = {}
    cards: list[str] = []
    for number in range(len(network.nodes)):
        for place, port in enumerate(network.ports_of(number)):
            words = guests._wire(number, place, port, network.ports[port]["peer"])
            receives[port] = options(words)["local.path"]
            sends[port] = options(words)["remote.path"]
            cards.append(words[3].partition("mac=")[2].partition(",")[0])
    assert len(receives) == 6
    for port, path in sends.items():
        assert path == receives[network.ports[port]["peer"]]
    assert len(set(receives.values())) == len(set(cards)) == 6


@pytest.mark.parametrize("clock", [Clock.NONE, Clock.SOFTWARE])
def test_the_inventory_says_which_clocks_hosts_have(tmp_path: Path, clock: Clock) -> None:
    network = Network(document_of(SCENARIO))
    path = tmp_path / "lab.yaml"
    path.write_text(inventory(network, guests._WORDS, guests._SYNC, str(clock)))
    read = load_inventory(path)
    assert {host.clock for host in read.hosts.values()} == {clock}
    assert read.sync.attempts == 5


def test_a_guest_says_that_it_is_up_when_its_server_listens() -> None:
    script = "\n".join(guests._script("a b"))
    assert "hostname 'a b'" in script
    assert script.index("sshd -D") < script.index("grep -q listening") < script.index("lab: up")
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


@pytest.fixture
def emulators(tmp_path: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Two processes whose commands name a process file: one works in the lab's folder, one in another."""
    folders = {"lab": tmp_path / "lab", "elsewhere": tmp_path / "elsewhere"}
    made = {}
    for name, folder in folders.items():
        folder.mkdir()
        words = ["sh", "-c", "sleep 60; true", "emulator", "-pidfile", f"a.{record.PROCESS}"]
        made[name] = subprocess.Popen(words, cwd=folder, start_new_session=True)
    try:
        yield made
    finally:
        for process in made.values():
            if process.poll() is None:
                os.killpg(process.pid, 9)
            process.wait(timeout=10)


def test_guests_end_although_nobody_recorded_their_processes(
    tmp_path: Path, emulators: dict[str, subprocess.Popen[bytes]]
) -> None:
    """The controller may be killed before it records a guest; the guest has written its number by itself."""
    folder = tmp_path / "lab"
    (folder / f"a.{record.PROCESS}").write_text(f"{emulators['lab'].pid}\n")
    (folder / f"b.{record.PROCESS}").write_text(f"{emulators['elsewhere'].pid}\n")
    (folder / "a.log").write_text("lab: up")
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    wire.bind(str(folder / f"{record.WIRE}0"))
    (folder / f"{record.WIRE}notes").write_text("a file of somebody")
    record.note(folder, ["a", "b"], [], [])
    assert lab.down(folder)
    wire.close()
    assert emulators["lab"].wait(timeout=10) == -9
    assert emulators["elsewhere"].poll() is None
    assert [path.name for path in folder.iterdir()] == [f"{record.WIRE}notes"]


def test_clocks_without_a_common_start_are_named() -> None:
    near = {"a": (0, 2_000), "b": (MOST_APART_NS, MOST_APART_NS + 1), "c": (-500, 500)}
    assert far_apart(near | {"c": (0, 500)}) == ""
    assert far_apart({"a": (0, 0)}) == ""
    assert far_apart(near | {"b": (MOST_APART_NS + 501, MOST_APART_NS + 900)}).startswith(
        "the clocks of the hosts are too far apart: b is 10.0 s ahead of c\nhint: "
    )
    assert "a is 3600.0 s ahead of b" in far_apart({"a": (0, 1), "b": (-3601 * S, -3600 * S)})
