"""Changes on several devices: all or none.

No change is put into force before every device has inspected its change. No change stays in force unless
every device was read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tsnbench.deploy.at_once import at_once
from tsnbench.deploy.changes import Change, Has, edit, same, words
from tsnbench.deploy.device import DENIED, Device, DeviceError
from tsnbench.errors import BackendError
from tsnbench.quantities import some

ALLOW = (
    "  hint: the rules of the device decide this (/nacm of ietf-netconf-acm, RFC 8341): let a group of this "
    "user read, create, update and delete there"
)


@dataclass(frozen=True)
class Between:
    """What is asked in the middle of a transaction.

    Args:
        locked: is called when all devices are locked, before any change; it raises if nothing may be changed.
        committed: is called when all have committed, before any keeps its commit: what is wrong, by node.
    """

    locked: Callable[[], None] = lambda: None
    committed: Callable[[], dict[str, str]] = dict


@dataclass
class Job:
    """One device and its changes."""

    device: Device
    changes: list[Change]
    wrong: Callable[[Has], list[str]]
    """The differences between a device's present and requested configuration, in words."""
    waits: Callable[[], list[str]] = list
    """The changes that were taken back and that the device would still make at an instant, in words."""

    @property
    def edit(self) -> str:
        return edit(self.changes, self.device.remove)

    @property
    def back(self) -> str:
        return edit([one.back() for one in reversed(self.changes)], self.device.remove)


@dataclass
class RefusedError(BackendError):
    """The transaction failed. All devices have their earlier state, except those in `left`."""

    errors: dict[str, str]
    left: dict[str, str] = field(default_factory=dict)
    """Devices whose earlier configuration could not be restored, and why."""
    touched: bool = True
    """Whether any change had been in force."""
    record: Path | None = None
    """Of what was taken back."""

    def __str__(self) -> str:
        lines = [f"{node}: {text}" for node, text in self.errors.items()]
        if not self.touched:
            lines.append("nothing was changed on any device")
        elif not self.left:
            lines.append("every device has again what it had before")
        for node, text in self.left.items():
            lines.append(f"{node}: not brought back: {text}")
        if any(DENIED in text for text in (*self.errors.values(), *self.left.values())):
            lines.append(ALLOW)
        return "\n".join(lines)


def carry_out(jobs: list[Job], within_s: int = 120, between: Between | None = None) -> list[str]:
    """Stages, commits, reads back and confirms; returns warnings about changes that are made but not saved.

    Raises:
        RefusedError: a device failed, and the others have their earlier configuration again.
    """
    between = between or Between()
    try:
        _stage(jobs, between.locked)
        # Devices that can revert a commit by themselves go first; devices without a candidate go last.
        order = sorted(jobs, key=lambda job: (not job.device.confirmed, not job.device.candidate))
        _commit(order, within_s)
        if errors := between.committed():
            raise RefusedError(errors, _all_back(order, kept=0))
        _keep(order)
        _confirm(order)
    finally:
        at_once(lambda job: job.device.unlock(), jobs)
    return [
        f"{job.device.node}: in force, but not for the next start: {error}"
        for job, error in _failures(lambda job: job.device.save(), jobs)
    ]


def _stage(jobs: list[Job], locked: Callable[[], None]) -> None:
    errors = {job.device.node: str(error) for job, error in _failures(lambda job: job.device.lock(), jobs)}
    if not errors:
        locked()
    free = [job for job in jobs if job.device.node not in errors]
    failures = _failures(lambda job: job.device.stage(job.edit), free)
    errors.update((job.device.node, _with_places(job, error)) for job, error in failures)
    if not errors:
        return
    for job, error in _failures(lambda job: job.device.discard(), jobs):
        errors.setdefault(job.device.node, str(error))
    raise RefusedError(errors, touched=False)


def _failures(what: Callable[[Job], object], jobs: list[Job]) -> Iterator[tuple[Job, DeviceError]]:
    """The devices that did not do something which all were asked at the same time."""
    for job, found in zip(jobs, at_once(what, jobs), strict=True):
        if isinstance(found, DeviceError):
            yield job, found
        elif isinstance(found, Exception):
            raise found


def _with_places(job: Job, error: DeviceError) -> str:
    """The error in words; where a device does not say what it forbids, with what was to be written."""
    text = str(error)
    if DENIED not in text or ", at /" in text:
        return text
    return f"{text}: {some([words(one.path) for one in job.changes], 3)}"


def _commit(order: list[Job], within_s: int) -> None:
    errors: dict[str, str] = {}
    touched: list[Job] = []

    def commit(job: Job) -> list[str]:
        job.device.commit(job.edit, within_s)
        return job.wrong(job.device.has())

    # Devices that revert by themselves commit at the same time.
    groups = [[job for job in order if job.device.confirmed]]
    groups += [[job] for job in order if not job.device.confirmed]
    for group in groups:
        touched += group
        for job, wrong in zip(group, at_once(commit, group), strict=True):
            if isinstance(wrong, DeviceError):
                errors[job.device.node] = _with_places(job, wrong)
            elif isinstance(wrong, Exception):
                raise wrong
            elif wrong:
                errors[job.device.node] = "it differs from the requested configuration: " + "; ".join(wrong)
        if errors:
            break
    if not errors:
        return
    left: dict[str, str] = {}
    for job in order:
        try:
            if job not in touched:
                job.device.discard()
                continue
            _take_back(job, job.device.cancel)
        except DeviceError as error:
            left[job.device.node] = _after(job.device, error, within_s)
    raise RefusedError(errors, left)


def _keep(order: list[Job]) -> None:
    for place, job in enumerate(order):
        try:
            job.device.keep()
        except DeviceError as error:
            errors = {job.device.node: f"it was to keep what it has: {error}"}
            raise RefusedError(errors, _all_back(order, kept=place)) from None


def _confirm(order: list[Job]) -> None:
    """Reads every device once more: some have another configuration after the commit that confirms."""
    errors: dict[str, str] = {}
    found = at_once(lambda job: job.wrong(job.device.has()), order)
    for job, wrong in zip(order, found, strict=True):
        if isinstance(wrong, DeviceError):
            errors[job.device.node] = f"it kept its commit, and cannot be read any more: {wrong}"
        elif isinstance(wrong, Exception):
            raise wrong
        elif wrong:
            errors[job.device.node] = (
                f"after its last commit, it differs from what it had: {'; '.join(wrong)}"
            )
    if errors:
        raise RefusedError(errors, _all_back(order, kept=len(order)))


def _all_back(order: list[Job], kept: int) -> dict[str, str]:
    """Restores all devices, of which the first ones keep their commit already; returns those that failed."""
    left: dict[str, str] = {}
    for number, job in enumerate(order):
        how = job.device.undo if number < kept else job.device.cancel
        try:
            _take_back(job, how)
        except DeviceError as worse:
            left[job.device.node] = str(worse)
    return left


def _take_back(job: Job, how: Callable[[str], None]) -> None:
    """Restores one device: by cancelling its commit, or, if that fails, by reversing the changes."""
    refusal: DeviceError | None = None
    # After a rejected commit, a candidate may still be staged, but no change is in force.
    ways = [how, job.device.undo] if _still(job) else [lambda _: job.device.discard()]
    for way in ways:
        try:
            way(job.back)
        except DeviceError as error:
            refusal = error
        still = _still(job)
        if not still:
            return
    raise refusal or DeviceError(f"it still has the new configuration at {', '.join(still[:3])}")


def _still(job: Job) -> list[str]:
    """Places where a device differs from its earlier configuration."""
    has = job.device.has()
    return [words(one.path) for one in job.changes if not same(one.path, one.before, has)] + job.waits()


def _after(device: Device, error: DeviceError, within_s: int) -> str:
    if error.lost and device.confirmed:
        return f"{error}; if it runs, it takes the change back by itself within {within_s} s"
    return str(error)
