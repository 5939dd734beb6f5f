"""The traffic class of every priority code point at every port, and the limits of queues.

IEEE 802.1Q-2022, 8.6.6 and table 8-5.
"""

from __future__ import annotations

from collections.abc import Sequence

from tsnbench.planning.draft import Draft, Port
from tsnbench.scenario import model

DEFAULT_CLASSES = (1, 0, 2, 3, 4, 5, 6, 7)
"""PCP to class with eight classes: background (PCP 1) is below best effort (PCP 0)."""
LOWEST_CLASS = 0
"""The class of a PCP that the scenario's map does not name."""


def assign_classes(draft: Draft) -> None:
    """Fills ``pcp_to_class``, ``limits``, ``max_sdu`` and ``longest_wait``.

    A port has as many classes as its highest class needs.
    """
    for port in draft.ports:
        queues = port.shaper.queues or model.Queues()
        if port.shaper.server is not None:
            port.pcp_to_class = (LOWEST_CLASS,) * 8
        elif queues.classes is None:
            port.pcp_to_class = DEFAULT_CLASSES
        else:
            wrong = [
                f"{pcp}: {traffic}" for pcp, traffic in queues.classes.items() if not _possible(pcp, traffic)
            ]
            if wrong:
                draft.problem(f"{port.name}: classes", "PCP 0 to 7 and classes 0 to 7", wrong[0])
                continue
            port.pcp_to_class = tuple(queues.classes.get(pcp, LOWEST_CLASS) for pcp in range(8))
        port.max_sdu = _by_class(port, queues.max_sdu)
        port.longest_wait = _by_class(port, queues.longest_wait)
        port.limits = (queues.limit_frames, queues.limit_octets)


def _by_class(port: Port, values: Sequence[tuple[int, int]] | None) -> dict[int, int]:
    """The smallest value of a class's PCPs, by class."""
    found: dict[int, int] = {}
    for pcp, value in values or ():
        own = port.pcp_to_class[pcp]
        found[own] = min(value, found.get(own, value))
    return found


def _possible(pcp: int, traffic_class: int) -> bool:
    return 0 <= pcp <= 7 and 0 <= traffic_class <= 7
