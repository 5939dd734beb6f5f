"""The catalogue of tests: the name of each, its clause, stimulus, formula and limit.

A suite is the part of a test's name before the dot. ``docs/reference/conformance.md`` has this table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Clock = Literal["own", "one", "none"]
"""Which times a test compares: with the device's clock, at two places, or only differences at one place."""
CLOCKS: dict[Clock, str] = {
    "own": "the device's clock",
    "one": "one clock at both testers",
    "none": "none: differences at one port",
}


@dataclass(frozen=True)
class Test:
    """One test of the catalogue."""

    id: str
    clause: str
    """Where the rule stands; empty without a clause."""
    stimulus: str
    clock: Clock
    formula: str
    limit: str
    after: Sequence[str] = ()
    """Tests that must not have failed before: without them, the result would be about another defect."""
    sent_for: str = ""
    """The stimulus that shows it; empty: that of the suite."""

    @property
    def suite(self) -> str:
        return self.id.partition(".")[0]

    @property
    def stimulated(self) -> str:
        """The kind of its stimulus."""
        return self.sent_for or self.suite


BACKLOG = (
    "each class alone: more large, then more small frames than its windows take, with random gaps "
    "unless these leave times without a waiting frame"
)
STAIRS = "100 frames of 64, 512 and 1522 octets each at 50, 75, 90, 95, 99 and 100 % of the slower link"
SINGLE = "single frames of seven sizes from 64 to 1522 octets, with random gaps"
LOADED = "every PCP in turn loads the port 1.4 times, while 12 small frames of each PCP pass"
TAGS = "10 small frames of each VLAN of the scenario, and of each PCP from behind each other port"
FOREIGN = "10 small frames of each VLAN that this port or the one by which they enter does not have"
TURNS = (
    "small frames of the class with the shortest windows, 6 cycles before the first turn to 6 behind the last"
)
PHASES = "a merging stream of the scenario, of which testers lose and delay frames before the device"
OPENINGS = "a small frame waits for each opening of a gate, until 60 intervals after the first release"
SYNCS = "PTP's messages from the begin on, until 60 intervals after the first release of the scenario"
TESTS = {
    one.id: one
    for one in (
        Test(
            "gates.active",
            "IEEE 802.1Q-2022, 8.6.8.4",
            BACKLOG,
            "none",
            "share of the frames after an idle wire that have such a frame one cycle later; cycle within 5 %",
            "at least 75 % of at least 20 frames",
        ),
        Test(
            "gates.guard",
            "IEEE 802.1Q-2022, 8.6.8.4",
            BACKLOG,
            "none",
            "large frames that end later in a window than small frames do, and one small frame with its gap",
            "0 frames",
            ("gates.active",),
        ),
        Test(
            "gates.cycle",
            "IEEE 802.1Q-2022, 8.6.9",
            BACKLOG,
            "none",
            "median time between openings that are n cycles apart, divided by n",
            "the cycle of the list, ± 2 U / n and the rate of the clocks",
            ("gates.active",),
        ),
        Test(
            "gates.order",
            "IEEE 802.1Q-2022, 8.6.9",
            BACKLOG,
            "own",
            "each opening of each class within half of the shortest window of one in the list, and none more",
            "the windows of the list",
            ("gates.active", "gates.cycle"),
        ),
        Test(
            "gates.edge",
            "IEEE 802.1Q-2022, 8.6.9",
            BACKLOG,
            "own",
            "the shift that most openings have from those of the list",
            "0 ± T",
            ("gates.active", "gates.cycle", "gates.order"),
        ),
        Test(
            "gates.entry",
            "IEEE 802.1Q-2022, 8.6.8.4",
            BACKLOG,
            "none",
            "the opening that is farthest from that of the list, after the shift of the whole list",
            "0 ± T",
            ("gates.active", "gates.cycle", "gates.order"),
        ),
        Test(
            "gates.close",
            "IEEE 802.1Q-2022, 8.6.8.4",
            BACKLOG,
            "none",
            "last end of a small frame in a window, up to one such frame with its gap later, "
            "after the shift of the whole list",
            "0 ± T",
            ("gates.active", "gates.cycle", "gates.order", "gates.guard", "gates.entry"),
        ),
        Test(
            "gates.begin",
            "IEEE 802.1Q-2022, 8.6.9.1",
            TURNS,
            "own",
            "openings around the base time without a frame, and frames beside the windows, farther than T",
            "0 times",
            ("gates.active", "gates.cycle", "gates.order", "gates.edge", "gates.entry"),
            "gates-turns",
        ),
        Test(
            "gates.change",
            "IEEE 802.1Q-2022, 8.6.9.3",
            TURNS,
            "own",
            "the same around the times at which a list replaces another one, or its last cycle is extended",
            "0 times",
            ("gates.begin",),
            "gates-turns",
        ),
        Test(
            "forwarding.line",
            "RFC 2544, 26.2",
            SINGLE,
            "one",
            "greatest distance of the least residence of a size from the line a + b · octets",
            "3 T",
            # Frames that wait for another gate than that of the list show no residence.
            ("gates.active", "gates.order"),
        ),
        Test(
            "forwarding.slope",
            "RFC 1242, 3.8",
            SINGLE,
            "one",
            "b: the time of an octet on the incoming link (store-and-forward), or 0 (cut-through)",
            "as the scenario states, ± 4 U / 1458 octets",
            ("forwarding.line",),
        ),
        Test(
            "forwarding.residence",
            "RFC 2544, 26.2",
            SINGLE,
            "one",
            "a without the preamble: from the last bit in to the first bit out",
            "processing of the scenario ± T",
            ("forwarding.line", "forwarding.slope"),
        ),
        Test(
            "load.lossfree",
            "RFC 2544, 26.1",
            STAIRS,
            "none",
            "greatest level up to which no frame is lost",
            "100 % of the slower link",
        ),
        Test(
            "load.sequence",
            "",
            STAIRS,
            "none",
            "frames that are overtaken by frames of their own stream",
            "0 frames",
        ),
        Test(
            "vlan.member",
            "IEEE 802.1Q-2022, 8.6.2",
            TAGS,
            "none",
            "VLANs of the scenario's streams at the port, of which less than half of the frames leave",
            "0 VLANs",
        ),
        *(
            Test(
                f"vlan.{name}",
                f"IEEE 802.1Q-2022, {clause}",
                FOREIGN,
                "none",
                f"VLANs of which {which}, with frames that leave by this port",
                "0 VLANs",
                ("vlan.member",),
                "vlan-foreign",
            )
            for name, clause, which in (
                ("egress", "8.6.4", "this port is no member"),
                ("ingress", "8.6.2", "this port is a member, and the one by which frames enter is not"),
            )
        ),
        Test(
            "priority.tag",
            "IEEE 802.1Q-2022, 6.9.4",
            TAGS,
            "none",
            "PCP and VLAN of all frames that leave",
            "the priority regeneration of the scenario",
            sent_for="vlan",
        ),
        Test(
            "priority.map",
            "IEEE 802.1Q-2022, 8.6.6",
            LOADED,
            "none",
            "pairs of PCPs of which one does or does not pass the other's load: its wait is below 2.6 frames",
            "the order of their classes; numbers of classes cannot be seen",
            ("priority.tag",),
        ),
        Test(
            "priority.strict",
            "IEEE 802.1Q-2022, 8.6.8.1",
            LOADED,
            "none",
            "greatest wait of the highest PCP beside the load of the lowest one",
            "one large frame and 8 small ones",
            # A lost frame looks like one that waits for ever.
            ("load.lossfree", "priority.map"),
        ),
        Test(
            "priority.untagged",
            "IEEE 802.1Q-2022, 6.9.4",
            "every PCP in turn loads the port 1.4 times, while small frames of an untagged stream pass",
            "none",
            "PCPs of the load that untagged frames pass or do not pass",
            "those that frames with the default priority of the scenario pass: 0, regenerated",
            ("priority.tag", "priority.map"),
            "priority-untagged",
        ),
        Test(
            "queue.depth",
            "IEEE 802.1Q-2022, 8.6.7",
            "two testers load the class of PCP 0 1.4 times, and stop",
            "one",
            "frames that leave after the last one has arrived",
            "the limit of the scenario ± 3 frames",
            ("priority.tag", "priority.map"),
        ),
        Test(
            "psfp.meter",
            "IEEE 802.1Q-2022, 8.6.5.5",
            "400 frames of a filter's stream at twice its committed rate",
            "none",
            "octets that pass",
            "CIR · T + CBS ± one frame and 0.1 %",
        ),
        Test(
            "psfp.gate",
            "IEEE 802.1Q-2022, 8.6.5.4",
            "500 frames of a filter's stream that walk through the cycle of its stream gate",
            "own",
            "frames that pass a closed gate or are dropped at an open one, farther than U from its edges",
            "0 frames",
        ),
        Test(
            "psfp.sdu",
            "IEEE 802.1Q-2022, 8.6.5.3",
            "frames of a filter's stream of its longest service data unit, and one octet less and more",
            "none",
            "frames that pass although they are too long, or are dropped although they are not",
            "0 frames",
        ),
        Test(
            "psfp.block",
            "IEEE 802.1Q-2022, 8.6.5",
            "that of the filter: frames too long, at a closed gate, or beyond the rate",
            "own",
            "frames that pass behind the first one that blocks, where the filter blocks all behind it",
            "0 frames",
            ("psfp.meter", "psfp.gate", "psfp.sdu"),
        ),
        Test(
            "frer.eliminate",
            "IEEE 802.1CB-2017, 7.4.3",
            "300 frames of each stream of the scenario that merges in the device",
            "none",
            "frames whose number has left before",
            "0 frames",
        ),
        Test(
            "frer.complete",
            "IEEE 802.1CB-2017, 7.4.3",
            "300 frames of each stream of the scenario that merges in the device",
            "none",
            "numbers that were sent and did not leave",
            "0 numbers",
        ),
        *(
            Test(
                f"frer.{name}",
                "IEEE 802.1CB-2017, 7.4.3",
                PHASES,
                "none",
                formula,
                limit,
                ("frer.eliminate", "frer.complete", *after),
                "frer-gaps",
            )
            for name, formula, limit, after in (
                (
                    "single",
                    "frames of one path alone, each path in turn, that do not leave once",
                    "0 frames",
                    (),
                ),
                (
                    "gap",
                    "frames behind a gap of four numbers less than the history that do not leave once",
                    "0 frames",
                    ("frer.single",),
                ),
                (
                    "order",
                    "frames that do not leave once while frames overtake others by an eighth of the history",
                    "0 frames",
                    ("frer.single", "frer.gap"),
                ),
                (
                    "rogue",
                    "frames behind a gap of two histories that leave before half of the reset time",
                    "0 frames",
                    ("frer.single",),
                ),
                (
                    "reset",
                    "time from the last frame before this gap to the first one behind it",
                    "the reset time, to two periods of the stream more, ± T",
                    ("frer.single", "frer.rogue"),
                ),
            )
        ),
        Test(
            "preempt.express",
            "IEEE 802.1Q-2022, 6.7.2",
            "60 small express frames while two testers load a preemptable class 1.4 times",
            "none",
            "longest wait of an express frame beyond the quickest one",
            "the time of 143 octets",
        ),
        Test(
            "preempt.cuts",
            "IEEE 802.3-2022, 99",
            "60 small express frames while two testers load a preemptable class 1.4 times",
            "none",
            "time from one preemptable frame to the next, less that of all frames and 24 octets for each cut",
            "0 ± T",
            ("preempt.express",),
        ),
        Test(
            "preempt.hold",
            "IEEE 802.1Q-2022, 8.6.8.4",
            "a small express frame waits for each of 60 windows, while a preemptable class loads the port",
            "none",
            "how much later than the quickest one a frame begins in its window",
            "0 ± T",
            sent_for="preempt-hold",
        ),
        Test(
            "cbs.slope",
            "IEEE 802.1Q-2022, 8.6.8.2",
            "each shaped class alone, with twice its idle slope, in frames of its largest size",
            "none",
            "bits on the wire in the second half of the frames, divided by their time",
            "the idle slope ± 0.3 %",
        ),
        Test(
            "cbs.return",
            "IEEE 802.1Q-2022, 8.6.8.2",
            "bursts of n frames into an idle port",
            "none",
            "R (n - 1) w - idleSlope (t_n - t_1): credit at the begin of a burst",
            "0 ± 2 (0.1 % of the burst's bits and 2 U R)",
            ("cbs.slope",),
        ),
        Test(
            "cbs.burst",
            "IEEE 802.1Q-2022, 8.6.8.2",
            "bursts of n frames that arrive while a largest lower frame leaves",
            "none",
            "the same credit",
            "the smaller one of hiCredit and idleSlope · wait, with the same tolerance",
            ("forwarding.line", "forwarding.slope", "cbs.slope", "cbs.return"),
        ),
        Test(
            "ptp.correction",
            "IEEE 1588-2019, 10.2 and 10.3",
            "60 intervals of PTP's messages between the grandmaster and a neighbour, without other load",
            "one",
            "mean growth of the correction field of Sync and Delay_Req, less their mean time in the device",
            "0 ± T",
        ),
        Test(
            "ptp.time",
            "IEEE 1588-2019, 9.5",
            SYNCS,
            "one",
            "greatest error of the time that a Sync tells a tester, in the second half of 60 intervals",
            "`within` of the scenario",
            sent_for="ptp-time",
        ),
        Test(
            "ptp.lock",
            "IEEE 1588-2019, 9.5",
            SYNCS,
            "one",
            "time of the last Sync whose error is beyond `within`",
            "the first release of the scenario's streams",
            ("ptp.time",),
            "ptp-time",
        ),
        Test(
            "ptp.servo",
            "",
            OPENINGS,
            "one",
            "greatest error of the clock by which gates open, in the second half of 60 intervals; the middle "
            "one of five openings counts",
            "`within` of the scenario",
            ("gates.active", "gates.cycle", "gates.order", "gates.edge", "gates.entry"),
            "ptp-clock",
        ),
        Test(
            "ptp.settle",
            "",
            OPENINGS,
            "one",
            "time of the last opening whose error is beyond `within`",
            "the first release of the scenario's streams",
            ("ptp.servo",),
            "ptp-clock",
        ),
    )
}
"""All tests by name, in the order in which they are judged."""


def suites() -> list[str]:
    """The names of all suites."""
    return list(dict.fromkeys(one.suite for one in TESTS.values()))


def chosen(words: Sequence[str]) -> list[Test]:
    """The tests that words such as ``gates`` or ``gates.edge`` name; all without words.

    Raises:
        KeyError: a word names none.
    """
    if not words:
        return list(TESTS.values())
    found: dict[str, Test] = {}
    for word in words:
        own = {name: one for name, one in TESTS.items() if word in (name, one.suite)}
        if not own:
            raise KeyError(word)
        found |= own
    return [one for name, one in TESTS.items() if name in found]
