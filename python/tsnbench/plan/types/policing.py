"""Policing of received frames: filters, stream gates, flow meters, ATS schedulers."""

from typing import NotRequired, TypedDict


class StreamFilter(TypedDict):
    """A stream filter; an absent list means any. IEEE 802.1Q-2022, 8.6.5.3."""

    name: str
    ports: NotRequired[list[int]]
    streams: NotRequired[list[int]]
    priority: NotRequired[int]
    max_sdu_octets: NotRequired[int]
    block_oversize: NotRequired[bool]
    gate: NotRequired[int]
    meter: NotRequired[int]
    scheduler: NotRequired[int]


class StreamGateEntry(TypedDict):
    """One entry of a stream gate's list; ``ipv``: the internal priority value."""

    open: bool
    ipv: NotRequired[int]
    interval_ns: int
    octets_max: NotRequired[int]


class StreamGate(TypedDict):
    """A stream gate and its list. IEEE 802.1Q-2022, 8.6.5.4."""

    base_time_ns: int
    cycle_ns: int
    entries: list[StreamGateEntry]
    close_on_invalid_rx: NotRequired[bool]
    close_on_octets_exceeded: NotRequired[bool]


class FlowMeter(TypedDict):
    """A flow meter: two rates, three colours. IEEE 802.1Q-2022, 8.6.5.5."""

    cir_bps: int
    cbs_octets: int
    eir_bps: int
    ebs_octets: int
    coupling: NotRequired[bool]
    color_aware: NotRequired[bool]
    drop_on_yellow: NotRequired[bool]
    mark_all_frames_red: NotRequired[bool]


class AtsScheduler(TypedDict):
    """An ATS scheduler. IEEE 802.1Q-2022, 8.6.5.6."""

    cir_bps: int
    cbs_bits: int
    group: int


class AtsGroup(TypedDict):
    """ATS schedulers that share one group eligibility time. IEEE 802.1Q-2022, 8.6.11.3."""

    name: str
    max_residence_ns: int


class Regeneration(TypedDict):
    """A port's priority regeneration table. IEEE 802.1Q-2022, 6.9.4."""

    port: int
    pcp: list[int]


class Policing(TypedDict):
    """One node's tables for arriving frames. IEEE 802.1Q-2022, 8.6.5."""

    node: int
    filters: NotRequired[list[StreamFilter]]
    gates: NotRequired[list[StreamGate]]
    meters: NotRequired[list[FlowMeter]]
    schedulers: NotRequired[list[AtsScheduler]]
    groups: NotRequired[list[AtsGroup]]
    regeneration: NotRequired[list[Regeneration]]
