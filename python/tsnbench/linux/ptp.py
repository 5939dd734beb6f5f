"""Configuration files of ptp4l and phc2sys per node.

ptp4l(8), phc2sys(8); the names are those of linuxptp 3.1, which later versions still take.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsnbench.linux.profile import Profile
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import Gptp, Port, Servo


def ports(network: Network) -> dict[int, str]:
    """Ports on which PTP runs, and their roles: `master`, `slave`, or `any` if roles are elected."""
    gptp = network.document.get("clocks", {}).get("gptp")
    if not gptp:
        return {}
    found: dict[int, str] = {}
    if "bmca" in gptp:
        for port in gptp["bmca"]["ports"]:
            found[port] = "any"
            found[network.ports[port]["peer"]] = "any"
        return found
    for port in gptp["slaves"]:
        found[port] = "slave"
        found[network.ports[port]["peer"]] = "master"
    return found


def log_interval(nanoseconds: int, what: str, notes: Notes) -> int:
    """The interval as a power of two in seconds (PTP's logarithmic intervals), rounded to the nearest."""
    exponent = round(math.log2(nanoseconds / 1_000_000_000))
    if nanoseconds * 2 ** max(0, -exponent) != 1_000_000_000 * 2 ** max(0, exponent):
        notes.lost(
            f"{what} of {nanoseconds} ns",
            f"PTP's intervals are powers of two of a second; written: {exponent}",
        )
    return exponent


def ptp4l(
    network: Network, node: int, profile: Profile, notes: Notes, first: Iterable[str] = ()
) -> str | None:
    """ptp4l's file for one node, beginning with the given lines; None if the node does not run PTP."""
    mine = {port: role for port, role in ports(network).items() if network.ports[port]["node"] == node}
    if not mine:
        return None
    clocks = network.document["clocks"]
    gptp = clocks["gptp"]
    lines = ["[global]", *first, *_profile_lines(gptp, node)]
    sync = log_interval(gptp["sync_interval_ns"], "the Sync interval", notes)
    pdelay = log_interval(gptp["pdelay_interval_ns"], "the interval of delay requests", notes)
    lines += [
        f"logSyncInterval {sync}",
        f"logMinPdelayReqInterval {pdelay}",
        f"logMinDelayReqInterval {pdelay}",
    ]
    lines += _quality(gptp, node, mine, notes)
    lines += [f"socket_priority {gptp['pcp']}", f"utc_offset {profile.utc_offset_s}"]
    if gptp.get("one_step"):
        lines += ["twoStepFlag 0", "time_stamping onestep"]
    else:
        lines += ["twoStepFlag 1", f"time_stamping {'software' if profile.software_stamps else 'hardware'}"]
    if len(mine) > 1 and not profile.one_clock:
        # Each card has a clock of its own; phc2sys synchronises them (EnGINE VI-A).
        lines.append("boundary_clock_jbod 1")
    lines += _servo(gptp.get("servo"), profile.step_ns)
    lines.append("tx_timestamp_timeout 50")
    for port, role in sorted(mine.items()):
        lines += ["", f"# {network.ports[port]['name']}", f"[{profile.interface(network, port)}]"]
        if role != "any":
            lines += ["BMCA noop", f"masterOnly {int(role == 'master')}"]
    if gptp.get("wakeup_ns"):
        notes.lost("late sending of PTP messages (`wakeup`)", "a real host is late by itself")
    return "\n".join(lines) + "\n"


def _profile_lines(gptp: Gptp, node: int) -> list[str]:
    own = gptp.get("ieee_1588")
    if own is None:
        return [
            "# IEEE 802.1AS",
            "transportSpecific 0x1",
            "network_transport L2",
            "delay_mechanism P2P",
            "ptp_dst_mac 01:80:C2:00:00:0E",
            "p2p_dst_mac 01:80:C2:00:00:0E",
            "path_trace_enabled 1",
            "follow_up_info 1",
            "assume_two_step 1",
            "min_neighbor_prop_delay -20000000",
        ]
    mechanism = "E2E" if own["delay"] == "end-to-end" else "P2P"
    lines = ["# IEEE 1588", "network_transport L2", f"delay_mechanism {mechanism}"]
    if node in own.get("transparent", []):
        lines.append(f"clock_type {mechanism}_TC")
    return lines


def _quality(gptp: Gptp, node: int, mine: dict[int, str], notes: Notes) -> list[str]:
    bmca = gptp.get("bmca")
    if bmca is None:
        # Without an election ptp4l needs slaveOnly if the node has a slave port, also on a boundary clock.
        # Announce messages carry the grandmaster's identity: each second in IEEE 802.1AS, each second one
        # (ptp4l's own value) in IEEE 1588.
        more = [] if "ieee_1588" in gptp else ["logAnnounceInterval 0"]
        return [f"slaveOnly {int('slave' in mine.values())}", "gmCapable 1", *more]
    own = bmca["clocks"][node]
    announce = log_interval(bmca["announce_interval_ns"], "the Announce interval", notes)
    return [
        f"gmCapable {int(own['priority1'] < 255)}",
        f"priority1 {own['priority1']}",
        f"priority2 {own['priority2']}",
        f"clockClass {own['class']}",
        f"clockAccuracy {own['accuracy']:#04x}",
        f"offsetScaledLogVariance {own['variance']:#06x}",
        f"logAnnounceInterval {announce}",
        f"announceReceiptTimeout {bmca['announce_receipt_timeout']}",
        f"syncReceiptTimeout {bmca['sync_receipt_timeout']}",
    ]


def _servo(own: Servo | None, step_ns: int) -> list[str]:
    if own is None:
        step = [f"step_threshold {decimal(step_ns, 9)}"] if step_ns else []
        return ["clock_servo pi", *step]
    scaled = {
        "pi_integral_exponent": own["pi_integral_exponent"],
        "pi_integral_norm_max": own["pi_integral_norm_max"],
        "pi_integral_scale": own["pi_integral_scale"],
        "pi_proportional_exponent": own["pi_proportional_exponent"],
        "pi_proportional_norm_max": own["pi_proportional_norm_max"],
        "pi_proportional_scale": own["pi_proportional_scale"],
    }
    lines = ["clock_servo pi", *(f"{name} {decimal(value, 3)}" for name, value in scaled.items())]
    lines.append(f"first_step_threshold {decimal(own['first_step_threshold_ns'], 9)}")
    lines.append(f"step_threshold {decimal(own['step_threshold_ns'] or step_ns, 9)}")
    lines.append(f"max_frequency {own['max_frequency_ppb']}")
    return lines


def decimal(number: int, places: int) -> str:
    """An integer of 10^-places as a decimal fraction, exactly."""
    sign, digits = ("-" if number < 0 else ""), f"{abs(number):0{places + 1}d}"
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def phc2sys(network: Network, node: int, step_ns: int = 0) -> str | None:
    """phc2sys's file for one node, with ptp4l's servo and domain."""
    if not any(network.ports[port]["node"] == node for port in ports(network)):
        return None
    gptp = network.document["clocks"]["gptp"]
    lines = ["[global]"]
    if "ieee_1588" not in gptp:
        lines.append("transportSpecific 0x1")
    lines += ["domainNumber 0", *_servo(gptp.get("servo"), step_ns)]
    return "\n".join(lines) + "\n"


def script(network: Network, node: int, profile: Profile) -> str | None:
    """A script that starts ptp4l and phc2sys. CLOCK_TAI follows the clocks of the cards; on the grandmaster
    the cards follow CLOCK_TAI.
    """
    if phc2sys(network, node) is None:
        return None
    leads = network.document["clocks"]["gptp"]["grandmaster"] == node
    return (
        "#!/bin/sh\n"
        "# The kernel's CLOCK_TAI is CLOCK_REALTIME and the offset that ptp4l has learned.\n"
        "ptp4l -f ptp4l.conf -m &\n"
        f"phc2sys -f phc2sys.conf -a {'-rr' if leads else '-r'} -m &\n"
        f"{''.join(_followers(network, node, profile))}"
        "wait\n"
    )


def _followers(network: Network, node: int, profile: Profile) -> list[str]:
    """Cards with gates or launch times, but without a PTP port: they follow a card with PTP.

    Solutions I to III of the COTS lessons, Section III; `phc2sys -a` knows ptp4l's own ports only.
    """
    roles = {port: role for port, role in ports(network).items() if network.ports[port]["node"] == node}
    others = [port for port in network.ports_of(node) if port not in roles and _timed(network.ports[port])]
    if not others or profile.software_stamps:
        return []
    # The port that receives the grandmaster's time, if it is known.
    first = min(roles, key=lambda port: (roles[port] != "slave", port))
    lines = ["# Both ends count TAI. Ports of one card have one clock: leave out lines of the same card.\n"]
    lines += [
        f"phc2sys -f phc2sys.conf -s {shlex.quote(profile.interface(network, first))} "
        f"-c {shlex.quote(profile.interface(network, port))} -O 0 -m &\n"
        for port in others
    ]
    return lines


def _timed(port: Port) -> bool:
    """Whether a port needs a clock, for taprio or etf."""
    qdisc = port.get("qdisc", {})
    return (
        "gates" in port or "taprio" in qdisc or any(one["kind"] == "etf" for one in qdisc.get("children", []))
    )


def beside_gates(network: Network, notes: Notes) -> None:
    """Notes about PTP on ports with gates, to read before use (COTS lessons, L1)."""
    for port in sorted(ports(network)):
        if "gates" in network.ports[port]:
            pcp = network.document["clocks"]["gptp"]["pcp"]
            notes.warn(
                "ptp4l and taprio share a port",
                "its messages wait for the gate of the class of "
                f"socket_priority {pcp}, and under txtime-assist some versions lose synchronisation",
                network.ports[port]["name"],
                cure="links of their own for PTP (`gptp: {links: ...}`)",
            )
