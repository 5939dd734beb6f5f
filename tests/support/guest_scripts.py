"""What scripts for the guest share: configurations of ptp4l, and the device's own captures."""

from __future__ import annotations

import struct

PTP = """[global]
transportSpecific 0x1
network_transport L2
delay_mechanism P2P
ptp_dst_mac 01:80:C2:00:00:0E
logSyncInterval -3
logAnnounceInterval -2
tx_timestamp_timeout 50
first_step_threshold 0.00002
step_threshold 0
uds_address /tmp/{role}
priority1 {first}
"""
PTP_FILES = {
    f"{role}.cfg": PTP.format(role=role, first=first).encode()
    for role, first in (("leads", 100), ("follows", 200))
}
"""Two clocks of which one leads."""


def frames(capture: bytes) -> list[tuple[int, int, bytes]]:
    """Time in ns, octets on the wire without FCS, and the captured octets of each frame of a pcap."""
    magic = struct.unpack_from("<I", capture)[0]
    assert magic in (0xA1B23C4D, 0xA1B2C3D4)
    unit = 1 if magic == 0xA1B23C4D else 1000
    found, at = [], 24
    while at < len(capture):
        seconds, parts, kept, octets = struct.unpack_from("<IIII", capture, at)
        found.append((seconds * 10**9 + parts * unit, octets, capture[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return found
