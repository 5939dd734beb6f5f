"""The times and sizes of a talker's frames."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Literal

from tsnbench.scenario.kinds.combinators import Either, Field, Fields, record_of
from tsnbench.scenario.kinds.common import PCP, PHASE, SPAN, STREAM, STREAM_RATE, TIME, VLAN
from tsnbench.scenario.kinds.values import Count, FileBeside, Parsed, Quantity
from tsnbench.scenario.part import Part, Values, key
from tsnbench.scenario.text.reading import Bad, Reading
from tsnbench.scenario.units import SIZE, BitRate, Duration, Size

CAPTURES = (".pcap", ".pcapng", ".cap")
TABLES = (".csv", ".parquet")
_MOST_PASSES = 1 << 31


class Periodic(Part):
    """One data unit every period."""

    kind: Literal["periodic"] = "periodic"
    period: Duration = key(SPAN, "one data unit every period")
    offset: Duration | None = key(
        PHASE,
        "when in the period; 0 us by default; any: each run draws it, and bounds hold for all",
        default=0,
    )
    """None for any."""
    jitter: Duration = key(TIME, "release jitter: each release is late by up to this, uniformly", default=0)


class Poisson(Part):
    """Independent exponential gaps, of a mean interval or a mean rate, which counts frames from destination
    address to FCS: one of both."""

    kind: Literal["poisson"] = "poisson"
    rate: BitRate | None = key(STREAM_RATE, "mean rate of frames: 100 Mbit/s", default=None)
    mean_interval: Duration | None = key(
        SPAN, "mean time between releases, in place of a rate: 100 us", default=None
    )


def _rate_or_interval(reading: Reading, fields: Fields, _: Values) -> Bad | None:
    if len(fields.places) == 1:
        return None
    hint = "write poisson: {rate: 100 Mbit/s} or poisson: {mean-interval: 100 us}"
    found = " and ".join(fields.places) or "none"
    return reading.problem(fields.place, fields.path, "one of rate and mean-interval", found, hint)


POISSON = Either(
    "a mean rate, or {mean-interval: …}",
    text=STREAM_RATE,
    mapping=record_of(Poisson, "a Poisson source", rule=_rate_or_interval),
    short="rate",
)


class TokenBucket(Part):
    """Frames of one size that conform to a token bucket; the talker sends the most that it allows.

    Both values count frames as they occupy a link, with preamble and inter-frame gap: published analyses know
    neither, so their numbers can be used as they are.
    """

    kind: Literal["token-bucket"] = "token-bucket"
    burst: Size = key(
        Quantity(SIZE, 84, 1 << 32), "what the bucket holds; it is full when the stream starts", "1 kB"
    )
    rate: BitRate = key(STREAM_RATE, "how fast the bucket fills", "1 Mbit/s")


ARRIVALS = record_of(
    TokenBucket,
    "a token bucket",
    common_mistakes={
        **dict.fromkeys(("bursts", "bucket", "b", "cbs"), "did you mean burst?"),
        **dict.fromkeys(("rates", "r", "cir"), "did you mean rate?"),
    },
)


class Answer(Part):
    """One data unit for each frame of another stream that reaches the talker."""

    kind: Literal["request-driven"] = "request-driven"
    answers: str = key(
        STREAM,
        "the stream whose frames, when they have reached the talker, release one data unit each",
    )
    after: Duration = key(
        TIME, "with answers: from the reception of a request to its answer; 0 us by default", default=0
    )
    jitter: Duration = 0
    """Each answer is late by up to this, uniformly."""
    period: Duration = 0
    """That of the request."""


class Saturating(Part):
    """A talker that always has frames to send: the port's rate limits it."""

    kind: Literal["saturating"] = "saturating"
    backlog: int = key(
        Count(1, 1000, "a number of frames"), "frames that a saturating talker keeps queued; 2", default=2
    )


def _address(text: str) -> str:
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text):
        try:
            ipaddress.ip_address(text)
        except ValueError:
            raise ValueError from None
        if "%" in text:
            raise ValueError
    return text


_ADDRESS = Parsed("a MAC or IP address", parse=_address)


class CaptureFilter(Part):
    """A filter of a capture's frames: all given conditions must hold."""

    vlan: int | None = None
    untagged: bool | None = None
    pcp: int | None = key(PCP, "priority code point of its frames", default=None)
    source: str | None = key(
        _ADDRESS, "10.0.0.1, fd00::1 or 02:00:00:00:00:01", default=None, sample="10.0.0.1"
    )
    destination: str | None = key(_ADDRESS, "likewise", default=None, sample="02:00:00:00:00:01")
    udp: int | None = key(Count(0, 65_535, "a UDP port"), "UDP destination port", default=None)


def _vlan_or_none(_: Reading, fields: Fields, given: Values) -> None:
    if "vlan" in fields:
        given |= {"untagged": True} if fields["vlan"] == "none" else {"vlan": fields["vlan"]}


ONLY = record_of(
    CaptureFilter,
    "a flow of a capture",
    {"vlan": Field(VLAN, "VLAN identifier of its frames, or none", sample="100")},
    common_mistakes={
        **dict.fromkeys(("src", "ip", "mac"), "did you mean source?"),
        "dst": "did you mean destination?",
        "port": "did you mean udp?",
    },
    rule=_vlan_or_none,
)


def _factor(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:/([0-9]{1,9}))?", text)
    whole, decimals, divisor = found.groups() if found else ("0", None, None)
    above = int(whole + (decimals or ""))
    below = 10 ** len(decimals or "") * int(divisor or 1)
    if not above or not below:
        raise ValueError
    return above, below


def _passes(text: str) -> int | None:
    if text == "forever":
        return None
    if not re.fullmatch("[0-9]{1,10}", text) or not 0 < int(text) < _MOST_PASSES:
        raise ValueError
    return int(text)


class Replay(Part):
    """A recording from ``begin`` to ``until``, with repetitions; ``passes`` None: without end. ``speed``: a
    fraction."""

    kind: Literal["replay"] = "replay"
    file: str = key(
        FileBeside("the name of a pcap, pcapng, csv or parquet file", endings=CAPTURES + TABLES),
        "capture or table, beside the scenario",
        "cam.pcap",
    )
    speed: tuple[int, int] = key(
        Parsed("a factor such as 2, 0.5 or 1/3", number=True, parse=_factor),
        "times come so much faster; 1 by default",
        default=(1, 1),
    )
    begin: Duration = key(TIME, "skip so much of the recording", written="from", default=0)
    until: Duration | None = key(
        SPAN, "leave out what comes so long after the recording's beginning", default=None
    )
    passes: int | None = key(
        Either(
            "how often, or forever", text=Parsed("a number of passes, or forever", number=True, parse=_passes)
        ),
        "how often it is played; 1 by default",
        range="1 to 2147483647; or forever",
        sample="forever",
        written="repeat",
        default=1,
    )
    only: CaptureFilter = key(
        ONLY,
        "one flow of a capture: {vlan: 100, udp: 5000}; all frames by default",
        default=CaptureFilter(),
    )


def _of_replay(reading: Reading, fields: Fields, given: Values) -> Bad | None:
    if "only" in fields and Path(given.get("file", "")).suffix.lower() in TABLES:
        where = fields["only"].place, fields["only"].path
        return reading.problem(*where, "a capture for only", "a table", "a table is one flow")
    if "until" in given and given["until"] <= given.get("begin", 0):
        hint = "a recording is played until after from"
        return fields.wrong(reading, "until", "a time after from", "an earlier one", hint)
    return None


REPLAY = Either(
    "a recording: cam.pcap, or {file: cam.pcap, speed: 2}",
    text=Replay._keys["file"].kind,
    mapping=record_of(
        Replay,
        "a recording",
        common_mistakes={
            **dict.fromkeys(("filter", "flow"), "did you mean only?"),
            **dict.fromkeys(("loop", "times", "passes"), "did you mean repeat?"),
            **dict.fromkeys(("path", "pcap", "csv"), "did you mean file?"),
        },
        rule=_of_replay,
    ),
    short="file",
)


class RecordedSizes(Part):
    """The sizes of frames in the replayed recording."""

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
