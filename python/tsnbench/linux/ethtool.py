"""Commands of ``ethtool``: number of queues, speed, coalescing, energy saving, frame pre-emption."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.types import Port

MINIMUM_FRAGMENT = 60
"""Octets before the check sequence, the least of a fragment that is not the last (IEEE 802.3, 99.4)."""


def commands(port: Port, device: str) -> list[tuple[str, str]]:
    """Each command and its undo; the undo is empty where the earlier value is not known."""
    classes = len(port["classes"])
    found = [
        (f"ethtool -L {device} combined {classes}", ""),
        (f"ethtool -s {device} speed {port['rate_bps'] // 1_000_000} duplex full autoneg on", ""),
        # A sleeping link wakes up late, a coalesced interrupt reports late, an offload joins frames.
        (f"ethtool --set-eee {device} eee off", f"ethtool --set-eee {device} eee on"),
        (f"ethtool -C {device} rx-usecs 0 tx-usecs 0", ""),
        (f"ethtool -K {device} tso off gso off gro off", f"ethtool -K {device} tso on gso on gro on"),
    ]
    if "preemption" in port:
        found.append(
            (
                f"ethtool --set-mm {device} pmac-enabled on tx-enabled on verify-enabled on "
                f"tx-min-frag-size {MINIMUM_FRAGMENT}",
                f"ethtool --set-mm {device} pmac-enabled off tx-enabled off verify-enabled off",
            )
        )
    return found
