"""Facts about an interface that sending needs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import BackendError, InterfaceError

if TYPE_CHECKING:
    from tsnbench.foreign import Json

FASTEST_BPS = 10_000_000_000
"""Of an interface that does not say how fast it is: veth says 10 Gbit/s."""


def mac(interface: str) -> str:
    """The MAC address of an interface.

    Raises:
        InputError: there is no such interface here.
    """
    try:
        return (_folder(interface) / "address").read_text(encoding="ascii").strip()
    except OSError:
        raise InterfaceError(
            f"{interface}: expected a network interface, found none (in this namespace)"
        ) from None


def rate_bps(interface: str) -> int:
    """The rate of an interface in bit/s."""
    try:
        mbit = int((_folder(interface) / "speed").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return FASTEST_BPS
    return mbit * 1_000_000 if mbit > 0 else FASTEST_BPS


def heeds_launch_times(interface: str, deadline: bool) -> None:
    """Checks that a queueing discipline of the interface supports launch times. tc-etf(8).

    Raises:
        InputError: none supports them. BackendError: the disciplines cannot be read on this machine.
    """
    if shutil.which("tc", path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
        raise BackendError(
            "launch times: tc is missing, so it is not known whether the kernel obeys them\n"
            "hint: apt-get install iproute2"
        )
    said = subprocess.run(
        ["tc", "-j", "qdisc", "show", "dev", interface],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"},
    )  # fmt: skip
    etf(json.loads(said.stdout or "[]"), interface, deadline)


def etf(listed: list[Json], interface: str, deadline: bool) -> None:
    """Checks for a queueing discipline with launch times in the output of ``tc -j qdisc show``.

    Raises:
        InputError: there is none.
    """
    found = [one.get("options", {}) for one in listed if one.get("kind") == "etf"]
    if not found:
        raise InterfaceError(
            f"{interface}: expected a queueing discipline with launch times (SO_TXTIME), found none\n"
            f"hint: tc qdisc replace dev {interface} parent 100:1 etf clockid CLOCK_TAI delta 200000, "
            "below mqprio; or send without launch times"
        )
    if all(_on(one.get("deadline_mode")) != deadline for one in found):
        has, meant = ("strict", "deadline") if deadline else ("deadline", "strict")
        raise InterfaceError(
            f"{interface}: its etf is in {has} mode and drops every frame of a socket in {meant} mode"
        )


def _on(flag: object) -> bool:
    return flag in (True, "on")


def _folder(interface: str) -> Path:
    name = Path(interface).name
    return Path("/sys/class/net") / (name if name == interface and name not in ("", ".", "..") else "-")
