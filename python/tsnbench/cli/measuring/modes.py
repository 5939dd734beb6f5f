"""The modes of ``tsnbench measure``: which input gives which mode, and which options each of them takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tsnbench.cli.console.output import Exit, fail
from tsnbench.cli.measuring.asked import Asked
from tsnbench.cli.measuring.captures import NO_TELEGRAMS, both_ends, one_capture
from tsnbench.cli.measuring.logs import clocks, foreign
from tsnbench.cli.measuring.run_folders import answers, run, stages
from tsnbench.cli.measuring.taps import at_interfaces
from tsnbench.foreign_files import recognise


@dataclass(frozen=True)
class Mode:
    """What is measured of one kind of input."""

    input: str
    """What has to be given."""
    takes: str
    """Those options of :data:`REFUSED` that it takes."""
    measured: Callable[[Asked], Exit]
    lacks: Callable[[Asked], bool]
    """Whether what is given is not its input."""


MODES = {
    # A time-out has no effect here.
    "clocks": Mode(
        "--sync: expected one log and no run folder or capture",
        "--below --timeout",
        clocks,
        lambda asked: asked.file is not None or asked.ends or asked.stages,
    ),
    "capture": Mode("one capture", "--into --timeout", one_capture, lambda _: False),
    # A time-out is refused when the log is read.
    "log": Mode("one log of another tool", "--timeout", foreign, lambda _: False),
    "stages": Mode(
        "--stages: expected a run folder, or one of tsnbench send and receive",
        "",
        stages,
        lambda asked: asked.file is None or asked.ends,
    ),
    "answers": Mode(
        "--answers: expected a run folder",
        "",
        answers,
        lambda asked: asked.file is None or not asked.file.is_dir() or asked.ends,
    ),
    "captures": Mode(
        "expected a run folder, or captures with --tx and --rx",
        "--into --offset --output",
        both_ends,
        lambda asked: asked.file is not None,
    ),
    "run": Mode(
        "expected a run folder, or captures with --tx and --rx",
        "",
        run,
        lambda asked: (asked.file is None) != asked.ends,
    ),
}
"""Every mode. ``--all``, ``--json`` and ``--csv`` are for all of them."""
BOTH_ENDS = "expected captures of both ends"
REFUSED = {
    "--into": BOTH_ENDS,
    "--offset": BOTH_ENDS,
    "--output": BOTH_ENDS,
    "--below": "expected --sync",
    "--timeout": NO_TELEGRAMS,
}
"""Options that not every mode takes, in the order in which they are refused, with what they need."""


def measured(asked: Asked) -> Exit:
    """Measures what is asked for, prints it, and returns the exit code.

    Raises:
        InputError, BackendError: it cannot be measured.
        typer.Exit: an option does not fit to the input; a message has said so.
    """
    asked = at_interfaces(asked)
    mode = MODES[mode_of(asked)]
    for option, needs in REFUSED.items():
        if getattr(asked, option[2:].replace("-", "_")) is not None and option not in mode.takes.split():
            fail(Exit.INPUT_WRONG, f"{option}: {needs}{_hint(option, asked)}")
    if mode.lacks(asked):
        fail(Exit.INPUT_WRONG, mode.input)
    return mode.measured(asked)


def mode_of(asked: Asked) -> str:
    """The mode that an input gives."""
    file = asked.file
    if asked.sync is not None:
        return "clocks"
    if file is not None and not file.is_dir() and file.exists() and not (asked.ends or asked.stages):
        found = recognise(file)
        return "capture" if found is not None and found.capture else "log"
    if asked.stages or asked.answers:
        return "stages" if asked.stages else "answers"
    return "captures" if asked.tx and asked.rx else "run"


def _hint(option: str, asked: Asked) -> str:
    """Where a folder or a file has what captures of both ends have from this option."""
    if asked.file is None or option not in ("--into", "--output"):
        return ""
    if option == "--into":
        words = f"report {asked.file}" if asked.file.is_dir() else f"inspect {asked.file} --into DIR"
        return f"\nhint: tsnbench {words}"
    if not asked.file.is_dir():
        return ""
    return f"\nhint: {asked.file / 'frames.parquet'} has one row per frame, once the run is measured"
