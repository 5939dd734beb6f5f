"""Facts of streams and links for clients: release offset, worst case, margin, load."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsnbench.cnc.network import Network, of_groups
from tsnbench.measure.verdict import worst_cases
from tsnbench.plan.load import class_loads
from tsnbench.plan.streams import periodic, release_ns

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument, Stream


def stream_facts(network: Network, names: Iterable[str]) -> list[Json]:
    """The facts of every flow of these streams.

    ``offset_ns``: the release in its period, which the talker has to keep; None if the bounds hold for any.
    ``listeners``: of each the worst case from the release on (``release_upper_ns``) and between the stamps of
    the taps, None without a bound, and the least ``margin_ns`` to a limit of its delay.
    """
    wanted = set(names)
    whole = network.plan.document
    document: PlanDocument = {**whole, "streams": of_groups(whole["streams"], wanted)}
    flows = of_groups(network.bounds["flows"], wanted)
    bounds = {(flow["stream"], flow["listener"]): flow for flow in flows}
    margins: dict[tuple[str, str], int] = {}
    for row in worst_cases(document, {**network.bounds, "flows": flows}):
        if row["limit_unit"] == "ns" and row["worst_case_margin"] is not None:
            key = row["stream"], row["listener"]
            margins[key] = min(margins.get(key, 1 << 62), int(row["worst_case_margin"]))
    found: list[Json] = []
    for stream in document["streams"]:
        own = network.requested.get(stream["group"])
        listeners = []
        for listener in stream["listeners"]:
            name = document["nodes"][listener["node"]]["name"]
            flow = bounds[stream["name"], name]
            released = flow["release_upper_ps"]
            listeners.append(
                {
                    "node": name,
                    "upper_ns": flow["upper_ns"],
                    "release_upper_ns": None if released is None else -(-released // 1_000),
                    "margin_ns": margins.get((stream["name"], name)),
                    "source": flow.get("source", "analysis"),
                    "reason": flow["reason"],
                }
            )
        found.append(
            {
                "stream": stream["group"],
                "flow": stream["name"],
                "client": own.client if own else "",
                "talker": document["nodes"][stream["talker"]]["name"],
                "scheduled": "scheduled" in stream,
                "period_ns": _period(stream),
                "offset_ns": _offset(stream),
                "pcp": stream["pcp"],
                "vid": stream.get("vid"),
                "destination_mac": stream["destination_mac"],
                "path": [document["ports"][hop["port"]]["name"] for hop in stream["route"]],
                "listeners": listeners,
            }
        )
    return found


def _period(stream: Stream) -> int | None:
    return periodic(stream)["period_ns"] if stream["pattern"]["kind"] == "periodic" else None


def _offset(stream: Stream) -> int | None:
    is_any = stream["pattern"]["kind"] != "periodic" or "any_phase" in stream
    return None if is_any else release_ns(stream)


def link_facts(network: Network) -> list[Json]:
    """Of every port its name, its rate, and the rate of all its flows (bit/s, with preamble and gap)."""
    document = network.plan.document
    return [
        {
            "port": port["name"],
            "rate_bps": port["rate_bps"],
            "load_bps": float(sum(own.rate_bps for own in classes)),
            "saturated": any(own.saturating for own in classes),
        }
        for port, classes in zip(document["ports"], class_loads(document), strict=True)
    ]
