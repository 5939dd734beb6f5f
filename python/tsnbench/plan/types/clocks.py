"""The nodes' clocks, PTP, and their faults."""

from typing import Literal, NotRequired, TypedDict


class Change(TypedDict):
    """Another deviation from a time on."""

    at_ns: int
    deviation_ppt: int


class Wander(TypedDict):
    """A random walk of the frequency."""

    most_ppt: int
    every_ns: int


class NodeClock(TypedDict):
    """One node's clock; deviations are parts of 10^12."""

    offset_ns: int
    deviation_ppt: int
    changes: NotRequired[list[Change]]
    wander: NotRequired[Wander]
    granularity_ns: int
    jitter_ns: int


Delay = Literal["end-to-end", "peer-to-peer"]
"""The mechanism of delay measurement. IEEE 1588-2019, 11.3 and 11.4."""


class Ieee1588(TypedDict):
    """Ordinary, boundary and transparent clocks."""

    delay: Delay
    transparent: NotRequired[list[int]]


ClockQuality = TypedDict(
    "ClockQuality",
    {
        "priority1": int,
        "class": int,
        "accuracy": int,
        "variance": int,
        "priority2": int,
    },
)
"""The attributes of a clock that its Announce messages carry."""


class Bmca(TypedDict):
    """The best master clock algorithm."""

    ports: list[int]
    clocks: list[ClockQuality]
    announce_interval_ns: int
    announce_receipt_timeout: int
    sync_receipt_timeout: int


class Servo(TypedDict):
    """linuxptp's options of the PI servo: scales, exponents and norms in thousandths."""

    pi_proportional_scale: int
    pi_proportional_exponent: int
    pi_proportional_norm_max: int
    pi_integral_scale: int
    pi_integral_exponent: int
    pi_integral_norm_max: int
    first_step_threshold_ns: int
    step_threshold_ns: int
    max_frequency_ppb: int


class Gptp(TypedDict):
    """gPTP, or the profile of IEEE 1588 that replaces it. IEEE 802.1AS-2020."""

    grandmaster: int
    slaves: list[int]
    sync_interval_ns: int
    pdelay_interval_ns: int
    pcp: int
    wakeup_ns: int
    ieee_1588: NotRequired[Ieee1588]
    one_step: NotRequired[bool]
    visible: NotRequired[bool]
    servo: NotRequired[Servo]
    bmca: NotRequired[Bmca]


class ClockStepClockFault(TypedDict):
    """A clock is set forward or back."""

    kind: Literal["clock-step"]
    node: int
    at_ns: int
    by_ns: int


class FrequencyJumpClockFault(TypedDict):
    """An oscillator runs faster or slower for a while."""

    kind: Literal["frequency-jump"]
    node: int
    from_ns: int
    until_ns: int
    by_ppt: int


class PtpDownClockFault(TypedDict):
    """A node neither sends nor accepts PTP messages."""

    kind: Literal["ptp-down"]
    node: int
    from_ns: int
    until_ns: int


ClockFault = ClockStepClockFault | FrequencyJumpClockFault | PtpDownClockFault
"""A fault of a clock, or of PTP at a node."""


class Clocks(TypedDict):
    """The nodes' clocks."""

    nodes: list[NodeClock]
    record_ns: int
    gptp: NotRequired[Gptp]
    faults: NotRequired[list[ClockFault]]
