"""The whole document, and the taps where frames are observed."""

from typing import Literal, NotRequired, TypedDict

from tsnbench.plan.types.clocks import Clocks
from tsnbench.plan.types.faults import Fault
from tsnbench.plan.types.network import Node, Port
from tsnbench.plan.types.policing import Policing
from tsnbench.plan.types.streams import Stream

Stage = Literal["interval-start", "wakeup", "send", "qdisc", "driver", "tx", "rx", "kernel-rx", "app-rx"]
"""A stage on a frame's path."""


Point = Literal["start", "end"]
"""The point of the frame that a timestamp means. IEEE 802.3-2022, 90.7."""


class Tap(TypedDict):
    """A place where frames are observed."""

    name: str
    port: int
    stage: Stage
    point: Point
    granularity_ns: int


class PlanDocument(TypedDict):
    """A whole experiment: the content of ``plan.json``."""

    format: str
    name: str
    variant: NotRequired[dict[str, str]]
    seed: int
    duration_ns: int
    drain_ns: int
    nodes: list[Node]
    ports: list[Port]
    streams: list[Stream]
    faults: NotRequired[list[Fault]]
    policing: NotRequired[list[Policing]]
    taps: list[Tap]
    clocks: NotRequired[Clocks]
    hash: NotRequired[str]
