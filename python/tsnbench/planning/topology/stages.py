"""Rate-latency servers instead of transmission selection, and transmit buffers behind it."""

from __future__ import annotations

from collections.abc import Mapping

from tsnbench.planning.draft import Draft, Port
from tsnbench.scenario.units import RATE


def check_stages(draft: Draft) -> None:
    """Reports ports whose server or transmit buffer is combined with a mechanism that it does not support."""
    for port in draft.ports:
        own, frames = port.shaper, transmit_buffer(port)
        found: dict[str, object] = {"gates": own.gates, "cbs": own.cbs, "cqf": own.cqf}
        whole: dict[str, object] = {"preemption": own.preemption, "qdisc": own.qdisc}
        if own.server is not None:
            queues = {
                "queues.transmit-buffer": frames if frames > 1 else None,
                "queues.longest-wait": own.queues.longest_wait if own.queues else None,
            }
            _alone(draft, port, "server", found | whole | queues)
            if own.server.rate > port.rate_bps:
                draft.problem(
                    f"shapers.{port.name}.server.rate",
                    f"at most {RATE.text(port.rate_bps)}, the rate of the link",
                    RATE.text(own.server.rate),
                )
        elif frames > 1:
            _alone(draft, port, "queues.transmit-buffer", whole)


def _alone(draft: Draft, port: Port, key: str, others: Mapping[str, object]) -> None:
    for name, given in others.items():
        if given is not None:
            draft.problem(
                f"shapers.{port.name}.{name}",
                f"no {name} beside {key} at one port",
                "both",
                f"leave {name} or {key} out for {port.name}",
            )


def transmit_buffer(port: Port) -> int:
    """Frames of a port's transmit buffer, with the one that is sent; 1 without a buffer."""
    queues = port.shaper.queues
    return 1 if queues is None else queues.transmit_buffer


def check_scheduled(draft: Draft, port: Port, path: str, what: str) -> None:
    """Reports a port whose frames may leave outside of its gate windows; ``what`` is planned there.

    ``path``: the place of what is planned.
    """
    if transmit_buffer(port) > 1:
        draft.problem(
            path,
            f"no transmit buffer at {port.name}, a port with {what}: gates do not reach its frames",
            f"{transmit_buffer(port)} frames",
            "write transmit-buffer: 1 for this port if its hardware selects a frame when the link is free",
        )
    elif port.shaper.server is not None:
        found = "a server, which may be late"
        draft.problem(path, f"no server at {port.name}, a port with {what}", found)
