"""``tsnbench doctor --hosts``: findings from the answers of hosts that are not available here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.planned import document_of
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.doctor.lab import LabReport, judge
from tsnbench.hosts import map_plan
from tsnbench.hosts.doctor import Card, Examined, processors, read
from tsnbench.hosts.inventory import read_inventory
from tsnbench.hosts.remote.answers import Ready
from tsnbench.hosts.state.facts import Facts, Interface
from tsnbench.linux.reading import Stamping

LAB = """\
hosts:
  a: {ssh: a, ports: {out: eno1}, talkers: [2, 3]}
  b: {ssh: b, ports: {in: eno1}, talkers: [2, 3]}
  idle: {ssh: idle, ports: {x: eno1}}
wires: [a.out - b.in]
"""
SCENARIO = """\
name: two
duration: 10 s
network:
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a-b]}
clocks: {gptp: {grandmaster: a, sync-interval: 125 ms}}
streams:
  x: {from: a, to: b, frame: 1000 B, period: 1 ms, pcp: 3}
  y: {from: b, to: a, frame: 1000 B, period: 1 ms, pcp: 3}
  z: {from: b, to: a, frame: 1000 B, period: 1 ms, pcp: 0}
"""
READY = Ready("/tmp/w", "/tmp/w/p", "6.12", "x86_64", "a", "boot-a", "", 37, (0, 0), 0, ())
CARD = Interface("eno1", "02:00:00:00:00:01", True, True, 1500, "", "igb", True, "", False, (), "/dev/ptp0")
STAMPS = Stamping(True, True, 0, ("all",))


def host(name: str, **changed) -> Examined:
    """A host without any defect; ``interface``, ``ready`` and ``can`` change its facts."""
    ready = replace(READY, boot=f"boot-{name}", **changed.pop("ready", {}))
    interface = replace(CARD, **changed.pop("interface", {}))
    can = changed.pop("can", Capabilities())
    ssh = changed.pop("ssh", "")
    whole = Examined(
        name,
        facts=Facts(ready, {"lo": CARD, interface.name: interface}, can, ssh, ("eno1",)),
        cards={"eno1": Card(8, 8, STAMPS)},
        programs=frozenset({"ptp4l", "phc2sys", "ethtool"}),
        isolated=frozenset({2, 3}),
        online=frozenset(range(4)),
        free_octets=10**9,
    )
    return replace(whole, **changed)


def judged(b: Examined, scenario: str = SCENARIO, lab: str = LAB) -> LabReport:
    inventory = read_inventory(lab, "lab.yaml")
    plan = document_of(scenario)
    return judge(inventory, [(plan, map_plan(inventory, plan, {}))], {"a": host("a"), "b": b})


def lacks(report: LabReport) -> list[tuple[str, str]]:
    return [(one.room, one.name) for one in report.findings if one.state == "missing"]


def test_a_lab_without_defects_has_no_missing_part() -> None:
    report = judged(host("b"))
    assert lacks(report) == []
    assert not report.silent
    assert "not used, and not asked: idle" in {one.found for one in report.findings}
    notes = [one for one in report.findings if one.state == "note"]
    assert {one.room for one in notes} == {"lab"}


@pytest.mark.parametrize(
    ("changed", "name", "found", "remedy"),
    [
        ({"interface": {"carrier": False}}, "in (eno1) link", "no carrier", "cable"),
        ({"interface": {"root": "fq 8005:"}}, "in (eno1) qdisc", "fq 8005:", "tc qdisc del dev eno1 root"),
        ({"interface": {"master": "br0"}}, "in (eno1) master", "a port of br0", "nomaster"),
        ({"interface": {"name": "eno7"}}, "in (eno1)", "no such interface", "eno7"),
        ({"ssh": "eno1"}, "in (eno1)", "our own ssh connection", "leave eno1 out"),
        ({"cards": {"eno1": Card(2, None, STAMPS)}}, "in (eno1) queues", "2 for", "more queues"),
        (
            {"cards": {"eno1": Card(8, 8, Stamping(False, True, None, ()))}},
            "in (eno1) clock",
            "no hardware stamps",
            "clock: software",
        ),
        ({"interface": {"phc": ""}}, "in (eno1) clock", "no PTP hardware clock", "clock: software"),
        ({"programs": frozenset({"ptp4l"})}, "phc2sys", "the Plan has PTP", "apt-get install linuxptp"),
        ({"steering": ("chronyd",)}, "chronyd", "phc2sys", "systemctl stop chrony"),
        ({"free_octets": 1000}, "space", "captures need up to 5 MiB", "shorter duration"),
        ({"online": frozenset({0, 1})}, "processors", "no processor 2, 3", "talkers"),
        (
            {"can": replace(Capabilities(), qdiscs=frozenset({"pfifo"}))},
            "qdisc mqprio",
            "the kernel has none",
            "modprobe sch_mqprio",
        ),
        ({"ready": {"tai_minus_utc_s": 0}}, "TAI", "a 37 s, b 0 s", "everywhere, or nowhere"),
    ],
)
def test_each_lack_has_its_remedy(changed: dict, name: str, found: str, remedy: str) -> None:
    report = judged(host("b", **changed))
    one = next(one for one in report.findings if one.state == "missing" and one.name == name)
    assert found in one.found
    assert remedy in one.remedy
    assert one.room == ("lab" if name == "TAI" else "b")


def test_a_card_that_can_have_more_queues_is_given_them() -> None:
    report = judged(host("b", cards={"eno1": Card(2, 8, STAMPS)}))
    assert lacks(report) == []
    assert "2 for transmission, at most 8; a run sets 8" in {one.found for one in report.findings}


def test_notes_are_no_lack() -> None:
    report = judged(host("b", isolated=frozenset(), interface={"up": False, "carrier": False}))
    assert lacks(report) == []
    notes = {one.name: one for one in report.findings if one.state == "note" and one.room == "b"}
    assert "isolcpus=2,3 nohz_full=2,3" in notes["processors"].remedy
    assert "a run sets it up" in notes["in (eno1) link"].found


def test_a_ptp4l_that_runs_is_enough() -> None:
    running = host("b", steering=("ptp4l", "phc2sys"), programs=frozenset())
    assert lacks(judged(running)) == []
    without = SCENARIO.replace("clocks: {gptp: {grandmaster: a, sync-interval: 125 ms}}\n", "")
    assert lacks(judged(running, without)) == [("a", "ptp4l")]


def test_a_host_that_does_not_answer_is_silent() -> None:
    report = judged(Examined("b", error="it cannot be reached\nssh says: timed out\nhint: is it on?"))
    assert report.silent == ("b",)
    one = next(one for one in report.findings if one.room == "b")
    assert (one.state, one.found, one.remedy) == (
        "missing",
        "it cannot be reached; ssh says: timed out",
        "is it on?",
    )


def test_what_hosts_cannot_run_is_said() -> None:
    report = judged(host("b"), SCENARIO + "faults: [{loss: 1 %, on: a -> b}]\n")
    assert ("plan", "two") in lacks(report)


def test_answers_are_read() -> None:
    said = "\n".join(
        (
            "Welcome!",
            "has ptp4l",
            "runs bash",
            "runs systemd-timesyn",
            "isolated 2-3",
            "online 0-3",
            "space overlay 82043328 100 2000 63% /",
            "queues eno1 4",
            "channels eno1 Pre-set maximums:",
            "channels eno1 Combined:\t8",
            "channels eno1 Current hardware settings:",
            "channels eno1 Combined:\t4",
            "stamps eno1 \thardware-transmit",
            "stamps eno1 \thardware-receive",
        )
    )
    facts = host("b").facts
    assert facts is not None
    found = read("b", facts, said)
    assert found.programs == {"ptp4l"}
    assert found.steering == ("systemd-timesyn",)
    assert (found.isolated, found.online) == ({2, 3}, {0, 1, 2, 3})
    assert found.free_octets == 2000 * 1024
    card = found.cards["eno1"]
    assert (card.queues, card.most_queues, card.stamps.hardware) == (4, 8, True)
    assert processors("") == []
