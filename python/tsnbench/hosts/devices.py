"""Devices in a run: configured by NETCONF, and restored after the run, or by hand from a confirmed
checklist."""

from __future__ import annotations

import getpass
import glob
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.deploy import PASSWORD, Access, AccessError, Target, deploy, restore
from tsnbench.deploy.deploy import address
from tsnbench.errors import BackendError, ContentError, InputError
from tsnbench.foreign import read_json, read_text
from tsnbench.hosts.by_hand import Checklist, UnconfirmedError, checklist
from tsnbench.runs.errors import unwritable
from tsnbench.runs.process import started

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.inventory.types import Device
    from tsnbench.hosts.mapping import Mapped
    from tsnbench.plan.types import PlanDocument

FIRST = "Checklist of "
"""The begin of every checklist: no other file is overwritten."""
FILE = "checklist.txt"
"""The confirmed checklist in a run's folder, below the device's name."""
MOST_OCTETS = 1 << 24
DEPLOYED = ".deployed"
NOTED = "tsnbench-devices-have-a-plan/1"


@dataclass(frozen=True)
class ByHand:
    """A device that is configured by hand, with its checklist."""

    device: Device
    wanted: Checklist
    content: str | None
    """The content of the checklist's file; None if there is none."""

    @property
    def confirmed(self) -> bool:
        """Whether the checklist is confirmed for this Plan."""
        return self.wanted.confirmed(self.content)


def by_hand(inventory: Inventory, document: PlanDocument, mapped: Mapped) -> Iterator[ByHand]:
    """Devices of a Plan that are configured by hand.

    Raises:
        InputError: a checklist's file is no text.
    """
    for device in inventory.devices.values():
        wanted = checklist(document, mapped, device) if device.by_hand else None
        if wanted is not None:
            try:
                content = read_text(device.checklist, MOST_OCTETS)
            except FileNotFoundError:
                content = None
            yield ByHand(device, wanted, content)


def by_netconf(inventory: Inventory, mapped: Mapped) -> list[Device]:
    """Devices of a Plan that have a NETCONF server."""
    return [one for one in inventory.devices.values() if not one.by_hand and mapped.node(one.name)]


def addresses(found: Mapping[str, Device]) -> list[Target]:
    """Where the devices of some nodes are."""
    return [Target(node, *address(one.netconf.rpartition("@")[2], one.name)) for node, one in found.items()]


def user_of(device: Device) -> str:
    """The user name at a device with NETCONF."""
    return device.netconf.rpartition("@")[0] or getpass.getuser()


@contextmanager
def deployed(
    inventory: Inventory, document: PlanDocument, mapped: Mapped, record: Path
) -> Iterator[dict[str, list[str]]]:
    """Configures all devices with NETCONF for the Plan, or none, and restores their earlier configuration at
    the end.

    Args:
        inventory: the lab.
        document: ``plan.document``.
        mapped: where the Plan's nodes and ports are.
        record: a file for the earlier configuration.

    Yields:
        In words, what was changed, by device.

    Raises:
        BackendError: a device reports an error, or cannot be restored.
    """
    found = {str(mapped.node(one.name)): one for one in by_netconf(inventory, mapped)}
    if not found:
        yield {}
        return
    access = Access(user_of(next(iter(found.values()))), os.environ.get(PASSWORD))
    where = addresses(found)
    note = Note.write(inventory, record)
    try:
        outcome = deploy(document, where, access, record, interfaces=mapped.interfaces)
    except BaseException:
        # Either all devices have the Plan or none: after an error, no device has it.
        note.remove()
        raise
    try:
        yield {found[node].name: lines for node, lines in outcome.changes.items()}
    finally:
        if outcome.done and outcome.record is not None:
            try:
                restore(outcome.record, access)
            except (BackendError, InputError) as error:
                hint = f"hint: tsnbench deploy --restore {outcome.record}"
                raise BackendError(f"devices do not have what they had before:\n{error}\n{hint}") from error
        note.remove()


@dataclass(frozen=True)
class Note:
    """A note beside the inventory while devices have a Plan: the path of the record of the earlier
    configuration.

    The note stays after a controller is killed or restarted.
    """

    path: Path
    record: Path
    process: int = 0
    started: int | None = 0
    """The start time of that process, as process numbers are reused."""

    @classmethod
    def write(cls, inventory: Inventory, record: Path) -> Note:
        """Writes the note before anything is changed.

        Raises:
            BackendError: the folder of the inventory cannot be written.
        """
        path = Path(f"{inventory.file}.{os.getpid()}{DEPLOYED}")
        note = cls(path, record.resolve(), os.getpid(), started(os.getpid()))
        try:
            path.write_text(
                json.dumps({"format": NOTED, "record": str(note.record)} | note._process()) + "\n"
            )
        except OSError as error:
            raise unwritable(path, error) from error
        return note

    @classmethod
    def all(cls, inventory: Inventory) -> list[Note]:
        """The notes of an inventory, in the order of their names.

        Raises:
            InputError: a file with such a name is no note.
        """
        beside = Path(inventory.file)
        found = []
        for path in sorted(beside.parent.glob(f"{glob.escape(beside.name)}.*{DEPLOYED}")):
            told = read_json(path)
            if not isinstance(told, dict) or told.get("format") != NOTED:
                raise ContentError(f"{path}: expected {NOTED}, found something else")
            found.append(cls(path, Path(told["record"]), int(told["process"]), told["started"]))
        return found

    def _process(self) -> dict[str, int | None]:
        return {"process": self.process, "started": self.started}

    @property
    def running(self) -> bool:
        """Whether the process that wrote it still runs."""
        return self.started is not None and started(self.process) == self.started

    def remove(self) -> None:
        """Removes the note when devices have their earlier configuration."""
        self.path.unlink(missing_ok=True)


def restore_noted(inventory: Inventory, note: Note) -> str:
    """Restores the devices of a killed run; returns, in words, what was done.

    Raises:
        BackendError: a device cannot be reached, or reports an error.
        InputError: the record is invalid.
    """
    if note.running:
        return f"left alone: process {note.process} still runs with them"
    users = [user_of(one) for one in inventory.devices.values() if not one.by_hand]
    done = "nothing was changed on devices"
    if note.record.is_file():
        outcome = restore(
            note.record, Access(users[0] if users else getpass.getuser(), os.environ.get(PASSWORD))
        )
        changed = sum(map(bool, outcome.changes.values()))
        done = (
            f"{changed} devices have what they had before" if changed else "devices have what they had before"
        )
    note.remove()
    return f"{done} ({note.record})"


def require(inventory: Inventory, document: PlanDocument, mapped: Mapped) -> dict[str, str]:
    """The confirmed checklists of all devices. A checklist that is missing or of another Plan is written
    again.

    Args:
        inventory: the lab.
        document: ``plan.document``.
        mapped: where the Plan's nodes and ports are.

    Returns:
        The content of the checklist's file, by device.

    Raises:
        InputError: a device has to be configured first, or cannot be.
    """
    users = {user_of(one): one.name for one in by_netconf(inventory, mapped)}
    if len(users) > 1:
        listed = ", ".join(f"{name}: {user}" for user, name in users.items())
        raise AccessError(f"{inventory.file}: expected one user for all devices by NETCONF, found {listed}")
    problems, confirmed = [], {}
    for one in by_hand(inventory, document, mapped):
        name, path = one.device.name, one.device.checklist
        if one.wanted.left_out:
            listed = "; ".join(one.wanted.left_out)
            problems.append(f"{name}: a device by hand cannot be configured during a run: {listed}")
        elif one.content is not None and one.confirmed:
            confirmed[name] = one.content
        elif one.content is not None and one.content.strip() and not one.content.startswith(FIRST):
            problems.append(f"{path}: expected the checklist of {name}, found another file; name a new one")
        else:
            problems.append(_unconfirmed(one))
    if problems:
        raise UnconfirmedError("\n".join(problems))
    return confirmed


def _unconfirmed(one: ByHand) -> str:
    """Writes the checklist if it is missing or of another Plan; returns, in words, what the user has to
    do."""
    path = Path(one.device.checklist)
    written = ""
    if one.wanted.hash not in (one.content or ""):
        path.write_text(one.wanted.file, encoding="utf-8")
        written = "\n  the checklist has just been written there"
    try:
        one.wanted.require(one.content, str(path))
    except UnconfirmedError as error:
        return f"{error}{written}"
    return ""
