"""What a worst case is made of: the share of each cause at each port, and the settings that lower it.

``crates/bounds`` leaves out one cause after the other: frames of lower classes, of higher ones, of the same
one, gates, shapers. Each fall of the bound is the share of one cause, so the shares add up to the bound.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from tsnbench import _native, quantities
from tsnbench.errors import InputError
from tsnbench.plan.bounds import bounds_of
from tsnbench.plan.bounds.lowering import Trials
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import FlowBounds
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import PlanDocument

FORMAT = "tsnbench-bound-parts/1"
Start = Literal["stamp", "release"]
MOST_TRIED = 4
"""The largest shares, for which changes of the Plan are tried."""
MOST_FLOWS = 300
"""Flows of a Plan whose changes are tried: each trial analyses the whole Plan anew."""


class Share(TypedDict):
    """What one cause adds, ps; of a cause that no port has, without ``port``."""

    cause: str
    ps: int
    port: NotRequired[str]
    streams: NotRequired[list[str]]
    """Those that cause it, the largest data units first."""
    others: NotRequired[int]
    """How many more cause it."""
    says: str
    lowers: NotRequired[str]
    """Settings that lower it: each was tried on the Plan."""


class Parts(TypedDict):
    """A worst case as a sum.

    ``total_ps`` is the sum of all ``shares``, which come in the order of the frame's way; None without a
    bound, for the ``reason``. ``source``: the proof that the bound comes from.
    """

    format: str
    stream: str
    listener: str
    start: Start
    total_ps: int | None
    reason: str | None
    source: NotRequired[str]
    shares: list[Share]


class _Part(TypedDict):
    cause: str
    ps: int
    of: NotRequired[list[str]]
    streams: NotRequired[int]


_Hop = TypedDict("_Hop", {"port": str, "class": int, "parts": list[_Part]})


class _Whole(TypedDict):
    total_ps: int
    first_ps: NotRequired[int]
    besides_ps: int
    once_ps: int


class _Found(TypedDict):
    release: _Whole | None
    stamped: _Whole | None
    first_link_ps: int
    hops: list[_Hop]


SAYS = {
    "besides": "software of hosts, clocks that are apart, less what cut-through saves",
    "first-link": "sent on the first link",
    "processing": "processed in the node",
    "lower-classes": "waits for a frame of a lower class that is on the link already",
    "higher-classes": "waits for frames of higher classes",
    "same-class": "waits for frames of its class",
    "gates": "waits until its gate opens",
    "shaper": "waits until its shaper has credit",
    "windows": "waits for its windows, as planned",
    "own": "waits for frames of its own stream, or in the port",
    "transmission": "sent, from the first bit to the last one",
    "propagation": "on the cable",
    "once": "counted at several ports, but happens once",
}
"""The causes, in words."""
OF_OTHERS = {"lower-classes", "higher-classes", "same-class"}
"""Causes that are frames of others: where no stream sends them, PTP does."""
NEEDED = {"processing", "transmission", "propagation"}
"""Causes that a frame has in any case."""


def parts_of(
    plan: Plan,
    stream: str,
    listener: str | None = None,
    start: Start | None = None,
    within_s: float = math.inf,
) -> Parts:
    """What the worst case of a stream is made of.

    Args:
        plan: the Plan.
        stream: the name of a stream, or of a flow of several equal ones.
        listener: the name of a listener; the slowest one by default.
        start: where the delay begins: at the talker's stamp, or at the release; as the first requirement of
            the stream's delay measures it by default, or at the stamp.
        within_s: seconds in which changes that may lower the largest shares are tried, in Plans of at most
            300 flows; what is not tried is not named. Without a limit, equal Plans give equal parts.

    Raises:
        InputError: the Plan has no such stream, or the stream no such listener.
        BoundsError: the Plan contradicts itself.

    Example:
        >>> from tsnbench import load
        >>> from tsnbench.plan.bounds.parts import parts_of
        >>> video = parts_of(load("first.yaml").plan(), "video")
        >>> sum(share["ps"] for share in video["shares"]) == video["total_ps"]
        True
    """
    text = plan.to_json()
    document = plan.document
    flows = bounds_of(text, hops=False)["flows"]
    number, place, flow = _flow(document, flows, stream, listener, start)
    found: _Found = json.loads(_native.bound_parts(text, number, place))
    start = start or _usual_start(document, number)
    released = start == "release"
    total = flow["release_upper_ps" if released else "upper_ps"]
    parts: Parts = {
        "format": FORMAT,
        "stream": flow["stream"],
        "listener": flow["listener"],
        "start": start,
        "total_ps": total,
        "reason": None if total is not None else flow["release_reason" if released else "reason"],
        "shares": [],
    }
    if "source" in flow:
        parts["source"] = flow["source"]
    if total is None:
        return parts
    whole = found["release" if released else "stamped"]
    if whole is not None and whole["total_ps"] == total:
        parts["shares"] = _analysed(document, found, whole)
    else:
        parts["shares"] = _planned(document, found, released, total)
    if len(flows) <= MOST_FLOWS:
        trials = Trials(plan, flows.index(flow), released, total, within_s)
        _name_what_lowers(parts, trials, number, found["hops"])
    return parts


def _name_what_lowers(parts: Parts, trials: Trials, stream: int, hops: list[_Hop]) -> None:
    """Notes at the largest shares the changes that lower them."""
    classes = {hop["port"]: hop["class"] for hop in hops}
    for share in sorted(parts["shares"], key=lambda share: -share["ps"])[:MOST_TRIED]:
        port = share.get("port", "")
        words = trials.lowers(share["cause"], stream, port, classes.get(port, 0), share.get("streams", []))
        if words:
            share["lowers"] = words


def _usual_start(document: PlanDocument, stream: int) -> Start:
    requires = document["streams"][stream].get("requirements", {})
    return "release" if "release_delay_ns" in requires and "delay_ns" not in requires else "stamp"


def _flow(
    document: PlanDocument, flows: list[FlowBounds], stream: str, listener: str | None, start: Start | None
) -> tuple[int, int, FlowBounds]:
    """The number of the stream, the place of the listener, and the slowest flow between them."""
    found: list[tuple[int, int, FlowBounds]] = []
    every = iter(flows)
    for number, one in enumerate(document["streams"]):
        for place, _ in enumerate(one["listeners"]):
            flow = next(every)
            if stream in (flow["stream"], flow["group"]) and listener in (None, flow["listener"]):
                found.append((number, place, flow))
    if not found:
        known = list(dict.fromkeys(flow["group"] for flow in flows))
        which = f"{stream} to {listener}" if listener else stream
        raise InputError(
            f"expected a stream of the scenario, found {which}\n  hint: it has {quantities.some(known)}"
        )

    def slow(one: tuple[int, int, FlowBounds]) -> tuple[bool, int]:
        released = (start or _usual_start(document, one[0])) == "release"
        upper = one[2]["release_upper_ps" if released else "upper_ps"]
        return upper is None, upper or 0

    return max(found, key=slow)


def _analysed(document: PlanDocument, found: _Found, whole: _Whole) -> list[Share]:
    """The shares of a bound of the analysis."""
    shares = [_share("besides", whole["besides_ps"])]
    hops = found["hops"]
    if "first_ps" in whole:
        shares.append(_share("first-link", whole["first_ps"], hops[0]))
        hops = hops[1:]
    shares += [_of_port(document, hop, part) for hop in hops for part in hop["parts"]]
    shares.append(_share("once", whole["once_ps"]))
    return [share for share in shares if share["ps"]]


def _planned(document: PlanDocument, found: _Found, released: bool, total: int) -> list[Share]:
    """The shares of a bound that the proof of a schedule or of windows gave: the frame waits as planned."""
    hops = found["hops"]
    shares = [] if released else [_share("first-link", found["first_link_ps"], hops[0])]
    for hop in hops if released else hops[1:]:
        needed = [
            part for part in hop["parts"] if part["cause"] in ("processing", "transmission", "propagation")
        ]
        shares += [_of_port(document, hop, part) for part in needed]
    waits = total - sum(share["ps"] for share in shares)
    return [*shares, _share("windows", waits)] if waits else shares


def _of_port(document: PlanDocument, hop: _Hop, part: _Part) -> Share:
    share = _share(part["cause"], part["ps"], hop)
    if "of" in part:
        share["streams"] = part["of"]
        if more := part.get("streams", 0) - len(part["of"]):
            share["others"] = more
    elif part["cause"] in OF_OTHERS and "gptp" in document.get("clocks", {}):
        share["streams"] = ["PTP"]
    return share


def _share(cause: str, ps: int, hop: _Hop | None = None) -> Share:
    share: Share = {"cause": cause, "ps": ps, "says": SAYS[cause]}
    if hop is not None:
        share["port"] = hop["port"]
    return share


def parts_table(parts: Parts) -> Sheet:
    """A worst case as a table: the largest share first.

    Args:
        parts: the result of :func:`parts_of`.
    """
    total = parts["total_ps"]
    begins = "its release" if parts["start"] == "release" else "the talker's stamp"
    title = f"{parts['stream']} to {parts['listener']}: "
    if total is None:
        return Sheet(title + "no bound", [Column("why", wraps=True)], [[parts["reason"] or ""]])
    sheet = Sheet(
        f"{title}at most {quantities.time(-(-total // 1_000))} from {begins}",
        [
            Column("at", name=True),
            Column("us"),
            Column("share", spare=2),
            Column("the frame", wraps=True),
            Column("less with", wraps=True, spare=1),
        ],
    )
    for share in sorted(parts["shares"], key=lambda share: -share["ps"]):
        says = share["says"]
        if streams := share.get("streams"):
            more = f" and {share['others']} more" if "others" in share else ""
            says += f": {', '.join(streams)}{more}"
        part = quantities.share(share["ps"], total)
        sheet.rows.append(
            [
                share.get("port", ""),
                quantities.micros(share["ps"] / 1_000),
                part,
                says,
                share.get("lowers", ""),
            ]
        )
    if "source" in parts:
        sheet.captions.append(f"from the {parts['source']}")
    return sheet
