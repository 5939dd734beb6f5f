# Generated from crates/plan: change the types there, then TSNBENCH_UPDATE=1 pytest tests/plan/test_types.py
"""The objects of a Plan's document, as JSON has them: one type for each type of ``crates/plan``.

A field's unit is in its name; ``docs/reference/plan.md`` defines each field. ``NotRequired``: the field may
be absent. ``kind`` distinguishes the variants of a union.
"""

from typing import Literal, NotRequired, TypedDict, final


class Change(TypedDict):
    """A change to another deviation."""

    at_ns: int
    deviation_ppt: int


class Wander(TypedDict):
    """A random walk of the frequency."""

    most_ppt: int
    every_ns: int


class NodeClock(TypedDict):
    """One node's clock. Deviations are parts of 10^12, so that 1 ppm is 1 000 000 and 1 ps per second is
    1.
    """

    offset_ns: int
    deviation_ppt: int
    changes: NotRequired[list[Change]]
    wander: NotRequired[Wander]
    granularity_ns: int
    jitter_ns: int


Delay = Literal["end-to-end", "peer-to-peer"]
"""The delay mechanisms of IEEE 1588-2019, 11.3 and 11.4."""


class Ieee1588(TypedDict):
    """Ordinary, boundary and transparent clocks instead of gPTP's time-aware systems."""

    delay: Delay
    transparent: NotRequired[list[int]]


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
"""The attributes of a clock in the election; the lower one is better, field by field."""


class Bmca(TypedDict):
    """The best master clock algorithm."""

    ports: list[int]
    clocks: list[ClockQuality]
    announce_interval_ns: int
    announce_receipt_timeout: int
    sync_receipt_timeout: int


class Gptp(TypedDict):
    """gPTP with configured roles, unless its last fields say otherwise. IEEE 802.1AS-2020."""

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
    """An oscillator is faster or slower, from ``from_ns`` on, until just before ``until_ns``."""

    kind: Literal["frequency-jump"]
    node: int
    from_ns: int
    until_ns: int
    by_ppt: int


class PtpDownClockFault(TypedDict):
    """A node neither sends nor accepts PTP messages; its clock keeps running."""

    kind: Literal["ptp-down"]
    node: int
    from_ns: int
    until_ns: int


ClockFault = ClockStepClockFault | FrequencyJumpClockFault | PtpDownClockFault
"""A fault of a clock, or of PTP at a node."""


class Clocks(TypedDict):
    """Every node's clock; in a Plan without clocks all nodes have the same exact time."""

    nodes: list[NodeClock]
    record_ns: int
    within_ns: NotRequired[int]
    gptp: NotRequired[Gptp]
    faults: NotRequired[list[ClockFault]]


class BernoulliLossModel(TypedDict):
    """Each frame is lost independently."""

    kind: Literal["bernoulli"]
    loss_ppm: int


class GilbertElliottLossModel(TypedDict):
    """A good and a bad state; before every frame the state may change. It begins in the good state."""

    kind: Literal["gilbert-elliott"]
    to_bad_ppm: int
    to_good_ppm: int
    loss_good_ppm: int
    loss_bad_ppm: int


class BitErrorsLossModel(TypedDict):
    """Independent bit errors; the receiver drops a frame with one or more between destination address and
    FCS.
    """

    kind: Literal["bit-errors"]
    per_petabit: int


LossModel = BernoulliLossModel | GilbertElliottLossModel | BitErrorsLossModel
"""The model of random loss. Shares in parts per million."""


MacOperation = Literal["hold", "release"]
"""The MAC operation of a gate entry. IEEE 802.1Q-2022, 8.6.8.4; IEEE 802.3-2022, 99.4."""


class GateEntry(TypedDict):
    """One entry of a gate control list."""

    open: int
    interval_ns: int
    mac: NotRequired[MacOperation]


IdleSlope = TypedDict(
    "IdleSlope",
    {
        "class": int,
        "bps": int,
    },
)
"""The idle slope of one class."""


@final
class GateChange(TypedDict):
    """A list that replaces the previous one."""

    at_ns: int
    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]
    cycle_extension_ns: NotRequired[int]
    idle_slopes: NotRequired[list[IdleSlope]]


@final
class Gates(TypedDict):
    """The gates of one port."""

    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]
    replaced: NotRequired[int]
    initial: NotRequired[int]
    cycle_extension_ns: NotRequired[int]
    unguarded: NotRequired[bool]
    changes: NotRequired[list[GateChange]]


class LinkDownFault(TypedDict):
    """A link is cut in both directions: frames on the wire and frames sent into it are lost."""

    kind: Literal["link-down"]
    port: int
    from_ns: int
    until_ns: int


class LossFault(TypedDict):
    """Frames sent from a port are lost by chance."""

    kind: Literal["loss"]
    port: int
    from_ns: int
    until_ns: int
    model: LossModel


class BabbleFault(TypedDict):
    """A talker sends more than its pattern: one additional data unit every ``every_ns``."""

    kind: Literal["babble"]
    stream: int
    from_ns: int
    until_ns: int
    every_ns: int


class NodeDownFault(TypedDict):
    """A node is down: its links are cut, its frames are lost, its talkers are silent. Its recovery
    functions restart.
    """

    kind: Literal["node-down"]
    node: int
    from_ns: int
    until_ns: int


class DelayFault(TypedDict):
    """Frames sent from a port arrive later than the cable's delay."""

    kind: Literal["delay"]
    port: int
    from_ns: int
    until_ns: int
    least_ns: int
    most_ns: int
    share_ppm: int
    keeps_order: bool


class DuplicateFault(TypedDict):
    """Frames sent from a port arrive twice."""

    kind: Literal["duplicate"]
    port: int
    from_ns: int
    until_ns: int
    share_ppm: int
    after_ns: int


class ScheduleFault(TypedDict):
    """A port uses another gate control list than its own."""

    kind: Literal["schedule"]
    port: int
    from_ns: int
    until_ns: int
    gates: NotRequired[Gates]


Fault = LinkDownFault | LossFault | BabbleFault | NodeDownFault | DelayFault | DuplicateFault | ScheduleFault
"""One fault. It lasts from ``from_ns`` on, until just before ``until_ns``."""


class UniformFurther(TypedDict):
    """Uniform in ``[0, up_to_ns]``, in steps of 1 ps."""

    kind: Literal["uniform"]
    up_to_ns: int


class ListFurther(TypedDict):
    """A value of a list."""

    kind: Literal["list"]
    values_ns: list[int]
    counts: NotRequired[list[int]]


class PerOctetFurther(TypedDict):
    """A value of a list, and a time for each octet of the frame."""

    kind: Literal["per-octet"]
    per_octet_ps: int
    most_octets: int
    values_ns: list[int]
    counts: NotRequired[list[int]]


Further = UniformFurther | ListFurther | PerOctetFurther
"""The processing time of a node beyond its ``processing_ns``, drawn for every frame and every egress
port.
"""


class Buffer(TypedDict):
    """Memory for frames that wait at any port of a node, in addition to the limits of each class."""

    octets: int
    alpha_permille: NotRequired[int]


class CbsLinux(TypedDict):
    """The numbers of ``tc qdisc … cbs``: kbit/s and octets, rounded away from zero."""

    idleslope: int
    sendslope: int
    hicredit: int
    locredit: int


class CbsFollows(TypedDict):
    """What follows from a shaper's idle slope, for values that a scenario gives in another way."""

    send_slope_bps: NotRequired[int]
    hi_credit_bits: NotRequired[int]
    lo_credit_bits: NotRequired[int]


class Cbs(TypedDict):
    """A credit-based shaper in the standard's units. IEEE 802.1Q-2022, 8.6.8.2; EnGINE eq. 2-6."""

    idle_slope_bps: int
    send_slope_bps: int
    hi_credit_bits: int
    lo_credit_bits: int
    linux: CbsLinux
    runs_while_closed: NotRequired[bool]
    follows: NotRequired[CbsFollows]


class ConstantDistribution(TypedDict):
    """Always the same."""

    kind: Literal["constant"]
    ns: int


class UniformDistribution(TypedDict):
    """Every picosecond in ``[from_ns, to_ns]`` equally likely."""

    kind: Literal["uniform"]
    from_ns: int
    to_ns: int


class HistogramDistribution(TypedDict):
    """A measured table: bin ``k`` contains ``counts[k]`` values; within a bin all values are equally
    likely.
    """

    kind: Literal["histogram"]
    ns: list[int]
    counts: list[int]
    width_ns: NotRequired[int]


Distribution = ConstantDistribution | UniformDistribution | HistogramDistribution
"""A distribution from which a latency is drawn."""


class Host(TypedDict):
    """The latencies of one node's software. Each is named after the stage at its end; an absent one is
    zero.
    """

    wakeup: NotRequired[Distribution]
    send: NotRequired[Distribution]
    qdisc: NotRequired[Distribution]
    driver: NotRequired[Distribution]
    tx: NotRequired[Distribution]
    kernel_rx: NotRequired[Distribution]
    app_rx: NotRequired[Distribution]
    timer: NotRequired[Distribution]
    prepare: NotRequired[Distribution]
    turn: NotRequired[Distribution]
    finish: NotRequired[Distribution]
    processor: NotRequired[int]


class Socket(TypedDict):
    """A talker's thread and socket on a host."""

    advance_ns: int
    txtime: NotRequired[bool]
    deadline: NotRequired[bool]
    other_clock: NotRequired[bool]


TaprioMode = Literal["software", "txtime-assist"]
"""The mode of ``taprio``."""


class Taprio(TypedDict):
    """``taprio`` in software."""

    mode: TaprioMode
    txtime_delay_ns: NotRequired[int]
    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]


class PfifoChildQdisc(TypedDict):
    """First in, first out."""

    kind: Literal["pfifo"]
    limit_frames: int


class EtfChildQdisc(TypedDict):
    """Earliest transmission time first."""

    kind: Literal["etf"]
    delta_ns: int
    deadline: NotRequired[bool]
    offload: NotRequired[bool]
    skip_sock_check: NotRequired[bool]


class CbsChildQdisc(TypedDict):
    """The credit-based shaper of the kernel."""

    kind: Literal["cbs"]
    idleslope: int
    sendslope: int
    hicredit: int
    locredit: int
    limit_frames: int
    overhead_octets: NotRequired[int]
    follows: NotRequired[CbsFollows]


ChildQdisc = PfifoChildQdisc | EtfChildQdisc | CbsChildQdisc
"""The queueing discipline of one class."""


class Qdisc(TypedDict):
    """The queueing disciplines of a host's port: a root that maps priorities to classes, and one child per
    class.
    """

    taprio: NotRequired[Taprio]
    children: list[ChildQdisc]


class Learning(TypedDict):
    """A bridge learns from the source addresses of frames. It forgets a station after a time without its
    frames.
    """

    ageing_ns: int


class StreamFilter(TypedDict):
    """A stream filter. IEEE 802.1Q-2022, 8.6.5.3."""

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
    """One entry of a stream gate's list."""

    open: bool
    ipv: NotRequired[int]
    interval_ns: int
    octets_max: NotRequired[int]


class StreamGate(TypedDict):
    """A stream gate and its list, on the node's own clock. IEEE 802.1Q-2022, 8.6.5.4 and 8.6.10."""

    base_time_ns: int
    cycle_ns: int
    entries: list[StreamGateEntry]
    close_on_invalid_rx: NotRequired[bool]
    close_on_octets_exceeded: NotRequired[bool]


class FlowMeter(TypedDict):
    """A flow meter: two rates, three colours. IEEE 802.1Q-2022, 8.6.5.5; MEF 10.3, 12."""

    cir_bps: int
    cbs_octets: int
    eir_bps: int
    ebs_octets: int
    coupling: NotRequired[bool]
    color_aware: NotRequired[bool]
    drop_on_yellow: NotRequired[bool]
    mark_all_frames_red: NotRequired[bool]


class AtsScheduler(TypedDict):
    """An ATS scheduler. IEEE 802.1Q-2022, 8.6.5.6 and 8.6.11."""

    cir_bps: int
    cbs_bits: int
    group: int


class AtsGroup(TypedDict):
    """Schedulers that share one group eligibility time. IEEE 802.1Q-2022, 8.6.11.3."""

    name: str
    max_residence_ns: int


class Regeneration(TypedDict):
    """One port's priority regeneration table. IEEE 802.1Q-2022, 6.9.4."""

    port: int
    pcp: list[int]


class Policing(TypedDict):
    """One node's tables."""

    node: int
    filters: NotRequired[list[StreamFilter]]
    gates: NotRequired[list[StreamGate]]
    meters: NotRequired[list[FlowMeter]]
    schedulers: NotRequired[list[AtsScheduler]]
    groups: NotRequired[list[AtsGroup]]
    regeneration: NotRequired[list[Regeneration]]


NodeKind = Literal["station", "bridge", "host"]
"""The kind of a node."""


class Node(TypedDict):
    """A node of the network."""

    name: str
    kind: NodeKind
    processing_ns: int
    ipv4: str
    cut_through_octets: NotRequired[int]
    further: NotRequired[Further]
    buffer: NotRequired[Buffer]
    learning: NotRequired[Learning]
    host: NotRequired[Host]


class Class(TypedDict):
    """One traffic class of a port: a queue and its transmission selection."""

    limit_frames: NotRequired[int]
    limit_octets: NotRequired[int]
    cbs: NotRequired[Cbs]
    max_sdu_octets: NotRequired[int]
    longest_wait_ns: NotRequired[int]


class Preemption(TypedDict):
    """The express classes, which interrupt the others. IEEE 802.1Q-2022, 6.7.2; IEEE 802.3-2022, clause
    99.
    """

    express: int
    hold_advance_ns: NotRequired[int]
    release_advance_ns: NotRequired[int]


class Server(TypedDict):
    """A server that gives its queue at least ``rate (t - latency)`` of service within any time t in which
    frames wait.
    """

    rate_bps: int
    latency_ns: int


class Port(TypedDict):
    """One port: the egress of one node towards one peer, and the ingress back."""

    name: str
    node: int
    peer: int
    mac: str
    rate_bps: int
    propagation_ps: int
    pcp_to_class: list[int]
    classes: list[Class]
    gates: NotRequired[Gates]
    preemption: NotRequired[Preemption]
    server: NotRequired[Server]
    transmit_buffer: NotRequired[int]
    qdisc: NotRequired[Qdisc]


class AtMeasureFrom(TypedDict):
    """From a time of the run on."""

    kind: Literal["at"]
    ns: int


class SettledMeasureFrom(TypedDict):
    """From when on every difference of two clocks stays within the least margin of a scheduled stream."""

    kind: Literal["settled"]


MeasureFrom = AtMeasureFrom | SettledMeasureFrom
"""From when on the frames of a run count in its measures: those that leave their talkers earlier do
not.
"""


TelegramKind = Literal[
    "push",
    "request",
    "reply",
    "message-notify",
    "message-request",
    "message-reply",
    "message-reply-query",
    "message-confirm",
    "message-error",
]
"""The kinds of telegrams."""


class Trdp(TypedDict):
    """TRDP process data or message data. IEC 61375-2-3, Annex A."""

    com_id: int
    kind: NotRequired[TelegramKind]
    reply_com_id: NotRequired[int]
    header_octets: int
    data_set_octets: int
    time_out_ns: int
    reply_status: NotRequired[int]
    etb_topo_count: NotRequired[int]
    op_trn_topo_count: NotRequired[int]
    service_id: NotRequired[int]


class PeriodicPattern(TypedDict):
    """The n-th data unit at ``start_ns + offset_ns + n * period_ns``, plus a draw uniform in ``[0,
    jitter_ns]``.
    """

    kind: Literal["periodic"]
    period_ns: int
    offset_ns: int
    jitter_ns: int


class PoissonPattern(TypedDict):
    """Independent exponential gaps."""

    kind: Literal["poisson"]
    mean_interval_ps: int


class SaturatingPattern(TypedDict):
    """There is always a frame ready: as fast as the port sends (iperf3 without ``-b``)."""

    kind: Literal["saturating"]
    backlog: int


class TokenBucketPattern(TypedDict):
    """Single frames that conform to a token bucket, which is full at ``start_ns``. The talker sends the
    most that it allows: the burst at once, then each frame as soon as the bucket has it.
    """

    kind: Literal["token-bucket"]
    burst_octets: int
    rate_bps: int


class TracePattern(TypedDict):
    """A recording: ``passes`` times the same releases, a new pass every ``cycle_ns`` from ``start_ns`` on."""

    kind: Literal["trace"]
    gaps_ns: list[int]
    cycle_ns: int
    passes: int


Pattern = PeriodicPattern | PoissonPattern | SaturatingPattern | TokenBucketPattern | TracePattern
"""The times at which a talker releases its data units."""


class Answers(TypedDict):
    """The request that a stream answers: one data unit for each frame of it that reaches the talker."""

    stream: int
    after_ns: int


class FrameSize(TypedDict):
    """Every data unit is one frame of this size."""

    kind: Literal["frame"]
    octets: int


class UnitsSize(TypedDict):
    """Every data unit is drawn from this list, each entry equally likely, and cut into frames sent back to
    back.
    """

    kind: Literal["units"]
    octets: list[int]
    most_per_frame: int
    overhead: int


class ListSize(TypedDict):
    """Every data unit is one frame, and the n-th has the n-th of these sizes; after the last one the list
    repeats.
    """

    kind: Literal["list"]
    octets: list[int]


Size = FrameSize | UnitsSize | ListSize
"""The sizes of data units."""


class Route(TypedDict):
    """One egress port of a stream's tree. Parents come before children; the first entries are the talker's
    own ports.
    """

    port: int
    parent: NotRequired[int]


Merge = TypedDict(
    "Merge",
    {
        "from": list[int],
    },
)
"""Several route entries that end at one node and continue as one."""


class Span(TypedDict):
    """A span from one instant until just before another."""

    from_ns: int
    until_ns: int


class Active(TypedDict):
    """The times at which a route entry forwards."""

    route: int
    spans: list[Span]


class Rewritten(TypedDict):
    """The fields of member streams that replace the stream's own, from where they are made to where they
    merge for the last time.
    """

    destination_mac: str
    vid: int
    pcp: int


class ActiveIdentification(TypedDict):
    """Destination address and VLAN, which differ while frames carry an R-TAG. IEEE 802.1CB-2017, 6.6."""

    active: Rewritten


Identification = Literal["null", "source-mac", "ip"] | ActiveIdentification
"""A stream identification function. IEEE 802.1CB-2017, 6.4 to 6.7."""


class VectorAlgorithm(TypedDict):
    """The last ``history`` numbers. IEEE 802.1CB-2017, 7.4.3.4."""

    kind: Literal["vector"]
    history: int


class MatchAlgorithm(TypedDict):
    """The last number only. IEEE 802.1CB-2017, 7.4.3.5."""

    kind: Literal["match"]


Algorithm = VectorAlgorithm | MatchAlgorithm
"""The algorithm that decides whether a sequence number was received before."""


class LatentErrors(TypedDict):
    """Latent error detection. IEEE 802.1CB-2017, 7.4.4."""

    period_ns: int
    reset_ns: int
    difference: int


class Recovery(TypedDict):
    """Sequence recovery. IEEE 802.1CB-2017, 7.4.2 and 7.4.3."""

    identification: Identification
    algorithm: Algorithm
    reset_ns: int
    individual: NotRequired[bool]
    latent: NotRequired[LatentErrors]


class Redundancy(TypedDict):
    """The part of a stream's route that is not a tree."""

    copies: NotRequired[list[int]]
    merges: NotRequired[list[Merge]]
    active: NotRequired[list[Active]]
    recovery: NotRequired[Recovery]


class Destination(TypedDict):
    """A listener, and the entry of the route by which its frames arrive."""

    node: int
    route: int


class Percentile(TypedDict):
    """A delay that a share of the frames must not exceed."""

    share_ppm: int
    delay_ns: int


class Jitter(TypedDict):
    """A limit of one named kind of jitter."""

    kind: str
    limit_ns: int


class Survives(TypedDict):
    """Links and nodes of which any few may fail at once, at any time, without the loss of a frame."""

    failures: int
    links: NotRequired[list[int]]
    nodes: NotRequired[list[int]]


class Requirements(TypedDict):
    """The requirements of a stream at each of its listeners."""

    delay_ns: NotRequired[int]
    release_delay_ns: NotRequired[int]
    delay_percentiles: NotRequired[list[Percentile]]
    jitter: NotRequired[list[Jitter]]
    loss_ppm: NotRequired[int]
    rate_bps: NotRequired[int]
    age_ns: NotRequired[int]
    time_out_ns: NotRequired[int]
    round_trip_ns: NotRequired[int]
    survives: NotRequired[list[Survives]]
    worst_case: NotRequired[bool]


class Scheduled(TypedDict):
    """The times that were planned for a stream."""

    starts_ps: list[list[int]]
    margin_ps: NotRequired[int]
    behind: NotRequired[list[int]]


class Stream(TypedDict):
    """One stream: a talker's sequence of frames to one or more listeners."""

    name: str
    group: str
    talker: int
    pcp: int
    vid: NotRequired[int]
    destination_mac: str
    destination_ipv4: str
    udp_port: int
    type_of_service: NotRequired[int]
    trdp: NotRequired[Trdp]
    pattern: Pattern
    any_phase: NotRequired[bool]
    answers: NotRequired[Answers]
    size: Size
    start_ns: int
    stop_ns: int
    route: list[Route]
    redundancy: NotRequired[Redundancy]
    flood: NotRequired[list[Route]]
    socket: NotRequired[Socket]
    listeners: list[Destination]
    requirements: NotRequired[Requirements]
    scheduled: NotRequired[Scheduled]


Stage = Literal["interval-start", "wakeup", "send", "qdisc", "driver", "tx", "rx", "kernel-rx", "app-rx"]
"""A stage on a frame's path (OCORA Fig. 9)."""


Point = Literal["start", "end"]
"""The point of the frame that a ``tx`` or ``rx`` timestamp refers to."""


class Tap(TypedDict):
    """A place where frames are observed."""

    name: str
    port: int
    stage: Stage
    point: Point
    granularity_ns: int


class PlanDocument(TypedDict):
    """A whole experiment."""

    format: str
    name: str
    variant: NotRequired[dict[str, str]]
    seed: int
    duration_ns: int
    drain_ns: int
    measure_from: NotRequired[MeasureFrom]
    nodes: list[Node]
    ports: list[Port]
    streams: list[Stream]
    faults: NotRequired[list[Fault]]
    policing: NotRequired[list[Policing]]
    taps: list[Tap]
    clocks: NotRequired[Clocks]
    hash: NotRequired[str]


GateList = Gates | GateChange
"""One of the lists of a port; a change has ``at_ns``."""


class GateCycle(TypedDict):
    """The fields of every gate control list: of a port, of a change of its list, or of ``taprio``."""

    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]
