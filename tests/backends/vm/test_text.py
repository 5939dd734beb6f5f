"""The configuration of a guest: qdiscs, bridges, gates that close early, unsupported Plans, images.

Needs no guest.
"""

from __future__ import annotations

import json
import subprocess

import pytest

from support.kernel_text import namespaces, port_of, script_of, understood, veth_port
from support.planned import document_of, plan_of
from support.star import GATES, STAR
from tsnbench.backends.kernel import stages
from tsnbench.backends.kernel.job import files
from tsnbench.backends.kernel.port_traffic import port_traffic
from tsnbench.backends.kernel.results.returned import Returned
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.kernel.veth.shaping import guarded, guards
from tsnbench.backends.vm import device, kernel
from tsnbench.backends.vm.cpio import Archive
from tsnbench.errors import BackendError
from tsnbench.linux.readback import read_json
from tsnbench.plan.gates import entries_and_spans
from tsnbench.plan.slow_motion import dilated
from tsnbench.plan.types import GateCycle


def test_a_port_sends_at_its_rate_and_its_highest_class_first():
    plan = plan_of(STAR.replace("SHAPER", "{queues: {classes: {6: 1, 0: 0}}}"))
    number = port_of(plan.document, "switch -> robot")
    lines = veth_port(plan.document, number)
    assert (
        lines[0]
        == f"qdisc add dev p{number} root handle 1: stab overhead 28 linklayer ethernet htb default 1"
    )
    assert "rate 100000000bit" in lines[1]
    assert "prio bands 2 priomap 1 1 1 1 1 1 0 " in lines[2]
    assert f"qdisc add dev p{number} parent 2:2 handle 20: pfifo limit 1000" in lines
    assert "rate 10000000bit" in veth_port(plan.document, number, 10)[1]


def test_taprio_is_changed_once_its_child_qdiscs_exist():
    plan = plan_of(STAR.replace("SHAPER", GATES))
    lines = veth_port(plan.document, port_of(plan.document, "switch -> robot"))
    assert lines[0].endswith("clockid CLOCK_TAI")
    assert " handle 100: stab overhead 28 linklayer ethernet taprio num_tc 2 map 0 0 0 0 0 0 1 " in lines[0]
    assert lines[-1].startswith("qdisc change")
    assert all("taprio" not in line for line in lines[1:-1])


def test_gates_close_early_by_the_transmission_time_that_taprio_omits():
    plan = plan_of(STAR.replace("SHAPER", GATES))
    number = port_of(plan.document, "switch -> robot")
    # 8 + 150 octets: the time at 100 Mbit/s less the time at 10 Gbit/s; then for 8 + 1050 octets.
    for dilation, early in ((1, [83_793, 12_513]), (10, [845_553, 126_273])):
        slower = dilated(plan.document, dilation)
        assert guards(slower["ports"][number], port_traffic(slower)[number]) == early


def closed_early(entries: list[tuple[int, int]], ahead: list[int]) -> list[tuple[int, int]]:
    gates: GateCycle = {
        "base_time_ns": 0,
        "cycle_ns": sum(interval for _, interval in entries),
        "entries": [{"open": mask, "interval_ns": interval} for mask, interval in entries],
    }
    return guarded(*entries_and_spans(gates, len(ahead)), ahead)


def test_a_guarded_list():
    assert closed_early([(2, 200), (1, 800)], [0, 0]) == [(2, 200), (1, 800)]
    assert closed_early([(2, 2000), (1, 8000)], [500, 300]) == [(2, 1700), (0, 300), (1, 7500), (0, 500)]
    # Class 0 is open across the end of the cycle; and a class that is always open.
    assert closed_early([(3, 1000), (2, 4000), (3, 1000)], [500, 300]) == [(3, 500), (2, 4500), (3, 1000)]
    # A window too short for the class's longest frame: the gate never opens.
    assert closed_early([(2, 1000), (1, 1000)], [2000, 0]) == [(2, 1000), (0, 1000)]
    for entries in ([(1, 1000), (2, 700), (5, 2300)], [(7, 400), (0, 300), (1, 3300)]):
        for early in ([0, 0, 0], [150, 250, 0], [399, 1, 777]):
            found = closed_early(entries, early)
            assert sum(interval for _, interval in found) == 4000


def test_bridges_know_addresses_and_priorities():
    plan = plan_of(STAR.replace("SHAPER", GATES))
    switch = namespaces(plan.document)["n3"]
    robot = plan.document["streams"][0]["destination_mac"]
    out, into = port_of(plan.document, "switch -> robot"), port_of(plan.document, "switch -> controller")
    assert f"fdb add {robot} dev p{out} master static vlan 100" in switch.bridge
    assert {f"vlan add vid 100 dev p{out}", f"vlan add vid 100 dev p{into}"} <= set(switch.bridge)
    assert (
        f"filter add dev p{into} ingress protocol 802.1Q flower vlan_prio 6 action skbedit priority 6"
        in switch.tc
    )


def test_each_direction_of_a_link_is_serialised():
    plan = plan_of(STAR.replace("SHAPER", GATES))
    wires = namespaces(plan.document, dilation=10)["wires"]
    rates = [line for line in wires.tc if "netem" in line]
    assert len(rates) == len(plan.document["ports"])
    # Preamble and FCS; for frames with a tag also the tag, which the kernel carries beside them.
    assert {line.rpartition("bit ")[2] for line in rates} == {"12", "16"}
    assert all(" rate 10000000bit " in line for line in rates)
    assert sum(line.endswith(" 16") for line in rates) == 3


def test_what_cannot_be_run_is_named():
    plan = plan_of(STAR.replace("SHAPER", "{preemption: {express: [6]}}"))
    found = unsupported(plan.document, VETH)
    assert "port switch -> robot: preemption" in found
    host = plan.document | {"streams": [plan.document["streams"][0] | {"socket": {"txtime": True}}]}
    heeded = "stream loop: SO_TXTIME (port controller -> switch has no etf, which would heed it)"
    assert heeded in unsupported(host, VETH)
    plain = plan_of(STAR.replace("SHAPER", GATES))
    assert unsupported(plain.document, VETH) == []
    assert unsupported(plain.document | {"something": [1]}, VETH) == ["the plan: something"]


def test_a_job_is_a_shell_script():
    plan = plan_of(STAR.replace("SHAPER", GATES))
    understood(script_of(plan, VETH))
    job = files(plan.document, plan.to_json(), 1, VETH)
    assert job["plan.json"].decode() == plan.to_json()


def test_the_archive_is_valid():
    archive = Archive()
    archive.file("job/a/b.sh", b"echo hello\n", 0o755)
    archive.file("job/c", b"", 0o644)
    content = archive.finish()
    again = Archive()
    again.file("job/a/b.sh", b"echo hello\n", 0o755)
    again.file("job/c", b"", 0o644)
    assert again.finish() == content
    listed = subprocess.run(["cpio", "-t", "--quiet"], input=content, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("cpio is not installed")
    assert listed.stdout.decode().split() == ["job", "job/a", "job/a/b.sh", "job/c"]


def test_the_newest_kernel_of_the_preferred_series():
    names = [
        "linux-image-6.1.0-99-amd64-unsigned",
        "linux-image-6.12.9+deb12-amd64-unsigned",
        "linux-image-6.12.117+deb12-amd64-unsigned",
        "linux-image-6.12.118+deb12-rt-amd64-unsigned",
        "linux-image-6.12.118+deb12-cloud-amd64-unsigned",
        "linux-image-6.12.118+deb12-amd64",
        "linux-image-7.0.1-amd64-unsigned",
    ]
    assert kernel.newest(names) == names[2]
    assert kernel.newest(names[:1]) == names[0]
    assert kernel.newest(names[3:]) is None


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tap-3.counts": b"12\n1\n"}, (12, 1, None)),
        (
            {
                "tap-3.log": b"tcpdump: listening on p1\n1 packet captured\n2 packets received by filter\n"
                b"0 packets dropped by kernel\n"
            },
            (1, 0, 2),
        ),
        ({"tap-3.log": b"tcpdump: p1: No such device exists\n"}, (None, 0, None)),
        (
            {"tap-3.log": b"tcpdump: Unable to write: No space left on device\n9 packets captured\n"},
            (None, 0, None),
        ),
    ],
)
def test_a_capture_says_whether_it_is_whole(files, expected):
    found = Returned(files).capture(3)
    assert (found.frames, found.lost, found.received) == expected


def test_a_list_that_is_yet_to_begin_can_be_read():
    text = '[{"kind":"taprio","options":{"cycle_time_extension":0,{"base_time":5,"schedule":[]}}}]'
    assert read_json(text)[0]["options"]["admin"] == {"base_time": 5, "schedule": []}
    text = '[{"kind":"taprio","options":{"schedule":[{"index":0}],{"base_time":5,"schedule":[]}}}]'
    assert read_json(text)[0]["options"]["admin"] == {"base_time": 5, "schedule": []}
    assert read_json("") == []


def test_talkers_and_listeners_note_the_stages_that_taps_name():
    software = STAR.replace("streams:", "hosts: {controller: low-latency, robot: low-latency}\nstreams:")
    asked = (
        software.replace("SHAPER", "{queues: {classes: {6: 1, 0: 0}}}") + "taps: {stages: [wakeup, app-rx]}\n"
    )
    plan = plan_of(asked)
    script = script_of(plan, VETH, 2)
    names = [node["name"] for node in plan.document["nodes"]]
    talking = [line for line in script.splitlines() if "tsnbench-traffic talk" in line]
    noting = [f"--node {names.index('controller')} " in line for line in talking if "--sights" in line]
    assert noting == [True]
    (listening,) = [line for line in script.splitlines() if "tsnbench-traffic listen" in line]
    port = port_of(plan.document, "robot -> switch")
    assert f"--port {port}=p{port} " in listening
    assert "--wake" in listening
    quiet = script_of(plan_of(STAR.replace("SHAPER", GATES)), VETH)
    assert "--sights" not in quiet
    assert "tsnbench-traffic listen" not in quiet


def test_a_listener_that_does_not_keep_up_ends_the_run():
    heard = {"interfaces": [{"name": "p3", "frames": 10, "dropped_by_listener": 4}]}
    with pytest.raises(BackendError, match="p3 did not keep up: 4 frames"):
        stages.check(Returned({"heard-3.json": json.dumps(heard).encode()}))
    heard["interfaces"][0]["dropped_by_listener"] = 0
    stages.check(Returned({"heard-3.json": json.dumps(heard).encode()}))


@pytest.mark.parametrize("name", ["a b", "$(shell touch struck)", "a#b", "a:b"])
def test_no_path_is_a_makefiles_text(tmp_path, name):
    with pytest.raises(BackendError, match="cannot be built in a folder with"):
        device._build(tmp_path / name / "part", [], "6.12")
    assert not list(tmp_path.rglob("struck"))


def test_a_talker_without_the_stamps_of_frames_that_arrived_is_refused():
    """The kernel drops stamps that nobody reads; the frames would count as never sent, and none as lost."""
    plan = document_of(STAR.replace("SHAPER", "{queues: {classes: {6: 1, 0: 0}}}"))
    taps = {(tap["port"], tap["stage"]): number for number, tap in enumerate(plan["taps"])}
    stream = plan["streams"][0]
    first = taps[stream["route"][0]["port"], "tx"]
    last = taps[plan["ports"][stream["route"][-1]["port"]]["peer"], "rx"]
    frames = [[0] * len(plan["streams"]) for _ in plan["taps"]]
    frames[first][0], frames[last][0] = 1000, 999
    stages.check_stamps(plan, frames, ())
    frames[first][0] = 36
    with pytest.raises(BackendError, match=f"{stream['name']} has stamps of 36 frames, and 999 arrived"):
        stages.check_stamps(plan, frames, ())
    # The frames of a capture are all of its frames.
    stages.check_stamps(plan, frames, (first,))
    # Without any stamp, the run says elsewhere why.
    frames[first][0] = 0
    stages.check_stamps(plan, frames, ())
