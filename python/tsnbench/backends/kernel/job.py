"""What a kernel does: set up the network, capture, talk, and say how it went."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import stages
from tsnbench.backends.kernel.device import space
from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.kernel.shell import Shell, templates
from tsnbench.backends.kernel.slow_motion import dilated

if TYPE_CHECKING:
    from tsnbench.backends.kernel.device import Device
    from tsnbench.plan.types import PlanDocument

SNAP_OCTETS = 80
"""Of each frame: all headers, and the test payload with its number."""


@dataclass(frozen=True)
class Capture:
    """What is recorded at a tap."""

    number: int
    port: int
    node: int
    stage: str


def files(
    plan: PlanDocument, text: str, dilation: int, device: Device, environment: Environment | None = None
) -> dict[str, bytes]:
    """Everything in the job's folder; ``text`` is the Plan as it is hashed."""
    environment = environment or Environment()
    slower = dilated(plan, dilation)
    setup = device.setup(slower, environment, dilation)
    script = templates().get_template(device.template)
    told = script.render(
        environment=environment,
        setup=setup,
        dilation=dilation,
        # Setting up takes the guest some 10 ms a port, and programs that capture have to begin, too.
        lead_s=environment.lead_s + len(slower["ports"]) // 20 + setup.lead_s,
        whole_us=(slower["duration_ns"] + slower["drain_ns"]) // 1000 + 10_000,
        nodes=[port["node"] for port in slower["ports"]],
        captures=_captures(slower),
        snap_octets=SNAP_OCTETS,
        listeners=stages.listeners(slower),
        listening=stages.LISTENING,
        ptp4l_priority=stages.PTP4L,
        talkers=stages.talkers(slower),
        facts=json.dumps({"dilate": dilation}),
        space=lambda node: Shell(space(node)),
    )
    return {"plan.json": text.encode(), "job.sh": told.encode(), **setup.files}


def _captures(plan: PlanDocument) -> list[Capture]:
    return [
        Capture(number, tap["port"], plan["ports"][tap["port"]]["node"], tap["stage"])
        for number, tap in enumerate(plan["taps"])
        if tap["stage"] in ("tx", "rx")
    ]
