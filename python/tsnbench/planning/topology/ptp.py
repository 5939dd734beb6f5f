"""The links over which PTP forwards time, the roles of ports, and the participants of an election."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Port
from tsnbench.planning.parts import without_none
from tsnbench.planning.routing.routes import shortest_paths
from tsnbench.planning.select import select
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Bmca, ClockFault, ClockQuality, Gptp, Ieee1588, Servo, Span


def gptp_document(draft: Draft, gptp: model.Gptp) -> Gptp:
    """The Plan's gPTP, without the parts that gPTP with configured roles does not need."""
    links = _links(draft, gptp)
    if gptp.grandmaster is not None:
        grandmaster = draft.node_numbers[gptp.grandmaster]
    else:
        grandmaster = _best(draft, gptp, links)
    return without_none(
        {
            "grandmaster": grandmaster,
            "slaves": [] if gptp.bmca else _slaves(draft, links, grandmaster),
            "sync_interval_ns": gptp.sync_interval,
            "pdelay_interval_ns": gptp.pdelay_interval,
            "pcp": gptp.pcp,
            "wakeup_ns": gptp.wakeup,
            "ieee_1588": gptp.ieee_1588 and _ieee_1588(draft, gptp.ieee_1588),
            "one_step": gptp.one_step or None,
            "visible": gptp.visible or None,
            "servo": gptp.servo and _servo(gptp.servo),
            "bmca": gptp.bmca and _bmca(draft, gptp.bmca, links),
        }
    )


def ports_with_messages(draft: Draft, gptp: model.Gptp) -> list[int]:
    """The ports that PTP's messages leave by."""
    document = gptp_document(draft, gptp)
    if "bmca" in document:
        return document["bmca"]["ports"]
    return sorted({number for slave in document["slaves"] for number in (slave, draft.ports[slave].peer)})


def _ieee_1588(draft: Draft, own: model.Ieee1588) -> Ieee1588:
    transparent = sorted(draft.node_numbers[name] for name in own.transparent)
    return without_none({"delay": own.delay, "transparent": transparent or None})


def _bmca(draft: Draft, bmca: model.Bmca, links: Sequence[Port]) -> Bmca:
    return {
        "ports": [port.number for port in links],
        "clocks": [_quality(bmca, node.name) for node in draft.nodes],
        "announce_interval_ns": bmca.announce_interval,
        "announce_receipt_timeout": bmca.announce_receipt_timeout,
        "sync_receipt_timeout": bmca.sync_receipt_timeout,
    }


def clock_faults(draft: Draft, clocks: model.Clocks) -> list[ClockFault]:
    """A fault without an end lasts as long as frames may arrive; a fault that begins later is left out."""
    end = draft.scenario.duration + draft.scenario.drain
    documents: list[ClockFault] = []
    for fault in clocks.faults:
        if fault.at >= end:
            continue
        node = draft.node_numbers[fault.node]
        if isinstance(fault, model.ClockStep):
            documents.append({"kind": "clock-step", "node": node, "at_ns": fault.at, "by_ns": fault.by})
            continue
        until = end if fault.duration is None else min(fault.at + fault.duration, end)
        span: Span = {"from_ns": fault.at, "until_ns": until}
        if isinstance(fault, model.FrequencyJump):
            documents.append({"kind": "frequency-jump", "node": node, **span, "by_ppt": fault.by})
        else:
            documents.append({"kind": "ptp-down", "node": node, **span})
    return documents


def _links(draft: Draft, gptp: model.Gptp) -> Sequence[Port]:
    """The ports that take part, each with its peer, in order."""
    if not gptp.links:
        return draft.ports
    chosen: set[int] = set()
    for place, text in enumerate(gptp.links):
        kind = "gptp" if gptp.ieee_1588 is None else "ptp"
        for port in select(draft, text, f"clocks.{kind}.links[{place}]"):
            chosen |= {port.number, port.peer}
    return [port for port in draft.ports if port.number in chosen]


def _slaves(draft: Draft, links: Sequence[Port], grandmaster: int) -> list[int]:
    towards: dict[tuple[int, int], int] = {}
    neighbours: list[set[int]] = [set() for _ in draft.nodes]
    for port in links:
        towards.setdefault((port.node, port.to), port.number)
        neighbours[port.node].add(port.to)
    forwards = [node.forwards for node in draft.nodes]
    tree = shortest_paths(forwards, [sorted(near) for near in neighbours], grandmaster)
    # Parents come before children: the tree is in the order of the search.
    return [towards[node, parent] for node, parent in tree.items() if node != grandmaster]


def _best(draft: Draft, gptp: model.Gptp, links: Sequence[Port]) -> int:
    """The elected node without faults, if all nodes are linked."""
    assert gptp.bmca is not None
    transparent = gptp.ieee_1588.transparent if gptp.ieee_1588 else ()
    taking_part = {port.node for port in links}
    candidates = []
    for number, node in enumerate(draft.nodes):
        quality = _quality(gptp.bmca, node.name)
        if number in taking_part and node.name not in transparent and quality["priority1"] < 255:
            candidates.append((*_rank(quality), number))
    if not candidates:
        draft.problem("clocks", "a node that may be grandmaster: priority1 below 255", "none")
        return 0
    return min(candidates)[-1]


def _rank(quality: ClockQuality) -> tuple[int, int, int, int, int]:
    """The fields in the order of comparison."""
    announced = (quality["class"], quality["accuracy"], quality["variance"])
    return (quality["priority1"], *announced, quality["priority2"])


def _quality(bmca: model.Bmca, name: str) -> ClockQuality:
    quality = bmca.own.get(name, bmca.default)
    return {
        "priority1": quality.priority1,
        "class": quality.clock_class,
        "accuracy": quality.clock_accuracy,
        "variance": quality.variance,
        "priority2": quality.priority2,
    }


def _servo(servo: model.Servo) -> Servo:
    """Scales, exponents and norms have the names of the Plan."""
    values = {name: value for name, value in servo.items() if name.startswith("pi_")}
    return without_none(
        {
            **values,
            "first_step_threshold_ns": servo.first_step_threshold,
            "step_threshold_ns": servo.step_threshold,
            "max_frequency_ppb": servo.max_frequency // 1_000,
        }
    )
