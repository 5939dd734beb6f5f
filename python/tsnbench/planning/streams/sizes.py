"""Sizes of frames in octets, with and without the overhead on the wire.

IEEE 802.3-2022, 3.2.7 and 4.2.3.3; EnGINE Fig. 8.
"""

from __future__ import annotations

from tsnbench.plan.frames import R_TAG, sizes
from tsnbench.plan.sizes import SMALLEST_FRAME, header
from tsnbench.planning.draft import Draft
from tsnbench.scenario import model

LARGEST_FRAME = 65_535
"""The limits of a Plan; scenario files are stricter."""


def size_flows(draft: Draft) -> None:
    """Fills ``size`` of every flow in the Plan's form, and the largest frame where nodes need it."""
    size_each(draft)
    _note_largest(draft)


def size_each(draft: Draft) -> None:
    """Fills ``size`` of every flow alone."""
    for flow in draft.flows:
        size = flow.stream.size
        if isinstance(size, model.RecordedSizes):
            continue  # The pass that reads the recording has filled and checked it.
        if isinstance(size, model.FixedSize):
            flow.size = {"kind": "frame", "octets": size.octets}
            key, octets = "size", size.octets
        elif size.octets:
            overhead = header(flow.stream.vid is not None)
            flow.size = {
                "kind": "units",
                "octets": sorted(size.octets),
                "most_per_frame": size.most_per_frame,
                "overhead": overhead,
            }
            # Shorter frames are padded to the smallest one; a full frame is as long as the scenario says.
            key, octets = "units.most-per-frame", size.most_per_frame + overhead
        else:
            draft.problem(f"streams.{flow.group}.size", "at least one octet", "none")
            continue
        if not SMALLEST_FRAME <= octets <= LARGEST_FRAME:
            draft.problem(
                f"streams.{flow.group}.{key}",
                f"frames of {SMALLEST_FRAME} to {LARGEST_FRAME} octets from destination address to FCS",
                str(octets),
            )


def _note_largest(draft: Draft) -> None:
    """The largest frame, for nodes that take a time for each octet."""
    if not any(node.further is not None and node.further["kind"] == "per-octet" for node in draft.nodes):
        return
    tag = R_TAG if any(flow.redundancy for flow in draft.flows) else 0
    largest = max((sizes(flow.size).largest for flow in draft.flows), default=0) + tag
    for node in draft.nodes:
        if node.further is not None and node.further["kind"] == "per-octet":
            node.further = {**node.further, "most_octets": largest}
