"""Runs the cases: in the simulator, and on a kernel if the kernel supports them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from support import guest_batch as batch
from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm import VirtualMachine, unavailable
from tsnbench.errors import BackendError, InputError
from tsnbench.plan.document import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.runs import Run
from tsnbench.scenario import load_variants
from twin.case import Case, Quantity, Value

GUESTS = 2
"""The greatest number of guests at the same time."""
Seen = Run | Mapping[str, Value]
"""The result of a kernel: a run folder, or the figures of an experiment in a guest of its own."""


@cache
def planned(case: Case) -> dict[str, Plan]:
    """Plans by variant, which is named by its parameters' values."""
    return {" ".join(one.variant.values()): make_plan(one) for one in load_variants(case.path)}


@cache
def refused(case: Case) -> str:
    """The part that a kernel does not support yet; empty if it supports all, as a later kernel may."""
    if case.own:
        return ""
    for plan in planned(case).values():
        try:
            VirtualMachine(case.dilate).check_supported(plan)
        except InputError as error:
            return str(error).splitlines()[1].strip()
    return ""


def simulated(case: Case, into: Path) -> dict[str, Run]:
    """Runs of every variant in the simulator."""
    return {
        name: plan.run(on=Simulation(), into=into / f"sim-{place}") for place, (name, plan) in _each(case)
    }


def on_kernels(cases: Sequence[Case], folder: Path) -> dict[Case, Mapping[str, Seen] | BackendError]:
    """Many cases: as many as possible in one guest, one guest per core; a failed case has its error.

    Raises:
        InputError: a kernel does not support a Plan.
    """
    if why := unavailable():
        return dict.fromkeys(cases, BackendError(why))
    parts = {name: part for case in cases for name, part in parts_of(case, folder).items()}
    ended: dict[str, batch.Ended] = {}

    def together(names: Sequence[str]) -> None:
        try:
            ended.update(zip(names, batch.execute([parts[name] for name in names]), strict=True))
        except BackendError as error:
            ended.update(dict.fromkeys(names, error))

    guests = min(len(os.sched_getaffinity(0)), GUESTS, len(parts))
    with ThreadPoolExecutor(GUESTS) as pool:
        for one in [pool.submit(together, list(parts)[place::guests]) for place in range(guests)]:
            one.result()
    return {case: gathered(case, ended.__getitem__) for case in cases}


def parts_of(case: Case, folder: Path) -> dict[str, batch.Part | batch.Script]:
    """The variants of a case as parts of a guest's job."""
    return {
        _name(case, place): case.own.script(plan)
        if case.own
        else batch.Part(VirtualMachine(case.dilate), plan, folder / _name(case, place))
        for place, (_, plan) in _each(case)
    }


def gathered(case: Case, ended: Callable[[str], batch.Ended]) -> Mapping[str, Seen] | BackendError:
    """The results of a case by variant; a case with one failed variant has failed.

    ``ended``: how the part of a name ended.
    """
    found: dict[str, Seen] = {}
    for place, (variant, plan) in _each(case):
        one = ended(_name(case, place))
        if isinstance(one, BackendError):
            return one
        found[variant] = case.own.figures(plan, one) if case.own and isinstance(one, dict) else one
    return found


def _name(case: Case, place: int) -> str:
    return f"{case.name}/vm-{place}"


def _each(case: Case) -> list[tuple[int, tuple[str, Plan]]]:
    return list(enumerate(planned(case).items()))


@dataclass(frozen=True)
class Found:
    """All values of one quantity."""

    quantity: Quantity
    closed: Value
    simulator: Value
    kernel: Value | None
    """None if the kernel did not run the case."""

    @property
    def simulator_agrees(self) -> bool:
        """Whether the simulator agrees with the closed form."""
        return self.quantity.agrees(self.closed, self.simulator, kernel=False)

    @property
    def kernel_agrees(self) -> bool | None:
        """Whether the kernel agrees with the closed form; none if it did not run the case."""
        if self.kernel is None:
            return None
        return self.quantity.agrees(self.closed, self.kernel, kernel=True)


def found(case: Case, simulator: dict[str, Run], kernel: Mapping[str, Seen] | None) -> list[Found]:
    """Every quantity of a case."""
    rows = []
    for quantity in case.quantities:
        name = quantity.variant or next(iter(simulator))
        rows.append(
            Found(
                quantity,
                quantity.closed(planned(case)[name].document),
                quantity.seen(simulator[name]),
                None if kernel is None else _seen(quantity, kernel[name]),
            )
        )
    return rows


def _seen(quantity: Quantity, found: Seen) -> Value:
    if not isinstance(found, Run):
        return found[quantity.what]
    try:
        return quantity.seen(found)
    except (IndexError, StopIteration, ValueError):
        # Without any frame the quantity disagrees, too.
        return "nothing"


def main() -> None:
    """Print every case's figures, for authors of cases."""
    from twin.cases import CASES

    chosen = [case for case in CASES if not sys.argv[1:] or case.name in sys.argv[1:]]
    with TemporaryDirectory(prefix="tsnbench-twin-") as folder:
        kernels = on_kernels([case for case in chosen if not refused(case)], Path(folder))
        for case in chosen:
            kernel = kernels.get(case, BackendError(refused(case)))
            ran = None if isinstance(kernel, BackendError) else kernel
            print(f"{case.name}: {kernel if ran is None else 'both'}")
            for row in found(case, simulated(case, Path(folder) / case.name), ran):
                print(
                    " ",
                    row.quantity.what,
                    json.dumps([row.closed, row.simulator, row.kernel]),
                    row.simulator_agrees,
                    row.kernel_agrees,
                )


if __name__ == "__main__":
    main()
