"""The scenario of a running network: it is planned, and the network is as its Plan says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import typer

from support.planned import plan_of
from tsnbench.cli.machines import discover as command
from tsnbench.discover import asking, scenario, wires
from tsnbench.discover.differences import differences
from tsnbench.discover.scenario import Found
from tsnbench.errors import InputError
from tsnbench.hosts.inventory import load_inventory
from tsnbench.hosts.inventory.types import End, Wire
from tsnbench.hosts.mapping import map_plan

from .recorded import LAB, SAID, said, texts

PORTS = {End(host, port): port for host, port in (("a", "eth1"), ("b", "eth1"), ("s", "eth1"), ("s", "eth2"))}
WIRES = [Wire(End("a", "eth1"), End("s", "eth1")), Wire(End("b", "eth1"), End("s", "eth2"))]


def found(*changed, **more):
    states = {host: said(host) for host in "abs"} | {one.name: one for one in changed}
    return Found("lab.yaml", PORTS, states, more.get("silent", {}), WIRES, more.get("notes", ()))


def at(host, name, **new):
    state = said(host)
    return replace(state, ports={**state.ports, name: replace(state.ports[name], **new)})


def network(text):
    """Network, shapers and gates of the Plan of a scenario."""
    return plan_of(text).document


def test_the_scenario_has_the_plan_of_the_network_entry_by_entry():
    """Queues, shapers and gates of all ports are those of the scenario that configured the network."""
    own = {port["name"]: port for port in network(scenario.text(found()))["ports"]}
    meant = {port["name"]: port for port in network((SAID / "network.yaml").read_text())["ports"]}
    assert own.keys() == meant.keys()
    for name, port in meant.items():
        assert own[name]["pcp_to_class"] == port["pcp_to_class"]
        assert own[name].get("gates") == port.get("gates")
        assert [one.get("limit_frames") for one in own[name]["classes"]] == [500] * 3
        slopes = [one.get("cbs", {}).get("linux") for one in own[name]["classes"]]
        assert slopes == [one.get("cbs", {}).get("linux") for one in port["classes"]]


def test_the_network_has_no_difference_from_the_scenario_that_was_found(tmp_path):
    (tmp_path / "lab.yaml").write_text(LAB)
    inventory, document = load_inventory(tmp_path / "lab.yaml"), network(scenario.text(found()))
    asked = {host: (said(host), "") for host in "abs"}
    assert differences(document, inventory, map_plan(inventory, document, {}), asked) == []
    changed = asked | {"s": (at("s", "eth2", mtu=1400), "")}
    (one,) = differences(document, inventory, map_plan(inventory, document, {}), changed)
    assert one.setting == "mtu"


def test_the_wires_are_written_as_the_lab_has_them():
    assert "# for the lab: wires: [a.eth1 - s.eth1, b.eth1 - s.eth2]\n" in scenario.text(found())


def test_what_is_not_known_is_a_comment_on_one_line():
    text = scenario.text(
        found(
            replace(said("a"), unread=("tc\n  wrong: {}",)),
            at("b", "eth1", rate_bps=None),
            silent={"z": "timed\nout"},
            notes=['s.eth2: "odd"\nname'],
        )
    )
    assert "# not known: z: timed out\n" in text
    assert "# not known: a: tc wrong: {}\n" in text
    assert '# s.eth2: "odd" name\n' in text
    assert "a guess" not in text, "the other end says the rate"
    network(text)


def test_a_rate_that_no_interface_says_is_a_guess():
    both = [at("b", "eth1", rate_bps=None), at("s", "eth2", rate_bps=None)]
    text = scenario.text(found(*both))
    assert "between: b -- s}  # a guess" in text
    network(text)


def test_without_two_end_stations_there_is_no_scenario():
    alone = replace(found(), wires=[])
    with pytest.raises(InputError, match="no two end stations"):
        scenario.text(alone)


def test_hosts_that_were_not_reached_are_told_also_without_a_scenario(monkeypatch, capsys):
    alone = replace(found(silent={"c": "timed out"}), wires=[])
    monkeypatch.setattr(asking, "discover", lambda *words, **more: alone)
    with pytest.raises(typer.Exit):
        command.discover("a,b,c")
    assert "not reached: c: timed out\nfound no two end stations" in capsys.readouterr().err


def neighbour(port, *, name="a", chassis="02:00:00:01:00:01", kind="mac", descr="eth1", interface="eth1"):
    """One neighbour as lldpcli's json0 prints it."""
    return {
        "name": interface,
        "chassis": [{"id": [{"type": "mac", "value": chassis}], "name": [{"value": name}]}],
        "port": [{"id": [{"type": kind, "value": port}], "descr": [{"value": descr}]}],
    }


def by(rows, ports=PORTS, states=None):
    text = json.dumps({"lldp": [{"interface": rows} if rows else {}]})
    known = states or {host: said(host) for host in "abs"}
    return wires.by_neighbours(ports, known, {"s": wires.neighbours(text)})


def test_recorded_neighbours_are_the_wires():
    near = {host: wires.neighbours(texts(host)["lldp"]) for host in "abs"}
    assert wires.by_neighbours(PORTS, {host: said(host) for host in "abs"}, near).found == WIRES
    # One host without lldpd: the other end of its wire tells it.
    del near["a"]
    assert wires.by_neighbours(PORTS, {host: said(host) for host in "abs"}, near).found == WIRES


def test_a_port_is_found_by_its_address_or_by_the_name_on_its_host():
    assert by([neighbour("02:00:00:01:00:01")]).found == WIRES[:1]
    assert by([neighbour("eth1", kind="ifname", descr="left port")]).found == WIRES[:1]
    assert by([]).found == []
    long = "enp0123456789s0"
    state = replace(said("a"), ports={long: replace(said("a").ports["eth1"], name=long)})
    ports = {End("a", "data"): long, End("s", "eth1"): "eth1"}
    (wire,) = by([neighbour(long, kind="ifname")], ports, {"a": state, "s": said("s")}).found
    assert str(wire) == "a.data - s.eth1"


def test_other_neighbours_are_told_on_one_line():
    odd = by(
        [neighbour("Gi0/1", name='sw "x"\nhosts: {}', chassis="02:ff:00:00:00:01", kind="local", descr="")]
    )
    assert odd.found == []
    assert odd.notes == ['s.eth1: leads out of the lab, to sw "x" hosts: {}, port Gi0/1']
    hub = by([neighbour("02:00:00:01:00:01"), neighbour("02:00:00:02:00:01"), neighbour("02:ff:00:00:00:01")])
    assert hub.found == []
    assert hub.notes[0].startswith("s.eth1: 3 neighbours, so no wire is known")
    network(scenario.text(found(notes=[*odd.notes, *hub.notes])))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"lldp": {}}', '{"lldp": [7]}', '{"lldp":[{"interface":[{}]}]}']
)
def test_other_output_is_no_list_of_neighbours(text):
    with pytest.raises(InputError, match="expected its JSON"):
        wires.neighbours(text)


@pytest.mark.parametrize("bridges", [0, 1, 2, 3])
def test_probes_that_bridges_forward_show_the_wires(bridges):
    """A line of stations and bridges: each bridge forwards a probe that arrives from outside."""
    line = ["a.1", *(f"{name}.{side}" for name in "stu"[:bridges] for side in (1, 2)), "b.1"]
    pairs = list(zip(line[::2], line[1::2], strict=True))
    heard = {}
    for place, port in enumerate(line):
        outwards = line[place + 1 :: 2] if place % 2 == 0 else line[place - 1 :: -2]
        heard[port] = set(outwards)
    assert sorted(wires.by_probes(heard)) == sorted(tuple(sorted(pair)) for pair in pairs)


def test_a_probe_that_nobody_hears_shows_no_wire():
    assert wires.by_probes({"a.1": set(), "b.1": set()}) == []
    assert wires.by_probes({"a.1": {"b.1"}, "b.1": set()}) == [("a.1", "b.1")]


@pytest.mark.parametrize(
    ("words", "said"),
    [("", "found nothing"), ("root@a,,b", "found nothing"), ("root@a,root@a", "found root@a")],
)
def test_hosts_without_a_name_are_refused(words, said):
    with pytest.raises(InputError, match=said):
        asking.named([one.strip() for one in words.split(",")])


def test_hosts_have_the_names_of_their_machines():
    own = asking.named(["root@zgw6", "ssh://pi@192.0.2.7:2222", "admin@zgw6"])
    assert list(own.hosts) == ["zgw6", "host-192.0.2.7", "zgw6-2"]
    assert [one.ssh for one in own.hosts.values()] == ["root@zgw6", "ssh://pi@192.0.2.7:2222", "admin@zgw6"]
