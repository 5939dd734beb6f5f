"""Process data of version 2 against TCNopen's own programs for TSN, in namespaces.

``tests/live/tcnopen.py`` names the environment variables. TCNopen sends TSN telegrams on an interface that it
knows by the name ``vlan10``. The kernel's driver for VLANs is not needed: the other end of the link has this
name, and its frames have no tag. The kernel is given launch times; it holds a telegram back only at an
interface with an ``etf``.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.live.conftest import Link
from tests.live.tcnopen import NS_PER_S, PEER, TELEGRAMS, TSN_FOLDER, Theirs, be, captured, groups, results

from tsnbench.measure import measure_trdp

GROUP, ORDINARY = "239.1.1.3", "239.1.1.2"
pytestmark = pytest.mark.skipif(
    TSN_FOLDER is None or not (Path(TSN_FOLDER) / "receiveTSN").exists(),
    reason="needs TCNopen's programs for TSN (TSNBENCH_TCNOPEN_TSN)",
)


@pytest.fixture
def tagged(link: Link) -> Link:
    """The link, with the name of an interface for VLAN 10 at the other end."""
    for words in ("link set v1 down", "link set v1 name vlan10", "link set vlan10 up"):
        link.do(1, f"ip {words}")
    groups(link, ("v0", "vlan10"))
    return link


def sent_to_tcnopen(link: Link, tmp_path: Path, **publication: Any) -> tuple[dict[str, Any], str]:
    """Send telegrams of version 2 to ``receiveTSN``: the counters of the sender, and TCNopen's screen."""
    theirs = Theirs(link, tmp_path / "screen", "receiveTSN", "-o", PEER, "-d", folder=TSN_FOLDER)
    try:
        time.sleep(0.7)
        sent = {"com_id": 1000, "to": GROUP, "pattern": "tsn", "period_ns": 10**7, "octets": 24}
        ours = be(link, tmp_path, {"publish": [{**sent, "count": TELEGRAMS, **publication}]})
        (found,) = results(ours, tmp_path, 20 + TELEGRAMS)["publish"]
        time.sleep(0.5)
    finally:
        screen = theirs.end()
    return found, screen


@pytest.mark.parametrize("launch_ahead_ns", [None, 10**6])
def test_tcnopen_takes_telegrams_of_version_2(
    tagged: Link, tmp_path: Path, launch_ahead_ns: int | None
) -> None:
    """Each telegram reaches TCNopen's subscription: with and without launch times."""
    with captured(tagged, f"trdp_tsn_to_{launch_ahead_ns}", tmp_path):
        found, screen = sent_to_tcnopen(tagged, tmp_path, launch_ahead_ns=launch_ahead_ns)
    assert (found["sent"], found["refused"]) == (TELEGRAMS, 0)
    assert (found["launch_times_missed"], found["launch_times_invalid"]) == (0, 0)
    assert screen.count("> ComID 1000 latency") == TELEGRAMS
    assert "Error on packet received" not in screen


def test_tcnopen_refuses_headers_of_16_octets(tagged: Link, tmp_path: Path) -> None:
    """TCNopen reads the check sequence after 16 octets, and finds a wrong one in each telegram."""
    found, screen = sent_to_tcnopen(tagged, tmp_path, short_header=True)
    assert found["sent"] == TELEGRAMS
    assert screen.count("> ComID 1000 latency") == 0
    assert screen.count("PDframe crc error") == TELEGRAMS, screen[-2000:]


def test_telegrams_of_tcnopen_are_taken(tagged: Link, tmp_path: Path) -> None:
    """``sendTSN`` sends version 2 every 10 ms to one group, and version 1 every 100 ms to another one."""
    subscriptions = [
        {"com_id": 1000, "group": GROUP, "time_out_ns": NS_PER_S, "count": TELEGRAMS},
        {"com_id": 0, "group": ORDINARY, "time_out_ns": NS_PER_S, "count": TELEGRAMS // 10},
    ]
    with captured(tagged, "trdp_tsn_from", tmp_path) as capture:
        ours = be(tagged, tmp_path, {"subscribe": subscriptions})
        theirs = Theirs(tagged, tmp_path / "screen", "sendTSN", "-o", PEER, folder=TSN_FOLDER)
        try:
            found = results(ours, tmp_path, 20 + TELEGRAMS)
        finally:
            theirs.end()
    for one, least in zip(found["subscribe"], (TELEGRAMS, TELEGRAMS // 10), strict=True):
        assert one["taken"] >= least
        assert one["gaps"] + one["repeated"] + one["old"] + one["restarted"] + one["time_outs"] == 0, one
        assert one["data_set_octets"] == [24, 24]
    assert (found["check_errors"], found["protocol_errors"], found["not_subscribed"]) == (0, 0, 0)
    told = measure_trdp(capture, time_out_ns=NS_PER_S)
    assert {(one["com_id"], one["kind"], one["destination"]) for one in told["streams"]} == {
        (1000, "TSN", GROUP), (0, "Pd", ORDINARY),
    }  # fmt: skip
    assert (told["check_errors"], told["protocol_errors"]) == (0, 0)
