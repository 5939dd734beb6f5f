"""The policy of a service: classes of streams, their share of a link, and whether they may move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench.plan.load import flow_rate
from tsnbench.planning.errors import PlanningProblem

if TYPE_CHECKING:
    from tsnbench.cnc.network import Network


class Moves(Enum):
    """Whether streams in place may get another place by ``tsnbench cnc tidy``."""

    NEVER = "never"
    IF_SILENT = "if-silent"
    """Those whose owner says that their talkers are silent."""
    IN_MAINTENANCE = "in-maintenance"
    """All requested ones, when a client that may change all of them says so."""


def beyond(
    after: Network, new: Mapping[str, object], shares: Mapping[int, Fraction]
) -> Iterator[PlanningProblem]:
    """What new streams use beyond the policy.

    Args:
        after: the network with them. new: by name. shares: by PCP the greatest share of each link for
            requested streams; other PCPs are not for them. Empty: no limit.
    """
    document = after.plan.document
    rates: dict[tuple[int, int], Fraction] = {}
    for stream in document["streams"] if shares else ():
        if stream["group"] in after.requested:
            rate = flow_rate(stream["pattern"], stream["size"]) or Fraction(0)
            for hop in stream["route"]:
                key = hop["port"], stream["pcp"]
                rates[key] = rates.get(key, Fraction(0)) + rate
    for stream in document["streams"] if shares else ():
        if stream["group"] not in new:
            continue
        path, pcp = f"streams.{stream['group']}", stream["pcp"]
        if pcp not in shares:
            words = ", ".join(map(str, sorted(shares, reverse=True)))
            yield PlanningProblem(f"{path}.pcp", f"a PCP of the policy: {words}", str(pcp))
            continue
        for hop in stream["route"]:
            port = document["ports"][hop["port"]]
            used = rates[hop["port"], pcp] / port["rate_bps"]
            if used > shares[pcp]:
                expected = f"at most {_percent(shares[pcp])} of {port['name']} for PCP {pcp}"
                yield PlanningProblem(path, expected, _percent(used))


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):.4g} %"
