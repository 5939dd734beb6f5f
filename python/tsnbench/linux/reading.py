"""Output of ethtool and pmc back to facts."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Stamping:
    """``ethtool -T``: where an interface stamps frames."""

    hardware: bool
    """Hardware timestamps in both directions."""
    software: bool
    clock: int | None
    """Number of its PTP hardware clock."""
    filters: tuple[str, ...]
    """Names of the receive filters: the arriving frames that hardware can timestamp."""


def stamping(text: str) -> Stamping:
    """Output of ``ethtool -T``; newer versions call the clock ``Hardware timestamp provider index``."""
    words = set(re.findall(r"[\w-]+", text))
    clock = re.search(r"(?:PTP Hardware Clock|provider index): (\d+)", text)
    listed = re.search(r"Hardware Receive Filter Modes:(.*)", text, re.DOTALL)
    filters = re.findall(r"^\s+([a-z][\w-]*)", listed[1], re.MULTILINE) if listed else []
    return Stamping(
        hardware={"hardware-transmit", "hardware-receive"} <= words,
        software={"software-transmit", "software-receive"} <= words,
        clock=int(clock[1]) if clock else None,
        filters=tuple(one for one in filters if one != "none"),
    )


def features(text: str) -> dict[str, bool]:
    """Output of ``ethtool -k``: the features that are on."""
    return {name: state == "on" for name, state in re.findall(r"^\s*([\w-]+): (on|off)", text, re.MULTILINE)}


def most_queues(text: str) -> int | None:
    """Output of ``ethtool -l``: how many transmission queues there can be."""
    most = text.partition("Current hardware settings")[0]
    counts = [int(number) for number in re.findall(r"^(?:TX|Combined):\s+(\d+)", most, re.MULTILINE)]
    return sum(counts) or None


def driver(text: str) -> str | None:
    """Output of ``ethtool -i``."""
    found = re.search(r"^driver: (\S+)", text, re.MULTILINE)
    return found[1] if found else None


def ports(text: str) -> list[str]:
    """Output of ``pmc 'GET PORT_DATA_SET'``: the states of ptp4l's ports."""
    return re.findall(r"portState\s+(\w+)", text)


def offset_ns(text: str) -> float | None:
    """Output of ``pmc 'GET CURRENT_DATA_SET'``: ptp4l's offset from its master."""
    found = re.search(r"offsetFromMaster\s+(-?[\d.]+)", text)
    return float(found[1]) if found else None


def queues(text: str) -> int | None:
    """Output of ``ethtool -l``: how many combined queues there are."""
    now = text.partition("Current hardware settings")[2]
    found = re.search(r"^Combined:\s+(\d+)", now, re.MULTILINE)
    return int(found[1]) if found else None


def eee(text: str) -> bool | None:
    """Output of ``ethtool --show-eee``: whether Energy Efficient Ethernet is on; None: unsupported."""
    found = re.search(r"EEE status: (enabled|disabled)", text)
    return found[1] == "enabled" if found else None


def coalescing(text: str) -> dict[str, int]:
    """Output of ``ethtool -c``: interrupt coalescing times in us, as far as the driver reports them."""
    found = re.findall(r"^(rx-usecs|tx-usecs):\s+(\d+)\s*$", text, re.MULTILINE)
    return {name: int(value) for name, value in found}


def changeable(text: str) -> set[str]:
    """Output of ``ethtool -k``: the features that are on and can be switched off."""
    return set(re.findall(r"^\s*([\w-]+): on\s*$", text, re.MULTILINE))
