"""The job of a kernel: it sets up the network, captures, runs talkers, and reports the results."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import stages
from tsnbench.backends.kernel.device import space
from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.kernel.shell import Shell, names_a_moment, templates
from tsnbench.plan.frames import CAPTURED_OCTETS
from tsnbench.plan.slow_motion import dilated

if TYPE_CHECKING:
    from tsnbench.backends.kernel.device import Device
    from tsnbench.plan.types import PlanDocument

LEAST_LEAD_S = 2
"""Time from the moment when all programs are ready to the Plan's zero; up to a second of it may be lost."""
PATIENCE_S = 60
"""Time limit for captures to begin, and then for talkers and listeners to be ready."""


@dataclass(frozen=True)
class Capture:
    """The capture at a tap."""

    number: int
    port: int
    node: int
    stage: str


def files(
    plan: PlanDocument, text: str, dilation: int, device: Device, environment: Environment | None = None
) -> dict[str, bytes]:
    """All files of the job's folder; ``text`` is the Plan that its hash is of."""
    captures = _captures(plan)
    environment = environment or Environment()
    slower = dilated(plan, dilation)
    setup = device.setup(slower, environment, dilation)
    batches = [(name, *batch) for name, own in setup.namespaces.items() for batch in own.batches()]
    # Qdiscs last: a link that comes up after its qdisc resets taprio, whose timer then stops (Linux 6.12).
    batches.sort(key=lambda batch: batch[1] == "tc")
    timed = [batch for batch in batches if device.zero_last and names_a_moment(batch[-1])]
    listeners, talkers = stages.listeners(slower), stages.talkers(slower)
    script = templates().get_template(device.template)
    told = script.render(
        environment=environment,
        setup=setup,
        dilation=dilation,
        batches=[batch for batch in batches if batch not in timed],
        timed=timed,
        # The set-up takes the guest some 10 ms per port, and programs also need time to begin.
        lead_s=environment.lead_s + len(slower["ports"]) // 20,
        whole_us=(slower["duration_ns"] + slower["drain_ns"]) // 1000 + 10_000,
        nodes=[port["node"] for port in slower["ports"]],
        captures=captures,
        snap_octets=CAPTURED_OCTETS,
        least_lead_s=LEAST_LEAD_S,
        patience_s=PATIENCE_S,
        listeners=listeners,
        listening=stages.LISTENING,
        ptp4l_priority=stages.PTP4L,
        talkers=talkers,
        programs=len(listeners) + len(talkers) + len(setup.steps),
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
