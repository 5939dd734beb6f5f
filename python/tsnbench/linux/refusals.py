"""Messages of the kernel when it refuses a queueing discipline, with their meaning and a remedy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """A message of the kernel or of tc, its meaning, and a remedy."""

    text: str
    """A part of the printed message; case does not matter."""
    reason: str
    remedy: str


REFUSALS = (
    Refusal(
        "Specified qdisc kind is unknown",
        "this kernel has no such queueing discipline",
        "load its module (`modprobe sch_taprio`, `sch_mqprio`, `sch_etf`, `sch_cbs`), or another kernel",
    ),
    Refusal("Unknown qdisc", "tc does not know this queueing discipline", "install a newer iproute2"),
    Refusal(
        "RTNETLINK answers: No such file or directory",
        "the kernel found no module of this kind, or no such parent",
        "load the module; make the root before its children",
    ),
    Refusal(
        "Number of traffic classes is greater than number of HW queues",
        "the interface has fewer transmission queues than there are traffic classes",
        "raise the queues (`ethtool -L eth0 combined N`; veth: `numtxqueues N`), or use fewer classes",
    ),
    Refusal(
        "Number of traffic classes is outside valid range",
        "there are more than 16 traffic classes",
        "use fewer classes",
    ),
    Refusal(
        "Invalid traffic class in priority to traffic class mapping",
        "`map` names a class that is not below `num_tc`",
        "give all 16 entries of `map` a class below `num_tc`",
    ),
    Refusal(
        "Invalid queue in traffic class to queue mapping",
        "`queues count@offset` reaches past the last queue that is in use",
        "raise the queues in use (`ethtool -L`)",
    ),
    Refusal(
        "Detected overlap in the traffic class to queue mapping",
        "two classes share a queue, or the offsets do not rise and the kernel is older than 6.3",
        "give each class a queue of its own; on Linux up to 6.2 export with --queues renumbered",
    ),
    Refusal("overlapping with", "two classes share a queue", "give each class a queue of its own"),
    Refusal(
        "Multi-queue device is required",
        "the interface has one transmission queue only",
        "make it with more (`ip link add … numtxqueues 8`), or use another interface",
    ),
    Refusal("Can only be attached as root qdisc", "taprio was given a parent", "write `parent root`"),
    Refusal(
        "'mqprio' configuration is necessary", "`num_tc`, `map` and `queues` are missing", "give all three"
    ),
    Refusal(
        "Invalid interval for schedule entry",
        "an entry is shorter than a frame of 60 octets at the link's speed (10 Mbit/s if it is not known)",
        "wait until the link is up, or make the entry longer",
    ),
    Refusal(
        "The schedule should contain at least one entry", "there is no `sched-entry`", "give at least one"
    ),
    Refusal(
        "There should be at least one entry in the schedule", "there is no `sched-entry`", "give at least one"
    ),
    Refusal("'cycle_time' can never be 0", "the intervals add up to 0", "give intervals in ns"),
    Refusal("'cycle_time' is too big", "the cycle is longer than 2147483647 ns", "use a shorter cycle"),
    Refusal(
        "'cycle_time' is too small",
        "the cycle is too short for its entries at the link's speed",
        "use a longer cycle",
    ),
    Refusal(
        "Adding a single entry is not supported",
        "an entry was added to a schedule that runs",
        "give the whole schedule",
    ),
    Refusal(
        "Specifying a 'clockid' is mandatory", "taprio in software needs a clock", "write `clockid CLOCK_TAI`"
    ),
    Refusal(
        "The 'clockid' cannot be specified for full offload",
        "under full offload the card's own clock counts",
        "leave `clockid` out",
    ),
    Refusal(
        "Changing the 'clockid' of a running schedule",
        "the schedule that runs has another clock",
        "delete the root first",
    ),
    Refusal("Invalid 'clockid'", "this clock cannot drive a schedule", "write `clockid CLOCK_TAI`"),
    Refusal(
        "Changing 'flags' of a running schedule",
        "the schedule that runs works otherwise (software, txtime-assist, offload)",
        "delete the root first",
    ),
    Refusal(
        "Specified 'flags' are not valid",
        "txtime-assist and full offload exclude each other, or tc is older than the kernel",
        "use `flags 0x1` or `flags 0x2`",
    ),
    Refusal(
        "Changing the traffic mapping of a running schedule",
        "`map` or `queues` differ from those of the schedule that runs",
        "delete the root first",
    ),
    Refusal(
        "txtime-delay can only be set when txtime-assist",
        "`txtime-delay` without `flags 0x1`",
        "add `flags 0x1` or leave it out",
    ),
    Refusal(
        "Device does not support taprio offload",
        "the driver cannot open gates in hardware",
        "export with --taprio software",
    ),
    Refusal(
        "Device failed to setup taprio offload",
        "the driver refuses this schedule",
        "see `dmesg`: often too many entries, too long a cycle, or a base time too far ahead",
    ),
    Refusal(
        "Device does not have a PTP clock",
        "full offload needs the card's clock, and it has none",
        "export with --taprio software",
    ),
    Refusal(
        "Device does not handle queueMaxSDU",
        "the driver has no largest unit per class",
        "leave `max-sdu` out",
    ),
    Refusal(
        "TC max SDU exceeds device max MTU",
        "`max-sdu` is above what the interface can send",
        "use a smaller one",
    ),
    Refusal(
        "Preemption only supported with full offload",
        "taprio pre-empts in hardware only",
        "export with --taprio full",
    ),
    Refusal(
        "Device does not support preemption",
        "the driver has no MAC merge layer",
        "leave pre-emption out, or use another card",
    ),
    Refusal("Reserved 'preemptible' TCs", "the driver refuses these preemptable classes", "see `dmesg`"),
    Refusal(
        "Specified device does not support cbs offload",
        "the driver has no shaper in hardware",
        "write `offload 0`",
    ),
    Refusal(
        "Specified device failed to setup cbs hardware offload",
        "the driver refuses this shaper",
        "many have it on the highest one or two queues only; write `offload 0` otherwise",
    ),
    Refusal(
        "Missing CBS parameter", "one of idleslope, sendslope, hicredit, locredit is missing", "give all four"
    ),
    Refusal("ETF qdisc requires PTP clock", "etf in hardware needs the card's clock", "leave `offload` out"),
    Refusal(
        "Specified device does not support ETF offload",
        "the driver has no launch time",
        "leave `offload` out",
    ),
    Refusal(
        "Specified device failed to setup ETF hardware offload",
        "the driver refuses launch times on this queue",
        "many (i210: 0 and 1) have it on few queues only",
    ),
    Refusal("Delta must be positive", "`delta` is negative or missing", "give `delta` in ns"),
    Refusal("Only TAI", "etf takes no other clock than CLOCK_TAI", "write `clockid CLOCK_TAI`"),
    Refusal("Clockid is invalid", "the clock is none that etf takes", "write `clockid CLOCK_TAI`"),
    Refusal("Missing ETF parameter", "`delta` and `clockid` are missing", "give both"),
    Refusal(
        "Device does not support hardware offload", "the driver cannot do this in hardware", "write `hw 0`"
    ),
    Refusal(
        "Operation not permitted",
        "this needs the rights of root",
        "run it as root, or in a namespace of one's own",
    ),
    Refusal(
        "Cannot find device",
        "there is no interface of this name here",
        "see `ip link`; name it with --interface",
    ),
    Refusal(
        "Exclusivity flag on, cannot modify",
        "there is another discipline with this handle",
        "delete the root first",
    ),
)


def explain(printed: str) -> Refusal | None:
    """The known message that a text of the kernel or of tc contains; None if there is none."""
    found = printed.casefold()
    return next((one for one in REFUSALS if one.text.casefold() in found), None)
