"""The keys of a stream, of a catalogue pattern, and of requirements."""

from __future__ import annotations

from tsnbench.scenario.grammar.redundancy import FAILOVER, FRER
from tsnbench.scenario.kinds.combinators import Either, Field, KeyPattern, ListOf, Record, fields_of
from tsnbench.scenario.kinds.common import CLASS_NAME, FRAME, LONGEST, NODE, NODES, PCP, SPAN, TAG, UNIT, VLAN
from tsnbench.scenario.kinds.values import YES_NO, Average, Quantity, Text
from tsnbench.scenario.model.streams import Requirements, Stream
from tsnbench.scenario.model.traffic import ARRIVALS, POISSON, REPLAY, Answer, Periodic, Saturating
from tsnbench.scenario.units import DURATION, SIZE

JITTER = Quantity(DURATION, 0, LONGEST, zero=True)
JITTER_KINDS = ("delay-step-abs", "deviation", "spread", "interval")
END_TO_END = (
    *("e2e", "e2e-latency", "e2e-delay", "end-to-end", "end-to-end-latency", "end-to-end-delay"),
    *("transit-time", "max-transit-time", "presentation-time", "response-time"),
)
"""Words of other trades for a delay from talker to listener."""
LIMITS = Record(
    "requirements",
    {
        "class": Field(CLASS_NAME, "the limits of an SR class; other keys override", sample="sr/A"),
        **fields_of(Requirements, "delay", "release_delay"),
        "jitter": Field(JITTER, "highest jitter, as delay-step-abs: |delay(i) - delay(i-1)|"),
        **fields_of(Requirements),
    },
    patterns=(
        KeyPattern(
            r"delay p[0-9]{1,2}(\.[0-9]{1,4})?",
            Field(SPAN, "delay that this share of the frames keeps: delay p99.9"),
            "delay p99.9",
        ),
        KeyPattern(
            f"jitter ({'|'.join(JITTER_KINDS)})",
            Field(JITTER, f"highest jitter of a named kind: {', '.join(JITTER_KINDS)}"),
            "jitter deviation",
        ),
    ),
    common_mistakes={
        **dict.fromkeys(
            ("latency", "deadline", "max-delay", "max-latency", "max", *END_TO_END), "did you mean delay?"
        ),
        **dict.fromkeys(("losses", "lost", "drops", "reliability"), "did you mean loss?"),
        **dict.fromkeys(("bandwidth", "throughput", "bitrate"), "did you mean rate?"),
        "pdv": "did you mean jitter?",
        **dict.fromkeys(("p99", "delay-p99", "p99-delay", "percentile"), "write delay p99: …"),
        **dict.fromkeys(("probability", "quantile", "confidence"), "write delay p99: 200 us for 99 %"),
        **dict.fromkeys(
            ("mean", "average", "avg", "median"), "write delay p50: …, which half of all frames keep"
        ),
        **dict.fromkeys(("in-order", "order", "ordered"), "leave it out: reordered frames are counted"),
        "availability": "write the greatest share of lost frames: loss: 0.01 %",
    },
)
REQUIREMENTS = Record(
    "requirements of all streams",
    {
        "worst-case": Field(
            YES_NO, "true: worst-case bounds have to keep the limits of every stream that has limits"
        )
    },
    common_mistakes=dict.fromkeys(
        ("delay", "jitter", "loss", "latency", "deadline", "rate", "class"),
        "write it in each stream: requires: {delay: 1 ms}",
    ),
)
"""The control information of a VLAN tag."""
UNITS = Either(
    "sizes of data units: a list, or {mean: …, deviation: …}",
    listing=ListOf(UNIT, "sizes of data units"),
    mapping=Record(
        "sizes of data units",
        {
            "sizes": Field(ListOf(UNIT, "sizes"), "equally likely application sizes: [100 B, 1400 B]"),
            "mean": Field(
                Average(SIZE), "mean application size of a lognormal distribution", range="at least 1 B"
            ),
            "deviation": Field(Average(SIZE), "standard deviation of the application sizes"),
            "most-per-frame": Field(
                Quantity(SIZE, 1, 65_000),
                "most application octets in one frame; 1472 B by default",
                range="1 B to 1472 B",
            ),
        },
    ),
)
TRAFFIC = {
    "pcp": Field(PCP, "priority code point; that of the class or pattern, or 0, by default", clause=TAG),
    "class": Field(
        CLASS_NAME,
        "SR class: gives the PCP, and counts for that class's CBS reservation",
        sample="sr/A",
    ),
    "vlan": Field(VLAN, "VLAN identifier, none: untagged; 100 by default", sample="10", clause=TAG),
    **fields_of(Periodic),
    "poisson": Field(
        POISSON,
        "independent exponential gaps, at this mean rate of frames (destination address to FCS), or of "
        "this mean: {mean-interval: 100 us}",
    ),
    "arrivals": Field(
        ARRIVALS,
        "a token bucket, with preamble and inter-frame gap: {burst: 1 kB, rate: 1 Mbit/s}; the burst is "
        "sent at once, then each frame as soon as the bucket has it",
    ),
    "saturating": Field(YES_NO, "true: as fast as the port takes frames"),
    "replay": Field(REPLAY, "as recorded: cam.pcap, or {file: cam.csv, speed: 2, repeat: forever}"),
    **fields_of(Saturating),
    "frame": Field(
        FRAME, "frame size from destination address to FCS, VLAN tag included", range="64 B to 1522 B"
    ),
    "phy": Field(
        Quantity(SIZE, 84),
        "the frame with preamble, SFD and inter-frame gap: frame + 20 B",
        range="84 B to 1542 B",
    ),
    "payload": Field(
        Quantity(SIZE), "UDP payload: frame - 46 B, - 50 B with VLAN tag", range="0 B to 1472 B"
    ),
    "units": Field(UNITS, "application data units, cut into frames sent back to back"),
    **fields_of(Stream, "count"),
}
STREAM = Record(
    "a stream",
    {
        "from": Field(NODE, "the name of the talker; required"),
        "to": Field(
            NODES, "the name of the listener, or a list of them (multicast); required", sample="node2"
        ),
        "via": Field(
            NODES,
            "hops; the shortest path by default; dut#2 takes the second parallel link",
            sample="[sw1, dut]",
        ),
        **fields_of(Answer, "answers", "after"),
        "pattern": Field(
            Text("the name of a catalogue pattern"),
            "engine/cc-1ms, flextest/theta-high, …",
            sample="flextest/theta-high",
        ),
        **TRAFFIC,
        **fields_of(Stream, "trdp", "udp_port", "address", "tos"),
        **fields_of(Stream, "send", "scheduled", "release", "start", "stop"),
        "frer": Field(
            FRER,
            "copies over several paths: {disjoint: 2}, or {paths: [[sw1], [sw2]]}",
            clause="IEEE 802.1CB-2017, 7",
        ),
        "failover": Field(FAILOVER, "a standby path, without copies: {after: 1 s}"),
        "requires": Field(
            Either("requirements, or the name of an SR class", text=CLASS_NAME, mapping=LIMITS),
            "sr/A, or {delay: 2 ms, jitter: 125 us, loss: 0}",
            sample="{delay: 2 ms, loss: 0}",
        ),
        **fields_of(Stream),
    },
    common_mistakes={
        **dict.fromkeys(
            ("rate", "bandwidth", "bitrate", "datarate", "data-rate", "throughput"),
            "write poisson: 10 Mbit/s for random gaps, or period and a size",
        ),
        **dict.fromkeys(
            ("burst", "bursts", "burst-size", "token-bucket", "leaky-bucket"),
            "write arrivals: {burst: 1 kB, rate: 1 Mbit/s}",
        ),
        **dict.fromkeys(("packet-length", "packet-size", "message-length"), "did you mean payload?"),
        **dict.fromkeys(("size", "length", "bytes"), "write frame, phy or payload: which size is meant?"),
        **dict.fromkeys(("priority", "prio", "traffic-class", "cos", "qos"), "did you mean pcp?"),
        **dict.fromkeys(
            ("talker", "source", "src", "sender", "publisher", "producer", "src-address", "source-address"),
            "did you mean from?",
        ),
        **dict.fromkeys(
            (
                *(
                    "listener",
                    "listeners",
                    "destination",
                    "dst",
                    "sink",
                    "subscriber",
                    "consumer",
                    "receiver",
                ),
                *("dest", "dest-address", "dst-address", "destination-address", "dest-addr"),
            ),
            "did you mean to?",
        ),
        **dict.fromkeys(
            ("interval", "cycle", "cycle-time", "every", "production-interval", "send-interval"),
            "did you mean period?",
        ),
        **dict.fromkeys(("reply", "replies", "reply-to", "responds", "answer"), "did you mean answers?"),
        **dict.fromkeys(("route", "path", "hops"), "did you mean via?"),
        **dict.fromkeys(("vid", "vlan-id"), "did you mean vlan?"),
        **dict.fromkeys(("trace", "pcap", "capture"), "did you mean replay?"),
        **dict.fromkeys(("flows", "number"), "did you mean count?"),
        **dict.fromkeys(
            ("delay", "latency", "deadline", "max-delay", "max-latency", *END_TO_END),
            "write requires: {delay: …}",
        ),
        **dict.fromkeys(
            ("frequency", "sample-rate", "sampling-rate", "fps", "frame-rate"),
            "write the period: 1 ms for 1 kHz",
        ),
        **dict.fromkeys(("phase", "initial-offset", "initial-production-offset"), "did you mean offset?"),
        **dict.fromkeys(("constraints", "requirements", "limits"), "did you mean requires?"),
        **dict.fromkeys(("com-id", "comid", "data-set"), "write trdp: {com-id: 1000, data-set: 64 B}"),
        **dict.fromkeys(("dscp", "type-of-service"), "did you mean tos?"),
        **dict.fromkeys(("port", "dest-port", "dst-port", "destination-port"), "did you mean udp-port?"),
        **dict.fromkeys(
            (
                *(
                    "protocol",
                    "someip",
                    "some-ip",
                    "opcua",
                    "opc-ua",
                    "profinet",
                    "avtp",
                    "ethertype",
                    "ether-type",
                ),
                *("format", "app", "application", "service", "can-id", "message-id", "pdu", "domain"),
            ),
            "leave it out: frames have the size of payload or frame, and test data in place of a protocol",
        ),
        **dict.fromkeys(
            ("asil", "sil", "safety", "criticality"),
            "leave it out: pcp is the priority, and requires: {delay: 2 ms, loss: 0} the limits",
        ),
        **dict.fromkeys(
            ("signals", "channels", "bit-depth", "samples", "sample-size", "word-length", "resolution"),
            "write the octets of one data unit: payload: 192 B",
        ),
        "dlc": "write payload: … B",
        **dict.fromkeys(
            ("event", "debounce", "sporadic", "aperiodic", "on-change"),
            "write arrivals: {burst: 1 kB, rate: 1 Mbit/s} for events, or poisson: 1 Mbit/s",
        ),
        **dict.fromkeys(
            ("send-clock", "send-clock-factor", "reduction-ratio"),
            "write period: 1 ms, which is 31.25 us times send clock factor (32) times reduction ratio (1)",
        ),
        **dict.fromkeys(
            ("max-interval-frames", "frames-per-interval", "max-frames"),
            "write count: …, for as many frames in each period",
        ),
        **dict.fromkeys(
            ("watchdog", "data-hold"), "write requires: {age: 3 ms}, the highest age of data at the listener"
        ),
        "loss": "write requires: {loss: …}",
        "multicast": "write several listeners: to: [node2, node3]",
        "redundancy": "write frer: {disjoint: 2}",
        **dict.fromkeys(("mac", "dest-mac", "dst-mac", "ip"), "leave it out: each stream gets an address"),
        **dict.fromkeys(("description", "comment", "note"), "write a comment: # …"),
        **dict.fromkeys(("name", "id"), "leave it out: the key of the stream is its name"),
        "enabled": "leave it out, or write # before the lines of a stream that is not sent",
    },
)
