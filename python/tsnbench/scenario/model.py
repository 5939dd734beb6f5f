"""What people write, as types: every quantity is an integer in the unit its name says.

The YAML spelling (units, sweeps, patterns by name) is read by :mod:`tsnbench.scenario.loader`; by the time a
:class:`Scenario` exists every catalogue name is resolved and every sweep is expanded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from tsnbench.scenario.part import Part
from tsnbench.scenario.units import (
    BitRate,
    Duration,
    Length,
    Size,
)

if TYPE_CHECKING:
    from tsnbench.planning.document import Plan
    from tsnbench.scenario.errors import Caution
    from tsnbench.scenario.origin import Origin

Name = str
"""A letter, then letters, digits, ``_ . + -``; at most 64 characters."""
Pcp = int
"""A priority code point: 0 to 7."""
PortSelector = str
"""``zgw1 -> zgw2``, ``zgw1 -> *``, ``* -> zgw2``, ``*``; ``node4 -> dut #2`` names one of parallel links.

Parallel links count from 1 in the order of ``Network.links``, whichever end is named first there. In a loaded
scenario every selector meets at least one port, and a selector of two nodes exactly one."""


class Spread(Part):
    """Processing beyond the least: uniform up to ``up_to``, one of ``values``, or of the times in a file."""

    up_to: Duration | None = None
    values: tuple[Duration, ...] = ()
    file: str | None = None


class Buffer(Part):
    """Memory that the ports of a node share; ``alpha`` in thousandths."""

    size: Size
    alpha: int | None = None


class Node(Part):
    """A node; ``processing`` is the time from a frame's last bit in to its place in the egress queue.

    Under cut-through it counts from the octet that decides.
    """

    kind: Literal["station", "bridge", "host"]
    processing: Duration = 0
    cut_through: Size | None = None
    """Longer frames go on after so many octets; None: every frame is stored whole."""
    spread: Spread | None = None
    """What it takes beyond ``processing``, where that differs from frame to frame."""
    buffer: Buffer | None = None
    learning: Duration | None = None
    """How long a bridge that learns remembers; None: it knows every address from the beginning."""


class Link(Part):
    """A full-duplex link. ``rate`` and ``cable`` count both ways unless ``back_…`` says otherwise for b -> a.

    Cables are in mm; :func:`tsnbench.scenario.units.propagation_ps` says how long a signal takes.
    """

    a: Name
    b: Name
    rate: BitRate
    cable: Length = 0
    back_rate: BitRate | None = None
    back_cable: Length | None = None


class Queues(Part):
    """How a port's traffic classes queue: ``classes`` maps PCP to class; limits are per class."""

    classes: dict[int, int] | None = None
    limit_frames: int | None = 1000
    limit_octets: Size | None = None
    max_sdu: tuple[tuple[int, Size], ...] | None = None
    """(PCP, largest service data unit); PCPs that are not named have no limit."""


class Network(Part):
    """All nodes and links, generators already expanded."""

    nodes: dict[Name, Node]
    links: tuple[Link, ...]
    queues: Queues = Queues()


class Periodic(Part):
    kind: Literal["periodic"] = "periodic"
    period: Duration
    offset: Duration = 0
    jitter: Duration = 0


class Poisson(Part):
    """Independent exponential gaps, of a mean interval or a mean rate, which counts frames from destination
    address to FCS: one of both."""

    kind: Literal["poisson"] = "poisson"
    rate: BitRate | None = None
    mean_interval: Duration | None = None


class Saturating(Part):
    kind: Literal["saturating"] = "saturating"
    backlog: int = 2


class Recorded(Part):
    """Which frames of a capture: those of which all that is given holds."""

    vlan: int | None = None
    untagged: bool | None = None
    pcp: int | None = None
    source: str | None = None
    destination: str | None = None
    udp: int | None = None


class Replay(Part):
    """A recording from ``begin`` to ``until``, so often; ``passes`` None: for ever. ``speed``: a fraction."""

    kind: Literal["replay"] = "replay"
    file: str
    speed: tuple[int, int] = (1, 1)
    begin: Duration = 0
    until: Duration | None = None
    passes: int | None = 1
    only: Recorded = Recorded()


class RecordedSizes(Part):
    """Those of the recording that is replayed."""

    kind: Literal["recorded"] = "recorded"


class FixedSize(Part):
    """One frame per data unit; octets from destination address to FCS, VLAN tag included."""

    kind: Literal["frame"] = "frame"
    octets: Size


class UnitSizes(Part):
    """Data units drawn from equally likely application sizes, cut into frames."""

    kind: Literal["units"] = "units"
    octets: tuple[int, ...]
    most_per_frame: Size = 1472


class JitterLimit(Part):
    kind: Literal["delay-step-abs", "deviation", "spread", "interval"]
    limit: Duration


class Requirements(Part):
    delay: Duration | None = None
    release_delay: Duration | None = None
    """From when the talker's application hands a frame over."""
    percentiles: dict[int, Duration] = {}
    """Share in parts per million -> delay."""
    jitter: tuple[JitterLimit, ...] = ()
    loss_ppm: int | None = None
    rate: BitRate | None = None
    worst_case: bool = False
    """The worst case has to keep these limits, too: what happened in one run is not enough."""

    @property
    def least_delay(self) -> int | None:
        """The lowest limit of every frame's delay, for who counts from the release; None without one."""
        return min((ns for ns in (self.delay, self.release_delay) if ns is not None), default=None)


class Way(Part):
    """Hops from talker to listener, and per hop the parallel link (from 1) where one is named."""

    nodes: tuple[Name, ...]
    links: tuple[int | None, ...]


class Latent(Part):
    """Latent error detection: between tests, between resets, and how many frames may be missing."""

    period: Duration = 2_000_000_000
    reset: Duration = 30_000_000_000
    difference: int = 10


class ActiveIdentification(Part):
    """What copies show in place of their stream's own; None: an address drawn, its VLAN and priority."""

    destination: str | None = None
    vlan: int | None = None
    pcp: int | None = None


class Frer(Part):
    """Copies over several ways, and their elimination. IEEE 802.1CB-2017, 7."""

    ways: tuple[Way, ...] = ()
    """None: as many disjoint ones as ``disjoint`` says."""
    disjoint: int = 2
    at: tuple[Name, ...] = ()
    """Where copies meet; none: at the first node from which all ways (to a listener) are the same."""
    recovery: Literal["vector", "match"] = "vector"
    history: int = 32
    reset: Duration = 2_000_000_000
    individual: bool = False
    latent: Latent | None = None
    identification: Literal["null", "source-mac", "ip"] | ActiveIdentification | None = None
    """None: the first of them that tells the stream apart."""


class Failover(Part):
    """Another way, taken ``after`` the first one fails; that one forwards ``back`` after its return."""

    way: Way | None = None
    after: Duration
    back: Duration


class Send(Part):
    """A talker's timer is set ``advance`` before the instant for which a frame is meant."""

    advance: Duration = 0
    txtime: bool = False
    deadline: bool = False
    clock: Literal["tai", "monotonic"] = "tai"
    window: Duration | None = None


class Release(Part):
    """A window of a period. ``latest``: None for its end."""

    earliest: Duration = 0
    latest: Duration | None = None


class Stream(Part):
    talker: Name
    listeners: tuple[Name, ...]
    pcp: Pcp
    sr_class: Literal["A", "B", "C", "D"] | None = None
    """The SR class whose CBS reservation counts this stream."""
    vid: int | None = 100
    pattern: Periodic | Poisson | Saturating | Replay
    size: FixedSize | UnitSizes | RecordedSizes
    count: int = 1
    """Flows. Over n parallel links, flow k (from 0) takes link k mod n unless ``via_links`` chooses."""
    via: tuple[Name, ...] | None = None
    """Explicit hops, talker and listener included (one listener); None: shortest path."""
    via_links: tuple[int | None, ...] | None = None
    """With ``via``: the parallel link (from 1) of each hop, one fewer than names; None: not chosen."""
    frer: Frer | None = None
    failover: Failover | None = None
    send: Send | None = None
    scheduled: bool = False
    """Whether its releases and gates are planned, so that it meets nobody."""
    release: Release | None = None
    """In which window of its period; scheduled streams only."""
    start: Duration = 0
    stop: Duration | None = None
    requires: Requirements = Requirements()


class GateEntry(Part):
    """``open`` lists PCPs or class numbers as the scenario's ``by`` says."""

    open: tuple[int, ...]
    duration: Duration
    mac: Literal["hold", "release"] | None = None
    """What it does to preemptable frames besides."""


class Gates(Part):
    """A gate control list as written. ``by``: whether ``open`` counts PCPs or traffic classes."""

    entries: tuple[GateEntry, ...]
    by: Literal["pcp", "class"] = "pcp"
    base_time: Duration = 0
    cycle: Duration | None = None
    """Checked against the sum of entries where given, or what they are cut or made longer to."""
    fit_entries: bool = False
    before: tuple[int, ...] | None = None
    """Gates that are open before the base time, counted as ``open`` is; None: cycles reach back before it."""
    extension: Duration = 0
    guard: bool = True
    """Whether a frame begins only where all of it fits."""
    credit_runs: bool = False
    """Whether credit runs on while a gate is closed."""
    most_entries: int = 1024
    changes: tuple[GateChange, ...] = ()


class GateChange(Part):
    """Another list, asked for at a time; of ``gates`` only what belongs to one list counts."""

    at: Duration
    gates: Gates


class Follow(Part):
    """A gate control list made from another port's: open when what leaves here finds the gate there open.

    ``margin``: how much later it opens and how much earlier it closes than perfect clocks would allow.
    """

    port: PortSelector
    margin: Duration = 0


class Planned(Part):
    """Windows that the planner makes from what the streams require."""

    kind: Literal["planned"] = "planned"


class CbsClass(Part):
    """One class under credit-based shaping. Bandwidth from the streams that cross the port unless given."""

    pcp: Pcp
    bandwidth: BitRate | None = None
    most_frame: Size | None = None
    """Largest PHY frame of the class (``MFS_X``); from the streams unless given."""


class Preemption(Part):
    """Frames with one of the PCPs in ``express`` interrupt all others of a port."""

    express: tuple[Pcp, ...]
    hold_advance: Duration | None = None
    """None: as long as what cannot be cut takes."""
    release_advance: Duration = 0


class Ats(Part):
    """Streams of these PCPs are shaped before they are queued at a port. IEEE 802.1Q-2022, 8.6.11."""

    pcps: tuple[Pcp, ...]
    rate: BitRate | None = None
    """Committed information rate of each stream, on the wire; from its pattern unless given."""
    burst: Size | None = None
    residence: Duration = (1 << 32) - 1


class Cqf(Part):
    """Streams of these PCPs are queued in ``classes`` by turns. IEEE 802.1Q-2022, annex T."""

    cycle: Duration
    """0: to plan."""
    pcps: tuple[Pcp, ...]
    classes: tuple[Pcp, ...]
    octets: Size | None = None


class Etf(Part):
    """Earliest transmission time first. tc-etf(8)."""

    delta: Duration | None
    """None: to plan."""
    deadline: bool = False
    offload: bool = False
    skip_sock_check: bool = False


class Qdisc(Part):
    """What the kernel of a host does at a port. ``etf``: by PCP."""

    taprio: Literal["software", "txtime-assist", "full-offload"] | None = None
    txtime_delay: Duration | None = 0
    """None: to plan."""
    etf: dict[int, Etf] = {}
    cbs: Literal["software", "full-offload"] = "full-offload"
    limit_frames: int = 1000


class Shaper(Part):
    """What shapes the ports of one selector; later selectors override earlier ones, key by key."""

    queues: Queues | None = None
    cbs: tuple[CbsClass, ...] | None = None
    """Highest class first; a class with no stream through a port and no bandwidth gets no shaper there."""
    gates: Gates | Follow | Planned | None = None
    preemption: Preemption | None = None
    ats: Ats | None = None
    cqf: Cqf | None = None
    qdisc: Qdisc | None = None
    real_rate: BitRate | None = None
    """A port whose egress rate differs from its link's nominal rate (the X552 of the COTS lessons)."""
    planned_rate: BitRate | None = None
    """The rate that credit-based shapers are computed for; the real one unless given."""


class Taps(Part):
    """Where frames are sighted. ``ends``: a tx tap at every talker's, an rx tap at every listener's port."""

    ends: bool = True
    ports: tuple[PortSelector, ...] = ()
    """Both directions of each: tx at the port, rx at its peer."""
    send: bool = False
    """Also sight the moment at which a talker hands the frame to its port's queue."""
    stages: tuple[str, ...] = ()
    """Stages of hosts' software that are sighted, too. OCORA Fig. 9."""
    tx_point: Literal["start", "end"] = "start"
    rx_point: Literal["start", "end"] = "end"
    granularity: Duration = 1


class LinkDown(Part):
    """The link of a port, both directions."""

    port: PortSelector
    at: Duration = 0
    duration: Duration | None = None


class Loss(Part):
    """Frames lost by chance, in ppm; ``to_bad``: Gilbert-Elliott, ``per_petabit``: bit errors."""

    port: PortSelector
    loss: int = 0
    to_bad: int | None = None
    to_good: int = 0
    in_good: int = 0
    in_bad: int = 1_000_000
    per_petabit: int | None = None
    at: Duration = 0
    duration: Duration | None = None


class Babble(Part):
    """A stream's talkers send one data unit more every so often."""

    stream: Name
    every: Duration
    at: Duration = 0
    duration: Duration | None = None


class NodeDown(Part):
    """A node: its links, what it holds, its talkers."""

    node: Name
    at: Duration = 0
    duration: Duration | None = None


class Delay(Part):
    """A share (in ppm) of the frames arrives later, uniformly from ``least`` to ``most``."""

    port: PortSelector
    least: Duration
    most: Duration
    share: int = 1_000_000
    keeps_order: bool = True
    at: Duration = 0
    duration: Duration | None = None


class Duplicate(Part):
    """A share (in ppm) of the frames arrives twice."""

    port: PortSelector
    share: int
    after: Duration
    at: Duration = 0
    duration: Duration | None = None


class WrongSchedule(Part):
    """Ports obey another list, their own one shifted, or (neither) none."""

    port: PortSelector
    gates: Gates | None = None
    shift: int | None = None
    at: Duration = 0
    duration: Duration | None = None


Fault = LinkDown | Loss | Babble | NodeDown | Delay | Duplicate | WrongSchedule


class StreamGateEntry(Part):
    open: bool = True
    ipv: Pcp | None = None
    duration: Duration
    octets: Size | None = None


class StreamGate(Part):
    """IEEE 802.1Q-2022, 8.6.5.4."""

    entries: tuple[StreamGateEntry, ...]
    base_time: Duration = 0
    close_on_invalid: bool = False
    close_on_octets: bool = False


class Meter(Part):
    """IEEE 802.1Q-2022, 8.6.5.5; rates and bursts of frames, destination address to FCS."""

    cir: BitRate
    cbs: Size
    eir: BitRate = 0
    ebs: Size = 0
    coupling: bool = False
    color_aware: bool = False
    drop_yellow: bool = False
    mark_all_red: bool = False


class Filter(Part):
    """A stream filter at the end of the links that ``at`` selects; no ``streams``: all."""

    at: PortSelector
    streams: tuple[Name, ...] = ()
    priority: Pcp | None = None
    max_sdu: Size | None = None
    block_oversize: bool = False
    gate: StreamGate | None = None
    meter: Meter | None = None
    per: Literal["node", "stream"] = "node"
    """Whether all streams of a node share one instance, or each flow has its own."""


class Regeneration(Part):
    """Priorities that frames have once they have come over the links that ``at`` selects."""

    at: PortSelector
    pcp: dict[int, Pcp]


class Wander(Part):
    """A random walk of the drift: every ``every`` a step of at most ``step`` parts of 10^12."""

    step: int
    every: Duration


class DriftChange(Part):
    at: Duration
    drift: int


class Clock(Part):
    """A node's clock; drifts in parts of 10^12. ``drift_within``: a draw per node instead of ``drift``."""

    drift: int = 0
    drift_within: int | None = None
    offset: int = 0
    changes: tuple[DriftChange, ...] = ()
    wander: Wander | None = None
    granularity: Duration = 1
    jitter: Duration = 0


class ClockQuality(Part):
    """What a clock says of itself (BMCA): the lower one is the better, field by field."""

    priority1: int
    clock_class: int = 248
    clock_accuracy: int = 254
    variance: int
    priority2: int


class Bmca(Part):
    """``own``: the nodes whose clock is not the default one."""

    default: ClockQuality
    own: dict[Name, ClockQuality] = {}
    announce_interval: Duration
    announce_receipt_timeout: int = 3
    sync_receipt_timeout: int = 3


class Servo(Part):
    """linuxptp's options; scales, exponents and norms in thousandths."""

    pi_proportional_scale: int = 700
    pi_proportional_exponent: int = -300
    pi_proportional_norm_max: int = 700
    pi_integral_scale: int = 300
    pi_integral_exponent: int = 400
    pi_integral_norm_max: int = 300
    first_step_threshold: Duration = 20_000
    step_threshold: Duration = 0
    max_frequency: int = 62_499_999_000
    """Parts of 10^12."""


class Ieee1588(Part):
    delay: Literal["end-to-end", "peer-to-peer"] = "end-to-end"
    transparent: tuple[Name, ...] = ()


class Gptp(Part):
    """gPTP, or PTP where ``ieee_1588`` is given; one of ``grandmaster`` and ``bmca`` is."""

    grandmaster: Name | None = None
    sync_interval: Duration = 125_000_000
    pdelay_interval: Duration = 1_000_000_000
    pcp: Pcp = 7
    wakeup: Duration = 50_000
    bmca: Bmca | None = None
    ieee_1588: Ieee1588 | None = None
    one_step: bool = False
    visible: bool = False
    servo: Servo | None = None
    links: tuple[PortSelector, ...] = ()


class ClockStep(Part):
    """A node's clock is set forward, or back."""

    node: Name
    by: int
    at: Duration = 0


class FrequencyJump(Part):
    """A node's oscillator runs faster, or slower; ``by`` in parts of 10^12."""

    node: Name
    by: int
    at: Duration = 0
    duration: Duration | None = None


class PtpDown(Part):
    """A node neither sends nor takes PTP messages: as grandmaster it is lost."""

    node: Name
    at: Duration = 0
    duration: Duration | None = None


class Clocks(Part):
    """``own``: the nodes whose clock is not the default one."""

    default: Clock = Clock()
    own: dict[Name, Clock] = {}
    record: Duration = 10_000_000
    gptp: Gptp | None = None
    faults: tuple[ClockStep | FrequencyJump | PtpDown, ...] = ()


class Constant(Part):
    kind: Literal["constant"] = "constant"
    ns: Duration


class Uniform(Part):
    kind: Literal["uniform"] = "uniform"
    low: Duration
    high: Duration


class Histogram(Part):
    """Bins that begin at ``values`` and are ``width`` wide, and how often each was met."""

    kind: Literal["histogram"] = "histogram"
    values: tuple[int, ...]
    counts: tuple[int, ...]
    width: Duration = 0


Latency = Constant | Uniform | Histogram


class Host(Part):
    """How long a node's software takes, by the stage that it leads to; absent: no time."""

    latencies: dict[str, Latency] = {}


class Schedule(Part):
    """How scheduled streams are planned."""

    margin: Duration = 0
    """Kept free before and behind every frame: by how much clocks differ, and links jitter."""
    ways: Literal["shortest", "free"] = "shortest"
    granularity: Duration = 1
    """Of releases and of gate control lists' intervals."""
    shortest_interval: Duration = 1
    most_entries: int = 1024
    longest_cycle: Duration = 1_000_000_000
    pcps: tuple[Pcp, ...] = ()
    """Each scheduled stream gets one of these in place of its own; empty: each keeps its own."""
    keep_ppm: int | None = None
    """Of every link with planned gates, for all others together."""
    keep_rates: dict[int, BitRate] = {}
    """By PCP, on links that its streams take."""
    engine: Literal["heuristic", "exact", "both"] = "both"
    time: Duration = 10_000_000_000
    """Deterministic: counted in the exact engine's work."""
    objective: Literal["fewest-entries", "shortest-delay", "most-bandwidth-left"] | None = None


class Windows(Part):
    """How windows are planned."""

    cycle: Duration | None = None
    margin: Duration = 0
    """By how much nodes' clocks may differ."""
    guard_band: bool = False
    granularity: Duration = 1
    shortest_interval: Duration = 1
    most_entries: int = 1024
    longest_cycle: Duration = 1_000_000_000


class Scenario(Part):
    name: Name
    title: str = ""
    source: str = ""
    duration: Duration
    drain: Duration = 100_000_000
    seed: int = 1
    network: Network
    streams: dict[Name, Stream]
    shapers: dict[PortSelector, Shaper] = {}
    faults: tuple[Fault, ...] = ()
    policing: tuple[Filter | Regeneration, ...] = ()
    schedule: Schedule = Schedule()
    windows: Windows = Windows()
    taps: Taps = Taps()
    clocks: Clocks | None = None
    hosts: dict[Name, Host] = {}
    """Nodes whose software takes time."""
    variant: dict[str, str] = {}
    """Which run of a sweep this is: parameter to value as written; empty without a sweep."""
    _origin: ClassVar[Origin | None] = None
    """Where in which file; a scenario that was read has its own."""
    _cautions: ClassVar[tuple[Caution, ...]] = ()
    """What reading it found to look at before its results are trusted."""

    def read_from(self, origin: Origin, cautions: tuple[Caution, ...] = ()) -> Scenario:
        """The same scenario, which knows its places in a file."""
        made = self.model_copy()
        vars(made).update(_origin=origin, _cautions=cautions)
        return made

    def where(self, path: str) -> str:
        """``file:line:column`` of a part such as ``streams.cam.via``; empty where no file was read."""
        return self._origin.where(path) if self._origin else ""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What can be obeyed, but is hardly what was meant."""
        return self._cautions

    def plan(self) -> Plan:
        """The Plan of this scenario; raises the planner's errors where it cannot be planned."""
        from tsnbench.planning import plan

        return plan(self)
