"""The live program on hosts with hardware clocks: on the guest's own device, whose true time is known."""

from __future__ import annotations

import json
import struct

from support.captures import frames
from support.guest_batch import Script
from support.guest_runs import Guest, wanted
from support.guest_scripts import PTP_FILES

STEPS = (0, 5_000, -12_000)
"""Steps of the clock of the host ``b`` before its readings (ns)."""
JOB = f"""
D=/sys/kernel/debug/tsnport
echo "p0@left p1@right 1000000000 250000" >/sys/module/tsnport/parameters/link || exit 1
ip netns add a; ip netns add b
ip link set p0 netns a; ip link set p1 netns b; ip -n a link set p0 up; ip -n b link set p1 up
program() {{ space=$1; shift; ip netns exec $space tsnbench-traffic "$@"; }}
read_clocks() {{ program b sync --socket /tmp/follows --phc /dev/ptp$(cat $D/clock-right/index) "$@"; }}
for step in {" ".join(map(str, STEPS))}; do
    echo $step >$D/clock-right/step_ns; read_clocks --count 1 >>$RESULTS/phc
done
echo 1 >$D/p1/rx/start
for direction in in both; do
    /tools/ip netns exec b tsnbench-traffic capture p1 --direction $direction --hardware \\
        --file $RESULTS/$direction.pcap >$RESULTS/$direction.json & capture=$!
    until [ -s $RESULTS/$direction.json ]; do sleep 0.1; done
    program a probe send p0 from-a; program b probe send p1 from-b
    kill -TERM $capture; wait $capture || exit 2
done
cat $D/p1/rx/pcap >$RESULTS/truth.pcap
ip -n b link add bridge type bridge; ip -n b link set bridge up; ip -n b link set p1 master bridge
/tools/ip netns exec b tsnbench-traffic probe listen p1 --for 60s >$RESULTS/heard & listener=$!
until [ -s $RESULTS/heard ]; do sleep 0.1; done
program a probe send p0 from-a; sleep 0.1
kill -TERM $listener; wait $listener || exit 3
ip -n b link del bridge
echo -35000 >$D/clock-right/error_ppb
/tools/ip netns exec a ptp4l -f $JOB/leads.cfg -i p0 >/dev/null 2>&1 & one=$!
/tools/ip netns exec b ptp4l -f $JOB/follows.cfg -i p1 -s >/dev/null 2>&1 & other=$!
sleep 14; read_clocks --count 1 >$RESULTS/locked
echo -5000 >$D/clock-right/step_ns; sleep 0.2; read_clocks --count 1 >$RESULTS/stepped
kill -9 $one; sleep 0.1; read_clocks --count 1 >$RESULTS/left
kill -9 $other; read_clocks --count 1 >$RESULTS/dead
"""


PROGRAMS = wanted("host-programs", Script(JOB, PTP_FILES))


def _readings(guest: Guest, name: str) -> list[dict]:
    return [json.loads(line) for line in guest.files(PROGRAMS)[name].decode().splitlines()]


def _blocks(capture: bytes) -> list[int | None]:
    """The stamps (ns) of the frames of a pcapng file; simple packet blocks have none."""
    found, at = [], 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == 6:
            high, low = struct.unpack_from("<II", capture, at + 12)
            found.append(high << 32 | low)
        elif kind == 3:
            found.append(None)
        at += length
    return found


def test_a_hardware_clock_is_as_far_from_tai_as_was_put_in(guest: Guest):
    (first, *later) = [reading["phc"]["/dev/ptp1"] for reading in _readings(guest, "phc")]
    moved = 0
    for step, found in zip(STEPS[1:], later, strict=True):
        moved += step
        assert abs(found["offset_ns"] - first["offset_ns"] - moved) <= found["uncertainty_ns"] < 1_000


def test_hardware_stamps_are_the_hosts_clock_and_frames_that_leave_have_none(guest: Guest):
    back = guest.files(PROGRAMS)
    counts = {name: json.loads(back[f"{name}.json"].decode().splitlines()[1]) for name in ("in", "both")}
    assert counts["in"] == {"frames": 3, "dropped": 0, "missing_stamps": 0, "stamps": "hardware"}
    assert counts["both"] == {"frames": 6, "dropped": 0, "missing_stamps": 3, "stamps": "hardware"}
    both = _blocks(back["both.pcap"])
    assert both.count(None) == 3
    stamps = _blocks(back["in.pcap"]) + [stamp for stamp in both if stamp is not None]
    # The device's captures stamp the last bit, in true time; a hardware stamp is of the first bit after the
    # delimiter.
    arrivals = [at for at, _, _ in frames(back["truth.pcap"])]
    behind = {truth - stamp for truth, stamp in zip(arrivals, stamps, strict=True)}
    assert max(behind) - min(behind) <= 1
    assert abs(min(behind) + sum(STEPS) - 64 * 8) <= 1


def test_a_port_of_a_bridge_receives_probes(guest: Guest):
    assert guest.files(PROGRAMS)["heard"].decode().splitlines() == ["listening", "p1 from-a"]


def test_readings_tell_a_clock_that_follows_from_one_that_jumped_or_was_left_alone(guest: Guest):
    names = ("locked", "stepped", "left", "dead")
    (locked,), (stepped,), (left,), (dead,) = (_readings(guest, name) for name in names)
    assert (locked["port_state"], locked["gm_present"], locked["steps_removed"]) == ("SLAVE", True, 1)
    assert locked["ports"][0]["stamps"] == "hardware"
    assert 240 <= locked["ports"][0]["mean_link_delay_ns"] <= 260
    assert abs(locked["master_offset_ns"]) < 50
    # Eight Syncs per second; the age of the last Sync is on the clock that stamped it.
    assert 0 < locked["age_ns"] < 150_000_000
    assert abs(locked["phc"]["/dev/ptp1"]["offset_ns"]) < 100
    assert -5_100 < stepped["master_offset_ns"] < -2_000
    assert -5_200 < stepped["phc"]["/dev/ptp1"]["offset_ns"] < -2_000
    # Without Syncs only the age of the last one grows, until Announce is missed, too: 500 to 750 ms after
    # the leader's end; the program takes some 300 ms of the guest's time to start.
    assert (left["port_state"], left["gm_present"]) == ("SLAVE", True)
    assert left["age_ns"] > 200_000_000
    assert dead["error"] == "ptp4l does not answer"
