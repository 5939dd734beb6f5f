"""Devices in a run: nothing runs before somebody has confirmed what was configured by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tsnbench.cli.main import app
from tsnbench.errors import InputError
from tsnbench.hosts import load_inventory, map_plan
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.by_hand import checklist
from tsnbench.scenario import read_scenario

from .conftest import SCENARIO, Rig


def of_hosts(rig: Rig) -> dict[str, list[str]]:
    """The state of all but the bridge, whose timers run."""
    return {name: said for name, said in rig.state().items() if name != "s"}


@pytest.fixture
def by_hand(rig: Rig, tmp_path: Path) -> Iterator[Path]:
    """The lab, whose bridge has no shell: somebody else configures it."""
    lines = rig.made.inventory.read_text().splitlines(keepends=True)
    own = next(line for line in lines if line.lstrip().startswith("s: {ssh: s"))
    lines.remove(own)
    device = own.replace("ssh: s", "by-hand: s.txt")
    text = "".join(lines).replace("wires:", f"devices:\n{device}wires:", 1)
    lab = tmp_path / "lab.yaml"
    lab.write_text(text)
    ports = " ".join(load_inventory(lab).devices["s"].ports.values())
    rig.says(
        "s",
        "ip link add br9 type bridge stp_state 0 mcast_snooping 0 && ip link set br9 up && "
        f"for one in {ports}; do ip link set $one master br9 up || exit 1; done",
    )
    yield lab
    rig.says("s", f"ip link del br9; for one in {ports}; do ip link set $one down; done")


def test_what_nobody_has_confirmed_is_refused(rig: Rig, by_hand: Path) -> None:
    before = of_hosts(rig)
    file = by_hand.parent / "s.txt"
    hosts = Hosts(load_inventory(by_hand))
    with pytest.raises(InputError, match=r"s\.txt: expected the line confirmed: ") as error:
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    assert "found no such file" in str(error.value)
    assert "has just been written there" in str(error.value)
    assert not (by_hand.parent / "run").exists()
    # It is there now, and says so; what somebody ticks in it stays.
    ticked = file.read_text().replace("[ ]", "[x]", 1)
    assert ticked != file.read_text()
    file.write_text(ticked)
    with pytest.raises(InputError, match="found none") as error:
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    assert file.read_text() == ticked
    # The confirmation of another Plan's checklist is none, and that checklist is replaced.
    other = read_scenario(SCENARIO.replace("100 Mbit/s", "1 Gbit/s"))[0].plan()
    inventory = load_inventory(by_hand)
    mapped = map_plan(inventory, other.document, {})
    wanted = checklist(other.document, mapped, inventory.devices["s"])
    assert wanted is not None
    file.write_text(wanted.file.replace("# confirmed", "confirmed"))
    with pytest.raises(InputError, match="the confirmation of another checklist"):
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    assert wanted.hash not in file.read_text()
    assert of_hosts(rig) == before


def test_a_file_of_somebody_is_not_written_over(rig: Rig, by_hand: Path) -> None:
    file = by_hand.parent / "s.txt"
    file.write_text("my notes of that switch\n")
    with pytest.raises(InputError, match="found another file"):
        rig.plan.run(on=Hosts(load_inventory(by_hand)), into=by_hand.parent / "run")
    assert file.read_text() == "my notes of that switch\n"


def test_what_is_confirmed_runs_and_is_kept(rig: Rig, by_hand: Path) -> None:
    before = of_hosts(rig)
    file = by_hand.parent / "s.txt"
    words = ["doctor", "--hosts", str(by_hand), "--for", str(rig.scenario), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1, done.output
    assert "this Plan's checklist is not confirmed" in done.output
    assert not file.exists()
    hosts = Hosts(load_inventory(by_hand))
    with pytest.raises(InputError):
        rig.plan.run(on=hosts, into=by_hand.parent / "run")
    file.write_text(file.read_text().replace("# confirmed", "confirmed"))
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
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


def test_a_device_by_netconf_is_refused_with_words(rig: Rig, by_hand: Path) -> None:
    by_hand.write_text(by_hand.read_text().replace("by-hand: s.txt", "netconf: admin@s"))
    with pytest.raises(InputError, match=r"s: --on hosts does not configure devices by NETCONF yet") as error:
        rig.plan.run(on=Hosts(load_inventory(by_hand)), into=by_hand.parent / "run")
    assert "tsnbench deploy" in str(error.value)
    assert not (by_hand.parent / "run").exists()
