"""The answers of an examined machine, from which findings follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from tsnbench.backends.netns import probe

FILES = (
    "/sys/class/net/*/speed",
    "/sys/class/ptp/*/clock_name",
    "/sys/devices/system/cpu/isolated",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/smt/active",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/proc/[0-9]*/comm",
)
"""All files that are read, in a shell's notation."""
SAID = ("ip -V", "pmc -u -b 0 'GET PORT_DATA_SET'", "pmc -u -b 0 'GET CURRENT_DATA_SET'")
SAID_OF_INTERFACES = ("ethtool -i", "ethtool -l", "ethtool -k", "ethtool -T")
"""All programs that are run."""


class Host:
    """An examined machine, by the answers of :func:`tsnbench.doctor.remote.script`: sections by name."""

    def __init__(self, sections: dict[str, str]) -> None:
        self.sections = sections

    def said(self, *words: str) -> str:
        """Output of a program; empty if the program is missing or prints nothing."""
        return self.sections.get(f"said {' '.join(words)}", "")

    def file(self, path: str) -> str:
        """Content of a file without white space around it; empty if it cannot be read."""
        return self.sections.get(f"file {path}", "").strip()

    def files(self, pattern: str) -> Sequence[str]:
        """Paths for a pattern, sorted."""
        names = (name.removeprefix("file ") for name in self.sections if name.startswith("file "))
        return sorted(
            name for name in names if fnmatchcase(name, pattern) and name.count("/") == pattern.count("/")
        )

    def interfaces(self) -> dict[str, int]:
        """Interfaces with their numbers of transmission queues."""
        rows = (line.split() for line in self.sections.get("interfaces", "").splitlines())
        return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}

    def has(self, program: str) -> bool:
        """Whether a program is installed."""
        return program in self.sections.get("programs", "").split()

    def privileged(self) -> bool:
        """Whether namespaces may be made."""
        found = re.search(r"^CapEff:\s*([0-9a-f]+)", self.sections.get("status", ""), re.MULTILINE)
        return bool(found and int(found[1], 16) >> 21 & 1)

    def release(self) -> str:
        """Release of the kernel."""
        return self.sections.get("release", "").strip() or "not known"

    def trials(self) -> tuple[probe.Trial, ...]:
        """The results of the kernel's tests."""
        return probe.read(self.sections.get("trials", ""))

    def tai_s(self) -> int | None:
        """TAI minus UTC."""
        said = self.sections.get("tai", "").strip()
        return int(said) if re.fullmatch(r"-?\d+", said) else None

    def processors(self) -> int | None:
        """The number of processors that tsnbench may use."""
        found = re.search(r"^Cpus_allowed:\s*([0-9a-f,]+)", self.sections.get("status", ""), re.MULTILINE)
        return int(found[1].replace(",", ""), 16).bit_count() if found else None
