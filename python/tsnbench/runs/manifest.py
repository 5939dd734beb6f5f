"""The manifest of a run folder: the Plan, the machine, the times, and the state of the folder."""

from __future__ import annotations

import json
import os
import platform
import sys
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tsnbench import foreign
from tsnbench.runs import documents, engine, file_names, process
from tsnbench.runs.errors import FULL, FolderError, refuse_unnamable
from tsnbench.version import __version__

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.document import Plan

FORMAT = "tsnbench-run/1"
NAME = file_names.MANIFEST
KERNELS = ("vm", "netns", "hosts")
"""Backends whose frames pass a real kernel, which may deviate from the Plan."""


class State(StrEnum):
    """The state of a run folder."""

    RUNNING = "running"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


def opening(plan: Plan, backend: str, plan_hash: str) -> Json:
    """The manifest of a run that begins now."""
    return {
        "format": FORMAT,
        "state": State.RUNNING.value,
        "name": plan.name,
        "plan": plan_hash,
        "seed": plan.document["seed"],
        "variant": plan.document.get("variant", {}),
        "duration_ns": plan.document["duration_ns"],
        "backend": backend,
        "versions": {
            "tsnbench": __version__,
            "engine": engine.identity(),
            "python": platform.python_version(),
        },
        "machine": machine_facts(),
        "started": now(),
        "ended": None,
        "wall_seconds": None,
        "problem": None,
        # The writing process; a folder in the state "running" without its process is incomplete.
        "process": os.getpid(),
    }


def machine_facts() -> Json:
    """Facts that explain a run's speed, without any that identify the machine's owner."""
    return {
        "cpu": _cpu_model(),
        "cpus": process.cores(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "kernel": platform.release(),
    }


def now() -> str:
    """The present time in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()


def read(folder: Path) -> Json:
    """The manifest of a run folder, in any state.

    Raises:
        FolderError: there is none, or it is not one of tsnbench.
    """
    refuse_unnamable(folder)
    path = folder / NAME
    try:
        manifest = foreign.read_json(path, documents.MOST_MANIFEST)
    except FileNotFoundError:
        raise FolderError(folder, *_no_run(folder)) from None
    except NotADirectoryError:
        hint = "the run folder of a scenario is runs/NAME, unless run --into named another one"
        raise FolderError(folder, "expected a run folder, found a file", hint) from None
    except OSError as error:
        raise FolderError(folder, f"its manifest.json cannot be read: {error.strerror or error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise FolderError(
            folder, f"expected a manifest.json of format {FORMAT}, found {found or 'one without a format'}"
        )
    if manifest.get("state") not in list(State):
        raise FolderError(folder, f"its manifest.json has an unknown state: {manifest.get('state')}")
    try:
        return documents.checked(manifest, NAME, path)
    except OSError as error:
        raise FolderError(folder, f"its manifest.json cannot be used: {error.strerror}") from error


def _no_run(folder: Path) -> tuple[str, str | None]:
    """The kind of a folder without a manifest, and a hint: a sweep has a folder per run."""
    if not folder.exists():
        return "expected a run folder, found none", "tsnbench run makes one"
    runs = sorted(path.parent for path in folder.glob(f"*/{NAME}"))
    if not runs:
        return f"expected a run folder, found no {NAME} in it", None
    found = f"expected one run's folder, found {len(runs)} of them in it"
    every = folder if (folder / file_names.SWEEP).is_file() else f"{folder}/*/"
    return found, f"name one, such as '{runs[0]}'; tsnbench report also takes all: {every}"


def listed(manifest: Json) -> list[str]:
    """Files in addition to those of every run folder: captures, figures."""
    names = manifest.get("files", [])
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def note(folder: Path, about: Json) -> None:
    """Add facts of the caller, such as the command; does nothing without a manifest."""
    if about and (folder / NAME).exists():
        write(folder, read(folder) | dict(about))


def write(folder: Path, manifest: Json) -> None:
    """Write in one step and to the disk, so that a reader or a crash never finds an incomplete file.

    On a full disk the old file is overwritten, which needs no space.
    """
    path = folder / NAME
    part = path.with_name(f"{NAME}.{os.getpid()}.part")
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    try:
        with part.open("w", encoding="utf-8") as file:
            _to_disk(file, text)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        if error.errno not in FULL or not path.is_file():
            raise
        with path.open("r+", encoding="utf-8") as file:
            _to_disk(file, text)


def _to_disk(file: TextIO, text: str) -> None:
    file.write(text)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() in ("model name", "Model"):
                    return value.strip()
    except (OSError, UnicodeDecodeError):
        pass
    return platform.processor() or (f"unknown {sys.platform} processor")
