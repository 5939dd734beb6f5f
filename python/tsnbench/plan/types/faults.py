"""Faults with their places and times."""

from typing import Literal, NotRequired, TypedDict

from tsnbench.plan.types.gates import Gates


class LinkDownFault(TypedDict):
    """A link is cut in both directions."""

    kind: Literal["link-down"]
    port: int
    from_ns: int
    until_ns: int


class BabbleFault(TypedDict):
    """A talker sends more data units than its pattern has."""

    kind: Literal["babble"]
    stream: int
    from_ns: int
    until_ns: int
    every_ns: int


class NodeDownFault(TypedDict):
    """A node is down."""

    kind: Literal["node-down"]
    node: int
    from_ns: int
    until_ns: int


class DelayFault(TypedDict):
    """Frames that a port sends arrive late."""

    kind: Literal["delay"]
    port: int
    from_ns: int
    until_ns: int
    least_ns: int
    most_ns: int
    share_ppm: int
    keeps_order: bool


class DuplicateFault(TypedDict):
    """Frames that a port sends arrive twice."""

    kind: Literal["duplicate"]
    port: int
    from_ns: int
    until_ns: int
    share_ppm: int
    after_ns: int


class ScheduleFault(TypedDict):
    """A port uses another gate control list; all its gates are open if ``gates`` is absent."""

    kind: Literal["schedule"]
    port: int
    from_ns: int
    until_ns: int
    gates: NotRequired[Gates]


class BernoulliLossModel(TypedDict):
    """Each frame is lost on its own."""

    kind: Literal["bernoulli"]
    loss_ppm: int


class GilbertElliottLossModel(TypedDict):
    """Loss in bursts: a good and a bad state."""

    kind: Literal["gilbert-elliott"]
    to_bad_ppm: int
    to_good_ppm: int
    loss_good_ppm: int
    loss_bad_ppm: int


class BitErrorsLossModel(TypedDict):
    """Independent bit errors."""

    kind: Literal["bit-errors"]
    per_petabit: int


LossModel = BernoulliLossModel | GilbertElliottLossModel | BitErrorsLossModel
"""The model of random loss."""


class LossFault(TypedDict):
    """Frames that a port sends are lost by chance."""

    kind: Literal["loss"]
    port: int
    from_ns: int
    until_ns: int
    model: LossModel


Fault = LinkDownFault | LossFault | BabbleFault | NodeDownFault | DelayFault | DuplicateFault | ScheduleFault
"""One fault, from ``from_ns`` until just before ``until_ns``."""
