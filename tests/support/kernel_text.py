"""Plans of small scenarios, and the configuration of a kernel for them, as text."""

from __future__ import annotations

import subprocess

from tsnbench.backends.kernel.device import Device, Namespace, Step
from tsnbench.backends.kernel.environment import Capabilities, Environment
from tsnbench.backends.kernel.job import files
from tsnbench.backends.kernel.port_traffic import port_traffic
from tsnbench.backends.kernel.shell import after_epoch
from tsnbench.backends.kernel.tsnport import shaping as tsnport_shaping
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.kernel.veth import shaping as veth_shaping
from tsnbench.linux import qdiscs
from tsnbench.plan.document import Plan
from tsnbench.plan.slow_motion import dilated
from tsnbench.plan.types import PlanDocument

ALL = Capabilities()
POOR = Capabilities(
    qdiscs=frozenset(("htb", "pfifo", "clsact")),
    filters=frozenset(("u32", "bpf")),
    actions=frozenset(("mirred",)),
    bridge_vlans=False,
)
"""A kernel without netem, prio, flower, and VLANs in bridges."""


def port_of(plan: PlanDocument, name: str) -> int:
    """The number of a port."""
    return next(number for number, port in enumerate(plan["ports"]) if port["name"] == name)


def script_of(plan: Plan, device: Device, dilation: int = 1, own: Environment | None = None) -> str:
    """The script of a job; nothing of the Plan is unsupported."""
    assert unsupported(plan.document, device) == []
    return files(plan.document, plan.to_json(), dilation, device, own)["job.sh"].decode()


def understood(script: str) -> None:
    """Checks that a shell reads the script."""
    checked = subprocess.run(["sh", "-n"], input=script.encode(), capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr


def namespaces(
    plan: PlanDocument, device: Device = VETH, dilation: int = 1, can: Capabilities = ALL
) -> dict[str, Namespace]:
    """The lines of each namespace."""
    return device.setup(dilated(plan, dilation), Environment(can=can), dilation).namespaces


def steps(plan: PlanDocument, dilation: int = 1, can: Capabilities = ALL) -> list[Step]:
    """The steps at veth interfaces during the Plan, in the kernel's time."""
    found = VETH.setup(dilated(plan, dilation), Environment(can=can), dilation).steps
    return [step for one in found for step in one.steps]


def veth_port(plan: PlanDocument, number: int, dilation: int = 1, can: Capabilities = ALL) -> list[str]:
    """The qdiscs of a veth interface."""
    slower = dilated(plan, dilation)
    elements = veth_shaping.shape(slower["ports"][number], port_traffic(slower)[number], can)
    return veth_shaping.lines(f"p{number}", elements)


def tsnport_port(plan: PlanDocument, number: int) -> list[str]:
    """The qdiscs of a port of the guest's device."""
    how = tsnport_shaping.profile(plan)
    root, children = tsnport_shaping.shape(plan["ports"][number], port_traffic(plan)[number], how)
    return qdiscs.lines(root, children, f"p{number}", after_epoch)
