"""``tsnbench calibrate``: from measurements to a description of a device."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsnbench.calibration import calibrate as calibration
from tsnbench.calibration import captures, conformed, description, printed, tables
from tsnbench.calibration import kernel as software
from tsnbench.calibration.sections import Left
from tsnbench.cli.console.completing import run_folders
from tsnbench.cli.console.options import FigureKinds, argument, flag, given_ns, json_of, option, pairs_of
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_json,
    print_line,
    print_message,
    print_table,
    user_errors,
)
from tsnbench.cli.measuring.plan_file import read_plan
from tsnbench.cli.parts import calibration_figures, planning, scenarios
from tsnbench.quantities import some
from tsnbench.runs import Run, file_names

Folders = Annotated[
    list[Path],
    argument(
        "RUN...",
        "Run folders with frames through the device; with --tx and --rx the scenario of what was sent; the "
        "folder of conform; or a table of printed figures (csv).",
        autocompletion=run_folders,
    ),
]
Tx = Annotated[list[Path] | None, option("FILE", "Capture at the sender; may be repeated.", "--tx")]
Rx = Annotated[list[Path] | None, option("FILE", "Capture at the receiver; may be repeated.", "--rx")]
Rename = Annotated[
    list[str] | None,
    option("THEIRS=OURS", "Name of a stream in the captures, and in the scenario: theirs=ours.", "--rename"),
]
For = Annotated[
    str, option("NODE[,NODE]", "The nodes: all of one kind of device, which gets one description.", "--for")
]
Kernel = Annotated[
    bool,
    flag("--kernel", "Write what runs with --on vm show of their kernel: keys of hosts and shapers."),
]
Into = Annotated[Path, option("FILE", "Where to write the description: my-switch.yaml.")]
Clocks = Annotated[
    str | None,
    option(
        "TIME", "Greatest difference of the clocks at both ends, where no reading says it: 100ns.", "--clocks"
    ),
]


def calibrate(
    runs: Folders,
    *,
    nodes: For = "",
    kernel: Kernel = False,
    into: Into,
    tx: Tx = None,
    rx: Rx = None,
    rename: Rename = None,
    clocks: Clocks = None,
    figures: FigureKinds = "",
    force: Annotated[bool, flag("--force", "Replace a description that is there.")] = False,
    as_json: Annotated[bool, json_of("The calibration")] = False,
) -> None:
    """Fit a description of a device to measurements, with intervals.

    The description is used by a scenario: bridges: {sw1: {device: my-switch.yaml}}.
    """
    kinds = figure_kinds(figures, into)
    with user_errors(measuring=True):
        description.files_of(into, force)
        names = list(dict.fromkeys(name.strip() for name in nodes.split(",") if name.strip()))
        limit = given_ns("--clocks", clocks)
        if bool(names) == kernel:
            fail(Exit.INPUT_WRONG, "expected one of --for NODE and --kernel, found both or none")
        if kernel:
            others = {"--tx": tx, "--rx": rx, "--rename": rename, "--clocks": clocks, "--figures": kinds}
            if unused := [name for name, value in others.items() if value]:
                fail(Exit.INPUT_WRONG, f"expected --kernel with runs alone, found {some(unused)}")
            _of_kernel(runs, into, force, as_json)
            raise typer.Exit(Exit.MET)
        if runs[0].suffix.lower() == ".csv":
            _of_figures(runs, names, into, force, as_json)
            raise typer.Exit(Exit.MET)
        if (runs[0] / file_names.CONFORM).is_file():
            _of_conform(runs, names, into, force, as_json)
            raise typer.Exit(Exit.MET)
        if tx or rx:
            found = _of_captures(
                runs, (tx or [], rx or []), pairs_of("--rename", "theirs=ours", rename), names, limit
            )
        else:
            found = calibration.calibrate([Run.open(folder) for folder in runs], names, limit)
        written = description.write_calibrated(found, into, force)
        drawn = calibration_figures.write(found, into, kinds) if kinds else []
    if as_json:
        print_json("calibration", tables.document(found))
    else:
        print_table(tables.parameters(found))
        print_table(tables.rest(found))
    print_message(f"description: {written[0]}, with {' and '.join(path.name for path in written[1:])}")
    for path in drawn:
        print_message(f"figure: {path}")
    raise typer.Exit(Exit.MET)


def _of_captures(
    given: list[Path],
    files: tuple[list[Path], list[Path]],
    renamed: dict[str, str],
    names: list[str],
    clocks_ns: int | None,
) -> calibration.Calibrated:
    """The calibration from captures, with the scenario, the Plan or the run of what was sent."""
    if len(given) != 1 or not all(files):
        fail(Exit.INPUT_WRONG, "expected one scenario, and captures of both ends: --tx and --rx")
    (first,) = given
    is_plan = first.is_dir() or first.suffix.lower() == ".json"
    plan = read_plan(first) if is_plan else planning.plan(scenarios.load(first))
    left = Left()
    return calibration.calibrated(
        [captures.measured(plan, files, renamed, names, left, clocks_ns)], names, left
    )


def _of_figures(given: list[Path], names: list[str], into: Path, force: bool, as_json: bool) -> None:
    """Describes the device of a table of printed figures."""
    if len(given) != 1:
        fail(Exit.INPUT_WRONG, "expected one table of printed figures, found several files")
    found = printed.calibrated(
        printed.read(given[0]), f"printed figures of {given[0].name}, for {', '.join(names)}"
    )
    written = description.write_described(description.Described.printed(found), into, force)
    if as_json:
        print_json("calibration", tables.printed_document(found))
    else:
        print_table(tables.printed_parameters(found))
    print_message(f"description: {written[0]}, with {' and '.join(path.name for path in written[1:])}")


def _of_kernel(given: list[Path], into: Path, force: bool, as_json: bool) -> None:
    """Writes the times of the kernel that runs of a guest show."""
    found = software.software([Run.open(folder) for folder in given])
    _tell(software.lines_of(found), into, force, as_json, "Keys of a scenario whose nodes are hosts:")


def _of_conform(given: list[Path], names: list[str], into: Path, force: bool, as_json: bool) -> None:
    """Describes the device that ``tsnbench conform`` tested."""
    if len(given) != 1:
        fail(Exit.INPUT_WRONG, "expected one folder of conform, found several folders")
    _tell(conformed.lines_of(given[0], names), into, force, as_json)


def _tell(lines: list[str], into: Path, force: bool, as_json: bool, use: str = "") -> None:
    """Writes and prints lines that need no table."""
    written = description.write(description.files_of(into, force)[0], lines, {}, use)
    if as_json:
        print_json("calibration", {"format": "tsnbench-calibration/1", "lines": lines})
    else:
        for line in lines:
            print_line(line)
    print_message(f"description: {written[0]}")
