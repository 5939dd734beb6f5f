"""Bridges with NETCONF in the scenario of a running network: as their data say, and from a real server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.netconf_server import PASSWORD, USER, NetconfServer, missing
from support.planned import plan_of
from tsnbench.deploy import Access, Target, deploy, tree
from tsnbench.deploy.tree import Node
from tsnbench.discover import by_netconf, scenario
from tsnbench.discover.scenario import Found
from tsnbench.hosts.inventory.types import Device, End, Wire
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.yang.files import instance_data

from .recorded import said

MODULES = Path(os.environ.get("TSNBENCH_YANG", Path(__file__).parents[3] / "shared/yang"))
NETWORK = """\
name: line
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s]
  queues: {classes: {7: 3, 3: 2, 2: 1, 0: 0}}
  links: {rate: 1 Gbit/s, between: [a -- s, s -- b]}
streams:
  loop: {from: a, to: b, pcp: 7, vlan: 10, period: 1 ms, frame: 100 B}
  video: {from: a, to: b, pcp: 3, vlan: 20, period: 1 ms, frame: 500 B}
shapers:
  s -> b:
    gates: {cycle: 500 us, base-time: 100 us, extension: 20 us, entries: [{open: [7], for: 50 us}, {open: [3, 2, 0], for: 450 us}]}
    queues: {max-sdu: {3: 1000 B}}
  s -> a: {cbs: {3: {bandwidth: 20 Mbit/s}}, preemption: {express: [7]}}
"""  # noqa: E501


def data() -> str:
    """The instance data of the bridge."""
    plan = plan_of(NETWORK).document
    return instance_data(Network(plan), Notes("yang"))["s/yang.xml"]


def found(config: Node) -> Found:
    state = by_netconf.state("s", config)
    ends = {
        End("a", "eth1"): "eth1",
        End("b", "eth1"): "eth1",
        End("s", "p1"): "eth1",
        End("s", "p2"): "eth2",
    }
    wires = [Wire(End("a", "eth1"), End("s", "p1")), Wire(End("s", "p2"), End("b", "eth1"))]
    macs = {port["name"]: port["mac"] for port in plan_of(NETWORK).document["ports"]}
    hosts = {name: said(name) for name in "ab"}
    for name, one in hosts.items():
        # The hosts of the plan, with interfaces that have no queues.
        object.__setattr__(one.ports["eth1"], "mac", macs[f"{name} -> s"])
        object.__setattr__(one.ports["eth1"], "shaping", None)
        object.__setattr__(one.ports["eth1"], "root", "")
    return Found("lab.yaml", ends, hosts | {"s": state}, {}, wires, ())


def test_the_scenario_of_a_device_has_the_plan_that_wrote_its_data() -> None:
    text = scenario.text(found(tree.read(data())))
    own = {port["name"]: port for port in plan_of(text).document["ports"]}
    meant = {port["name"]: port for port in plan_of(NETWORK).document["ports"]}
    for name in ("s -> a", "s -> b"):
        assert own[name]["pcp_to_class"] == meant[name]["pcp_to_class"]
        assert own[name].get("gates") == meant[name].get("gates")
        assert own[name].get("preemption") == meant[name].get("preemption")
        for one, other in zip(own[name]["classes"], meant[name]["classes"], strict=True):
            assert one.get("cbs", {}).get("idle_slope_bps") == other.get("cbs", {}).get("idle_slope_bps")
            assert one.get("max_sdu_octets") == other.get("max_sdu_octets")
    assert "vlan10: {from: a, to: b, vlan: 10" in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<priority7>3<", "<priority7>x<"),
        ("<number-of-traffic-classes>4<", "<number-of-traffic-classes>900<"),
        ("<denominator>2000<", "<denominator>0<"),
        ("<gate-states-value>8<", "<gate-states-value>open<"),
    ],
)
def test_data_that_cannot_be_read_are_not_known_and_no_default(before: str, after: str) -> None:
    text = data()
    assert before in text
    state = by_netconf.state("s", tree.read(text.replace(before, after)))
    assert any("cannot be read" in why for why in state.unread)
    assert any(one.shaping is None for one in state.ports.values())


def test_a_device_without_interfaces_is_not_known() -> None:
    state = by_netconf.state("s", Node("", "data"))
    assert (state.ports, state.unread) == (
        {},
        (by_netconf.NO_MODULE, "its modules have no interfaces"),
    )


def test_one_that_does_not_answer_says_why() -> None:
    pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")
    told = by_netconf.ask(Device("s", {}, "admin@127.0.0.1:1"))
    assert told.state is None
    assert "cannot be reached" in told.why


def test_a_real_server_tells_what_was_deployed(tmp_path: Path) -> None:
    """netconfd with IEEE's modules."""
    pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")
    if reason := missing(MODULES):
        pytest.skip(reason)
    with NetconfServer(tmp_path, MODULES) as server:
        access = Access(USER, PASSWORD, known_hosts=server.known_hosts, timeout_s=20)
        where = Target("s", "127.0.0.1", server.port)
        assert deploy(plan_of(NETWORK).document, [where], access, tmp_path / "before.json").done
        told = by_netconf.ask(Device("s", {}, f"{USER}@127.0.0.1:{server.port}"), access)
    meant = by_netconf.state("s", tree.read(data()))
    assert {one.ingress for one in meant.ports.values()} == {True}
    assert told.state is not None, told.why
    assert (told.state.ports, told.state.unread) == (meant.ports, (by_netconf.NO_MODULE,))
    assert told.state.addresses == meant.addresses
