"""Processes: their identity (process numbers are reused, start times are not), and the cores they may use."""

from __future__ import annotations

import os
from pathlib import Path


def started(process: int) -> int | None:
    """The start time of a process, in ticks since boot: field 22 of proc_pid_stat(5); None without a
    process."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()
    # A zombie process counts as ended.
    return None if words[0] in ("Z", "X") else int(words[19])


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
