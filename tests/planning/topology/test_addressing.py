"""Addresses by hand: multicast groups, and the addresses that active identification writes."""

from __future__ import annotations

import pytest

from tsnbench.planning.topology.addressing import group_mac, is_group, multicast_mac, rewritten_mac


@pytest.mark.parametrize(
    ("address", "group"),
    [("223.255.255.255", False), ("224.0.0.0", True), ("239.255.255.255", True), ("240.0.0.0", False)],
)
def test_224_to_239_are_groups(address: str, group: bool) -> None:
    """224.0.0.0/4: RFC 5771."""
    assert is_group(address) is group


def test_a_group_has_the_low_23_bits_of_its_address() -> None:
    """RFC 1112, 6.4: of the second octet seven bits."""
    assert group_mac("239.192.1.2") == "01:00:5e:40:01:02"
    assert group_mac("224.127.255.255") == "01:00:5e:7f:ff:ff"
    assert group_mac("224.128.0.1") == "01:00:5e:00:00:01"
    assert (multicast_mac(0), multicast_mac(255)) == ("01:00:5e:40:00:01", "01:00:5e:40:01:00")
    assert multicast_mac(65_536) == "01:00:5e:41:00:01"


def test_rewritten_addresses_are_local_and_those_of_groups_have_the_group_bit() -> None:
    """Bit 1 of the first octet: locally administered; bit 0: a group."""
    assert rewritten_mac(0, False) == "02:cb:00:00:00:01"
    assert rewritten_mac(299, False) == "02:cb:00:00:01:2c"
    assert rewritten_mac(0, True) == "03:cb:00:00:00:01"
