"""Settings of cards, rates of links and work folder on hosts of a lab: read before a run, compared after."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.commands import tsnbench
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts import job, load_inventory, wiring
from tsnbench.hosts.backend import Hosts

from .conftest import Rig, during, lasting


def test_a_cards_setting_that_somebody_changed_is_named(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lab has no cards, but ethtool reads and sets the settings of its interfaces, too."""
    monkeypatch.setattr(job, "tuned", lambda host, facts: list(host.ports.values()))
    run = rig.plan.run(on=Hosts(load_inventory(rig.made.inventory)), into=tmp_path / "well")
    before = json.loads((run.folder / "hosts/a/before.json").read_text())
    assert "tso" in before["card eth1"]["on"]
    assert before["net.ipv6.conf.eth1.disable_ipv6"] in ("0", "1")
    during(monkeypatch, lambda: rig.says("a", "ethtool -K eth1 tso off"))
    try:
        with pytest.raises(BackendError, match=r"(?s)not everything is as it was.*a: card eth1: was .*tso"):
            rig.plan.run(on=Hosts(load_inventory(rig.made.inventory)), into=tmp_path / "run")
    finally:
        rig.says("a", "ethtool -K eth1 tso on")


def test_a_link_with_another_rate_is_refused(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A veth link reports 10 Gbit/s; the test treats the value as that of a network card."""
    before = rig.state()
    monkeypatch.setattr(Hosts, "_cards", lambda self, host, own: own.names)
    with pytest.raises(InputError) as error:
        rig.plan.run(on=Hosts(load_inventory(rig.made.inventory)), into=tmp_path / "run")
    assert "a: eth1 has 10 Gbit/s, and a -> s in the Plan has 100 Mbit/s" in str(error.value)
    assert "ethtool -s" in str(error.value)
    assert rig.state() == before


@pytest.mark.parametrize(
    ("said", "wrong"), [("1000\n", 0), ("100\n", 1), ("10000\n", 1), ("-1\n", 0), ("", 0)]
)
def test_an_unknown_rate_is_not_compared(said: str, wrong: int) -> None:
    plan: Any = {"ports": [{"name": "a -> s", "rate_bps": 10**9}]}
    assert len(wiring.other_rates("h", plan, {0: "eno1"}, {0: said})) == wrong


def test_the_work_folder_is_where_the_inventory_says(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = rig.made.inventory.read_text()
    lab = tmp_path / "lab.yaml"
    lab.write_text(text.replace("a: {ssh: a,", "a: {ssh: a, folder: /root/captures,"))
    seen = SimpleNamespace(own="", tmp="")

    def look() -> None:
        seen.own, seen.tmp = rig.says("a", "ls -A /root/captures"), rig.says("a", "ls -A /tmp")

    during(monkeypatch, look)
    rig.says("a", "mkdir /root/captures")
    try:
        rig.plan.run(on=Hosts(load_inventory(lab)), into=tmp_path / "run")
        assert "tsnbench-agent" not in rig.says("a", "ls -A /root/captures")
    finally:
        rig.says("a", "rmdir /root/captures")
    assert "tsnbench-agent" in seen.own
    assert "tsnbench-agent" not in seen.tmp
    lab.write_text(text.replace("a: {ssh: a,", "a: {ssh: a, folder: /nowhere,"))
    done = tsnbench("doctor", "--hosts", lab)
    assert done.returncode == 3
    assert "no program may run in /nowhere" in done.stdout
    assert "let `folder` name another one" in done.stdout


def test_a_disk_that_is_full_in_the_middle_of_a_run_is_named(rig: Rig, tmp_path: Path) -> None:
    """There is room for the program, and not for the capture; its own message has no room, either."""
    lab = tmp_path / "lab.yaml"
    lab.write_text(rig.made.inventory.read_text().replace("attempts: 3", "attempts: 1"))
    left = "$(( ($(df --output=avail /run | tail -n 1) - 150) * 1024 ))"
    rig.says("b", f"mount -o remount,size=6m /run && head -c {left} /dev/zero >/run/full")
    try:
        with pytest.raises(
            BackendError, match=r"b: tap-\d ended with \d+: the disk of /run is full: \d+ kB left"
        ):
            lasting("2 s").run(on=Hosts(load_inventory(lab)), into=tmp_path / "run")
    finally:
        rig.says("b", "rm /run/full; mount -o remount,size=50% /run")


def with_programs(rig: Rig, into: Path, programs: str) -> Path:
    lab = into / "lab.yaml"
    text = rig.made.inventory.read_text()
    text = text.replace("attempts: 3", "attempts: 1")
    lab.write_text(text.replace("c: {ssh: c,", f"c: {{ssh: c, programs: {programs},"))
    return lab


def test_programs_of_others_run_during_a_run(rig: Rig, tmp_path: Path) -> None:
    """A program that is independent of tsnbench runs during the run, and leaves files."""
    before = rig.state()
    words = '[sh, -c, "echo begun; echo kept >talk-0; echo other >load.json; while :; do sleep 0.1; done"]'
    run = rig.plan.run(
        on=Hosts(load_inventory(with_programs(rig, tmp_path, f"{{load: {words}}}"))), into=tmp_path / "run"
    )
    own = run.folder / "hosts/c"
    assert (own / "load.out").read_text() == "begun\n"
    assert (own / "load-talk-0").read_text() == "kept\n"
    assert (own / "load-load.json").read_text() == "other\n"
    assert "hosts/c/load.out" in json.loads((run.folder / "manifest.json").read_text())["files"]
    assert len(run.delay("x")) == 200
    assert rig.state() == before


def test_a_program_of_others_that_fails_rejects_the_attempt(rig: Rig, tmp_path: Path) -> None:
    before = rig.state()
    lab = with_programs(rig, tmp_path, '{load: [sh, -c, "echo no such address >&2; exit 4"]}')
    with pytest.raises(BackendError, match=r"c: other-load ended with 4: no such address"):
        rig.plan.run(on=Hosts(load_inventory(lab)), into=tmp_path / "run")
    lab = with_programs(rig, tmp_path, "{load: [tsnbench-no-such-program]}")
    with pytest.raises(BackendError, match=r"c: other-load ended with 127: .*not found"):
        rig.plan.run(on=Hosts(load_inventory(lab)), into=tmp_path / "gone")
    assert rig.state() == before
