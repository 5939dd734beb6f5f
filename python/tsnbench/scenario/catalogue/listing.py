"""The catalogue for reading: one line per name."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.catalogue.devices import ENDINGS, described, devices
from tsnbench.scenario.catalogue.hosts import host_profiles
from tsnbench.scenario.catalogue.read import gate_lists, patterns, printed, sr_classes
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.scenario.kinds.by_pcp import pcp_to_class
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.units import DURATION, RATE, SHARE


def entries() -> Iterator[tuple[str, str]]:
    """Name and description of everything that a scenario can name instead of numbers."""
    for name, sr in sr_classes().items():
        limits = sr.requirements
        words = [f"PCP {sr.pcp}"]
        words += [f"delay {DURATION.text(limits.delay)}"] if limits.delay is not None else ["no limits"]
        words += [f"jitter {DURATION.text(limit.limit)}" for limit in limits.jitter]
        words += ["no frame lost"] if limits.loss_ppm == 0 else []
        yield name, ", ".join(words)
    for name, classes in pcp_to_class().items():
        yield name, "class of PCP 0 to 7: " + " ".join(str(traffic) for traffic in classes)
    rows = printed()
    for name, fields in patterns().items():
        note = " (see the note in its data file)" if "note" in rows[name] else ""
        yield name, f"{rows[name]['name']}: {', '.join(_words(fields))}{note}"
    for name, gates in gate_lists().items():
        slots = " | ".join(" ".join(str(pcp) for pcp in slot) for slot in gates.slots)
        guard = f", guard band {DURATION.text(gates.guard_ns)}" if gates.guard_ns is not None else ""
        yield name, f"open PCPs {slots}; slot {DURATION.text(gates.slot_ns)}{guard}"
    for name, profile in host_profiles().items():
        yield name, f"software of a host: {profile.source}"
    yield from device_entries()


def device_entries(folder: Path | None = None) -> Iterator[tuple[str, str]]:
    """Name and description of devices, then those of a folder of one's own, by their paths.

    A file of the folder that describes no device has its first mistake as its text.
    """
    for name, device in devices().items():
        yield name, f"hardware: {'; '.join(_limits(device))}"
    for path in sorted(folder.iterdir()) if folder is not None else ():
        if path.suffix.lower() in ENDINGS and path.is_file():
            try:
                yield str(path), f"hardware: {'; '.join(_limits(described(str(path))))}"
            except ScenarioErrors as error:
                yield str(path), f"no description of a device: {str(error).splitlines()[0]}"


def _words(fields: Fields) -> Iterator[str]:
    yield str(fields["class"]) if "class" in fields else f"PCP {fields['pcp']}"
    if "period" in fields:
        yield f"every {DURATION.text(fields['period'])}"
    if "poisson" in fields:
        yield f"Poisson at {RATE.text(fields['poisson']['rate'])}"
    for size in ("frame", "phy", "payload"):
        if size in fields:
            yield f"{size} {fields[size]} B"
    if "units" in fields:
        mean, deviation = _mean(fields["units"]["mean"]), _mean(fields["units"]["deviation"])
        yield f"units of {mean} B, deviation {deviation} B"
    if fields.get("count", 1) > 1:
        yield f"{fields['count']} flows"


def _limits(device: model.Device) -> Iterator[str]:
    """What is known of a device, what is not, and its source."""
    gates, queues, stamps = device.gates, device.queues, device.timestamps
    known = {
        "traffic classes": device.classes,
        "processing": _processing(device),
        "cut-through after": device.cut_through and f"{device.cut_through} B",
        "queues of": _depth(queues),
        "entries of a list": gates.most_entries or gates.most_entries_together,
        "granularity": gates.granularity and DURATION.text(gates.granularity),
        "shortest entry": gates.shortest_interval and DURATION.text(gates.shortest_interval),
        "cycle from": gates.shortest_cycle and DURATION.text(gates.shortest_cycle),
        "cycle up to": gates.longest_cycle and DURATION.text(gates.longest_cycle),
        "idle slopes in steps of": _steps(device.cbs),
        "history of": device.longest_history and f"{device.longest_history} sequence numbers",
        "timestamps of": stamps.granularity and DURATION.text(stamps.granularity),
    }
    if stamps.jitter is not None:
        known["jitter of timestamps"] = DURATION.text(stamps.jitter)
    if device.supports.gates is False:
        known = {name: value for name, value in known.items() if value or name not in OF_GATES}
    if said := [f"{name} {value}" for name, value in known.items() if value is not None]:
        yield ", ".join(said)
    for words, wanted in (("with", True), ("without", False)):
        if own := [name for name, has in device.supports.items() if has is wanted]:
            yield f"{words} {', '.join(own)}"
    unknown = [name for name, value in known.items() if value is None]
    unknown += [name for name, has in device.supports.items() if has is None]
    yield f"not known: {', '.join(unknown)}"
    yield f"source: {device.source}"


OF_GATES = ("entries of a list", "granularity", "shortest entry", "cycle from", "cycle up to")


def _steps(slopes: model.SlopeLimits) -> str | None:
    steps = [] if slopes.granularity is None else [RATE.text(slopes.granularity)]
    steps += [] if slopes.part_of_rate is None else [f"{SHARE.text(slopes.part_of_rate)} of the link's rate"]
    return " and ".join(steps) or None


def _depth(queues: model.Depth) -> str | None:
    frames = [] if queues.limit_frames is None else [f"{queues.limit_frames} frames"]
    octets = [] if queues.limit_octets is None else [f"{queues.limit_octets} B"]
    return " and ".join([*frames, *octets]) or None


def _processing(device: model.Device) -> str | None:
    """The time that a frame takes, with the measured intervals if it was calibrated."""
    if device.calibration is not None:
        fixed, octet = device.calibration.fixed, device.calibration.per_octet
        ends = " to ".join(DURATION.text(end) for end in fixed)
        return f"{ends} and {octet[0]} ps to {octet[1]} ps for each octet"
    if device.processing is None:
        return None
    jitter = device.processing_jitter
    if jitter is not None and jitter.file is not None:
        return f"of {Path(jitter.file).name}"
    rates = ", ".join(RATE.text(bps) for bps in device.processing_rates)
    return DURATION.text(device.processing) + (f" at {rates}" if rates else "")


def _mean(value: Any) -> str:
    return f"{float(Fraction(value)):g}"
