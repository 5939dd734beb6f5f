"""Writes docs/twin.md: closed form, simulator, kernel, paper, and an explanation of every disagreement."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tsnbench.backends.vm import unavailable
from tsnbench.errors import BackendError
from tsnbench.runs import Run
from twin.case import Case, Value
from twin.cases import CASES
from twin.papers import EXPERIMENTS, section
from twin.suite import Found, found, on_kernels, refused, simulated

PAGE = Path(__file__).parents[2] / "docs" / "twin.md"
HEAD = (
    "# Does the kernel agree with the simulator?\n\n"
    "The simulator and a real Linux kernel ([how](concepts/kernel.md)) each run small Plans. This page "
    "compares their results with closed forms. `make twin` writes this page. The scenarios are in "
    "[scenarios/twin](../scenarios/twin). The closed forms are in [tests/twin](../tests/twin), and use "
    "nothing of the simulator. [`tsnbench compare`](guides/compare.md) compares any two runs.\n\n"
    "A figure of the kernel agrees if its difference from the closed form is within the tolerance. The "
    "last column has the tolerance and its reason. The simulator has to meet the closed form to 1 ns, "
    "except where a row has another tolerance or where frames are random. Each case can fail: "
    "`tests/twin/mutations.py` writes one wrong parameter into each job (a list 20 us late, 2 % more "
    "slope, priorities that no bridge reads), and every case then has to disagree.\n\n"
)


PAPERS = "## Experiments of papers\n"


def page(whole: bool = True) -> tuple[str, bool]:
    """The page, and whether all values agree; without ``whole``, the existing part of the papers is kept."""
    parts, rows, machines, failed = [], [], set(), False
    with TemporaryDirectory(prefix="tsnbench-twin-") as folder:
        able = [case for case in CASES if not refused(case)]
        brought = on_kernels(able, Path(folder))
        for case in CASES:
            into = Path(folder) / case.name
            runs, why = brought.get(case), f"refuses {refused(case)}"
            if isinstance(runs, BackendError):
                runs, why = None, f"failed: {str(runs).partition(chr(10))[0]}"
                failed = True
            if runs:
                machines |= {_machine(run) for run in runs.values() if isinstance(run, Run)}
            got = found(case, simulated(case, into), runs)
            rows += got
            parts.append("\n".join(_section(case, got, why if runs is None else "")))
            print(case.name, "both" if runs else why, file=sys.stderr)
        parts += list(_papers(Path(folder))) if whole else [PAPERS + _there().partition(PAPERS)[2]]
    said = f"Kernel: {'; '.join(sorted(machines)) or 'none ran'}. "
    agree = [row.kernel_agrees for row in rows if row.kernel_agrees is not None]
    said += f"{sum(agree)} of {len(agree)} figures of the kernel agree, and "
    said += f"{sum(row.simulator_agrees for row in rows)} of {len(rows)} of the simulator.\n\n"
    good = not failed and all(agree) and all(row.simulator_agrees for row in rows)
    return HEAD + said + "\n".join(parts), good


def papers(folder: Path) -> str:
    """The page with a new part of the papers."""
    return _there().partition(PAPERS)[0] + "\n".join(_papers(folder))


def _papers(folder: Path) -> Iterator[str]:
    yield PAPERS
    yield (
        "The kernel runs the same scenario files as the simulator. The runs are shortened, and slowed "
        "down to reduce the effect of the kernel's own time. [The READMEs of the "
        "papers](../scenarios/README.md) compare the printed figures with those of the simulator.\n"
    )
    for number, experiment in enumerate(EXPERIMENTS):
        yield "\n".join(section(experiment, folder / f"paper-{number}"))
        print(experiment.called, file=sys.stderr)


def _there() -> str:
    return PAGE.read_text(encoding="utf-8")


def _machine(run: Run) -> str:
    guest = run.manifest["guest"]
    return f"Linux {guest['kernel']}, QEMU {guest['qemu'].split()[0]}"


def _section(case: Case, rows: list[Found], why: str) -> Iterator[str]:
    text = case.path.read_text(encoding="utf-8")
    title = next(line for line in text.splitlines() if line.startswith("title:")).partition(": ")[2]
    yield f"## {title}"
    yield ""
    about = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
    yield " ".join(about)
    slower = f", kernel {case.dilate} times slower" if case.dilate != 1 and not why else ""
    yield f"([scenario](../scenarios/twin/{case.name}.yaml){slower})"
    yield ""
    yield "| what | closed form | simulator | kernel | paper | agrees | tolerance of the kernel |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        yield _line(row)
    yield ""
    if why:
        yield f"The kernel does not run this yet: it {_plain(why)}."
        yield ""
    elif case.words:
        yield case.words
        yield ""


def _line(row: Found) -> str:
    quantity = row.quantity
    agrees = {True: "yes", False: "**no**", None: "\u2013"}[row.kernel_agrees]
    if not row.simulator_agrees:
        agrees += ", **not the simulator**"
    name = (
        f"{quantity.variant}: {quantity.what}"
        if quantity.variant and quantity.variant not in quantity.what
        else quantity.what
    )
    limits = _limits(row)
    cells = [name, *(_value(value, quantity.unit) for value in (row.closed, row.simulator, row.kernel))]
    return f"| {' | '.join([*cells, quantity.paper, agrees, limits])} |"


def _limits(row: Found) -> str:
    quantity = row.quantity
    if isinstance(row.closed, str):
        return quantity.why or "the same"
    if not (quantity.below or quantity.above):
        return "none"
    spread = (
        f"±{quantity.above:g}"
        if quantity.below == quantity.above
        else f"\u2212{quantity.below:g} to +{quantity.above:g}"
    )
    return f"{spread} {quantity.unit}: {quantity.why}"


def _value(value: Value | None, unit: str) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return value
    return f"{value:,.3f} {unit}" if unit == "us" else f"{value:,.6g} {unit}"


def _plain(why: str) -> str:
    return why.rstrip(".")


def main() -> None:
    """Exit code 1 if a value disagrees. ``--cases``, ``--papers``: the other part is kept."""
    if why := unavailable():
        sys.exit(f"no guests here: {why}")
    if "--papers" in sys.argv[1:]:
        with TemporaryDirectory(prefix="tsnbench-twin-") as folder:
            text, good = papers(Path(folder)), True
    else:
        text, good = page("--cases" not in sys.argv[1:])
    part = PAGE.with_name(PAGE.name + ".part")
    part.write_text(text.rstrip() + "\n", encoding="utf-8")
    os.replace(part, PAGE)
    print(PAGE)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
