"""Text for Linux: masks and queues computed by hand, tc's own parser, read-back, the kernel's messages."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tsnbench.errors import InputError
from tsnbench.exports import export
from tsnbench.linux import Layout, Mode, Profile, compare, explain, problems, read_links, read_qdiscs
from tsnbench.linux.limits import shortest_interval_ns
from tsnbench.linux.ptp import decimal, log_interval, ptp4l
from tsnbench.linux.qdiscs import Child, batch, changes, children, root
from tsnbench.linux.tuning import scripts, settings
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

ROOT = Path(__file__).parents[2]
RICH = ROOT / "tests/exports/rich.yaml"


def document(path: Path = RICH) -> dict[str, Any]:
    return plan(load_variants(path)[0]).document


def port(name: str, **more: Any) -> dict[str, Any]:
    (found,) = [one for one in document()["ports"] if one["name"] == name]
    return {**found, **more}


def numbers(line: str, word: str, until: str) -> list[str]:
    return line.split(f" {word} ")[1].split(f" {until} ")[0].split()


# By hand: classes {7: 3, 3: 2, 2: 1, 0: 0}; the mask of class 3's window is 1000b, of the others' window
# 0111b.


def test_taprio_as_computed_by_hand() -> None:
    line = root(port("left -> right"), Profile(epoch_ns=1_000_000_000)).line("eth0")
    assert line == (
        "qdisc replace dev eth0 parent root handle 100: taprio num_tc 4 "
        "map 0 0 1 2 0 0 0 3 0 0 0 0 0 0 0 0 queues 1@3 1@2 1@1 1@0 base-time 1000100000 "
        "sched-entry S 08 50000 sched-entry S 07 450000 cycle-time 500000 clockid CLOCK_TAI"
    )


def test_renumbered_classes_have_mirrored_masks_and_rising_queues() -> None:
    line = root(port("left -> right"), Profile(layout=Layout.RENUMBERED)).line("eth0")
    assert numbers(line, "map", "queues") == [*"3321333033333333"]
    assert numbers(line, "queues", "base-time") == ["1@0", "1@1", "1@2", "1@3"]
    assert re.findall(r"sched-entry S (\w+)", line) == ["01", "0e"]


def test_straight_classes_have_the_queue_of_their_number() -> None:
    line = root(port("left -> right"), Profile(layout=Layout.STRAIGHT)).line("eth0")
    assert numbers(line, "queues", "base-time") == ["1@0", "1@1", "1@2", "1@3"]
    assert re.findall(r"sched-entry S (\w+)", line) == ["08", "07"]


@pytest.mark.parametrize("layout", Layout)
def test_every_priority_reaches_its_class_and_child(layout: Layout) -> None:
    """Map and queues lead every priority to the queue whose child belongs to its class."""
    for one in document()["ports"]:
        own = root(one, Profile(layout=layout))
        by_queue = {child.queue: child.traffic_class for child in children(one, Profile(layout=layout))}
        assert len(by_queue) == len(one["classes"])
        for pcp, number in enumerate(one["pcp_to_class"]):
            _, offset = own.queues[own.map[pcp]]
            assert by_queue[offset] == number
        assert max(own.map) < own.num_tc
        assert len(own.map) == 16


@pytest.mark.parametrize("layout", [Layout.REVERSED, Layout.RENUMBERED])
def test_the_highest_class_has_queue_0(layout: Layout) -> None:
    for one in document()["ports"]:
        (first,) = [child for child in children(one, Profile(layout=layout)) if child.queue == 0]
        assert first.traffic_class == len(one["classes"]) - 1


def test_full_offload_has_no_clock_and_txtime_assist_a_delay() -> None:
    full = root(port("left -> right"), Profile(mode=Mode.FULL)).line("eth0")
    assert "flags 0x2" in full
    assert "clockid" not in full
    assist = root(port("left -> right"), Profile(mode=Mode.TXTIME_ASSIST)).line("eth0")
    assert "flags 0x1 txtime-delay 500000 clockid CLOCK_TAI" in assist
    assert "txtime-delay" not in full


def test_shapers_have_the_plans_numbers_for_tc() -> None:
    one = port("right -> robot")
    (shaped,) = [own["cbs"]["linux"] for own in one["classes"] if "cbs" in own]
    lines = batch(one, "eth2", Profile())
    (line,) = [line for line in lines if " cbs " in line]
    words = " ".join(f"{name} {shaped[name]}" for name in ("idleslope", "sendslope", "hicredit", "locredit"))
    assert line == f"qdisc replace dev eth2 parent 100:2 handle 102: cbs {words} offload 0"
    assert "qdisc replace dev eth2 parent 102:1 pfifo limit 100" in lines


def test_hold_release_extension_units_and_preemption() -> None:
    gates = {
        "base_time_ns": 0,
        "cycle_ns": 100_000,
        "cycle_extension_ns": 500,
        "entries": [
            {"open": 8, "interval_ns": 40_000, "mac": "hold"},
            {"open": 7, "interval_ns": 60_000, "mac": "release"},
        ],
        "changes": [
            {
                "at_ns": 7,
                "base_time_ns": 9,
                "cycle_ns": 50_000,
                "entries": [{"open": 15, "interval_ns": 50_000}],
            }
        ],
    }
    one = port("right -> left", gates=gates)
    one["classes"] = [{**one["classes"][0], "max_sdu_octets": 200}, *one["classes"][1:]]
    line = root(one, Profile(mode=Mode.FULL)).line("eth0")
    assert "sched-entry H 08 40000 sched-entry R 07 60000 cycle-time 100000 cycle-time-extension 500" in line
    assert "max-sdu 200 0 0 0 fp P P P E " in line
    ((at, top),) = changes(one, Profile())
    later = top.line("eth0")
    assert at == 7
    assert "base-time 9 sched-entry S 0f 50000 cycle-time 50000" in later
    assert " fp " not in root(one, Profile()).line("eth0")
    words = " ".join(str(found) for found in problems(one, Profile()))
    assert "hardware only" in words
    assert "hold or release" in words


# Hosts' queueing disciplines in the form of a Plan.


def test_children_of_hosts() -> None:
    qdisc = {
        "taprio": {
            "mode": "txtime-assist",
            "txtime_delay_ns": 250_000,
            "base_time_ns": 0,
            "cycle_ns": 1_000_000,
            "entries": [{"open": 8, "interval_ns": 300_000}, {"open": 7, "interval_ns": 700_000}],
        },
        "children": [
            {"kind": "pfifo", "limit_frames": 50},
            {"kind": "etf", "delta_ns": 200_000, "deadline": True, "skip_sock_check": True},
            {
                "kind": "cbs",
                "idleslope": 1,
                "sendslope": -9,
                "hicredit": 2,
                "locredit": -3,
                "limit_frames": 7,
                "overhead_octets": 24,
            },
            {"kind": "etf", "delta_ns": 100_000, "offload": True},
        ],
    }
    lines = batch(port("camera -> left", qdisc=qdisc), "eth1", Profile())
    assert "flags 0x1 txtime-delay 250000 clockid CLOCK_TAI" in lines[0]
    assert lines[1:] == [
        "qdisc replace dev eth1 parent 100:1 etf clockid CLOCK_TAI delta 100000 offload",
        "qdisc replace dev eth1 parent 100:2 handle 102: stab overhead 24 "
        "linklayer ethernet cbs idleslope 1 sendslope -9 hicredit 2 locredit -3 offload 0",
        "qdisc replace dev eth1 parent 102:1 pfifo limit 7",
        "qdisc replace dev eth1 parent 100:3 etf clockid CLOCK_TAI delta 200000 "
        "deadline_mode skip_sock_check",
        "qdisc replace dev eth1 parent 100:4 pfifo limit 50",
    ]


# tc parses every line before it looks for the interface, so an interface that does not exist tests the
# syntax.


def policed() -> dict[str, Any]:
    found = dict(document())
    node = next(number for number, one in enumerate(found["nodes"]) if one["name"] == "left")
    found["policing"] = [
        {
            "node": node,
            "filters": [
                {"name": "one", "streams": [0], "gate": 0, "max_sdu_octets": 500},
                {"name": "all", "priority": 3, "meter": 0, "scheduler": 0},
            ],
            "gates": [
                {
                    "base_time_ns": 0,
                    "cycle_ns": 1000,
                    "entries": [
                        {"open": True, "ipv": 2, "interval_ns": 400},
                        {"open": False, "interval_ns": 600},
                    ],
                }
            ],
            "meters": [{"cir_bps": 1_000_000, "cbs_octets": 2000, "eir_bps": 1, "ebs_octets": 1}],
            "regeneration": [{"port": Network(found).ports_of(node)[0], "pcp": [0, 1, 2, 3, 4, 5, 6, 0]}],
        }
    ]
    return found


@pytest.mark.skipif(shutil.which("tc") is None, reason="needs iproute2's tc")
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    "made",
    [
        document(),
        policed(),
        document(ROOT / "tests/exports/policed.yaml"),
        document(ROOT / "tests/plans/gates.yaml"),
        document(ROOT / "scenarios/papers/engine/ex-ucc.yaml"),
        document(ROOT / "scenarios/papers/engine/ex-etf.yaml"),
        document(ROOT / "scenarios/papers/engine/ex-taprio.yaml"),
    ],
    ids=["rich", "policed", "policed-2", "gates", "ex-ucc", "ex-etf", "ex-taprio"],
)
def test_tc_accepts_every_line(made: dict[str, Any], mode: Mode, tmp_path: Path) -> None:
    names = {one["name"]: f"nosuch{number}" for number, one in enumerate(made["ports"])}
    done = export(made, ["tc"], Profile(mode=mode, interfaces=names))
    lines = [
        line for name, text in done.files.items() if name.endswith("tc.batch") for line in text.splitlines()
    ]
    # These lines need a newer tc than iproute2 6.1, or an existing device.
    lines = [line for line in lines if " fp " not in line and " mirred " not in line]
    assert len(lines) > 10
    (tmp_path / "batch").write_text("\n".join(lines) + "\n")
    ran = subprocess.run(
        ["tc", "-force", "-batch", str(tmp_path / "batch")], capture_output=True, text=True, check=False
    )
    said = {re.sub(r"nosuch\d+", "X", line).partition("/")[0] for line in ran.stderr.splitlines()}
    assert said <= {'Cannot find device "X"', "Command failed "}, ran.stderr[:500]


def test_ingress_filters_give_frames_their_priority() -> None:
    files = export(policed(), ["tc"]).files
    lines = files["left/tc.batch"].splitlines()
    assert [line for line in lines if "pref 60007 " in line and "dev eth1 " in line] == [
        "filter replace dev eth1 ingress protocol 802.1Q pref 60007 flower vlan_prio 7 "
        "action vlan modify priority 0 pipe action skbedit priority 0 continue"
    ]
    # A stream may arrive with any priority if some bridge rewrites priorities.
    found = [line for line in lines if "action gate" in line and "dev eth4 " in line]
    assert [re.findall(r"vlan_prio (\d)", line)[0] for line in found] == list("01234567")
    gate = found[7]
    assert "base-time 0 cycle-time 1000 clockid CLOCK_TAI" in gate
    assert "sched-entry open 400 2 -1 sched-entry close 600 -1 -1" in gate
    assert "police rate 100gbit burst 1g mtu 514" in gate
    notes = "\n".join(str(note) for note in export(policed(), ["tc"]).notes)
    for word in ("ATS schedulers", "excess rate", "internal priority"):
        assert word in notes


def test_namespaces_have_a_queue_per_class_and_all_is_undone() -> None:
    files = export(document(), ["tc"]).files
    up, down = files["netns/up.batch"], files["netns/down.batch"]
    assert re.findall(r"netns add (\w+)", up) == re.findall(r"netns del (\w+)", down)
    assert up.count("type veth peer") == 6
    made = set(re.findall(r"link add link (\w+) name (\S+)", files["camera/ip.batch"]))
    gone = re.findall(r"ip link del dev (\S+)", files["camera/down.sh"])
    assert [name for _, name in sorted(made)] == sorted(gone)
    assert "egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7" in files["camera/ip.batch"]


def test_an_address_with_two_ports_has_one_entry() -> None:
    lines = export(document(), ["tc"]).files["right/bridge.batch"].splitlines()
    assert len([line for line in lines if line.startswith("fdb replace 02:00:00:02:00:01")]) == 1


# Limits of the kernel.


@pytest.mark.parametrize(
    ("mbit", "least"), [(10, 48_000), (100, 4_800), (1000, 480), (10_000, 48), (25_000, 19)]
)
def test_the_shortest_entry(mbit: int, least: int) -> None:
    assert shortest_interval_ns(mbit * 1_000_000) == least


def test_limits_in_words() -> None:
    gates = {"base_time_ns": -5, "cycle_ns": 3_000_000_000, "entries": [{"open": 1, "interval_ns": 400}]}
    words = [str(one) for one in problems(port("left -> right", gates=gates), Profile(tx_queues=2))]
    assert any("4 traffic classes on an interface with 2 transmission queues" in one for one in words)
    assert any("an entry of 400 ns: at 1000 Mbit/s taprio takes none under 480 ns" in one for one in words)
    assert any("a cycle of 3000000000 ns" in one for one in words)
    # A base time in the past is legal.
    assert not any("base time" in one for one in words)
    calm = {"base_time_ns": 0, "cycle_ns": 100_000, "entries": [{"open": 15, "interval_ns": 100_000}]}
    assert not problems(port("left -> right", gates=calm), Profile(layout=Layout.RENUMBERED))


@pytest.mark.parametrize(
    ("printed", "word"),
    [
        ("Error: Specified qdisc kind is unknown.", "modprobe"),
        ("Error: Number of traffic classes is greater than number of HW queues.", "ethtool -L"),
        ("Error: Detected overlap in the traffic class to queue mapping.", "renumbered"),
        ("Error: Invalid interval for schedule entry.", "wait until the link is up"),
        ("Error: sch_taprio: Multi-queue device is required.", "numtxqueues"),
        ("Error: The 'clockid' cannot be specified for full offload.", "clockid"),
        ("Error: Changing the traffic mapping of a running schedule is not supported.", "delete the root"),
        ("Error: Preemption only supported with full offload.", "--taprio full"),
        ("Error: Specified device failed to setup cbs hardware offload.", "offload 0"),
        ('Cannot find device "eth7"', "--interface"),
    ],
)
def test_refusals_are_explained(printed: str, word: str) -> None:
    found = explain(printed)
    assert found is not None
    assert word in found.remedy


def test_unknown_messages_are_not_explained() -> None:
    assert explain("Error: something new.") is None


# Reading back.


def shown(one: dict[str, Any], profile: Profile) -> list[dict[str, Any]]:
    """The output of tc -j -s qdisc for a port that is configured as requested."""
    own = root(one, profile)
    options: dict[str, Any] = {
        "tc": own.num_tc,
        "map": list(own.map),
        "queues": [{"offset": offset, "count": count} for count, offset in own.queues],
        "clockid": "TAI",
        "base_time": own.base_time,
        "cycle_time": own.cycle_time,
        "cycle_time_extension": 0,
        "schedule": [
            {"index": number, "cmd": command, "gatemask": hex(mask), "interval": interval}
            for number, (command, mask, interval) in enumerate(own.entries)
        ],
    }
    rows = [{"kind": own.kind, "handle": "100:", "dev": "eth2", "root": True, "options": options, "drops": 3}]
    for child in children(one, profile):
        options = {
            name: (int(value) if re.fullmatch(r"-?\d+", value) else value) for name, value in child.options
        }
        rows.append({"kind": child.kind, "parent": child.parent, "dev": "eth2", "options": options})
    return rows


def differences(rows: list[dict[str, Any]], one: dict[str, Any]) -> list[str]:
    profile = Profile()
    found = compare("eth2", root(one, profile), children(one, profile), read_qdiscs(json.dumps(rows)))
    return [str(difference) for difference in found]


def test_the_requested_configuration_has_no_difference() -> None:
    one = port("left -> right")
    assert not differences(shown(one, Profile()), one)
    assert read_qdiscs(json.dumps(shown(one, Profile())))[0].counters == {"drops": 3}


def test_every_difference_is_named() -> None:
    one = port("left -> right")
    rows = shown(one, Profile())
    rows[0]["options"]["schedule"][0]["interval"] = 40_000
    rows[0]["options"]["map"][7] = 0
    rows[2]["kind"] = "pfifo_fast"
    del rows[4]
    found = differences(rows, one)
    assert len(found) == 4
    assert "eth2 100:2: its kind: requested pfifo, found pfifo_fast" in found
    assert "eth2 100:4: its kind: requested pfifo, found nothing" in found
    assert differences([{"kind": "noqueue", "dev": "eth2", "root": True}], one) == [
        "eth2: the root: requested taprio, found noqueue"
    ]


@pytest.mark.parametrize("text", ["{", "{}", "3"])
def test_other_output_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="tc -j -s qdisc: expected"):
        read_qdiscs(text)


def test_flags_of_etf_are_read_back() -> None:
    child = Child(0, "etf", (("clockid", "CLOCK_TAI"), ("delta", "5"), ("offload", "")), 0)
    options = {"clockid": "TAI", "delta": 5, "offload": "off"}
    own = dataclasses.replace(root(port("camera -> left"), Profile()))
    rows = [{"kind": "etf", "parent": "100:1", "dev": "eth2", "options": options}]
    found = compare(
        "eth2", own, [child], read_qdiscs(json.dumps([*shown(port("camera -> left"), Profile())[:1], *rows]))
    )
    assert [str(one) for one in found] == ["eth2 100:1: offload: requested on, found off"]


def test_vlan_devices_are_read_back() -> None:
    same = [{"from": number, "to": number} for number in range(1, 8)]
    info = {"info_kind": "vlan", "info_data": {"id": 10, "egress_qos": same, "ingress_qos": same[1:]}}
    links = read_links(json.dumps([{"ifname": "eth1.10", "flags": ["UP"], "linkinfo": info}, {}]))
    assert (links[0].name, links[0].vid, links[0].up) == ("eth1.10", 10, True)
    assert links[0].egress == {number: number for number in range(1, 8)}
    assert links[0].ingress == {number: number for number in range(2, 8)}


# PTP and tuning.


def test_roles_of_ptp() -> None:
    network = Network(document())
    notes = Notes("ptp4l")
    texts = {
        one["name"]: ptp4l(network, number, Profile(), notes) or ""
        for number, one in enumerate(network.nodes)
    }
    assert "slaveOnly 0" in texts["left"]
    assert "masterOnly 0" not in texts["left"]
    assert texts["left"].count("BMCA noop") == 4
    assert "slaveOnly 1" in texts["robot"]
    assert "slaveOnly 1" in texts["right"]
    assert texts["right"].count("masterOnly 0") == 1
    assert "logSyncInterval -3" in texts["right"]
    assert "transportSpecific 0x1" in texts["right"]


@pytest.mark.parametrize(
    ("nanoseconds", "exponent", "told"),
    [(125_000_000, -3, 0), (1_000_000_000, 0, 0), (100_000_000, -3, 1), (2_000_000_000, 1, 0)],
)
def test_intervals_are_powers_of_two(nanoseconds: int, exponent: int, told: int) -> None:
    notes = Notes("ptp4l")
    assert log_interval(nanoseconds, "it", notes) == exponent
    assert len(list(notes)) == told


@pytest.mark.parametrize(
    ("number", "places", "text"), [(700, 3, "0.7"), (-20, 9, "-0.00000002"), (3000, 3, "3"), (0, 3, "0")]
)
def test_decimals_are_exact(number: int, places: int, text: str) -> None:
    assert decimal(number, places) == text


# EnGINE table 6: turbo (AO), multithreading (SMT), governor. EX_SO4 "performs best out of all investigated
# configuration combinations" (V-C3), and all later experiments use it.
EX_SO4 = {"turbo": "on", "smt": "on", "governor": "performance"}


def test_tuning_has_the_best_settings_of_engine() -> None:
    made = {one.name: one.value for one in settings(["eth1"], (2, 3))}
    assert {name: made[name] for name in EX_SO4} == EX_SO4
    assert made["interrupts"] == "2,3"


def tuned(folder: Path, *words: str) -> dict[str, str]:
    """The changed files of a model of /sys and /proc after the script; the undo restores all files."""
    do, undo = scripts(["eth1"], (2, 3))
    root = folder / "root"
    files = {
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "schedutil",
        "sys/devices/system/cpu/intel_pstate/no_turbo": "1",
        "sys/devices/system/cpu/smt/control": "off",
        "proc/sys/kernel/sched_rt_runtime_us": "950000",
        "proc/interrupts": " 31:  0  0  PCI-MSI  eth1-tx",
        "proc/irq/31/smp_affinity": "f",
        "proc/irq/31/smp_affinity_list": "0-3",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    for name, text in (("do", do), ("undo", undo)):
        for place in ("/sys/", "/proc/"):
            text = text.replace(f" {place}", f" {root}{place}").replace(f'"{place}', f'"{root}{place}')
        (folder / name).write_text(text)

    def state() -> dict[str, str]:
        return {name: (root / name).read_text().strip() for name in files}

    before = state()
    run = ["sh", str(folder / "do"), str(folder / "saved"), *words]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    if done.returncode:
        assert state() == before
        return {"refused": done.stderr}
    after = state()
    # A second call changes nothing: the first values are still saved.
    subprocess.run(run, check=True)
    subprocess.run(["sh", str(folder / "undo"), str(folder / "saved")], check=True)
    # The kernel shows the same mask in two files.
    assert {name: text for name, text in state().items() if not name.endswith("_list")} == {
        name: text for name, text in before.items() if not name.endswith("_list")
    }
    return {name: text for name, text in after.items() if before[name] != text}


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_tuning_sets_everything_or_what_is_named_and_can_be_undone(tmp_path: Path) -> None:
    assert tuned(tmp_path / "all") == {
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance",
        "sys/devices/system/cpu/intel_pstate/no_turbo": "0",
        "sys/devices/system/cpu/smt/control": "on",
        "proc/sys/kernel/sched_rt_runtime_us": "-1",
        "proc/irq/31/smp_affinity_list": "2,3",
    }
    assert tuned(tmp_path / "one", "turbo") == {"sys/devices/system/cpu/intel_pstate/no_turbo": "0"}
    assert tuned(tmp_path / "values", "governor=ondemand", "interrupts=1") == {
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "ondemand",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "ondemand",
        "proc/irq/31/smp_affinity_list": "1",
    }
    assert tuned(tmp_path / "same", "turbo=off", "smt=off") == {}
    assert "found trubo=on" in tuned(tmp_path / "wrong", "trubo=on")["refused"]
    assert "found smt=maybe" in tuned(tmp_path / "value", "smt=maybe")["refused"]


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_tuning_has_an_undo_for_everything_and_is_shell(tmp_path: Path) -> None:
    do, undo = scripts(["eth1"], (2, 3))
    made = settings(["eth1"], (2, 3))
    assert all(one.undo for one in made)
    assert undo.count("then") == len(made)
    for text in (
        do,
        undo,
        *(text for name, text in export(document(), ["tc", "ptp4l"]).files.items() if name.endswith(".sh")),
    ):
        (tmp_path / "script").write_text(text)
        assert subprocess.run(["sh", "-n", str(tmp_path / "script")], check=False).returncode == 0
