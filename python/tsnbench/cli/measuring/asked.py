"""What one call of ``tsnbench measure`` asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench.cli.console.forms import Form
from tsnbench.cli.console.output import Exit, fail
from tsnbench.measure.captures.interfaces import Interface


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The files and the options."""

    file: Path | None
    """The run folder, log or capture."""
    tx: Sequence[Path | Interface]
    """Captures at the talker."""
    rx: Sequence[Path | Interface]
    """Captures at the listener."""
    interface: list[str] | None
    """The interfaces of one capture: that of the talker's end and that of the listener's, or one alone."""
    form: Form
    most: int | None
    """Most rows of a table, or all."""
    quiet: bool
    offset: str | None
    output: Path | None
    start: str | None
    end: str | None
    sync: Path | None
    below: str | None
    timeout: str | None
    stages: bool
    answers: bool
    into: Path | None
    kinds: tuple[str, ...]
    """The kinds of figure files."""
    figure: list[str] | None
    only: Interface | None = None
    """The interface of the capture that is measured, if not all are."""
    whole: Path | None = None
    """The file of both ends, if its interfaces were not named."""

    @classmethod
    def of(cls, what: list[Path], tx: list[Path], rx: list[Path], **options: Any) -> Asked:
        """A folder or file, or the captures of both ends: two files without options are these."""
        if len(what) == 2 and not (tx or rx) and not any(one.is_dir() for one in what):
            return cls(file=None, tx=what[:1], rx=what[1:], **options)
        if len(what) > 1:
            fail(
                Exit.INPUT_WRONG,
                "expected one run folder or file, or two captures: at the talker, at the listener",
            )
        if what and what[0].suffix and not what[0].exists():
            fail(Exit.INPUT_WRONG, f"{what[0]}: expected a file, found none")
        return cls(file=what[0] if what else None, tx=tx, rx=rx, **options)

    @property
    def folder(self) -> Path:
        """The run folder, log or capture, which is given."""
        assert self.file is not None
        return self.file

    @property
    def capture(self) -> Path | Interface:
        """The one capture, or the one interface of it."""
        return self.only or self.folder

    @property
    def ends(self) -> bool:
        """Whether captures are given."""
        return bool(self.tx or self.rx)
