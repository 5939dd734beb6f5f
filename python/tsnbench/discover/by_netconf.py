"""The running state of a device with NETCONF: its YANG data as the settings that hosts report by commands.

IEEE 802.1Q-2022, 48.6.2 (bridge), 48.6.10 (sched), 48.6.11 (preemption); IEEE 802.1Qcw-2023. What no module
has is named as unread: a port counts as one with a link, so that wires to it are found.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench.deploy import PASSWORD, Access
from tsnbench.deploy.deploy import address
from tsnbench.deploy.device import DeviceError, connect
from tsnbench.discover.gate_times import gate_times
from tsnbench.discover.running import RunningHost, RunningPort, Shaping
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts.devices import user_of

if TYPE_CHECKING:
    from tsnbench.deploy.tree import Node
    from tsnbench.discover.gate_times import Span
    from tsnbench.hosts.inventory.types import Device

PRIORITIES = 8
IS_ON = {"true": True, "false": False}
NO_MODULE = "whether its ports have a link, their rates, and what their queues hold: its modules do not say"


@dataclass(frozen=True)
class Answer:
    """What a device said, or why it said nothing."""

    state: RunningHost | None
    why: str = ""


def ask(device: Device, access: Access | None = None) -> Answer:
    """Reads the configuration of a device by NETCONF; nothing is changed there.

    Args:
        device: of the inventory.
        access: by default the user of the inventory, with the password of the environment or a key.
    """
    access = access or Access(user_of(device), os.environ.get(PASSWORD))
    try:
        session = connect(device.name, *address(device.netconf.rpartition("@")[2], device.name), access)
        try:
            with contextlib.suppress(DeviceError):
                # It may be read although it cannot be configured.
                session.look()
            return Answer(state(device.name, session.has().full))
        finally:
            session.close()
    except (BackendError, InputError) as error:
        return Answer(None, str(error))


def state(name: str, config: Node) -> RunningHost:
    """The settings in the data of a device's modules."""
    unread = [NO_MODULE]
    vids = [
        _number(one, "vid") for one in _below(config, "bridges", "bridge", "component", "bridge-vlan", "vlan")
    ]
    ports = {}
    for entry in _below(config, "interfaces", "interface"):
        own, called = _child(entry, "bridge-port"), _text(entry, "name")
        shaping = None
        if own is not None:
            try:
                shaping = _shaping(own)
            except (ValueError, ZeroDivisionError, IndexError) as error:
                unread.append(f"{called}: its traffic classes or gates cannot be read ({error})")
        ports[called] = RunningPort(
            name=called,
            mac="",
            up=_text(entry, "enabled") != "false",
            carrier=True,
            mtu=0,
            kind="",
            driver=None,
            rate_bps=None,
            master="" if own is None else _text(own, "bridge-name") or name,
            vlans=None if own is None else dict.fromkeys(filter(None, vids), False),
            ingress=None if own is None else IS_ON.get(_text(own, "enable-ingress-filtering")),
            root="" if shaping is None else shaping.kind,
            shaping=shaping,
        )
    if not ports:
        unread.append("its modules have no interfaces")
    return RunningHost(name, ports, addresses=dict(_addresses(config)), unread=tuple(unread))


def _shaping(own: Node) -> Shaping | None:
    """Traffic classes, gates and shapers of a port of a bridge; None without traffic classes.

    Raises:
        ValueError: a value is no number, or of no class.
    """
    table = next(_below(own, "traffic-class", "traffic-class-table"), None)
    if table is None:
        return None
    class_of = tuple(_number(table, f"priority{pcp}") for pcp in range(PRIORITIES))
    count = _number(table, "number-of-traffic-classes") or max(class_of) + 1
    if not max(class_of) < count <= PRIORITIES:
        raise ValueError(f"{count} traffic classes")
    found = Shaping("mqprio", class_of, (None,) * count, bandwidths=dict(_bandwidths(own)))
    status = next(_below(own, "frame-preemption-parameters", "frame-preemption-status-table"), None)
    if status is not None:
        cut = {class_of[pcp] for pcp in range(PRIORITIES) if _text(status, f"priority{pcp}") == "preemptable"}
        found = replace(found, preemptable=tuple(number in cut for number in range(count)))
    gates = _child(own, "gate-parameter-table")
    return found if gates is None else _gates(found, gates)


def _gates(found: Shaping, table: Node) -> Shaping:
    units = {
        _number(one, "traffic-class"): _number(one, "queue-max-sdu")
        for one in _all(table, "queue-max-sdu-table")
    }
    count = len(found.queues)
    found = replace(found, max_sdu=tuple(units.get(number, 0) for number in range(count)))
    rows = sorted(
        _below(table, "admin-control-list", "gate-control-entry"), key=lambda one: _number(one, "index")
    )
    if _text(table, "gate-enabled") != "true" or not rows:
        return found
    entries = tuple(
        (_number(one, "gate-states-value") & (1 << count) - 1, _number(one, "time-interval-value"))
        for one in rows
    )
    cycle, base = _child(table, "admin-cycle-time"), _child(table, "admin-base-time")
    cycle_ns = (
        0
        if cycle is None
        else int(Fraction(_number(cycle, "numerator"), _number(cycle, "denominator")) * 10**9)
    )
    base_ns = 0 if base is None else _number(base, "seconds") * 10**9 + _number(base, "nanoseconds")
    spans: list[Span] = [
        (length, frozenset(number for number in range(count) if mask >> number & 1))
        for mask, length in entries
    ]
    whole = cycle_ns or sum(length for _, length in entries)
    return replace(
        found,
        kind="taprio",
        gates=gate_times(base_ns, whole, spans),
        entries=entries,
        base_ns=base_ns,
        cycle_ns=whole,
        extension_ns=_number(table, "admin-cycle-time-extension"),
    )


def _bandwidths(own: Node) -> Iterator[tuple[int, int]]:
    for one in _below(own, "cbsa", "cbsa-parameter-table"):
        yield _number(one, "traffic-class"), _number(one, "admin-idle-slope")


def _addresses(config: Node) -> Iterator[tuple[tuple[str, int], frozenset[str]]]:
    """Static addresses with the numbers of their ports: the modules do not say which interface has one."""
    for one in _below(config, "bridges", "bridge", "component", "filtering-database", "filtering-entry"):
        mac = _text(one, "address").lower().replace("-", ":")
        numbers = frozenset(f"port {_text(row, 'port-ref')}" for row in _all(one, "port-map"))
        vids = _text(one, "vids")
        if mac and vids.isdecimal():
            yield (mac, int(vids)), numbers


def _all(node: Node, name: str) -> list[Node]:
    return [one for one in node.children if one.name == name]


def _below(node: Node, *names: str) -> Iterator[Node]:
    """All elements at the end of a path of names."""
    found: Sequence[Node] = [node]
    for name in names:
        found = [one for parent in found for one in _all(parent, name)]
    yield from found


def _child(node: Node, name: str) -> Node | None:
    return next(iter(_all(node, name)), None)


def _text(node: Node, name: str) -> str:
    found = _child(node, name)
    return "" if found is None else found.value


def _number(node: Node, name: str) -> int:
    """A leaf as a whole number; 0 where it is missing."""
    return int(_text(node, name) or 0)
