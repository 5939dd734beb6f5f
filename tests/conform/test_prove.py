"""Causes for which a list is not on, made one at a time in the recorded state of a host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discover.recorded import said
from support.devices import bench, lab
from tsnbench import Simulation
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.prove import Wanted, first_lost, layers
from tsnbench.conform.run import prepare
from tsnbench.discover import beside
from tsnbench.discover.differences import TAI_AHEAD_NS
from tsnbench.discover.running import Queue, RunningHost, RunningPort
from tsnbench.hosts.remote.answers import Done
from tsnbench.linux.readback import ReportedQdisc
from tsnbench.measure.errors import MeasureError

HOST = said("s")
PORT = HOST.ports["eth2"]
S = 10**9
NOW = 100 * S
SURE = Wanted(NOW)


def changed(port: RunningPort = PORT, **shaping: Any) -> RunningPort:
    assert port.shaping is not None
    return replace(port, shaping=replace(port.shaping, **shaping))


def lost(port: RunningPort, wanted: Wanted = SURE, host: RunningHost = HOST) -> tuple[str, str]:
    found = first_lost(layers(host, port, wanted))
    return ("", "") if found is None else (found.name, found.sentence)


def test_a_list_in_force_is_lost_nowhere() -> None:
    wanted = Wanted(NOW, 10**9, 1_000, offload=True)
    found = layers(HOST, PORT, wanted)
    assert first_lost(found) is None
    assert [one.name for one in found] == [
        "link", "list", "in force", "clock", "entries", "granularity", "map", "queues", "frames",
    ]  # fmt: skip
    assert "held by the card" in found[1].sentence
    # The port towards the other host has mqprio and no list.
    assert lost(HOST.ports["eth1"])[0] == "list"


@pytest.mark.parametrize(
    ("port", "wanted", "layer", "words"),
    [
        (replace(PORT, carrier=False), Wanted(NOW), "link", "without a link"),
        (replace(PORT, rate_bps=10**8), Wanted(NOW, 10**9), "link", "100 Mbit/s, and not 1 Gbit/s"),
        (replace(PORT, shaping=None, root=""), Wanted(NOW), "list", "the kernel's default"),
        (replace(PORT, shaping=None, root="mq"), Wanted(NOW), "list", "root of eth2 is mq"),
        (changed(flags=0, clock="TAI"), Wanted(NOW, offload=True), "list", "refused"),
        (changed(pending=True, base_ns=NOW + 5 * S), Wanted(NOW), "in force", "in 5 s"),
        (changed(pending=True, base_ns=NOW + TAI_AHEAD_NS), Wanted(NOW), "in force", "TAI and UTC mixed?"),
        (changed(flags=0, clock="REALTIME"), Wanted(NOW), "clock", "REALTIME, and not on TAI"),
        (changed(entries=((7, 400_000), (7, 600_000))), Wanted(NOW), "entries", "no gate ever closes"),
        (changed(entries=((4, 400_000), (1, 600_000))), Wanted(NOW), "entries", "class 1 never opens"),
        (changed(cycle_ns=1_000_004), Wanted(NOW, granularity_ns=8), "granularity", "no multiple of 8 ns"),
        (
            changed(class_of=(0,) * 8, entries=((1, 400_000), (6, 600_000))),
            Wanted(NOW),
            "map",
            "all in one class",
        ),
    ],
)
def test_the_first_layer_that_lost_the_list_is_told(
    port: RunningPort, wanted: Wanted, layer: str, words: str
) -> None:
    name, sentence = lost(port, wanted)
    assert name == layer
    assert words in sentence


def test_a_vlan_device_without_a_map_loses_the_priority() -> None:
    host = replace(HOST, devices={("eth2", 100): {}})
    assert lost(PORT, host=host)[0] == "tags"
    assert lost(PORT, host=replace(HOST, devices={("eth2", 100): {6: 6}})) == ("", "")


MERGE = """\
merge MAC Merge layer state for eth2:
merge pMAC enabled: on
merge TX enabled: on
merge TX active: off
merge TX minimum fragment size: 60
merge RX minimum fragment size: 60
merge Verify enabled: on
merge Verify time: 127
merge Max verify time: 127
merge Verification status: FAILED
"""
QUEUES = "".join(f"queue /sys/class/net/eth2/queues/tx-{number}\n" for number in range(8))
STAMPS = "stamps PTP Hardware Clock: 0\n"
PTP4L = "runs ptp4l /usr/sbin/ptp4l -i eth2 -f /etc/linuxptp/gPTP.cfg \n"


def told(text: str, **other: Any) -> Wanted:
    """What a host says beside its queueing disciplines."""
    return Wanted(NOW, beside=beside.read(Done(beside.step("eth2"), 0, text, "", 0, 0)), **other)


def etf(drops: int, overlimits: int = 0, **options: Any) -> RunningPort:
    """The port with an etf as tc -j -s prints it, in place of the queue of class 0."""
    counters = {"drops": drops, "overlimits": overlimits}
    own = ReportedQdisc("eth2", "etf", "8001:", "100:1", {"delta": 200_000, **options}, counters)
    assert PORT.shaping is not None
    return changed(queues=(Queue(own), *PORT.shaping.queues[1:]))


def clocks(card_ns: int, ahead_s: int = 0) -> str:
    """The clocks of a host, as its live program tells them."""
    card = f'"phc":{{"/dev/ptp0":{{"offset_ns":{card_ns},"uncertainty_ns":90}}}}'
    return f'clocks {{"tai_ns":{NOW - 5 * S},"error":"no answer",{card},"tai_minus_utc_s":{ahead_s}}}\n'


WAITS = changed(pending=True, base_ns=NOW)


@pytest.mark.parametrize(
    ("port", "wanted", "layer", "words"),
    [
        (etf(0, offload="on"), told(STAMPS + PTP4L), "clock", "no phc2sys sets the host's from it"),
        (changed(flags=0, clock="TAI"), told(STAMPS + PTP4L), "clock", "a clock that nothing sets"),
        (etf(0, offload="on"), told(clocks(-200_001)), "clock", "more than etf's delta (200 us)"),
        (etf(7, clockid="TAI"), told(""), "launch", "dropped 7 frames that came with a past launch time"),
        (etf(7, 7, clockid="TAI"), told(""), "launch", "woke up for too late: its delta of 200 us"),
        (etf(7, 3, clockid="TAI"), told(""), "launch", "200 us is too short and 4 frames that came"),
        (WAITS, told(clocks(0)), "in force", "in 5 s. TAI and UTC mixed? The clock of the list shows UTC"),
        (WAITS, told(clocks(0, 37)), "in force", "it waits for its base time, in 5 s"),
        (WAITS, told(clocks(3 * S, 37)), "in force", "it waits for its base time, in 2 s"),
        # The kernel shows a list of a card as in force, also before its base time.
        (changed(base_ns=NOW), told(clocks(0, 37)), "in force", "it waits for its base time, in 5 s"),
        (etf(0, offload=False), told("", offload=True), "queues", "class 0: etf in software"),
        (changed(last_queue=8), told(QUEUES), "queues", "classes use 9 queues, and the interface has 8"),
        (PORT, told(MERGE), "pre-emption", "the peer has not verified it (FAILED)"),
        (changed(preemptable=(True, False)), told(MERGE.replace("TX enabled: on", "TX enabled: off")),
         "pre-emption", "the card's pre-emption is off"),
    ],
)  # fmt: skip
def test_layers_beside_the_list_are_told(port: RunningPort, wanted: Wanted, layer: str, words: str) -> None:
    name, sentence = lost(port, wanted)
    assert name == layer
    assert words in sentence


@pytest.mark.parametrize(
    "text",
    [
        STAMPS + PTP4L.replace("-i", "-S -i"),
        STAMPS + PTP4L + "runs phc2sys /usr/sbin/phc2sys -a -r \n",
        MERGE.replace("active: off", "active: on").replace("FAILED", "SUCCEEDED"),
        QUEUES,
        clocks(200_000),
        "clocks not a line\n",
        clocks(0).replace('"tai_minus_utc_s":0', '"tai_minus_utc_s":"many"'),
        clocks(0).replace('"offset_ns":0', '"offset_ns":Infinity'),
        "clocks " + "[" * 100_000 + "\n",
        # Nothing at the port runs on the host's clock.
        STAMPS + PTP4L,
    ],
)
def test_nothing_beside_a_sound_list_is_told(text: str) -> None:
    assert lost(PORT, told(text)) == ("", "")


@pytest.mark.parametrize(("device", "answer"), [(None, "yes"), ("open", "no")])
def test_frames_of_a_capture_obey_a_list_or_do_not(device: str | None, answer: str, tmp_path: Path) -> None:
    """Frames of the simulator, as a file: PCP 6 and 0 with more than their windows take."""
    fault = lab() + f"faults: [{{schedule: {device}, on: switch -> robot}}]\n" if device else None
    ((_, one),) = prepare(bench(lab(), fault), chosen(["gates"])).stimuli
    run = Simulation().execute(one.plan, tmp_path / "run", pcap=True)
    (file,) = [
        path for path in (run.folder / "captures").iterdir() if "robot" in path.name and "rx" in path.name
    ]
    port = changed(
        class_of=(0, 0, 0, 0, 0, 0, 1, 0), entries=((2, 200_000), (1, 800_000)), cycle_ns=1_000_000
    )
    found = layers(HOST, replace(port, rate_bps=10**8), Wanted(NOW, stamps_ns=10), str(file))[-1]
    assert (found.name, found.answer) == ("frames", answer), found.sentence
    assert ("do not obey" in found.sentence) == (answer == "no")
    with pytest.raises(MeasureError):
        layers(HOST, replace(port, rate_bps=10**8), Wanted(NOW), __file__)


PERIODIC = (
    lab()
    .replace("duration: 10 ms", "duration: 100 ms")
    .replace("period: 1 ms", "period: 1 ms, offset: 300 us")
)


def test_frames_that_come_once_in_a_cycle_are_no_sign_of_gates(tmp_path: Path) -> None:
    """All gates are open, and a talker has the period of the cycle."""
    plan = bench(lab(), PERIODIC + "faults: [{schedule: open, on: switch -> robot}]\n").device
    run = Simulation().execute(plan, tmp_path / "run", pcap=True)
    (file,) = [path for path in (run.folder / "captures").iterdir() if "rx" in path.name]
    port = changed(
        class_of=(0, 0, 0, 0, 0, 0, 1, 0), entries=((2, 200_000), (1, 800_000)), cycle_ns=1_000_000
    )
    found = layers(HOST, replace(port, rate_bps=10**8), Wanted(NOW, stamps_ns=10), str(file))[-1]
    assert found.answer == "unknown", found.sentence
