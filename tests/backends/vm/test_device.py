"""The guest's own device against known values: times of frames on the wire, and errors of clocks.

A comparison of a clock with itself shows no error. So each error that was set is read back by an independent
means, and a wrong setting must be found.
"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from support.captures import frames
from support.guest_batch import Script
from support.guest_runs import Guest, wanted
from support.guest_scripts import PTP_FILES

HEAD = """
D=/sys/kernel/debug/tsnport
link() { echo "$1" >/sys/module/tsnport/parameters/link || exit 1; }
ip netns add a; ip netns add b
up() { ip link set $1 netns a; ip link set $2 netns b; ip -n a link set $1 up; ip -n b link set $2 up; }
"""
CLOCKS = (
    HEAD
    + """
link "p0@left p1@right 1000000000 250000"; up p0 p1
compare() { cut -d' ' -f1 /proc/uptime; phc_ctl /dev/ptp$(cat $D/clock-$1/index) cmp; }
for ppb in 35000 -35000 0; do
    echo $ppb >$D/clock-right/error_ppb
    { echo $ppb; compare right; sleep 1; compare right; } >>$RESULTS/errors
done
phc_ctl /dev/ptp$(cat $D/clock-right/index) freq 20000 >/dev/null
{ echo 20000; compare right; sleep 1; compare right; } >>$RESULTS/errors
phc_ctl /dev/ptp$(cat $D/clock-right/index) freq 0 >/dev/null
echo 8 >$D/clock-left/granularity_ns; echo 8 >$D/clock-right/granularity_ns
echo -35000 >$D/clock-right/error_ppb
ip netns exec a ptp4l -f $JOB/leads.cfg -i p0 -m >$RESULTS/leads.log 2>&1 & one=$!
ip netns exec b ptp4l -f $JOB/follows.cfg -i p1 -s -m >$RESULTS/follows.log 2>&1 & other=$!
sleep 14
compare left >$RESULTS/before; compare right >>$RESULTS/before
echo 5000 >$D/clock-right/step_ns
compare left >$RESULTS/stepped; compare right >>$RESULTS/stepped
sleep 11
compare left >$RESULTS/after; compare right >>$RESULTS/after
kill $one $other
"""
)
SIZES = (0, 18, 19, 400, 1472)
"""Octets of payload in UDP's place (ping): 42 octets of headers before, 4 of FCS behind, and at least 64."""
WIRES = (
    HEAD
    + "\n".join(
        f"""
link "p{n} q{n} {rate} {delay}"; up p{n} q{n}
ip -n a addr add 10.0.{n}.1/24 dev p{n}; ip -n b addr add 10.0.{n}.2/24 dev q{n}
ip netns exec a ping -q -c 1 10.0.{n}.2 >/dev/null
echo 1 >$D/p{n}/tx/start; echo 1 >$D/q{n}/rx/start
for size in {" ".join(map(str, SIZES))}; do ip netns exec a ping -q -c 1 -s $size 10.0.{n}.2 >/dev/null; done
cat $D/p{n}/tx/pcap >$RESULTS/tx-{n}; cat $D/q{n}/rx/pcap >$RESULTS/rx-{n}
ip netns exec a ethtool p{n} >$RESULTS/speed-{n}
"""
        for n, (rate, delay) in enumerate(
            ((10_000_000, 0), (100_000_000, 500_000), (1_000_000_000, 5_000), (10_000_000_000, 0))
        )
    )
    + """
rmmod tsnport 2>/dev/null || { ip netns del a; ip netns del b; sleep 1; rmmod tsnport; } || exit 1
"""
)


DEVICE_CLOCKS = wanted("device-clocks", Script(CLOCKS, PTP_FILES))
DEVICE_WIRES = wanted("device-wires", Script(WIRES))


def _offsets(text: str) -> list[int]:
    """The offsets of CLOCK_REALTIME from a clock in ns, as phc_ctl prints them."""
    return [int(found) for found in re.findall(r"offset from CLOCK_REALTIME is (-?\d+)ns", text)]


@pytest.mark.parametrize(
    ("number", "rate", "delay_ps"),
    [(0, 10**7, 0), (1, 10**8, 500_000), (2, 10**9, 5_000), (3, 10**10, 0)],
)
def test_a_frame_takes_its_time_on_the_wire(guest: Guest, number, rate, delay_ps):
    back = guest.files(DEVICE_WIRES)
    assert f"Speed: {rate // 10**6}Mb/s" in back[f"speed-{number}"].decode()
    sent, got = (frames(back[f"{way}-{number}"]) for way in ("tx", "rx"))
    assert [octets for _, octets, _ in sent] == [max(60, 42 + size) for size in SIZES]
    assert [octets for _, octets, _ in got] == [octets for _, octets, _ in sent]
    for (out, octets, _), (into, *_) in zip(sent, got, strict=True):
        # Preamble and delimiter, frame, FCS; stamps at both ends are truncated to whole ns.
        exact_ps = (8 + octets + 4) * 8 * 10**12 // rate + delay_ps
        assert abs((into - out) * 1000 - exact_ps) < 1000


def test_a_clock_has_the_error_that_was_put_in(guest: Guest):
    rows = guest.files(DEVICE_CLOCKS)["errors"].decode().splitlines()
    assert len(rows) >= 20
    text = "\n".join(rows)
    for ppb in (35_000, -35_000, 0, 20_000):
        part = re.search(rf"^{ppb}\n(.*?)(?=^-?\d+\n|\Z)", text, re.MULTILINE | re.DOTALL)
        assert part, ppb
        one, other = _offsets(part[1])
        begin, end = (float(word) for word in re.findall(r"^(\d+\.\d+)$", part[1], re.MULTILINE))
        # The lead of a fast clock grows. Times are read in steps of 10 ms.
        gained = (one - other) / (end - begin)
        assert gained == pytest.approx(ppb, rel=0.02, abs=100)


def test_ptp4l_follows_a_clock_and_recovers_after_a_step(guest: Guest):
    back = guest.files(DEVICE_CLOCKS)
    said = [
        (int(rms), int(ppb), int(delay))
        for rms, ppb, delay in re.findall(
            r"rms\s+(\d+) max\s+-?\d+ freq\s+([+-]\d+) .* delay\s+(\d+)", back["follows.log"].decode()
        )
    ]
    assert len(said) > 12
    # The clock is 35 ppm slow; linuxptp prints its frequency offset, which is negative for a slow clock.
    assert said[-1][1] == pytest.approx(-35_000, abs=50)
    # The delay of the cable, in steps of the clocks.
    assert 240 <= said[-1][2] <= 260
    # Both clocks are compared with a third one. The step that was set is seen, and is gone at the end.
    apart = {}
    for when in ("before", "stepped", "after"):
        left, right = _offsets(back[when].decode())
        apart[when] = left - right
    assert abs(apart["before"]) < 200
    assert apart["stepped"] - apart["before"] == pytest.approx(5_000, abs=50)
    assert abs(apart["after"]) < 50
    worst = [rms for rms, _, _ in said]
    assert max(worst[-14:]) > 1_000
    assert worst[-1] < 50
    assert all(later < 300 for _, later in pairwise(worst[-3:]))
