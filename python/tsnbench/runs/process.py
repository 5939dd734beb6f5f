"""Which process it was: numbers of processes come again, their beginnings do not."""

from __future__ import annotations

from pathlib import Path


def started(process: int) -> int | None:
    """When a process began, in ticks since boot: field 22 of proc_pid_stat(5); None where there is none."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()
    # A process that is dead and not yet collected runs nothing.
    return None if words[0] in ("Z", "X") else int(words[19])
