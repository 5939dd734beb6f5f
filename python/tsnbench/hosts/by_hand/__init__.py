"""Devices that are configured by hand: a checklist with exact numbers, and the proof that it was followed.

The checklist contains the configuration of one bridge, and nothing else. So a change of the Plan that does
not concern the device leaves its checklist and the confirmation valid.
"""

from __future__ import annotations

from tsnbench.hosts.by_hand.checklist import Checklist, UnconfirmedError
from tsnbench.hosts.by_hand.device import checklist

__all__ = ["Checklist", "UnconfirmedError", "checklist"]
