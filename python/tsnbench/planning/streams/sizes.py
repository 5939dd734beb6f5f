"""Sizes of frames in octets, with and without the overhead on the wire.

IEEE 802.3-2022, 3.2.7 and 4.2.3.3; EnGINE Fig. 8.
"""

from __future__ import annotations

from tsnbench.plan.frames import sizes
from tsnbench.planning.draft import Draft, Flow
from tsnbench.scenario import model
from tsnbench.scenario.sizes import SMALLEST_FRAME, header

LARGEST_FRAME = 65_535
"""The limits of a Plan; scenario files are stricter."""


def size_flows(draft: Draft) -> None:
    """Fills ``size`` of every flow in the Plan's form."""
    for flow in draft.flows:
        size = flow.stream.size
        if isinstance(size, model.RecordedSizes):
            pass
        elif isinstance(size, model.FixedSize):
            flow.size = {"kind": "frame", "octets": size.octets}
        elif size.octets:
            flow.size = {
                "kind": "units",
                "octets": sorted(size.octets),
                "most_per_frame": size.most_per_frame,
                "overhead": header(flow.stream.vid is not None),
            }
        else:
            draft.problem(f"streams.{flow.group}.size", "at least one octet", "none")
            continue
        _check(draft, flow)


def _check(draft: Draft, flow: Flow) -> None:
    path, size = f"streams.{flow.group}.size", flow.size
    if size["kind"] == "units":
        # Shorter frames are padded to the smallest one; a full frame is as long as the scenario says.
        path = f"streams.{flow.group}.units.most-per-frame"
        smallest = largest = size["most_per_frame"] + size["overhead"]
    else:
        found = sizes(size)
        smallest, largest = found.smallest, found.largest
    if not SMALLEST_FRAME <= smallest <= largest <= LARGEST_FRAME:
        draft.problem(
            path,
            f"frames of {SMALLEST_FRAME} to {LARGEST_FRAME} octets from destination address to FCS",
            str(smallest if smallest < SMALLEST_FRAME else largest),
        )
