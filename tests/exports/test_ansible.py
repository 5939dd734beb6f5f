"""Plays for Ansible: valid YAML, modules of ansible.builtin alone, and an inventory that can be read back.

If ``TSNBENCH_ANSIBLE`` names a folder with Ansible's programs, these read the plays and the inventory, too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from exports.plans import rich
from tsnbench.exports import export, write
from tsnbench.exports.ansible import PHASES, step_ns
from tsnbench.hosts import from_ansible, map_plan
from tsnbench.linux.profile import Profile
from tsnbench.plan.network import Network

KEYWORDS = {"name", "register", "run_once", "when", "loop", "loop_control", "changed_when", "failed_when"}
KEYWORDS |= {"async", "poll"}

ansible = pytest.mark.skipif(
    not os.environ.get("TSNBENCH_ANSIBLE"), reason="TSNBENCH_ANSIBLE names no folder with Ansible's programs"
)


def exported(interfaces: dict[str, str] | None = None) -> tuple[Any, dict[str, str]]:
    document = rich()
    return document, export(document, ["ansible"], Profile(interfaces=interfaces or {})).files


def loaded(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize("phase", PHASES)
def test_a_play_has_modules_of_ansible_builtin_alone(phase: str) -> None:
    _, files = exported()
    (play,) = loaded(files[f"ansible/{phase}.yml"])
    assert play["hosts"] == "all"
    for task in play["tasks"]:
        (module,) = task.keys() - KEYWORDS
        assert module.startswith("ansible.builtin."), task["name"]


def test_what_the_plays_copy_and_run_is_there() -> None:
    document, files = exported()
    text = "".join(files[f"ansible/{phase}.yml"] for phase in PHASES)
    for script in set(re.findall(r"\[(?:sh, )?([a-z-]+\.sh)", text)) - {"run.sh"}:
        assert all(f"{node['name']}/{script}" in files for node in document["nodes"]), script
    for node in document["nodes"]:
        assert f"ansible/{node['name']}/run.sh" in files
    assert "import ansible" not in text


def test_tsnbench_can_read_the_inventory() -> None:
    names = {"left -> right": "enp3s0"}
    document, files = exported(names)
    groups = loaded(files["ansible/inventory.yml"])["all"]
    assert groups["vars"]["tsnbench_ptp"] is True
    hostvars = {name: {**groups["vars"], **own} for name, own in groups["hosts"].items()}
    lab = from_ansible(json.dumps({"_meta": {"hostvars": hostvars}}))
    mapped = map_plan(lab, document, {})
    network = Network(document)
    profile = Profile(interfaces=names)
    assert mapped.interfaces == {
        port["name"]: profile.interface(network, place) for place, port in enumerate(document["ports"])
    }


def test_a_node_captures_at_its_taps_and_talks_where_it_has_streams() -> None:
    document, files = exported()
    for place, node in enumerate(document["nodes"]):
        script = files[f"ansible/{node['name']}/run.sh"]
        subprocess.run(["sh", "-n"], input=script.encode(), check=True)
        talks = any(stream["talker"] == place for stream in document["streams"])
        assert (f"talk plan.json --node {place} " in script) == talks
        ports = {tap["port"] for tap in document["taps"] if document["ports"][tap["port"]]["node"] == place}
        assert script.count("tcpdump ") == len(ports)
    software = export(document, ["ansible"], Profile(software_stamps=True)).files
    assert "-j host" in software["ansible/camera/run.sh"]


def test_the_zero_of_the_plan_keeps_the_phase_of_gates() -> None:
    document, files = exported()
    step = step_ns(Network(document))
    assert step > 1
    assert all(step % port["gates"]["cycle_ns"] == 0 for port in document["ports"] if "gates" in port)
    assert loaded(files["ansible/inventory.yml"])["all"]["vars"]["tsnbench_step_ns"] == step


def test_notes_name_what_plays_do_not_do() -> None:
    notes = [str(note) for note in export(rich(), ["ansible"]).notes]
    assert any(note.startswith("ansible: plays: they do not wait for synchronised clocks") for note in notes)
    # Two other formats write their files, and their notes.
    assert {note.partition(":")[0] for note in notes} == {"ansible", "tc", "ptp4l"}


def called(program: str, folder: Path, *words: object) -> str:
    """What a program of Ansible prints, in the folder of the plays."""
    write(export(rich(), ["ansible"]), folder / "out")
    own = {**os.environ, "HOME": str(folder), "ANSIBLE_HOME": str(folder), "LC_ALL": "C.UTF-8"}
    command = [Path(os.environ["TSNBENCH_ANSIBLE"]) / program, "-i", "inventory.yml", *words]
    done = subprocess.run(
        command, cwd=folder / "out/ansible", env=own, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@ansible
def test_ansible_reads_the_plays(tmp_path: Path) -> None:
    called("ansible-playbook", tmp_path, "--syntax-check", *(f"{phase}.yml" for phase in PHASES))


@ansible
def test_what_ansible_prints_is_an_inventory(tmp_path: Path) -> None:
    said = called("ansible-inventory", tmp_path, "--list")
    document = rich()
    machines = map_plan(from_ansible(said), document, {}).machines
    assert machines == {node["name"]: node["name"] for node in document["nodes"]}
