"""Configures running devices with a Plan by NETCONF: all devices or none. The result is read back, and the
earlier configuration is recorded.

RFC 6241 (NETCONF), RFC 6242 (over SSH), RFC 6243 (defaults).
"""

from tsnbench.deploy.deploy import Outcome, Target, deploy, restore, take_over
from tsnbench.deploy.device import PASSWORD, Access, AccessError, DeviceError

__all__ = [
    "PASSWORD",
    "Access",
    "AccessError",
    "DeviceError",
    "Outcome",
    "Target",
    "deploy",
    "restore",
    "take_over",
]
