"""Inventories: the value of each key, and the messages for wrong ones.

``TSNBENCH_UPDATE=1 pytest tests/hosts/test_inventory.py`` writes the messages anew; check them then.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.golden import matches
from tsnbench.hosts import from_ansible, load_inventory, read_inventory
from tsnbench.hosts.inventory import Clock, Device, End, Host, SyncBounds, Wire
from tsnbench.hosts.inventory.grammar import json_schema
from tsnbench.scenario import ScenarioErrors

LAB = """\
hosts:
  zgw6: {ssh: root@zgw6, ports: {left: enp3s0, right: enp4s0, time: enp5s0}, talkers: [2, 3], tuning: engine}
  pi:   {ssh: pi@pi1, program: aarch64, ports: {a: eth0}, clock: none}
devices:
  falcon: {by-hand: falcon-gates.txt, ports: {p1: "1/1", p2: "1/2"}}
  sw1:    {netconf: admin@sw1, ports: {p1: swp0}}
wires: [zgw6.left - falcon.p1]
map: {camera: zgw6, camera->s1: zgw6.left}
sync: {below: 200 ns, system: 2 us, steady: 20 s, within: 1 min, attempts: 3, pause: 1 s}
"""
ONE = "hosts: {a: {ssh: a, ports: {p: eth0}}}"
CASES = sorted((Path(__file__).parent / "errors").glob("*.[yj]*"))


def host(**keys: str) -> Host:
    """A host with these keys, besides the keys that every host has."""
    more = "".join(f", {key}: {value}" for key, value in keys.items())
    return read_inventory(f"hosts: {{a: {{ssh: a, ports: {{p: eth0}}{more}}}}}").hosts["a"]


def test_every_key_has_its_value() -> None:
    lab = read_inventory(LAB, "labs/lab.yaml")
    settings = ("governor", "turbo", "smt", "throttling", "interrupts")
    ports = {"left": "enp3s0", "right": "enp4s0", "time": "enp5s0"}
    assert lab.hosts == {
        "zgw6": Host("zgw6", "root@zgw6", ports, (2, 3), settings),
        "pi": Host("pi", "pi@pi1", {"a": "eth0"}, program="aarch64", clock=Clock.NONE),
    }
    assert lab.devices == {
        "falcon": Device("falcon", {"p1": "1/1", "p2": "1/2"}, checklist="labs/falcon-gates.txt"),
        "sw1": Device("sw1", {"p1": "swp0"}, netconf="admin@sw1"),
    }
    assert lab.wires == (Wire(End("zgw6", "left"), End("falcon", "p1")),)
    assert (lab.nodes, lab.ports) == ({"camera": "zgw6"}, {"camera -> s1": End("zgw6", "left")})
    assert lab.sync == SyncBounds(200, 2_000, 20 * 10**9, 60 * 10**9, 3, 10**9)
    assert lab.interface(End("falcon", "p2")) == "1/2"
    assert [one.name for one in lab.machines()] == ["zgw6", "pi", "falcon", "sw1"]
    assert lab.where("map.camera") == "labs/lab.yaml:8:7"
    assert [one.by_hand for one in lab.devices.values()] == [True, False]


def test_absent_keys_have_the_defaults_of_the_reference() -> None:
    lab = read_inventory(ONE)
    assert lab.hosts["a"] == Host("a", "a", {"p": "eth0"}, (), (), "", Clock.HARDWARE, "")
    assert lab.sync == SyncBounds(100, 1_000, 10 * 10**9, 300 * 10**9, 10, 60 * 10**9)
    assert (lab.devices, lab.wires, lab.nodes, lab.ports) == ({}, (), {}, {})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_wording(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.parent)
    with pytest.raises(ScenarioErrors) as raised:
        load_inventory(case.name)
    matches(case.with_suffix(".txt"), f"{raised.value}\n")


@pytest.mark.parametrize(
    "target",
    [
        "zgw6",
        "root@zgw6",
        "root@192.0.2.7",
        "root@fe80::1%eth0",
        "ssh://root@zgw6:2222",
        "ssh://[2001:db8::1]:22",
        "my_alias.lab",
        "first.last@host-1.example",
    ],
)
def test_destinations_that_ssh_takes(target: str) -> None:
    assert read_inventory(f"hosts: {{a: {{ssh: '{target}', ports: {{p: eth0}}}}}}").hosts["a"].ssh == target


@pytest.mark.parametrize(
    "target",
    [
        "-oProxyCommand=id",
        "-l",
        "root@-x",
        "-x@host",
        "a b",
        "a;id",
        "$(id)",
        "`id`",
        "a\\nb",
        "ssh://a:0",
        "ssh://a:99999",
        "ssh://-a",
        "ssh://a/b",
        "a@b@c",
        "'",
        "",
    ],
)
def test_no_destination_is_an_option_or_a_command(target: str) -> None:
    with pytest.raises(ScenarioErrors, match=r"hosts\.a\.ssh: expected a destination of ssh"):
        read_inventory(f'hosts: {{a: {{ssh: "{target}", ports: {{p: eth0}}}}}}')


@pytest.mark.parametrize("name", ["eth0;reboot", "$(id)", "-a", "a b", "a/b", "x" * 16, "ü"])
def test_no_port_is_a_name_that_no_interface_has(name: str) -> None:
    with pytest.raises(ScenarioErrors, match="expected the name of an interface"):
        read_inventory(f'hosts: {{a: {{ssh: a, ports: {{p: "{name}"}}}}}}')


def test_tuning_is_words_of_the_script() -> None:
    assert host(tuning="none").tuning == ()
    assert host(tuning="[smt, governor, smt]").tuning == ("smt", "governor")
    assert host(tuning='{smt: off, interrupts: "2,3"}').tuning == ("smt=off", "interrupts=2,3")
    for value in ("{governor: $(id)}", "{governor: a b}", "{smt: 1}", "{interrupts: 2;id}"):
        with pytest.raises(ScenarioErrors, match=r"expected a value for|hint"):
            host(tuning=value)


def test_folders_are_absolute_and_go_into_scripts() -> None:
    assert host(folder="/var/tmp").folder == "/var/tmp"
    for folder in ("tmp", "/a/../b", "'/a b'", "/$(id)", "/a;b"):
        with pytest.raises(ScenarioErrors, match="an absolute path"):
            host(folder=folder)


HOSTVARS = {
    "zgw6": {
        "ansible_host": "192.0.2.6",
        "ansible_user": "root",
        "tsnbench_ports": {"left": "enp3s0"},
        "tsnbench_talkers": [2, 3],
        "tsnbench_wires": ["zgw6.left - zgw7.right"],
        "tsnbench_sync": {"below": "50 ns"},
    },
    "zgw7": {
        "ansible_port": 2222,
        "tsnbench_ports": {"right": "enp4s0"},
        "tsnbench_wires": ["zgw6.left - zgw7.right"],
    },
    "zgw8": {"ansible_user": "pi", "ansible_host": "2001:db8::8", "ansible_port": 22,
             "tsnbench_ports": {"a": "eth0"}},
    "printer": {"ansible_host": "192.0.2.99"},
}  # fmt: skip


def test_hosts_are_read_from_a_list_of_ansible(tmp_path: Path) -> None:
    text = json.dumps({"_meta": {"hostvars": HOSTVARS}, "all": {"children": ["lab"]}}, indent=4)
    lab = from_ansible(text)
    assert lab.hosts == {
        "zgw6": Host("zgw6", "root@192.0.2.6", {"left": "enp3s0"}, (2, 3)),
        "zgw7": Host("zgw7", "ssh://zgw7:2222", {"right": "enp4s0"}),
        "zgw8": Host("zgw8", "pi@2001:db8::8", {"a": "eth0"}),
    }
    assert lab.wires == (Wire(End("zgw6", "left"), End("zgw7", "right")),)
    assert lab.sync.below_ns == 50
    # The format of a file follows from its content.
    (tmp_path / "hosts.json").write_text(text)
    (tmp_path / "lab.yaml").write_text(LAB)
    assert load_inventory(tmp_path / "hosts.json").hosts == lab.hosts
    assert list(load_inventory(tmp_path / "lab.yaml").hosts) == ["zgw6", "pi"]


def test_hosts_of_ansible_agree_about_the_lab() -> None:
    other = {**HOSTVARS, "zgw7": {**HOSTVARS["zgw7"], "tsnbench_wires": []}}
    with pytest.raises(ScenarioErrors, match="expected the same value for all hosts"):
        from_ansible(json.dumps({"_meta": {"hostvars": other}}))


@pytest.mark.parametrize("text", ["{}", '{"_meta": 3}', '{"_meta": {"hostvars": {"a": {}}}}', "[]", "", "{"])
def test_what_is_no_list_of_ansible_is_refused(text: str) -> None:
    with pytest.raises(ScenarioErrors, match="expected"):
        from_ansible(text)


@pytest.mark.parametrize("path", ["missing.yaml", "/dev/zero", "."])
def test_only_regular_files_are_read(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioErrors, match="expected"):
        load_inventory(path)


@given(st.text(max_size=80))
def test_any_text_is_read_or_is_an_error(text: str) -> None:
    for whole in (text, f"hosts: {{a: {{ssh: {text}, ports: {{p: eth0}}}}}}", f"{ONE}\nwires: [{text}]"):
        with suppress(ScenarioErrors):
            read_inventory(whole)


def test_the_schema_names_every_key() -> None:
    schema = json.dumps(json_schema())
    for key in ("hosts", "by-hand", "netconf", "wires", "map", "sync", "below", "talkers", "tuning"):
        assert f'"{key}"' in schema
