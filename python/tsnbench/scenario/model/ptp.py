"""gPTP and PTP: the grandmaster, and how the other clocks follow it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tsnbench.scenario.kinds.combinators import ListOf, record_of
from tsnbench.scenario.kinds.common import LONGEST, NODE, NODES, PCP, SELECTOR
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Quantity, Thousandths
from tsnbench.scenario.model.names import Name, Pcp, PortSelector
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import DRIFT, DURATION, Duration

_OCTET = Count(0, 255, "a number")
_PACE = Quantity(DURATION, 100_000, 3600 * 10**9)
_TIMEOUT = Count(2, 255, "a number of intervals")
_STEP = Quantity(DURATION, 0, LONGEST, zero=True)


class ClockQuality(Part):
    """The attributes of a clock in the election (BMCA): the lower one is better, field by field."""

    priority1: int = key(_OCTET, "255: never grandmaster; 246 in gPTP and 128 in PTP by default")
    clock_class: int = key(_OCTET, "248 by default", default=248)
    clock_accuracy: int = key(_OCTET, "254 (unknown) by default", default=254)
    variance: int = key(
        Count(0, 65_535, "a number"), "offsetScaledLogVariance; 17258 in gPTP and 65535 in PTP by default"
    )
    priority2: int = key(_OCTET, "248 in gPTP and 128 in PTP by default")


class Bmca(Part):
    """An election. ``own``: the nodes whose clock is not the default one."""

    default: ClockQuality
    own: dict[Name, ClockQuality] = {}
    announce_interval: Duration = key(
        _PACE,
        "time between Announce messages; 1 s in gPTP, 2 s in PTP by default",
        clause="IEEE 802.1AS-2020, 10.7; IEEE 1588-2019, 7.7.3",
    )
    announce_receipt_timeout: int = key(_TIMEOUT, "so many intervals without one; 3 by default", default=3)
    sync_receipt_timeout: int = key(_TIMEOUT, "so many intervals without a Sync; 3 by default", default=3)


class Servo(Part, hyphens=False):
    """linuxptp's options; scales, exponents and norms in thousandths."""

    pi_proportional_scale: int = key(Thousandths(0, 10_000), "0.7 by default", default=700)
    pi_proportional_exponent: int = key(Thousandths(-1_000, 0), "-0.3 by default", default=-300)
    pi_proportional_norm_max: int = key(Thousandths(1, 1_000), "0.7 by default", default=700)
    pi_integral_scale: int = key(Thousandths(1, 10_000), "0.3 by default", default=300)
    pi_integral_exponent: int = key(Thousandths(0, 2_000), "0.4 by default", default=400)
    pi_integral_norm_max: int = key(Thousandths(1, 2_000), "0.3 by default", default=300)
    first_step_threshold: Duration = key(
        _STEP,
        "the first correction is a step where the offset is larger; 0 for never; 20 us by default",
        default=20_000,
    )
    step_threshold: Duration = key(
        _STEP, "later ones are where the offset is larger; 0 for never; 0 by default", default=0
    )
    max_frequency: int = key(
        Quantity(DRIFT, 1_000, 90_000 * 10**6),
        "by how much the clock is steered at most; 62499999 ppb by default",
        default=62_499_999_000,
    )
    """Parts of 10^12."""


class Ieee1588(Part):
    """The parts of IEEE 1588 that IEEE 802.1AS does not have."""

    delay: Literal["end-to-end", "peer-to-peer"] = key(
        Choice({"e2e": "end-to-end", "p2p": "peer-to-peer"}, "a delay mechanism"),
        "e2e by default",
        default="end-to-end",
        clause="IEEE 1588-2019, 11.3 and 11.4",
    )
    transparent: tuple[Name, ...] = key(
        replace(NODES, once=True),
        "nodes with transparent clocks; the others are boundary clocks",
        sample="[dut]",
        default=(),
        clause="IEEE 1588-2019, 10.2 and 10.3",
    )


SERVO = record_of(
    Servo,
    "a servo with linuxptp's options",
    common_mistakes={
        **{
            name.replace("_", "-"): f"did you mean {name}?"
            for name in ("first_step_threshold", "step_threshold", "max_frequency")
        },
        "kp": "write pi_proportional_scale, as linuxptp does",
        "ki": "write pi_integral_scale, as linuxptp does",
    },
)


class Gptp(Part):
    """gPTP, or PTP where ``ieee_1588`` is given; one of ``grandmaster`` and ``bmca`` is."""

    grandmaster: Name | None = key(
        NODE, "the node whose time all follow, where it is not elected", default=None
    )
    sync_interval: Duration = key(
        _PACE,
        "time between Sync messages; 1/8 s in gPTP, 1 s in PTP by default",
        default=125_000_000,
        clause="IEEE 802.1AS-2020, 10.7; IEEE 1588-2019, 7.7.3",
    )
    pdelay_interval: Duration = key(
        _PACE, "time between measurements of a link's delay; 1 s by default", default=1_000_000_000
    )
    one_step: bool = key(YES_NO, "Sync messages carry their own time; false by default", default=False)
    pcp: Pcp = key(PCP, "decides the messages' traffic class; 7 by default. Untagged frames: 0", default=7)
    wakeup: Duration = key(
        Quantity(DURATION, 0, 10**9),
        "software hands a message over up to this late, a uniform draw; 50 us by default",
        default=50_000,
    )
    bmca: Bmca | None = None
    ieee_1588: Ieee1588 | None = None
    links: tuple[PortSelector, ...] = key(
        ListOf(SELECTOR, "links"), "only these links carry PTP: [n1 -> n2 #2]; all by default", default=()
    )
    visible: bool = key(
        YES_NO, "taps sight PTP's frames, as streams ptp/sync and so on; false by default", default=False
    )
    servo: Servo | None = key(SERVO, "linuxptp's options: {step_threshold: 20 us}", default=None)
