"""Asynchronous traffic shaping: a scheduler per flow and node, a group per incoming port and class.

IEEE 802.1Q-2022, 8.6.5.6 and 8.6.11.
"""

from __future__ import annotations

from tsnbench.plan.frames import R_TAG, data_units, sizes
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.planning.draft import Draft, Flow, Policing
from tsnbench.planning.shaping.policing import overlay


def shape_asynchronously(draft: Draft) -> None:
    """Fills ``schedulers`` and ``groups``; adds the schedulers to the nodes' filters."""
    if all(port.shaper.ats is None for port in draft.ports):
        return
    groups: dict[tuple[int, int, int], int] = {}
    done: set[tuple[int, int, int]] = set()
    for number, flow in enumerate(draft.flows):
        priorities = draft.priorities(flow)
        for place, hop in enumerate(flow.route):
            port = draft.ports[hop.port]
            ats, pcp = port.shaper.ats, priorities[place]
            if ats is None or pcp not in ats.pcps or hop.parent is None:
                continue
            ingress = draft.ports[flow.route[hop.parent].port].peer
            # One scheduler serves all egress ports of a frame.
            if (port.node, ingress, number) in done:
                continue
            done.add((port.node, ingress, number))
            tag = R_TAG if flow.copy(hop.parent) else 0
            made = _bucket(flow, tag, ats.rate, ats.burst)
            if made is None:
                draft.problem(
                    f"streams.{flow.group}",
                    "a periodic stream, or rate and burst with ats",
                    flow.stream.pattern.kind,
                    f"write rate: and burst: under shapers.{port.name}.ats",
                )
                continue
            largest = 8 * (sizes(flow.size).largest_phy + tag)
            if made[1] < largest:
                draft.problem(
                    f"shapers.{port.name}.ats.burst",
                    f"at least {-(-largest // 8)} B, a frame of {flow.group} on the wire",
                    f"{made[1] // 8} B",
                )
                continue
            own = draft.policing.setdefault(port.node, Policing())
            key = (port.node, ingress, port.pcp_to_class[pcp])
            if key not in groups:
                groups[key] = len(own.groups)
                name = f"{draft.ports[draft.ports[ingress].peer].name} class {key[2]}"
                own.groups.append({"name": name, "max_residence_ns": ats.residence})
            scheduler = len(own.schedulers)
            own.schedulers.append({"cir_bps": made[0], "cbs_bits": made[1], "group": groups[key]})
            overlay(own, ingress, number, pcp, flow.name, "scheduler", scheduler)


def _bucket(flow: Flow, tag: int, rate: int | None, burst: int | None) -> tuple[int, int] | None:
    """bit/s and bit on the wire; if they are not written, the least for everything that a flow may
    release, with a redundancy tag of so many octets in each frame."""
    pattern = flow.pattern
    plain = _largest_unit(flow, 0)
    if pattern["kind"] == "token-bucket":
        own_rate, own_burst = pattern["rate_bps"], 8 * pattern["burst_octets"]
    # Answers come as late as their requests, and that depends on the network.
    elif pattern["kind"] == "periodic" and flow.answers is None:
        period = pattern["period_ns"]
        own_rate = -(-8 * plain * 10**9 // period)
        own_burst = 8 * plain + -(-8 * plain * pattern["jitter_ns"] // period)
    elif rate is None or burst is None:
        return None
    else:
        return rate, 8 * burst
    # What a scheduler lets pass before the frames get their tags, the next one lets pass with them.
    with_tags = _largest_unit(flow, tag)
    own_rate, own_burst = (-(-one * with_tags // plain) for one in (own_rate, own_burst))
    return (own_rate if rate is None else rate, own_burst if burst is None else 8 * burst)


def _largest_unit(flow: Flow, tag: int) -> int:
    """Most octets of one data unit on the wire, over all its frames."""
    return max(sum(octets + PHY_OVERHEAD + tag for octets in unit) for unit in data_units(flow.size))
