"""PRP in a guest: Linux has no 802.1CB, but this other standard for two disjoint legs.

IEC 62439-3: the sender transmits each frame at both of its ports with a trailer, and the receiver accepts the
first frame of each pair. The Plan's talker sends with the Plan's pattern over two cables that lose frames as
the Plan's faults say.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from support.captures import frames
from support.guest_batch import Script
from tsnbench.plan.document import Plan
from twin.case import Value

DILATE = 10
HEADERS = 14 + 20 + 8
"""Octets of Ethernet, IPv4 and UDP; the octets after them distinguish frames."""
NUMBERED = 24
"""Octets of the test payload with the frame's number."""

SCRIPT = """
set -u
# The shell would take its own one.
tc() { /tools/tc "$@"; }
fail() { echo "failed: $*"; exit 1; }
ip netns add one; ip netns add other
for leg in a b; do
    ip link add ${leg}0 netns one type veth peer name ${leg}1 netns other || fail leg
    ip -n one link set ${leg}0 address SOURCE up
    ip -n other link set ${leg}1 address DESTINATION up
done
ip -n one link add prp0 type hsr slave1 a0 slave2 b0 supervision 45 proto PROTO || fail prp
ip -n other link add prp0 type hsr slave1 a1 slave2 b1 supervision 45 proto PROTO || fail prp
ip -n one link set prp0 up; ip -n other link set prp0 up
tc -n one qdisc add dev a0 root netem limit 10000 loss random LOSS_A || fail loss
tc -n one qdisc add dev b0 root netem limit 10000 loss random LOSS_B || fail loss
for port in a1 b1 prp0; do
    ip netns exec other tcpdump -Z root -n -i $port -Q in -s 128 -B 8192 -w $RESULTS/$port.pcap udp \\
        2>/tmp/$port &
done
sleep 2
EPOCH=$(( ($(date +%s) + 2) * 1000000000 ))
ip netns exec one tsnbench-traffic talk $JOB/plan.json --node 0 --epoch $EPOCH --dilate DILATE \\
    --port 0=prp0 --untagged --log $RESULTS/talk || fail talker
sleep 2
killall tcpdump; sleep 1
"""


def single(plan: dict[str, Any]) -> dict[str, Any]:
    """The Plan with its first path alone: the talker has one port, and PRP replaces the network below it."""
    plain = copy.deepcopy(plan)
    for stream in plain["streams"]:
        stream.pop("redundancy")
        stream["route"] = stream["route"][:2]
    return plain


def script(plan: dict[str, Any], proto: int = 1) -> str:
    """The script of the guest."""
    losses = [fault["model"]["loss_ppm"] / 10_000 for fault in plan["faults"]]
    stream = plan["streams"][0]
    words = {
        "SOURCE": plan["ports"][stream["route"][0]["port"]]["mac"],
        "DESTINATION": stream["destination_mac"],
        "LOSS_A": f"{losses[0]:.4f}%",
        "LOSS_B": f"{losses[1]:.4f}%",
        "DILATE": str(DILATE),
        "PROTO": str(proto),
    }
    text = SCRIPT
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def job(plan: Plan, told: str | None = None) -> Script:
    """The part of a guest's job."""
    whole = json.dumps(single(plan.document)).encode()
    return Script(told or script(plan.document), {"plan.json": whole}, 400)


def figures(plan: Plan, back: Mapping[str, bytes]) -> dict[str, Value]:
    """The results of the guest, by the names of the case's quantities."""
    legs = [_frames(back[f"{port}.pcap"]) for port in ("a1", "b1")]
    through = _frames(back["prp0.pcap"])
    sent = int(back["talk"].split()[1])
    either = set(legs[0]) | set(legs[1])
    return {
        "frames sent": float(sent),
        "lost on the first leg": float(sent - len(set(legs[0]))),
        "lost on the second leg": float(sent - len(set(legs[1]))),
        "lost on both legs, so the listener has none": float(sent - len(set(through))),
        "received on a leg, but not by the listener": float(len(either - set(through))),
        "received twice by the listener": float(len(through) - len(set(through))),
    }


def _frames(capture: bytes) -> list[bytes]:
    """The frames by the octets that distinguish them."""
    return [frame[HEADERS : HEADERS + NUMBERED] for _, _, frame in frames(capture)]
