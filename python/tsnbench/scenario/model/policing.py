"""Per-stream filtering and policing."""

from __future__ import annotations

import re
from typing import Literal

from tsnbench.scenario.kinds.combinators import Field, Fields, ListOf, MapOf, record_of
from tsnbench.scenario.kinds.common import SELECTOR, SPAN, STREAM, STREAM_RATE, TIME
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Quantity
from tsnbench.scenario.model.names import Name, Pcp, PortSelector
from tsnbench.scenario.part import Part, Values, key
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.units import DURATION, SIZE, BitRate, Duration, Size

PRIORITY = Count(0, 7, "a priority")
BURST = Quantity(SIZE, 1, 1 << 32)


class StreamGateEntry(Part):
    """An interval of a stream gate's list."""

    open: bool = key(YES_NO, "whether frames pass; true by default", default=True)
    ipv: Pcp | None = key(PRIORITY, "chooses the queue in place of the frame's priority", default=None)
    duration: Duration = key(SPAN, "how long", "50 us", written="for")
    octets: Size | None = key(
        Quantity(SIZE, 0, 1 << 40), "most that passes in one interval (IntervalOctetMax)", default=None
    )


class StreamGate(Part):
    """A list of intervals in which frames of a stream pass. IEEE 802.1Q-2022, 8.6.5.4."""

    entries: tuple[StreamGateEntry, ...] = key(
        ListOf(record_of(StreamGateEntry, "a stream gate's entry"), "stream gate entries", most=4096),
        "the list, by the node's clock",
        "[{for: 50 us}, {open: false, for: 50 us}]",
    )
    base_time: Duration = key(TIME, "when a cycle begins", default=0)
    close_on_invalid: bool = key(YES_NO, "a frame at the closed gate closes it for good", default=False)
    close_on_octets: bool = key(
        YES_NO, "a frame beyond an interval's octets closes it for good", default=False
    )


def _cycle_is_the_sum(reading: Reading, fields: Fields, given: Values) -> None:
    total = sum(entry.duration for entry in given.get("entries", ()))
    if "entries" in given and fields.get("cycle", total) != total:
        hint = f"write cycle: {DURATION.text(total)}, or leave it out"
        found = f"{DURATION.text(fields['cycle'])} for entries of {DURATION.text(total)} together"
        fields.wrong(reading, "cycle", "the sum of the entries", found, hint)


class Meter(Part):
    """A flow meter; rates and bursts count frames, destination address to FCS. IEEE 802.1Q-2022, 8.6.5.5."""

    cir: BitRate = key(STREAM_RATE, "committed information rate, of frames", "10 Mbit/s")
    cbs: Size = key(BURST, "committed burst size", "3000 B")
    eir: BitRate = key(STREAM_RATE, "excess information rate; 0 by default", default=0)
    ebs: Size = key(BURST, "excess burst size; 0 by default", default=0)
    coupling: bool = key(YES_NO, "committed tokens that find no room go to the excess bucket", default=False)
    color_aware: bool = key(YES_NO, "frames marked yellow before take no committed tokens", default=False)
    drop_yellow: bool = key(YES_NO, "yellow frames are dropped, not marked", default=False)
    mark_all_red: bool = key(YES_NO, "after a red frame, all are red", default=False)


class Filter(Part):
    """A stream filter at the end of the links that ``at`` selects; no ``streams``: all."""

    at: PortSelector = key(
        SELECTOR, "the links by which the frames come", "cam -> sw1", clause="IEEE 802.1Q-2022, 8.6.5.3"
    )
    streams: tuple[Name, ...] = key(
        ListOf(STREAM, "the names of streams"),
        "whose frames; all by default",
        default=(),
    )
    priority: Pcp | None = key(PRIORITY, "frames of this priority only, as regenerated", default=None)
    max_sdu: Size | None = key(
        Quantity(SIZE, 1, 65_535), "longest service data unit: what is between type and FCS", default=None
    )
    block_oversize: bool = key(YES_NO, "one that is longer blocks all that come after it", default=False)
    gate: StreamGate | None = key(
        record_of(
            StreamGate,
            "a stream gate",
            {"cycle": Field(SPAN, "the sum of the entries, to check them against", sample="100 us")},
            rule=_cycle_is_the_sum,
        ),
        "a stream gate: {entries: [{for: 50 us}, {open: false, for: 50 us}]}",
        default=None,
        clause="IEEE 802.1Q-2022, 8.6.5.4",
    )
    meter: Meter | None = key(
        record_of(
            Meter, "a flow meter", common_mistakes={"rate": "did you mean cir?", "burst": "did you mean cbs?"}
        ),
        "a flow meter: {cir: 10 Mbit/s, cbs: 3000 B}",
        default=None,
        clause="IEEE 802.1Q-2022, 8.6.5.5",
    )
    per: Literal["node", "stream"] = key(
        Choice({"node": "node", "stream": "stream"}, "what has a filter of its own"),
        "node (default): one for all its streams; or stream",
        default="node",
    )


class Regeneration(Part):
    """Priorities of frames after the links that ``at`` selects."""

    at: PortSelector
    pcp: dict[int, Pcp]


POLICING = ListOf(
    record_of(
        Filter,
        "a filter",
        {
            "regenerate": Field(
                MapOf(
                    "a map of PCP to PCP",
                    PRIORITY,
                    re.compile("[0-7]"),
                    "a priority code point from 0 to 7",
                    "write {3: 5}; PCPs that are not listed stay",
                ),
                "priorities that frames have from here on: {3: 5}; alone with at",
                clause="IEEE 802.1Q-2022, 6.9.4",
            )
        },
        common_mistakes={
            **dict.fromkeys(("on", "port"), "did you mean at?"),
            "stream": "did you mean streams?",
            **dict.fromkeys(("rate", "cir", "bandwidth"), "write meter: {cir: …, cbs: 2 kB}"),
            "pcp": "did you mean priority?",
            **dict.fromkeys(("max-frame-size", "max-size", "mtu"), "did you mean max-sdu?"),
        },
        example="[{at: cam -> sw1, max-sdu: 1000 B}]",
    ),
    "filters",
    least=0,
)
