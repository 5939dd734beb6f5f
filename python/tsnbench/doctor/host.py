"""The sources of findings: this machine, or another one over ssh."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from tsnbench.backends.netns import probe, sandbox

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


class Host(Protocol):
    """The interface of an examined machine."""

    def said(self, *words: str) -> str:
        """Output of a program; empty if the program is missing or prints nothing."""

    def file(self, path: str) -> str:
        """Content of a file without white space around it; empty if it cannot be read."""

    def files(self, pattern: str) -> Sequence[str]:
        """Paths for a pattern, sorted."""

    def interfaces(self) -> dict[str, int]:
        """Interfaces with their numbers of transmission queues."""

    def has(self, program: str) -> bool:
        """Whether a program is installed."""

    def privileged(self) -> bool:
        """Whether namespaces may be made."""

    def release(self) -> str:
        """Release of the kernel."""

    def trials(self) -> tuple[probe.Trial, ...]:
        """The results of the kernel's tests."""

    def tai_s(self) -> int | None:
        """TAI minus UTC."""

    def processors(self) -> int | None:
        """The number of processors that tsnbench may use."""


class Here:
    """This machine."""

    def said(self, *words: str) -> str:
        found = shutil.which(words[0], path=sandbox.PATH)
        if found is None:
            return ""
        try:
            done = subprocess.run(
                [found, *words[1:]], capture_output=True, text=True, errors="replace", timeout=5, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout if done.returncode == 0 else ""

    def file(self, path: str) -> str:
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def files(self, pattern: str) -> Sequence[str]:
        return sorted(map(str, Path("/").glob(pattern.lstrip("/"))))

    def interfaces(self) -> dict[str, int]:
        folders = sorted(path for path in Path("/sys/class/net").iterdir() if path.is_dir())
        return {path.name: len(list((path / "queues").glob("tx-*"))) for path in folders}

    def has(self, program: str) -> bool:
        return shutil.which(program, path=sandbox.PATH) is not None

    def privileged(self) -> bool:
        return sandbox.privileged()

    def release(self) -> str:
        return os.uname().release

    def trials(self) -> tuple[probe.Trial, ...]:
        return probe.probe()

    def tai_s(self) -> int | None:
        return round(time.clock_gettime(time.CLOCK_TAI) - time.clock_gettime(time.CLOCK_REALTIME))

    def processors(self) -> int | None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


class Told:
    """Another machine, by the results of :func:`tsnbench.doctor.remote.ask`: sections by name."""

    def __init__(self, sections: dict[str, str]) -> None:
        self.sections = sections

    def said(self, *words: str) -> str:
        return self.sections.get(f"said {' '.join(words)}", "")

    def file(self, path: str) -> str:
        return self.sections.get(f"file {path}", "").strip()

    def files(self, pattern: str) -> Sequence[str]:
        names = (name.removeprefix("file ") for name in self.sections if name.startswith("file "))
        return sorted(
            name for name in names if fnmatchcase(name, pattern) and name.count("/") == pattern.count("/")
        )

    def interfaces(self) -> dict[str, int]:
        rows = (line.split() for line in self.sections.get("interfaces", "").splitlines())
        return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}

    def has(self, program: str) -> bool:
        return program in self.sections.get("programs", "").split()

    def privileged(self) -> bool:
        found = re.search(r"^CapEff:\s*([0-9a-f]+)", self.sections.get("status", ""), re.MULTILINE)
        return bool(found and int(found[1], 16) >> 21 & 1)

    def release(self) -> str:
        return self.sections.get("release", "").strip() or "not known"

    def trials(self) -> tuple[probe.Trial, ...]:
        return probe.read(self.sections.get("trials", ""))

    def tai_s(self) -> int | None:
        said = self.sections.get("tai", "").strip()
        return int(said) if re.fullmatch(r"-?\d+", said) else None

    def processors(self) -> int | None:
        found = re.search(r"^Cpus_allowed:\s*([0-9a-f,]+)", self.sections.get("status", ""), re.MULTILINE)
        return int(found[1].replace(",", ""), 16).bit_count() if found else None
