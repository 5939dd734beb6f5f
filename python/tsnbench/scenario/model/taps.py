"""The taps of a scenario, where frames are observed."""

from __future__ import annotations

from typing import Literal

from tsnbench.scenario.kinds.combinators import Either, ListOf, record_of
from tsnbench.scenario.kinds.common import SELECTOR
from tsnbench.scenario.kinds.values import YES_NO, Choice, Quantity
from tsnbench.scenario.model.hosts import STAGES
from tsnbench.scenario.model.names import PortSelector
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import DURATION, Duration

_PORTS = ListOf(SELECTOR, "ports", least=0, partial=True, once=True)
_STAGES = ListOf(
    Choice({name: name for name in STAGES if name not in ("tx", "rx")}, "a stage"),
    "stages",
    least=0,
    once=True,
)
_POINT = Choice({"start": "start", "end": "end"}, "a point of the frame")


class Taps(Part):
    """The taps, where frames are observed. ``ends``: a tx tap at every talker's, an rx tap at every
    listener's port."""

    ends: bool = key(YES_NO, "tap every talker's and every listener's port; true by default", default=True)
    ports: tuple[PortSelector, ...] = key(_PORTS, "further ports: [node1 -> dut, dut -> node0]", default=())
    """Links with taps in both directions: tx at the port, rx at its peer."""
    send: bool = key(YES_NO, "also sight when a talker hands a frame to its queue", default=False)
    stages: tuple[str, ...] = key(
        _STAGES, "also stages of hosts' software: [wakeup, driver, app-rx]", default=()
    )
    """OCORA Fig. 9."""
    tx_point: Literal["start", "end"] = key(
        _POINT, "start (default) or end: what a tx timestamp means", default="start"
    )
    rx_point: Literal["start", "end"] = key(
        _POINT, "start or end (default): what an rx timestamp means", default="end"
    )
    granularity: Duration = key(
        Quantity(DURATION, 1, 10**9), "ticks of the timestamps: 1 ns, 8 ns", default=1
    )


TAPS = Either(
    "ports, or {ports: […], send: …}",
    text=_PORTS,
    listing=_PORTS,
    mapping=record_of(Taps, "taps"),
    short="ports",
)
