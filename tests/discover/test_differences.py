"""A running network against its Plan: each changed setting is named, and nothing else."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from tsnbench.discover import differences as room
from tsnbench.discover import running
from tsnbench.discover.running import Filters, Queue, RunningHost, RunningPort, Shaping
from tsnbench.hosts.inventory import load_inventory
from tsnbench.hosts.mapping import map_plan
from tsnbench.hosts.state.tuning import Card, read_cards
from tsnbench.scenario import load

from .recorded import LAB, SAID, said, state, texts


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A function from the states of hosts to the differences."""
    file = tmp_path_factory.mktemp("lab") / "lab.yaml"
    file.write_text(LAB)
    inventory, plan = load_inventory(file), load(SAID / "network.yaml").plan().document
    mapped = map_plan(inventory, plan, {})
    as_found = {host: said(host) for host in "abs"}

    def compared(*changed, **silent):
        states = {host: (state, "") for host, state in as_found.items()}
        states |= {state.name: (state, "") for state in changed}
        return room.differences(plan, inventory, mapped, states | silent)

    return compared


def test_hosts_that_were_configured_by_the_export_have_no_difference(lab):
    assert lab() == []


def at(host, name, **new):
    state = said(host)
    return replace(state, ports={**state.ports, name: replace(state.ports[name], **new)})


def shaped(host, name, **new):
    return at(host, name, shaping=replace(said(host).ports[name].shaping, **new))


def queued(host, name, number, queue):
    queues = list(said(host).ports[name].shaping.queues)
    queues[number] = queue
    return shaped(host, name, queues=tuple(queues))


def optioned(host, name, number, **new):
    own = said(host).ports[name].shaping.queues[number].own
    return queued(host, name, number, Queue(replace(own, options=own.options | new)))


def carded(card):
    return at("a", "eth1", driver="e1000e", card=card)


GATED = ("s", "eth2")
CHANGED = {
    "RunningPort.up": (lambda: at("a", "eth1", up=False), "link"),
    "RunningPort.carrier": (lambda: at("a", "eth1", carrier=False), "carrier"),
    "RunningPort.mtu": (lambda: at("s", "eth1", mtu=1499), "mtu"),
    "RunningPort.rate_bps": (lambda: at("s", "eth2", rate_bps=10**8), "rate"),
    "RunningPort.master": (lambda: at("s", "eth2", master=""), "bridge"),
    "RunningPort.learning": (lambda: at("s", "eth1", learning=True), "learning"),
    "RunningPort.flood": (lambda: at("s", "eth1", flood=True), "flood"),
    "RunningPort.ingress": (lambda: at("s", "eth1", ingress=False), "ingress filtering"),
    "RunningPort.vlans": (lambda: at("s", "eth1", vlans={1: True, 100: False, 200: True}), "vlan 200"),
    "RunningPort.root": (lambda: at("a", "eth1", root="tbf", shaping=None), "queueing discipline"),
    "RunningPort.shaping": (lambda: at("a", "eth1", root="", shaping=None), "queueing discipline"),
    "RunningPort.filters": (lambda: at("s", "eth1", filters=Filters()), "priority of arriving PCPs"),
    "RunningPort.card": (lambda: carded(Card(eee=True)), "energy saving"),
    "RunningPort.mac": (
        lambda: at("b", "eth1", mac="02:00:00:00:00:99"),
        "address 02:00:00:00:00:99 in vlan",
    ),
    "Shaping.kind": (lambda: shaped(*GATED, kind="mqprio"), "queueing discipline"),
    "Shaping.class_of": (lambda: shaped(*GATED, class_of=(0, 0, 0, 1, 0, 2, 0, 0)), "class of priorities"),
    "Shaping.queues": (lambda: queued(*GATED, 1, None), "class 1"),
    "Shaping.pending": (lambda: shaped(*GATED, pending=True), "gates in force"),
    "Shaping.gates": (lambda: shaped(*GATED, gates=None), "gates"),
    "Shaping.flags": (lambda: shaped(*GATED, flags=0, clock="TAI"), "gates opened by"),
    "Shaping.extension_ns": (lambda: shaped(*GATED, extension_ns=1), "cycle-time-extension"),
    "Shaping.entries": (lambda: shaped(*GATED, entries=((4, 400_001), (3, 599_999))), "gates"),
    "Shaping.base_ns": (lambda: shaped(*GATED, base_ns=10_001), "gates"),
    "Shaping.cycle_ns": (lambda: shaped(*GATED, cycle_ns=1_000_001), "gates"),
    "Shaping.max_sdu": (lambda: shaped(*GATED, max_sdu=(0, 0, 500)), "largest units"),
    "Shaping.preemptable": (lambda: shaped(*GATED, preemptable=(True, False, False)), "preemptable classes"),
    "Queue.own": (lambda: optioned(*GATED, 1, limit=499), "class 1 limit"),
    "Queue.behind": (
        lambda: queued("b", "eth1", 2, replace(said("b").ports["eth1"].shaping.queues[2], behind=None)),
        "class 2 limit behind the shaper",
    ),
    "RunningHost.ports": (lambda: replace(said("a"), ports={"eth0": said("a").ports["mgmt"]}), "interface"),
    "RunningHost.addresses": (
        lambda: replace(
            said("s"),
            addresses=said("s").addresses | {("02:00:00:02:00:01", 200): frozenset({"eth1"})},
        ),
        "address 02:00:00:02:00:01 in vlan 200",
    ),
    "RunningHost.devices": (
        lambda: replace(said("a"), devices={("eth1", 100): {n: n for n in range(1, 6)}}),
        "egress-qos-map of vlan 100",
    ),
    "RunningHost.unread": (lambda: said("s", mdb="no JSON"), "part of its state"),
}
"""For each field of the reader: a change of it, and how the only setting that is named begins."""
NOT_COMPARED = {
    "RunningPort.name": "the name of the interface: a port without it is RunningHost.ports",
    "RunningPort.kind": "decides whether the interface has a rate",
    "RunningPort.driver": "decides how gates are opened",
    "Shaping.last_queue": "for prove, beside the queues of the interface",
    "Shaping.bandwidths": "of devices with YANG, which diff does not ask",
    "Shaping.clock": "of gates in software: the test below",
    "RunningHost.name": "the host itself",
    "RunningHost.kernel": "decides the order of queues in commands",
    "RunningHost.groups": "no stream of this Plan is sent to a group: the test below",
}


def test_each_field_of_the_reader_has_a_test():
    read = {
        f"{kind.__name__}.{one.name}"
        for kind in (RunningHost, RunningPort, Shaping, Queue)
        for one in fields(kind)
    }
    assert read == CHANGED.keys() | NOT_COMPARED.keys()


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_setting_is_named_and_nothing_else(lab, name):
    change, setting = CHANGED[name]
    found = lab(change())
    assert found
    assert {one.setting for one in found if not one.setting.startswith(setting)} == set()
    assert len({(one.host, one.port) for one in found}) == 1


@pytest.mark.parametrize("option", ["idleslope", "sendslope", "hicredit", "locredit"])
def test_each_number_of_a_shaper_is_named(lab, option):
    own = said("b").ports["eth1"].shaping.queues[2]
    changed = replace(own.own, options=own.own.options | {option: own.own.options[option] + 1})
    (one,) = lab(queued("b", "eth1", 2, replace(own, own=changed)))
    assert one.setting == f"class 2 {option}"
    assert int(one.found) == int(one.planned) + 1
    assert option in one.repair


def test_the_same_gates_written_otherwise_are_no_difference(lab):
    assert lab(shaped(*GATED, base_ns=410_000, entries=((3, 600_000), (4, 400_000)))) == []
    assert lab(shaped(*GATED, entries=((4, 150_000), (4, 250_000), (3, 600_000)))) == []
    assert lab(shaped(*GATED, base_ns=10_000 + 123 * 10**6)) == []


def test_gates_that_are_as_far_apart_as_tai_and_utc_are_told(lab, monkeypatch):
    # The cycle of 1 ms divides 37 s, and no difference would be seen.
    monkeypatch.setattr(room, "TAI_AHEAD_NS", 37 * 10**9 + 300_000)
    for apart, is_told in ((300_000, True), (-300_000, True), (299_999, False)):
        (found,) = lab(shaped(*GATED, base_ns=10_000 + 10**9 + apart))
        assert ("TAI and UTC mixed?" in str(found)) == is_told


def test_renumbered_queues_are_no_difference(lab):
    """The kernel's class 0 is the highest (Linux up to 6.2)."""
    was = said(*GATED[:1]).ports["eth2"].shaping
    turned = tuple(2 - number for number in was.class_of)
    masks = tuple((int(f"{mask:03b}"[::-1], 2), length) for mask, length in was.entries)
    assert lab(shaped(*GATED, class_of=turned, entries=masks, queues=was.queues[::-1])) == []


def test_what_was_not_read_is_not_known_and_never_equal(lab):
    (one,) = lab(b=(None, "it cannot be reached\nssh says: timed out"))
    assert (one.host, one.found, one.setting) == ("b", None, "all settings")
    assert str(one) == "b: all settings: not known (it cannot be reached; ssh says: timed out)"
    for part in running.LOOK:
        outputs = texts("s")
        del outputs[part]
        assert any(one.found is None for one in lab(state("s", outputs))), part


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "[1, null, {}]", '[{"ifname": 7}]', "[" * 9999, "\0"]
)
@pytest.mark.parametrize("part", running.LOOK)
def test_any_output_of_a_host_is_read_or_not_known(lab, part, text):
    for one in lab(said("s", **{part: text})):
        assert isinstance(str(one), str)


def test_a_text_of_a_host_begins_no_line_and_is_no_command(lab):
    odd = "br0;reboot\nb: nothing"
    state = said("s")
    ports = {name: replace(one, master=odd if name == "eth1" else "") for name, one in state.ports.items()}
    found = lab(replace(state, ports=ports, unread=("tc: \x1b[2J\nb: fine",)))
    assert all(len(str(one).splitlines()) == 1 for one in found)
    assert "\x1b" not in "".join(map(str, found))
    (moved,) = [one for one in found if one.setting == "bridge"]
    assert moved.repair == f"ip link set dev eth2 master '{odd}'"
    (gone,) = [one for one in lab(at("b", "eth1", mac="$(reboot)")) if one.repair][:1]
    assert "replace '$(reboot)' dev" in gone.repair


def test_a_command_of_the_export_repairs(lab):
    (one,) = lab(at("s", "eth1", vlans={1: True, 100: False}))
    assert one.repair == "bridge vlan add dev eth1 vid 200"
    found = lab(replace(said("s"), addresses={}))
    assert {one.repair for one in found} == {
        f"bridge fdb replace 02:00:00:02:00:01 dev eth2 master static vlan {vid}" for vid in (100, 200)
    }


CARD = """\
channels eth1 Channel parameters for eth1:
channels eth1 Pre-set maximums:
channels eth1 Combined:\t4
channels eth1 Current hardware settings:
channels eth1 Combined:\t1
eee eth1 \tEEE status: enabled - active
coalescing eth1 rx-usecs:\t50
coalescing eth1 tx-usecs:\tn/a
features eth1 tcp-segmentation-offload: on
features eth1 generic-receive-offload: on
features eth1 large-receive-offload: off [fixed]
"""


def test_settings_of_a_network_card_are_named_with_their_commands(lab):
    """Output of ``ethtool`` with the forms of its version 6.1."""
    found = lab(carded(read_cards(CARD)["eth1"]))
    assert [(one.setting, one.planned, one.found, one.repair) for one in found] == [
        ("queues", "combined 3", "combined 1", "ethtool -L eth1 combined 3"),
        ("energy saving", "eee off", "eee on", "ethtool --set-eee eth1 eee off"),
        ("delay of interrupts", "rx-usecs 0", "rx-usecs 50", "ethtool -C eth1 rx-usecs 0"),
        ("offloads", "tso off gro off", "tso on gro on", "ethtool -K eth1 tso off gro off"),
    ]
    quiet = Card(queues=4, eee=False, coalescing={"rx-usecs": 0})
    assert lab(carded(quiet)) == []
    (unknown,) = lab(carded(None))
    assert (unknown.setting, unknown.found) == ("settings of ethtool", None)


def test_each_filter_of_arriving_frames_counts(lab):
    own = said("s").ports["eth1"].filters
    assert own == Filters({pcp: pcp for pcp in range(8)}, 0)
    (one,) = lab(at("s", "eth1", filters=Filters({**own.priorities, 3: 5})))
    assert (one.planned, one.found) == ("3:3", "3:5")
    assert one.repair.startswith("tc filter replace dev eth1 ingress protocol 802.1Q pref 60003 flower")
    (one,) = lab(at("s", "eth1", filters=Filters(own.priorities, 2)))
    assert (one.setting, one.planned, one.found) == ("filters of arriving frames", "0", "2")
    (one,) = lab(at("s", "eth1", filters=Filters()))
    assert one.repair.startswith("tc qdisc replace dev eth1 clsact && tc filter")
    assert (one.planned.count(":"), one.planned[:3], one.found[:3]) == (7, "1:1", "1:0")
    assert lab(at("s", "eth1", filters=Filters(), kind="veth", rate_bps=10**9)) == []
