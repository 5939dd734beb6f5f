"""A Plan onto running devices by NETCONF: all of them or none, read back, and what was before kept.

RFC 6241 (NETCONF), RFC 6242 (over SSH), RFC 6243 (defaults).
"""

from tsnbench.deploy.deploy import Outcome, Target, deploy, restore
from tsnbench.deploy.device import PASSWORD, Access, DeviceError

__all__ = ["PASSWORD", "Access", "DeviceError", "Outcome", "Target", "deploy", "restore"]
