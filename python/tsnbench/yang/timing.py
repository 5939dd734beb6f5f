"""PTP of one node: the instance, the quality of its clock, and its ports.

IEEE 802.1AS-2020, 14; IEEE 1588-2019, 8.
"""

from __future__ import annotations

from tsnbench.linux.ptp import log_interval, ports
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.yang import xml
from tsnbench.yang.ports import interface


def ptp(config: xml.Element, network: Network, node: int, notes: Notes) -> None:
    """`/ptp:ptp`; nothing where the node takes no part."""
    mine = {port: role for port, role in ports(network).items() if network.ports[port]["node"] == node}
    if not mine:
        return
    gptp = network.document["clocks"]["gptp"]
    bmca = gptp.get("bmca")
    instance = config.add("ptp", xml.PTP).add("instances").add("instance").leaf("instance-index", 0)
    own = instance.add("default-ds")
    if bmca:
        quality = bmca["clocks"][node]
        own.add("clock-quality").leaf("offset-scaled-log-variance", quality["variance"])
        own.leaf("priority1", quality["priority1"]).leaf("priority2", quality["priority2"])
        notes.lost(
            "class and accuracy of clocks",
            "the module has identities for the values that the standard names only",
            network.nodes[node]["name"],
        )
    own.leaf("domain-number", 0).leaf("instance-enable", True)
    if bmca is None:
        own.leaf("external-port-config-enable", True)
    table = instance.add("ports")
    sync = log_interval(gptp["sync_interval_ns"], "the Sync interval", notes)
    pdelay = log_interval(gptp["pdelay_interval_ns"], "the interval of delay requests", notes)
    end_to_end = gptp.get("ieee_1588", {}).get("delay") == "end-to-end"
    for port, role in sorted(mine.items()):
        entry = table.add("port").leaf("port-index", network.place(port) + 1)
        entry.leaf("underlying-interface", interface(network, port))
        data = entry.add("port-ds")
        if bmca:
            announce = log_interval(bmca["announce_interval_ns"], "the Announce interval", notes)
            data.leaf("log-announce-interval", announce)
            data.leaf("announce-receipt-timeout", bmca["announce_receipt_timeout"])
        data.leaf("log-sync-interval", sync)
        data.leaf("delay-mechanism", "e2e" if end_to_end else "p2p")
        data.leaf("log-min-delay-req-interval" if end_to_end else "log-min-pdelay-req-interval", pdelay)
        data.leaf("port-enable", True)
        if bmca and "ieee_1588" not in gptp:
            data.leaf("sync-receipt-timeout", bmca["sync_receipt_timeout"], xml.GPTP)
        if role != "any":
            state = "time-transmitter" if role == "master" else "time-receiver"
            entry.add("external-port-config-port-ds").leaf("desired-state", state)
    if gptp.get("servo"):
        notes.lost("the servo's options", "the modules have no servos")
    if gptp.get("ieee_1588", {}).get("transparent"):
        notes.lost(
            "transparent clocks",
            "they have data sets of another form; only ordinary and boundary clocks are written",
        )
