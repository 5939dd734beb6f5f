"""Plan to Linux: text for tc, ip, bridge, ethtool and linuxptp, and their output back to facts."""

from tsnbench.linux.limits import Problem, problems
from tsnbench.linux.profile import Layout, Mode, Profile
from tsnbench.linux.readback import Difference, compare, read_links, read_qdiscs
from tsnbench.linux.refusals import explain

__all__ = [
    "Difference",
    "Layout",
    "Mode",
    "Problem",
    "Profile",
    "compare",
    "explain",
    "problems",
    "read_links",
    "read_qdiscs",
]
