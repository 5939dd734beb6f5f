"""Numbers of several messages together with copies, clocks of their own, cut frames and odd captures."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.measure.test_industrial_captures import DELAY_NS, FAMILIES, PERIOD_NS, SEVERAL, Family, Several

from support.written_captures import Stamped, hsr, pcap, prp
from tsnbench.measure import MeasureError, measure_captures
from tsnbench.measure.inspection import inspect_capture

OFFSET_NS = 37 * 10**9
EVERY = pytest.mark.parametrize("several", SEVERAL.values(), ids=SEVERAL)


@EVERY
def test_both_copies_of_prp_against_a_clock_that_is_ahead(several: Several, tmp_path: Path) -> None:
    """LAN A arrives first; frame 7 by LAN B alone, frame 30 by neither."""
    sent = [(n * PERIOD_NS, several.frame(n)) for n in range(40)]
    arrived: list[Stamped] = []
    for n in range(40):
        for lan, delay_ns in ((10, DELAY_NS), (11, 2 * DELAY_NS)):
            if n != 30 and (n, lan) != (7, 10):
                at_ns = n * PERIOD_NS + delay_ns + OFFSET_NS
                arrived.append((at_ns, prp(several.frame(n), n, lan)))
    tx, rx = pcap(tmp_path / "tx.pcap", sent), pcap(tmp_path / "rx.pcap", arrived)
    found = measure_captures(tx, rx, offset="auto")
    assert len(found["paths"]) == len(several.numbers)
    for path in found["paths"]:
        count, delay = path["count"], path["delay"]
        assert (count["sent"], count["received"], count["lost"], count["duplicate"]) == (40, 39, 1, 38)
        assert delay is not None
        assert (delay["min"], delay["median"], delay["max"]) == (DELAY_NS, DELAY_NS, 2 * DELAY_NS)


def test_both_directions_of_hsr_at_one_tap(tmp_path: Path) -> None:
    """A ring shows both copies of each frame at one place."""
    family = FAMILIES["sampled values"]

    def tagged(n: int, path: int) -> bytes:
        frame = family.frame(n)
        return frame[:16] + hsr(n, path) + frame[16:]

    frames = [
        (n * PERIOD_NS + later, tagged(n, path)) for n in range(40) for path, later in ((0, 0), (1, 9_000))
    ]
    (one,) = inspect_capture(pcap(tmp_path / "a.pcap", frames))["streams"]
    assert (one["frames"], one["missing"], one["duplicate"]) == (40, 0, 40)


@EVERY
@pytest.mark.parametrize("snap", [18, 40, 64])
def test_cut_frames_give_measures_or_a_reason(several: Several, snap: int, tmp_path: Path) -> None:
    frames = [(n * PERIOD_NS, several.frame(n)) for n in range(20)]
    path = pcap(tmp_path / "a.pcap", frames, snap=snap)
    found = inspect_capture(path)
    assert found["frames"] == 20
    # No frame is lost or invented, whatever of it is left.
    assert all(one["missing"] in (None, 0) and one["frames"] <= 20 for one in found["streams"])


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_one_frame_none_and_times_that_go_back(family: Family, tmp_path: Path) -> None:
    first = family.first
    (one,) = inspect_capture(pcap(tmp_path / "one.pcap", [(0, family.frame(first))]))["streams"]
    assert (one["frames"], one["missing"] or 0) == (1, 0)
    with pytest.raises(MeasureError, match="has no frame"):
        inspect_capture(pcap(tmp_path / "none.pcap", []))
    back = [(-n * PERIOD_NS, family.frame(first + n)) for n in range(20)]
    (one,) = inspect_capture(pcap(tmp_path / "back.pcap", back))["streams"]
    assert (one["frames"], one["missing"] or 0) == (20, 0)
