"""What was told to ``tc`` beside what the kernel says that it does.

tc(8): only what decides when a frame leaves is compared; counters and defaults are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tsnbench.backends.kernel.site import GUEST, Abilities
from tsnbench.backends.kernel.topology import build
from tsnbench.linux.readback import Difference, Qdisc, read_qdiscs

_NUMBERS = {
    "pfifo": ("limit",),
    "cbs": ("idleslope", "sendslope", "hicredit", "locredit"),
}


def differences(
    plan: dict[str, Any], listed: Mapping[str, str], dilate: int, can: Abilities = GUEST
) -> list[Difference]:
    """Of each qdisc that was asked for; ``listed`` is the output of ``tc -j -s qdisc`` by namespace."""
    found: list[Difference] = []
    for space, own in build(plan, dilate, can=can).items():
        if space not in listed:
            continue
        there = {(one.device, one.handle): one for one in read_qdiscs(listed[space])}
        roots = {one.device: one for one in there.values() if one.parent is None}
        for line in own.tc:
            if line.startswith("qdisc ") and "clsact" not in line:
                found += _compare(plan, line, there, roots)
    return found


def _compare(
    plan: dict[str, Any], line: str, there: dict[tuple[str, str], Qdisc], roots: dict[str, Qdisc]
) -> Iterator[Difference]:
    device = _word(line, "dev") or ""
    handle = _word(line, "handle")
    tail = re.split(r" handle \S+ | root (?=netem)", line)[-1]
    kind, _, options = tail.partition(" ")
    one = there.get((device, handle.rstrip(":") + ":")) if handle else roots.get(device)
    where = f"{device} {handle or 'root'}"
    if one is None or one.kind != kind:
        yield Difference(where, "its kind", kind, one.kind if one else "nothing")
        return
    for name in _NUMBERS.get(kind, ()):
        meant, found = _word(options, name), one.options.get(name)
        if meant is not None and str(found) != meant:
            yield Difference(where, name, meant, str(found))
    if kind == "taprio":
        yield from _gates(where, options, one)
    if kind == "netem" and not plan.get("faults"):
        meant_bps = int((_word(options, "rate") or "0bit").removesuffix("bit"))
        found_bps = int(one.options.get("rate", {}).get("rate", 0)) * 8
        # The kernel counts whole octets per second.
        if abs(meant_bps - found_bps) > 8:
            yield Difference(where, "rate", f"{meant_bps} bit/s", f"{found_bps} bit/s")


def _gates(where: str, options: str, one: Qdisc) -> Iterator[Difference]:
    meant = [
        (int(mask, 16), int(interval))
        for mask, interval in re.findall(r"sched-entry S ([0-9a-f]+) (\d+)", options)
    ]
    running = one.options if one.options.get("schedule") else one.options.get("admin") or {}
    found = [(int(str(row["gatemask"]), 16), int(row["interval"])) for row in running.get("schedule") or ()]
    if meant != found:
        yield Difference(where, "gates", json.dumps(meant), json.dumps(found))
    cycle = _word(options, "cycle-time")
    if cycle is not None and str(one.options.get("cycle_time")) != cycle:
        yield Difference(where, "running cycle", f"{cycle} ns", f"{one.options.get('cycle_time')} ns")


def _word(line: str, name: str) -> str | None:
    """The word behind another one."""
    words = line.split()
    return words[words.index(name) + 1] if name in words[:-1] else None
