"""Devices in a run: no run starts before somebody confirms the configuration by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.planned import document_of, plan_of
from tsnbench.errors import InputError
from tsnbench.hosts import attempt, devices, load_inventory, map_plan, read_inventory
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.by_hand import checklist

from .conftest import SCENARIO, Rig


def of_hosts(rig: Rig) -> dict[str, list[str]]:
    """The state of all hosts except the bridge, whose timers change."""
    return {name: said for name, said in rig.state().items() if name != "s"}


def test_what_nobody_has_confirmed_is_refused(rig: Rig, by_hand: Path) -> None:
    before = of_hosts(rig)
    file = by_hand.parent / "s.txt"
    hosts = Hosts(load_inventory(by_hand))
    with pytest.raises(InputError, match=r"s\.txt: expected the line confirmed: ") as error:
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    assert "found no such file" in str(error.value)
    assert "has just been written there" in str(error.value)
    assert not (by_hand.parent / "run").exists()
    # The file exists now, and the message says so; boxes that somebody ticks stay ticked.
    ticked = file.read_text().replace("[ ]", "[x]", 1)
    assert ticked != file.read_text()
    file.write_text(ticked)
    with pytest.raises(InputError, match="found none") as error:
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    assert file.read_text() == ticked
    # The confirmation of another Plan's checklist is not valid, and that checklist is replaced.
    other = plan_of(SCENARIO.replace("100 Mbit/s", "1 Gbit/s"))
    inventory = load_inventory(by_hand)
    mapped = map_plan(inventory, other.document, {})
    wanted = checklist(other.document, mapped, inventory.devices["s"])
    assert wanted is not None
    file.write_text(wanted.file.replace("# confirmed", "confirmed"))
    with pytest.raises(InputError, match="the confirmation of another checklist"):
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    assert wanted.hash not in file.read_text()
    assert of_hosts(rig) == before


def test_hosts_have_the_phase_of_devices() -> None:
    """Devices count cycles from 1970, so the zero of a run is a whole number of cycles after 1970."""
    gates = "shapers: {s -> b: {gates: {entries: [{open: all, for: 70 us}, {open: [3], for: 21 us}]}}}\n"
    document = document_of(SCENARIO + gates)
    now_ns = 1_800_000_000_123_456_789
    found = attempt.phase(document, now_ns)
    assert found % 91_000 == 0
    assert 0 <= found - now_ns - 2 * 10**9 < 91_000


def test_a_file_of_the_user_is_not_overwritten(rig: Rig, by_hand: Path) -> None:
    file = by_hand.parent / "s.txt"
    file.write_text("my notes of that switch\n")
    with pytest.raises(InputError, match="found another file"):
        rig.plan.run(on=Hosts(load_inventory(by_hand)), into=by_hand.parent / "run")
    assert file.read_text() == "my notes of that switch\n"


def test_a_confirmed_checklist_allows_the_run_and_is_kept(rig: Rig, by_hand: Path) -> None:
    before = of_hosts(rig)
    file = by_hand.parent / "s.txt"
    words = ["doctor", "--hosts", str(by_hand), "--for", str(rig.scenario), "--json"]
    done = tsnbench(*words)
    assert done.returncode == 1, done.stderr
    assert "this Plan's checklist is not confirmed" in done.stdout
    assert not file.exists()
    hosts = Hosts(load_inventory(by_hand))
    with pytest.raises(InputError):
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    file.write_text(file.read_text().replace("# confirmed", "confirmed"))
    done = tsnbench(*words)
    assert done.returncode == 0, done.stderr
    run = rig.plan.run(on=hosts, into=by_hand.parent / "run")
    assert len(run.delay("x")) == 200
    folder = run.folder / "hosts"
    assert (folder / "s/checklist.txt").read_text() == file.read_text()
    assert {path.name for path in folder.iterdir()} == {"a", "b", "c", "s"}
    told = json.loads((run.folder / "manifest.json").read_text())
    assert "hosts/s/checklist.txt" in told["files"]
    assert told["host"]["devices"] == {"s": {"node": "s", "configured": "by hand"}}
    assert any("a.eth1 - s.eth1: not checked" in note for note in told["host"]["notes"])
    assert of_hosts(rig) == before


def test_two_users_of_devices_are_refused(rig: Rig, by_hand: Path) -> None:
    text = by_hand.read_text().replace("by-hand: s.txt", "netconf: admin@s")
    inventory = read_inventory(text, "lab.yaml")
    two = dict(inventory.devices) | {"t": replace(inventory.devices["s"], name="t", netconf="root@t")}
    mapped = map_plan(inventory, rig.plan.document, {})
    both = replace(mapped, machines={**mapped.machines, "other": "t"})
    with pytest.raises(InputError, match="expected one user for all devices by NETCONF"):
        devices.require(replace(inventory, devices=two), rig.plan.document, both)
