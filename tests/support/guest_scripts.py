"""What scripts for the guest share: configurations of ptp4l."""

from __future__ import annotations

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
