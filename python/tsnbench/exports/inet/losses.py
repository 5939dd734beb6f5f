"""The parts of a Plan that INET does not support."""

from __future__ import annotations

from tsnbench.exports.inet.paths import Paths
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

HISTORY = 10
"""The history of INET's merger: ``bufferSize``."""


def tell(network: Network, paths: Paths, notes: Notes) -> None:
    """Notes the parts that no other file of the export writes."""
    notes.parts(network, "all nodes share one time here", "clocks")
    notes.parts(network, "INET's stations have no software of that kind", "hosts")
    notes.parts(network, "INET's recordings take their place", "taps")
    notes.stages(
        network,
        "INET's ports select a frame when the link is free",
        "INET's queues have the rate of their link",
        "INET's queues have none",
    )
    for fault in network.document.get("faults", []):
        if fault["kind"] != "link-down":
            notes.lost("faults other than broken links", "they are not written for INET", fault["kind"])
    for path in paths.streams:
        if path.vlan is None and path.stream["pcp"]:
            notes.lost("priorities of untagged streams", "there is no tag that could carry them", path.name)
        if "redundancy" not in path.stream:
            continue
        if path.copies is None:
            notes.lost(
                "other paths",
                "member streams have one listener, one bridge that splits and one that merges; "
                "written: the first path",
                path.name,
            )
        else:
            history = path.stream["redundancy"]["recovery"]["algorithm"].get("history")
            if history != HISTORY:
                notes.warn(
                    "histories of sequence recovery",
                    f"INET's merger remembers {HISTORY} numbers",
                    path.name,
                    cure=f"frer: {{history: {HISTORY}}}",
                )
    for node in network.nodes:
        if "further" in node:
            notes.lost("processing beyond its constant part", "the delayer here is constant", node["name"])
        if "buffer" in node:
            notes.lost("shared memory", "INET's queues have memory of their own", node["name"])
        if "learning" in node:
            notes.lost("learning", "addresses are written down", node["name"])
    for one, other in network.links():
        first, second = network.ports[one], network.ports[other]
        if (first["rate_bps"], first["propagation_ps"]) != (second["rate_bps"], second["propagation_ps"]):
            notes.lost("other directions of links", "a channel is the same in both", first["name"])
