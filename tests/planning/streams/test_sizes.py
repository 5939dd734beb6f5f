"""Sizes of frames in the Plan: limits, data units, and which mistake is named."""

from __future__ import annotations

from typing import Any

import pytest

from support.networks import line, periodic
from tsnbench.plan.frames import frames_of, sizes
from tsnbench.planning import plan
from tsnbench.scenario import model


def stream(size: Any, **changes: Any) -> model.Stream:
    return periodic("talker", "listener", size=size, pattern=model.Periodic(period=10**7), **changes)


def planned(**streams: model.Stream) -> list[Any]:
    document: Any = plan(line().model_copy(update={"streams": streams})).document
    return [one["size"] for one in document["streams"]]


def test_data_units_are_sorted_and_have_the_overhead_of_their_stream() -> None:
    """Ethernet 14, IPv4 20, UDP 8 and FCS 4, and 4 for a tag."""
    units = model.UnitSizes(octets=(900, 10, 2_000), most_per_frame=1_000)
    tagged, plain, least = planned(
        tagged=stream(units), plain=stream(units, vid=None), least=stream(model.UnitSizes(octets=(14,)))
    )
    assert tagged == {"kind": "units", "octets": [10, 900, 2_000], "most_per_frame": 1_000, "overhead": 50}
    assert plain == tagged | {"overhead": 46}
    assert least == {"kind": "units", "octets": [14], "most_per_frame": 1_472, "overhead": 50}


def test_full_frames_may_be_as_small_and_as_large_as_any() -> None:
    """14 and 65485 octets, and the 50 octets of the headers."""
    small, large = (model.UnitSizes(octets=(100,), most_per_frame=most) for most in (14, 65_485))
    made = planned(small=stream(small), large=stream(large))
    assert [one["most_per_frame"] for one in made] == [14, 65_485]


def test_a_frame_has_64_to_65535_octets() -> None:
    least, most = planned(
        least=stream(model.FixedSize(octets=64)), most=stream(model.FixedSize(octets=65_535))
    )
    assert (least, most) == ({"kind": "frame", "octets": 64}, {"kind": "frame", "octets": 65_535})


@pytest.mark.parametrize(
    ("unit", "frames"),
    [
        (0, [(64, 1)]),
        (14, [(64, 1)]),
        (15, [(65, 1)]),
        (1472, [(1522, 1)]),
        (1473, [(1522, 1), (64, 1)]),
        (2 * 1472, [(1522, 2)]),
        (2 * 1472 + 100, [(1522, 2), (150, 1)]),
    ],
)
def test_data_units_are_cut_into_frames(unit: int, frames: list[tuple[int, int]]) -> None:
    assert frames_of(unit, 1472, 50) == frames


def test_mean_sizes_are_over_data_units() -> None:
    found = sizes({"kind": "units", "octets": [50, 1572], "most_per_frame": 1472, "overhead": 50})
    assert (found.smallest, found.largest) == (100, 1522)
    assert found.frame_bits == 8 * (100 + 1522 + 150) / 2
    assert found.phy_bits == 8 * (100 + 1522 + 150 + 3 * 20) / 2
