"""How many octets frames have, on the wire and in between.

IEEE 802.3-2022, 3.2.7 and 4.2.3.3; EnGINE Fig. 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tsnbench.planning.draft import Draft, Flow
from tsnbench.scenario import model
from tsnbench.scenario.sizes import PHY_OVERHEAD, SMALLEST_FRAME, header

LARGEST_FRAME = 65_535
"""What a Plan can name; scenario files are stricter."""


@dataclass(frozen=True)
class Sizes:
    """The frames of one flow, in octets from destination address to FCS."""

    smallest: int
    largest: int
    frame_bits: Fraction
    """Mean per data unit, destination address to FCS."""
    phy_bits: Fraction
    """Mean per data unit, preamble to inter-frame gap."""

    @property
    def frames(self) -> Fraction:
        """Mean per data unit."""
        return (self.phy_bits - self.frame_bits) / (8 * PHY_OVERHEAD)

    @property
    def largest_phy(self) -> int:
        return self.largest + PHY_OVERHEAD


def frames_of(unit: int, most_per_frame: int, frame_overhead: int) -> list[tuple[int, int]]:
    """(frame octets, how many) that a data unit of ``unit`` application octets is cut into."""
    whole, rest = divmod(unit, most_per_frame)
    frames = [(most_per_frame + frame_overhead, whole)] if whole else []
    if rest or not whole:
        frames.append((rest + frame_overhead, 1))
    return [(max(SMALLEST_FRAME, octets), count) for octets, count in frames]


def sizes(size: Mapping[str, Any]) -> Sizes:
    """The frames that a Plan's ``size`` means."""
    if size["kind"] == "frame":
        units = [[(size["octets"], 1)]]
    elif size["kind"] == "list":
        # Often a recording of many thousands.
        units = [[(octets, count)] for octets, count in Counter(size["octets"]).items()]
        return _of(units, len(size["octets"]))
    else:
        units = [frames_of(unit, size["most_per_frame"], size["overhead"]) for unit in size["octets"]]
    return _of(units, len(units))


def _of(units: list[list[tuple[int, int]]], data_units: int) -> Sizes:
    every = [octets for unit in units for octets, _ in unit]
    octets = sum(octets * count for unit in units for octets, count in unit)
    frames = sum(count for unit in units for _, count in unit)
    return Sizes(
        smallest=min(every),
        largest=max(every),
        frame_bits=Fraction(8 * octets, data_units),
        phy_bits=Fraction(8 * (octets + PHY_OVERHEAD * frames), data_units),
    )


def size_flows(draft: Draft) -> None:
    """Fills ``size`` of every flow, as the Plan spells it."""
    for flow in draft.flows:
        size = flow.stream.size
        if isinstance(size, model.RecordedSizes):
            pass
        elif isinstance(size, model.FixedSize):
            flow.size = {"kind": "frame", "octets": size.octets}
        elif size.octets and size.most_per_frame > 0:
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
    found = sizes(flow.size)
    if flow.number == 0 and not SMALLEST_FRAME <= found.smallest <= found.largest <= LARGEST_FRAME:
        draft.problem(
            f"streams.{flow.group}.size",
            f"frames of {SMALLEST_FRAME} to {LARGEST_FRAME} octets from destination address to FCS",
            str(found.smallest if found.smallest < SMALLEST_FRAME else found.largest),
        )
