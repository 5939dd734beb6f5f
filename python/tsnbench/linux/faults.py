"""Faults as commands with their times: links that go down, and netem where a cable ends.

tc-netem(8). taprio and mqprio occupy the root of the sending interface, so the faults of a cable are applied
at its other end, behind an intermediate device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.linux.profile import Profile
from tsnbench.linux.ptp import decimal
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import DelayFault, DuplicateFault, Fault, LossFault, LossModel

_REASONS = {
    "babble": "it is a fault of a talker, and talkers are not exported",
    "schedule": "a running schedule cannot be replaced by the one before it",
}
"""Why a kind of fault has no command."""


@dataclass(frozen=True)
class Step:
    """A command for a node at an instant of the Plan."""

    at_ns: int
    node: str
    command: str

    def __str__(self) -> str:
        return f"{self.at_ns}\t{self.node}\t{self.command}"


def steps(network: Network, profile: Profile, notes: Notes) -> list[Step]:
    """The commands in order of time; commands of one instant in the order of the Plan."""
    found: list[Step] = []
    for fault in network.document.get("faults", []):
        found += _steps(network, fault, profile, notes)
    return sorted(found, key=lambda step: step.at_ns)


def receivers(network: Network) -> list[int]:
    """Ports that need an intermediate device, because netem acts on the frames that they receive."""
    return sorted(
        {
            network.ports[one["port"]]["peer"]
            for one in network.document.get("faults", [])
            if one["kind"] == "loss" or one["kind"] == "delay" or one["kind"] == "duplicate"
        }
    )


def devices(network: Network, node: int, profile: Profile) -> tuple[list[str], list[str]]:
    """The intermediate devices of a node: lines of ``ip -batch`` and of ``tc -batch``."""
    links, filters = [], []
    for port in receivers(network):
        if network.ports[port]["node"] != node:
            continue
        device = profile.interface(network, port)
        links += [f"link add name {_ifb(network, port)} type ifb", f"link set dev {_ifb(network, port)} up"]
        filters += [
            f"qdisc replace dev {device} clsact",
            f"filter replace dev {device} ingress protocol all pref 65000 matchall "
            f"action mirred egress redirect dev {_ifb(network, port)}",
        ]
    return links, filters


def _ifb(network: Network, port: int) -> str:
    return f"ifb{network.place(port) + 1}"


def _steps(network: Network, fault: Fault, profile: Profile, notes: Notes) -> list[Step]:
    span = (fault["from_ns"], fault["until_ns"])
    if fault["kind"] == "node-down":
        notes.lost(
            "loss of what nodes hold when they go down",
            "their links go down, but the kernel keeps the frames that wait",
            network.nodes[fault["node"]]["name"],
        )
        return _down(network, network.ports_of(fault["node"]), span, profile)
    if fault["kind"] == "link-down":
        return _down(network, [fault["port"], network.ports[fault["port"]]["peer"]], span, profile)
    if fault["kind"] != "loss" and fault["kind"] != "delay" and fault["kind"] != "duplicate":
        notes.lost(f"fault `{fault['kind']}`", _REASONS.get(fault["kind"], "no command has this effect"))
        return []
    options = _netem(fault, notes)
    if options is None:
        return []
    port = network.ports[fault["port"]]["peer"]
    device = _ifb(network, port)
    return [
        Step(span[0], _node(network, port), f"tc qdisc replace dev {device} root netem {options}"),
        Step(span[1], _node(network, port), f"tc qdisc del dev {device} root"),
    ]


def _down(network: Network, ports: list[int], span: tuple[int, int], profile: Profile) -> list[Step]:
    return [
        Step(at, _node(network, port), f"ip link set dev {profile.interface(network, port)} {state}")
        for port in ports
        for at, state in zip(span, ("down", "up"), strict=True)
    ]


def _node(network: Network, port: int) -> str:
    return str(network.nodes[network.ports[port]["node"]]["name"])


def percent(ppm: int) -> str:
    """A share as netem has it."""
    return f"{decimal(ppm, 4)}%"


def _netem(fault: LossFault | DelayFault | DuplicateFault, notes: Notes) -> str | None:
    if fault["kind"] == "duplicate":
        if fault["after_ns"]:
            notes.lost("the gap between a frame and its duplicate", "netem sends both at once")
        return f"duplicate {percent(fault['share_ppm'])}"
    if fault["kind"] == "delay":
        if fault["share_ppm"] != 1_000_000:
            notes.lost("fault `delay` of a share of the frames", "netem delays all of them")
            return None
        middle, half = (
            (fault["least_ns"] + fault["most_ns"]) // 2,
            (fault["most_ns"] - fault["least_ns"]) // 2,
        )
        if half and fault["keeps_order"]:
            notes.lost(
                "the order of frames that a fault delays", "netem lets frames overtake if it draws delays"
            )
        return (
            f"delay {decimal(middle, 3)}us {decimal(half, 3)}us" if half else f"delay {decimal(middle, 3)}us"
        )
    found = loss(fault["model"])
    if found is None:
        notes.lost("fault `loss` by bit errors", "netem's loss does not depend on the length of a frame")
    return None if found is None else f"loss {found}"


def loss(model: LossModel) -> str | None:
    """netem's value of ``loss``; None for a model that netem does not have."""
    if model["kind"] == "bernoulli":
        return f"random {percent(model['loss_ppm'])}"
    if model["kind"] == "bit-errors":
        return None
    chances = (model["to_bad_ppm"], model["to_good_ppm"], model["loss_bad_ppm"], model["loss_good_ppm"])
    return "gemodel " + " ".join(percent(one) for one in chances)
