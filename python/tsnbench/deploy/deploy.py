"""Configures devices with a Plan, and restores their earlier configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.deploy import record as records
from tsnbench.deploy.at_once import at_once
from tsnbench.deploy.changes import Change, Has, changes, same, words
from tsnbench.deploy.cut_over import CutOver, begins, starts, still_waiting, unlike
from tsnbench.deploy.device import PORT, Access, AccessError, Device, DeviceError, connect
from tsnbench.deploy.sessions import Sessions
from tsnbench.deploy.supported_modules import Missing, restricted_to, unknown_leaves, without
from tsnbench.deploy.transaction import Between, Job, RefusedError, carry_out
from tsnbench.deploy.tree import Node, read
from tsnbench.errors import BackendError, InputError
from tsnbench.exports.yang_check import check
from tsnbench.plan.document import content_hash
from tsnbench.plan.network import Network, file_name
from tsnbench.plan.notes import Notes
from tsnbench.yang import files as yang_files

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument


@dataclass(frozen=True)
class Target:
    """The device of a node."""

    node: str
    host: str
    port: int = PORT


@dataclass
class Outcome:
    """The result of a deployment, or of its rehearsal."""

    done: bool
    changes: dict[str, list[str]]
    """The changes in words, by node; empty for a device that has the requested configuration already."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """The parts of the Plan that the devices' modules cannot express, by node."""
    notes: list[str] = field(default_factory=list)
    """The parts of the Plan that IEEE's modules cannot express."""
    warnings: list[str] = field(default_factory=list)
    record: Path | None = None
    lists_from_ns: int | None = None
    """The latest base time of the devices' gate control lists (TAI)."""

    def document(self) -> Json:
        return {
            "done": self.done,
            "changes": self.changes,
            "left_out": self.left_out,
            "notes": self.notes,
            "warnings": self.warnings,
            "record": None if self.record is None else str(self.record),
        }


def address(text: str, option: str) -> tuple[str, int]:
    """Parses HOST, HOST:PORT, or [IPv6]:PORT.

    Raises:
        InputError: it is none of these.
    """
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.%\w]+)\]|([^:\[\]\s/]+))(?::([0-9]{1,5}))?", text)
    if not found or not 0 < int(found[3] or PORT) < 65536:
        raise InputError(f"{option}: expected HOST, HOST:PORT or [IPV6]:PORT, found {text}")
    return found[1] or found[2], int(found[3] or PORT)


def targets(document: PlanDocument, default: str | None, nodes: Iterable[str]) -> list[Target]:
    """The devices of nodes: `NAME=HOST[:PORT]`. `NAME` alone, or a Plan's only bridge, is at the default
    address.

    Raises:
        InputError: a node is not in the Plan, or the address of a node is ambiguous.
    """
    names = [one["name"] for one in document["nodes"]]
    bridges = [one["name"] for one in document["nodes"] if one["kind"] == "bridge"]
    found: list[Target] = []
    for text in nodes:
        name, equals, where = text.rpartition("=") if text not in names else (text, "", "")
        if name not in names:
            raise InputError(f"--node: expected one of {', '.join(names)}, found {name or where}")
        if not equals and default is None:
            raise InputError(f"--node: expected {name}=HOST[:PORT], found {name} (without --netconf)")
        found.append(Target(name, *address(where if equals else str(default), "--node")))
    if not found:
        if default is None:
            raise InputError("expected --netconf HOST[:PORT] or --node NAME=HOST[:PORT], found neither")
        if len(bridges) != 1:
            raise InputError(
                f"--netconf: the Plan has {len(bridges)} bridges: {', '.join(bridges)}\n"
                "  hint: give the address of each bridge with --node NAME=HOST[:PORT]"
            )
        found.append(Target(bridges[0], *address(default, "--netconf")))
    for what in ("node", "host"):
        seen: set[Any] = set()
        for one in found:
            key = one.node if what == "node" else (one.host, one.port)
            if key in seen:
                raise InputError(f"--node: {one.node} at {one.host}:{one.port} is there twice")
            seen.add(key)
    return found


def deploy(
    document: PlanDocument,
    where: list[Target],
    access: Access,
    record: Path,
    *,
    interfaces: Mapping[str, str] | None = None,
    yang: Path | None = None,
    partial: bool = False,
    dry_run: bool = False,
    within_s: int = 120,
    cut: CutOver | None = None,
    fence: Callable[[], None] | None = None,
    sessions: Sessions | None = None,
) -> Outcome:
    """Gives every device its part of a Plan, reads the result back, and records the earlier configuration.

    With ``cut``, gate control lists that change begin at one instant of the future on all devices; without
    it, at each device when it commits. ``fence`` is called when all devices that change are locked, and
    raises if this process may not change them any more. Open ``sessions`` with these devices are used, and
    stay open after a success. Optional leaves that a device refuses because it does not know them are left
    out.

    Raises:
        InputError: a wrong password or key, or data that violate the modules in ``yang``.
        BackendError: a device cannot be reached, lacks modules, or refuses. All devices then have their
        earlier configuration.
    """
    if yang is not None:
        for text in _texts(document, where, interfaces, Notes("yang")).values():
            check(text, yang)
    try:
        return _once(
            document, where, access, sessions, record, {}, interfaces, partial, dry_run, within_s, cut, fence
        )
    except RefusedError as error:
        lacks = _unknown(error)
        if not lacks:
            raise
        if error.record is not None:
            error.record.unlink(missing_ok=True)
    return _once(
        document, where, access, sessions, record, lacks, interfaces, partial, dry_run, within_s, cut, fence
    )


def _once(
    document: PlanDocument,
    where: list[Target],
    access: Access,
    sessions: Sessions | None,
    record: Path,
    lacks: Mapping[str, Collection[str]],
    interfaces: Mapping[str, str] | None,
    partial: bool,
    dry_run: bool,
    within_s: int,
    cut: CutOver | None,
    fence: Callable[[], None] | None,
) -> Outcome:
    """One attempt of :func:`deploy`, without the leaves that devices lack, by node."""
    with _known(where, access, sessions) as (devices, has):
        timed = cut.choose(document, devices, has) if cut is not None and not dry_run else document
        notes = Notes("yang")
        wanted, missing = _expressible(_texts(timed, where, interfaces, notes), devices)
        outcome = Outcome(False, {}, notes=[str(note) for note in notes])
        outcome.left_out = {node: one.words() for node, one in missing.items()}
        for node, names in lacks.items():
            wanted[node] = without(wanted[node], names)
            outcome.left_out.setdefault(node, []).extend(f"the leaf {name}" for name in names)
        if missing and not partial:
            raise BackendError(
                "\n".join(f"{node}: {one}" for node, one in missing.items())
                + "\nnothing was changed on any device"
                + "\n  hint: --partial configures only what the devices' modules can express"
            )
        jobs = _jobs(devices, has, lambda device, own: changes(wanted[device.node], own), _wrong(wanted))
        outcome.changes = _in_words(devices, jobs)
        outcome.lists_from_ns = _lists_from_ns(has, jobs if cut is not None else ())
        if dry_run or not jobs:
            return outcome
        entries = [
            records.Entry(job.device.node, job.device.host, job.device.port, job.changes) for job in jobs
        ]
        kept = records.Record(document["name"], content_hash(document), "begun", entries)
        outcome.record = kept.create(record)
        outcome.warnings = _recorded(kept, outcome.record, jobs, within_s, _between(jobs, cut, fence))
        outcome.done = True
        return outcome


def _unknown(refusal: RefusedError) -> dict[str, Collection[str]]:
    """By node, the optional leaves that devices do not know, if nothing else was refused."""
    found = {node: unknown_leaves(text) for node, text in refusal.errors.items()}
    return {} if refusal.touched or not all(found.values()) else {**found}


def _texts(
    document: PlanDocument, where: Iterable[Target], interfaces: Mapping[str, str] | None, notes: Notes
) -> dict[str, str]:
    """The YANG data of the devices by node."""
    texts = yang_files.instance_data(Network(document, interfaces), notes)
    return {one.node: texts[f"{file_name(one.node)}/yang.xml"] for one in where}


def _lists_from_ns(has: Mapping[str, Has], jobs: Iterable[Job]) -> int | None:
    """The latest base time of the lists that devices have, or get."""
    lists = [*(starts(one.told) for one in has.values()), *(begins(job.changes) for job in jobs)]
    return max((at for one in lists for at in one.values()), default=None)


def _expressible(
    meant: Mapping[str, str], devices: Iterable[Device]
) -> tuple[dict[str, Node], dict[str, Missing]]:
    """By node, the part of the data that a device's modules can express, and the modules that it lacks."""
    wanted: dict[str, Node] = {}
    missing: dict[str, Missing] = {}
    for device in devices:
        wanted[device.node], gone = restricted_to(read(meant[device.node]), set(device.modules))
        if gone.modules:
            missing[device.node] = gone
    return wanted, missing


def _recorded(
    kept: records.Record, path: Path, jobs: list[Job], within_s: int, between: Between
) -> list[str]:
    """Carries the changes out, and notes in the record how they ended; returns warnings."""
    try:
        warnings = carry_out(jobs, within_s, between)
    except RefusedError as error:
        if error.left:
            kept.update(path, "broken")
            raise BackendError(f"{error}\n  hint: later, tsnbench deploy --restore {path}") from None
        kept.update(path, "taken back")
        error.record = path
        raise
    except BackendError:
        # The fence: nothing was changed.
        path.unlink(missing_ok=True)
        raise
    kept.update(path, "done")
    return warnings


def _between(jobs: Iterable[Job], cut: CutOver | None, fence: Callable[[], None] | None) -> Between:
    found = Between() if fence is None else Between(fence)
    given = {job.device: job.changes for job in jobs}
    return found if cut is None else replace(found, committed=lambda: cut.check(given))


def take_over(where: list[Target], access: Access) -> None:
    """Ends the sessions of others that have locked a device, so that they change nothing any more.

    A process that locks the devices later has to learn from its ``fence`` that it may not change them.

    Raises:
        InputError: a wrong password or key.
        BackendError: a device cannot be reached, or does not end the session.
    """
    with _connected(where, access) as devices:
        for device in devices:
            try:
                device.take()
            except DeviceError as error:
                raise BackendError(f"{device.node}: {error}") from None


def _in_words(devices: Iterable[Device], jobs: Iterable[Job]) -> dict[str, list[str]]:
    """The changes by node; empty for a device that has the requested configuration already."""
    changed = {job.device.node: [str(one) for one in job.changes] for job in jobs}
    return {device.node: changed.get(device.node, []) for device in devices}


def restore(
    path: Path, access: Access, *, nodes: Iterable[str] = (), dry_run: bool = False, within_s: int = 120
) -> Outcome:
    """Restores the recorded configuration of every device. Later changes at other places stay.

    ``nodes`` chooses some devices, as NAME or, for a device that has moved, NAME=HOST[:PORT].

    Raises:
        InputError: the file is no record, or contains no such node.
        BackendError: a device cannot be reached or refuses.
    """
    kept = records.load(path)
    entries = {one.node: one for one in kept.entries}
    where = {one.node: Target(one.node, one.host, one.port) for one in kept.entries}
    chosen = {}
    for text in nodes:
        name, equals, at = text.rpartition("=") if text not in where else (text, "", "")
        if name not in where:
            raise InputError(f"--node: expected one of {', '.join(where)}, found {name or at}")
        chosen[name] = Target(name, *address(at, "--node")) if equals else where[name]
    where = chosen or where

    def back(device: Device, has: Has) -> list[Change]:
        return [
            Change(one.path, has.told.at(one.path), one.before)
            for one in reversed(entries[device.node].changes)
            if not same(one.path, one.before, has)
        ]

    def wrong(device: Device, has: Has) -> list[str]:
        return [words(one.path) for one in back(device, has)]

    with _known(list(where.values()), access) as (devices, has):
        jobs = _jobs(devices, has, back, wrong)
        outcome = Outcome(False, _in_words(devices, jobs), record=path)
        if jobs and not dry_run:
            outcome.warnings = carry_out(jobs, within_s)
            kept.update(path, "restored" if len(where) == len(entries) else "partly restored")
            outcome.done = True
        return outcome


@contextmanager
def _connected(where: list[Target], access: Access) -> Iterator[Sequence[Device]]:
    """Sessions with all devices."""
    devices = _opened(where, access)
    try:
        yield devices
    finally:
        at_once(Device.close, devices)


@contextmanager
def _known(
    where: list[Target], access: Access, sessions: Sessions | None = None
) -> Iterator[tuple[Sequence[Device], dict[str, Has]]]:
    """Sessions with all devices, open ones if there are, and what these have."""
    devices = sessions.take() if sessions is not None else ()
    has: dict[str, Has] = {}
    if devices:
        try:
            has = _read(devices)
        except RefusedError:
            # A device has ended its session meanwhile, or has begun again.
            at_once(Device.close, devices)
            devices = ()
    devices = devices or _opened(where, access)
    try:
        yield devices, has or _read(devices)
    except BaseException:
        at_once(Device.close, devices)
        raise
    if sessions is None:
        at_once(Device.close, devices)
    else:
        sessions.keep(devices)


def _opened(where: list[Target], access: Access) -> Sequence[Device]:
    """New sessions with all devices; an error names every device without one, and the reason."""
    devices: list[Device] = []
    wrong: list[BackendError | InputError] = []
    try:
        for one, found in zip(where, at_once(lambda one: _session(access, one), where), strict=True):
            if isinstance(found, DeviceError):
                text = str(found)
                wrong.append(DeviceError(text if text.startswith(f"{one.node} ") else f"{one.node}: {text}"))
            elif isinstance(found, InputError):
                wrong.append(found)
            elif isinstance(found, BackendError):
                raise found
            else:
                devices.append(found)
        if wrong:
            kind = AccessError if any(isinstance(one, InputError) for one in wrong) else BackendError
            raise kind("\n".join([*map(str, wrong), "nothing was changed on any device"]))
    except BaseException:
        at_once(Device.close, devices)
        raise
    return devices


def _session(access: Access, one: Target) -> Device:
    device = connect(one.node, one.host, one.port, access)
    try:
        device.look()
    except BaseException:
        device.close()
        raise
    return device


def _read(devices: Sequence[Device]) -> dict[str, Has]:
    """What the devices have, by node.

    Raises:
        RefusedError: a device cannot be read.
    """
    has: dict[str, Has] = {}
    errors: dict[str, str] = {}
    for device, found in zip(devices, at_once(Device.has, devices), strict=True):
        if isinstance(found, Has):
            has[device.node] = found
        else:
            errors[device.node] = str(found)
    if errors:
        raise RefusedError(errors, touched=False)
    return has


def _jobs(
    devices: Iterable[Device],
    has: Mapping[str, Has],
    wanted: Callable[[Device, Has], list[Change]],
    wrong: Callable[[Device, Has], list[str]],
) -> list[Job]:
    found = ((device, wanted(device, has[device.node])) for device in devices)
    return [_job(device, own, wrong) for device, own in found if own]


def _job(device: Device, own: list[Change], wrong: Callable[[Device, Has], list[str]]) -> Job:
    return Job(
        device,
        own,
        lambda has: wrong(device, has) + unlike(own, has),
        lambda: still_waiting(device, own),
    )


def _wrong(wanted: dict[str, Node]) -> Callable[[Device, Has], list[str]]:
    return lambda device, has: [words(one.path) for one in changes(wanted[device.node], has)]
