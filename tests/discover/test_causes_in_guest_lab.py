"""Causes for which a list is not on, each made on a host of a lab: ``prove`` names its layer alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.planned import plan_of

from .recorded import SAID
from .test_in_guest_lab import Hosts, hosts

__all__ = ["hosts"]

pytestmark = pytest.mark.nightly
PROVE = ("--offload", "--rate", "1Gbit/s", "--granularity", "8ns")
PLANNED = ("--scenario", SAID / "network.yaml")
TAPRIO = "parent root handle 100: taprio num_tc 3 map {map} 0 0 0 0 0 0 0 0 queues 1@0 1@1 1@2"
LIST = "base-time {base} sched-entry S 04 400000 sched-entry S 03 600000 cycle-time {cycle} {how}"
MAP = "0 0 0 1 0 0 2 0"
ETF = (
    "tc qdisc replace dev eth2 parent 100:1 pfifo && "
    "tc qdisc replace dev eth2 parent 100:1 etf clockid CLOCK_TAI delta {} {}"
)
CBS = "cbs idleslope 20000 sendslope -980000 hicredit 30 locredit -1470"
PHC2SYS = """\
(phc2sys -s eth2 -c CLOCK_REALTIME -O 0 -m >/tmp/phc2sys 2>&1 </dev/null &)
until grep -q " s2 " /tmp/phc2sys; do sleep 0.5; done
"""
RESTORE = """\
kill $(pidof phc2sys) 2>/dev/null; ip link del eth2.100 2>/dev/null; ip link del v0 2>/dev/null
ethtool -L eth2 combined 8 2>/dev/null; ethtool -s eth2 speed 1000 duplex full autoneg off
tc qdisc del dev eth2 root; sed -n '/ dev eth2 parent /s/^/tc /p' /tmp/own/tc.batch | sh -e
until [ "$(cat /sys/class/net/eth2/carrier)" = 1 ]; do sleep 0.1; done
"""
LAUNCHES = """\
name: launches
duration: 200 ms
hosts: {default: low-latency}
network: {stations: [s, b], links: {rate: 1 Gbit/s, between: [s -- b]}}
streams:
  x: {from: s, to: b, pcp: 0, vlan: 100, payload: 100 B, period: 10 ms, send: {advance: 5 ms, txtime: true}}
"""
UNTIMED = LAUNCHES.replace(", send: {advance: 5 ms, txtime: true}", "")
TALK = "cat >/tmp/plan && tsnbench-traffic talk /tmp/plan --node 0 --port 0=eth2 --log /tmp/talked"
SOFT = "sed -n '/ dev eth2 parent 100:/s/^/tc /p' /tmp/own/tc.batch | sh -e"
"""The queues of the Plan below a list."""


def taprio(
    port: str = "eth2", base: str = "10000", cycle: int = 1_000_000, how: str = "flags 0x2", own: str = MAP
) -> str:
    """The commands for a list of its own at a port of the bridge."""
    words = f"{TAPRIO.format(map=own)} {LIST.format(base=base, cycle=cycle, how=how)}"
    return f"tc qdisc del dev {port} root 2>/dev/null; tc qdisc replace dev {port} {words}"


def ahead(seconds: int) -> str:
    """A base time that is so far ahead of the host's UTC, which is the time of its card here, too."""
    return f"$(( $(date +%s) + {seconds} ))000000000"


CAUSES = {
    "list in the future": (taprio(base=ahead(1_000)), "in force", "it waits for its base time, in "),
    "base time of TAI, clock of UTC": (taprio(base=ahead(37)), "in force", "TAI and UTC mixed?"),
    "all priorities in one class": (taprio(own="0 0 0 0 0 0 0 0"), "map", "all in one class"),
    "no PCP on the VLAN device": (
        "ip link add link eth2 name eth2.100 type vlan id 100",
        "tags",
        "sends every priority as PCP 0",
    ),
    "queues that the card does not use": ("ethtool -L eth2 combined 2", "queues", "3 queues"),
    "a shaper in software": (
        f"tc qdisc replace dev eth2 parent 100:1 {CBS}",
        "queues",
        "class 0: cbs in software",
    ),
    "a slower link": (
        "ethtool -s eth2 speed 100 duplex full autoneg off",
        "link",
        "100 Mbit/s, and not 1 Gbit/s",
    ),
    "a cycle beside the granularity": (taprio(cycle=1_000_004), "granularity", "1.000004 ms is no multiple"),
}


def proved(hosts: Hosts, *words: object, port: str = "eth2") -> tuple[int, dict[str, str]]:
    """The exit code, and the sentences of the layers that lost the list."""
    done = hosts.tsnbench("prove", "s", port, *words, "--json")
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)["layers"]
    return done.returncode, {one["name"]: one["sentence"] for one in told if one["answer"] == "no"}


@pytest.fixture
def restored(hosts: Hosts) -> Iterator[None]:
    yield
    hosts.says("s", RESTORE)


def test_nothing_is_named_where_all_is_right(hosts: Hosts) -> None:
    assert proved(hosts, *PROVE, *PLANNED, "--probe") == (0, {})


@pytest.mark.parametrize(("made", "layer", "words"), CAUSES.values(), ids=CAUSES)
def test_a_cause_is_named_alone(hosts: Hosts, restored: None, made: str, layer: str, words: str) -> None:
    hosts.says("s", made)
    code, lost = proved(hosts, *PROVE)
    assert (code, list(lost)) == (1, [layer]), lost
    assert words in lost[layer]


def test_a_list_in_software_where_the_card_was_asked(hosts: Hosts, restored: None) -> None:
    """The driver of veth refuses ``flags 0x2``; a script then falls back."""
    hosts.says("s", "ip link add v0 numtxqueues 8 type veth peer name v1 numtxqueues 8 && ip link set v0 up")
    hosts.says("s", f"ip link set v1 up; {taprio('v0')} || {{ {taprio('v0', how='clockid CLOCK_TAI')}; }}")
    code, lost = proved(hosts, "--offload", port="v0")
    assert (code, list(lost)) == (1, ["list"]), lost
    assert "the driver did not take it (flags 0x2 refused?)" in lost["list"]


def test_a_list_in_software_on_another_clock(hosts: Hosts, restored: None) -> None:
    hosts.says("s", taprio(how="clockid CLOCK_REALTIME"))
    code, lost = proved(hosts)
    assert (code, list(lost)) == (1, ["clock"]), lost
    assert "the list runs on REALTIME, and not on TAI" in lost["clock"]


def test_what_the_scenario_has_otherwise_is_named(hosts: Hosts, restored: None, tmp_path: Path) -> None:
    """The map of one priority; and the base time of UTC, which a cycle that does not divide 37 s shows."""
    hosts.says("s", taprio(own="0 0 0 2 0 0 2 0"))
    code, lost = proved(hosts, *PROVE, *PLANNED)
    assert (code, list(lost)) == (1, ["plan"]), lost
    assert "priorit" in lost["plan"]
    file = tmp_path / "other.yaml"
    file.write_text((SAID / "network.yaml").read_text().replace("for: 600 us", "for: 300 us"))
    hosts.says("s", taprio(base="10000", cycle=700_000).replace("600000", "300000"))
    hosts.says("s", SOFT)
    assert proved(hosts, *PROVE, "--scenario", file) == (0, {})
    hosts.says("s", taprio(base="37000010000", cycle=700_000).replace("600000", "300000"))
    hosts.says("s", SOFT)
    code, lost = proved(hosts, *PROVE, "--scenario", file)
    assert (code, list(lost)) == (1, ["plan"]), lost
    assert "all gates 37 s apart: TAI and UTC mixed?" in lost["plan"]


def test_clocks_and_launch_times(hosts: Hosts, restored: None) -> None:
    """ptp4l sets the cards' clocks here. Launch times are of the host's clock, which phc2sys sets."""
    timed, untimed = (plan_of(one).to_json().encode() for one in (LAUNCHES, UNTIMED))
    hosts.says("s", ETF.format(10_000_000, "offload"))
    code, lost = proved(hosts, *PROVE)
    assert (code, list(lost)) == (1, ["clock"]), lost
    assert "no phc2sys sets the host's" in lost["clock"]
    hosts.says("s", PHC2SYS)
    hosts.says("s", TALK, timed)
    assert proved(hosts, *PROVE) == (0, {})
    for delta, plan, words in (
        (1_000, timed, "frames that it woke up for too late: its delta of 1 us is too short"),
        (10_000_000, untimed, "dropped 20 frames that came with a past launch time, with none"),
    ):
        hosts.says("s", ETF.format(delta, "offload"))
        hosts.says("s", TALK, plan)
        code, lost = proved(hosts, *PROVE)
        assert (code, list(lost)) == (1, ["launch"]), lost
        assert words in lost["launch"]
