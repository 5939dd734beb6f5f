"""End stations by MAC address and interface name, as requests name them.

IEEE 802.1Q-2022, 46.2.3.3 (InterfaceID).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.cnc.restconf.model import DataError

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument


@dataclass(frozen=True)
class Interface:
    """One interface of an end station; ``mac`` with hyphens and capital letters."""

    node: str
    mac: str
    names: tuple[str, ...]
    """What a request may call it: the port of the Plan, ``eth1`` for the first one, or nothing."""

    def document(self) -> Json:
        """The interface for JSON."""
        return {"mac-address": self.mac, "interface-name": self.names[0]}


class Stations:
    """The interfaces of the stations and hosts of a Plan."""

    def __init__(self, document: PlanDocument) -> None:
        self._found: dict[str, Interface] = {}
        used = [0] * len(document["nodes"])
        for port in document["ports"]:
            used[port["node"]] += 1
            node = document["nodes"][port["node"]]
            if node["kind"] != "bridge":
                mac = canonical(port["mac"])
                names = (f"eth{used[port['node']]}", port["name"], "")
                self._found[mac] = Interface(node["name"], mac, names)

    def all(self) -> list[Interface]:
        """Every interface that a request can name."""
        return list(self._found.values())

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
