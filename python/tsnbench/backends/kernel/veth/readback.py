"""Compares the requests to ``tc`` with the kernel's report.

tc(8): only settings that decide when a frame leaves are compared; counters and defaults are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.veth.htb import Element
from tsnbench.linux.qdiscs import HANDLE, Qdisc, Root
from tsnbench.linux.readback import Difference, ReportedQdisc, compare_options

if TYPE_CHECKING:
    from tsnbench.backends.kernel.veth.cables import Wire


def compare_port(
    device: str, elements: Sequence[Element], reported: Sequence[ReportedQdisc]
) -> Iterator[Difference]:
    """The qdiscs of a port."""
    by_handle = {one.handle: one for one in reported if one.device == device}
    for one in elements:
        if not isinstance(one, Root | Qdisc):
            continue
        handle = f"{HANDLE}:" if isinstance(one, Root) else one.handle
        where, found = f"{device} {handle}", by_handle.get(handle)
        if found is None or found.kind != one.kind:
            yield Difference(where, "its kind", one.kind, found.kind if found else "nothing")
        elif isinstance(one, Root):
            yield from _gates(where, one, found)
        elif one.kind in ("pfifo", "cbs"):
            yield from compare_options(where, one.options, found)


def compare_wire(wire: Wire, reported: Sequence[ReportedQdisc], *, changes: bool) -> Iterator[Difference]:
    """Compares a wire; its rate is left out if faults change it."""
    found = next((one for one in reported if one.device == wire.device and one.parent is None), None)
    where = f"{wire.device} root"
    if found is None or found.kind != "netem":
        yield Difference(where, "its kind", "netem", found.kind if found else "nothing")
        return
    found_bps = int(found.options.get("rate", {}).get("rate", 0)) * 8
    # The kernel counts whole octets per second.
    if not changes and abs(wire.rate_bps - found_bps) > 8:
        yield Difference(where, "rate", f"{wire.rate_bps} bit/s", f"{found_bps} bit/s")


def _gates(where: str, root: Root, found: ReportedQdisc) -> Iterator[Difference]:
    requested = [(mask, interval) for _, mask, interval in root.entries]
    running = [(mask, interval) for _, mask, interval in found.schedule]
    if requested != running:
        yield Difference(where, "gates", json.dumps(requested), json.dumps(running))
    cycle = found.options.get("cycle_time")
    if cycle != root.cycle_time:
        yield Difference(where, "running cycle", f"{root.cycle_time} ns", f"{cycle} ns")
