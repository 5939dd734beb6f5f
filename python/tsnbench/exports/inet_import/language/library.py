"""Types of NED: those beside the ini file, those of an INET folder, and a description of the latter."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from tsnbench import foreign
from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language import ned
from tsnbench.exports.inet_import.language.ned import Type

BRIDGES = frozenset({"TsnSwitch", "EthernetSwitch"})
STATIONS = frozenset({"TsnDevice", "StandardHost", "TsnClock", "EthernetHost", "EthernetHost2"})
SILENT = frozenset({
    "ScenarioManager", "PcapRecorder", "ModuleDump", "LifecycleController", "ThruputMeter",
    "IIntegratedVisualizer", "IL3NetworkConfigurator", "INetworkConfigurator", "IGateScheduleConfigurator",
    "Ipv4NetworkConfigurator", "Ipv6FlatNetworkConfigurator", "MacForwardingTableConfigurator",
    "IntegratedCanvasVisualizer", "IntegratedMultiCanvasVisualizer", "IntegratedVisualizer",
    "GateScheduleConfigurator", "StreamRedundancyConfigurator", "FailureProtectionConfigurator",
    "L2NetworkConfigurator",
})  # fmt: skip
"""Modules that are no nodes: the importer looks at the parameters of some, and none has frames."""
BUILT_IN = frozenset({"IdealChannel", "DelayChannel", "DatarateChannel"})
"""Channels of OMNeT++ itself."""
MOST_FILES = 2_000
PARENTS = 3
"""Folders above that of the ini file in which NED files are looked for."""


class Library:
    """All types by their names."""

    def __init__(self, folder: Path, more: list[Path], inet: Path | None) -> None:
        self._own: dict[str, Type] = {}
        """The nearest type of each name wins: the folder of the ini file, folders that are named, parents."""
        self._inet = inet
        self._read: dict[Path, dict[str, Type]] = {}
        count = 0
        for place in (folder, *more):
            for path in sorted(place.rglob("*.ned")):
                count += 1
                if count > MOST_FILES:
                    raise ContentError(f"{place}: expected at most {MOST_FILES} NED files, found more")
                self._add(path)
        parents = list(folder.resolve().parents)[:PARENTS]
        for parent in parents:
            for path in sorted(parent.glob("*.ned")):
                self._add(path)
        self._package = next((one for one in parents if (one / "package.ned").is_file()), None)
        """The root of the packages that the model belongs to; it is read only if a type is missing."""
        text = (Path(__file__).parent / "library.ned").read_text(encoding="utf-8")
        self._given = {one.name: one for one in ned.parse(text, "library.ned")}

    def _add(self, path: Path) -> None:
        for name, one in self._types(path).items():
            self._own.setdefault(name, one)

    def _types(self, path: Path) -> dict[str, Type]:
        if path not in self._read:
            text = foreign.read_text(path, ned.LARGEST_FILE)
            self._read[path] = {one.name: one for one in ned.parse(text, path.name)}
        return self._read[path]

    def find(self, name: str, inside: Type | None = None) -> Type | None:
        """A type by its name, as a type that mentions it sees it; None if there is none."""
        short = name.rpartition(".")[2]
        if inside is not None and "." not in name and short in inside.types:
            return inside.types[short]
        if name.startswith("inet."):
            return self._of_inet(name) or self._given.get(short) or self._own.get(short)
        if short in self._own:
            return self._own[short]
        for imported in inside.imports if inside is not None else ():
            if imported.rpartition(".")[2] in (short, "*", "**"):
                found = self._of_inet(f"{imported.rpartition('.')[0]}.{short}")
                if found is not None:
                    return found
        # A type of INET sees those of its own package.
        if inside is not None and inside.package.startswith("inet."):
            found = self._of_inet(f"{inside.package}.{short}")
            if found is not None:
                return found
        return self._given.get(short) or self._of_package(short)

    def _of_package(self, short: str) -> Type | None:
        """A type that is anywhere below the root of the model's packages."""
        if self._package is None:
            return None
        root, self._package = self._package, None
        for path in islice(sorted(root.rglob("*.ned")), MOST_FILES):
            self._add(path)
        return self._own.get(short)

    def _of_inet(self, name: str) -> Type | None:
        """A type of the INET folder; its file has its name, or is any file of its package."""
        if self._inet is None:
            return None
        *packages, short = name.split(".")
        folder = self._inet.joinpath("src", *packages)
        if not folder.is_dir() or ".." in packages:
            return None
        own = folder / f"{short}.ned"
        for path in [own] if own.is_file() else sorted(folder.glob("*.ned")):
            found = self._types(path).get(short)
            if found is not None:
                return found
        return None

    def bases(self, one: Type) -> list[Type]:
        """The type and those that it extends, nearest first.

        Raises:
            ContentError: a type extends itself, or one that is not known.
        """
        found = [one]
        while found[-1].base and found[-1].base.rpartition(".")[2] not in BUILT_IN:
            base = self.find(found[-1].base, found[-1])
            if base is None:
                last = found[-1]
                raise ContentError(
                    f"{last.file}:{last.line}: extends: expected a type that is known, found {last.base}"
                    "\n  hint: name its folder with --ned, or the folder of INET with --inet"
                )
            if any(base is other for other in found):
                raise ContentError(
                    f"{base.file}:{base.line}: extends: expected a type other than itself, found {base.name}"
                )
            found.append(base)
        return found

    def kind(self, name: str, inside: Type) -> tuple[str, list[Type]]:
        """What a submodule of a type is: bridge, station, silent, or another word; and its own types."""
        own: list[Type] = []
        short = name.rpartition(".")[2]
        while True:
            if short in BRIDGES:
                return "bridge", own
            if short in STATIONS:
                return "station", own
            if short in SILENT or short.endswith(("Visualizer", "Configurator")):
                return "silent", own
            found = self.find(name, own[-1] if own else inside)
            if found is None or found in own or not found.base:
                return "unknown", own
            own.append(found)
            name = found.base
            short = name.rpartition(".")[2]
