"""The time that PTP's messages need on a port: the longest one, and all messages that a port sends at once.

IEEE 802.1AS-2020, 10.6 and 11.4. Messages are untagged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.plan.delay import BEFORE_STAMP, transmission_ps

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

MESSAGES = {"Sync": 64, "Follow_Up": 94, "Pdelay_Req": 72, "Pdelay_Resp": 72, "Pdelay_Resp_Follow_Up": 72}
"""Octets from destination address to FCS."""
ANNOUNCE = 94
"""With a path of 3 nodes; eight octets more for each further one."""
_GAP = 12


def longest_ps(rate_bps: int) -> int:
    """Transmission time of the longest message, to its last bit."""
    return transmission_ps(BEFORE_STAMP + max(MESSAGES.values()), rate_bps)


def together_ps(rate_bps: int) -> int:
    """Transmission time of all messages that a port may have to send at once."""
    octets = sum(BEFORE_STAMP + message + _GAP for message in (*MESSAGES.values(), ANNOUNCE))
    return transmission_ps(octets, rate_bps)


def pcp_of(document: PlanDocument) -> int | None:
    """The priority of PTP's messages in a Plan; None without PTP."""
    gptp = document.get("clocks", {}).get("gptp")
    return None if gptp is None else int(gptp["pcp"])


def ports_of(document: PlanDocument) -> Sequence[int]:
    """The ports that PTP's messages leave by."""
    gptp = document["clocks"]["gptp"]
    if "bmca" in gptp:
        return list(gptp["bmca"]["ports"])
    slaves = list(gptp["slaves"])
    return sorted({*slaves, *(document["ports"][port]["peer"] for port in slaves)})
