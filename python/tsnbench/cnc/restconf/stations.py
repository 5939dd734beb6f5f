"""Interfaces by MAC address and name: those of end stations as requests name them, and those in reasons.

IEEE 802.1Q-2022, 46.2.3.3 (InterfaceID).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tsnbench.cnc.restconf.model import DataError

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument


_END = re.compile(r"\b(?:at|to) ([^\s,:;]+)")


@dataclass(frozen=True)
class Interface:
    """One interface of a node; ``mac`` with hyphens and capital letters."""

    node: str
    mac: str
    names: tuple[str, ...]
    """What a request may call it: the port of the Plan, ``eth1`` for the first one, or nothing."""

    def document(self) -> Json:
        """The interface for JSON."""
        return {"mac-address": self.mac, "interface-name": self.names[0]}


class Stations:
    """The interfaces of the stations and hosts of a Plan.

    Args:
        document: of the Plan. names: a device's own name for a port, where it is not ``eth1`` for the first.
    """

    def __init__(self, document: PlanDocument, names: Mapping[str, str] | None = None) -> None:
        self._found: dict[str, Interface] = {}
        self._ports: dict[str, Interface] = {}
        """Those of all nodes, by the names of ports."""
        self._ends: dict[str, Interface] = {}
        """By station its first one."""
        used = [0] * len(document["nodes"])
        for port in document["ports"]:
            used[port["node"]] += 1
            node = document["nodes"][port["node"]]
            mac, own = canonical(port["mac"]), f"eth{used[port['node']]}"
            one = Interface(node["name"], mac, (own, port["name"], ""))
            if node["kind"] != "bridge":
                self._found[mac] = one
                self._ends.setdefault(node["name"], one)
            else:
                one = replace(one, names=((names or {}).get(port["name"], own),))
            self._ports[port["name"]] = one

    def all(self) -> list[Interface]:
        """Every interface that a request can name."""
        return list(self._found.values())

    def named(self, text: str) -> list[Interface]:
        """The interfaces of the ports that a reason names, or else of the end stations in it."""
        names = [name for name in self._ports if name in text]
        # ``sw1 -> sw2`` is in ``sw1 -> sw21``, too.
        ports = [name for name in names if not any(name in other for other in names if other != name)]
        ends = [name for name in dict.fromkeys(_END.findall(text)) if name in self._ends]
        return [self._ports[name] for name in ports] or [self._ends[name] for name in ends]

    def of(self, path: str, wanted: Json) -> Interface:
        """The interface that a request names.

        Raises:
            DataError: there is none, or it has another name.
        """
        found = self._found.get(canonical(wanted["mac-address"]))
        if found is None:
            raise DataError(path, f"no end station has the address {wanted['mac-address']}")
        if wanted.get("interface-name", "") not in found.names:
            raise DataError(path, f"the interface {found.mac} has the name {found.names[0]}")
        return found


def canonical(mac: str) -> str:
    """``AA-BB-CC-DD-EE-FF``: the form of the module's type, with capital letters."""
    return mac.replace(":", "-").upper()
