"""Runs the cases: in the simulator, and on a kernel as far as that can run them today."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from twin_case import Case, Quantity, Value

from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm import VirtualMachine, unavailable
from tsnbench.errors import BackendError, InputError
from tsnbench.planning import plan as make_plan
from tsnbench.planning.document import Plan
from tsnbench.runs import Run
from tsnbench.scenario import load_variants

Seen = Run | Mapping[str, Value]
"""What a kernel left: a run folder, or the figures of an experiment in a guest of its own."""


@cache
def planned(case: Case) -> dict[str, Plan]:
    """By variant: its parameters' values."""
    return {" ".join(one.variant.values()): make_plan(one) for one in load_variants(case.path)}


@cache
def refused(case: Case) -> str:
    """Why a kernel cannot run it yet; empty where it can. A kernel that can more needs no change here."""
    if case.own:
        return ""
    with TemporaryDirectory(prefix="tsnbench-twin-") as folder:
        for place, plan in enumerate(planned(case).values()):
            try:
                VirtualMachine(case.dilate).prepare(plan, Path(folder) / str(place))
            except InputError as error:
                return str(error).splitlines()[1].strip()
            except BackendError:
                return ""
    return ""


def simulated(case: Case, into: Path) -> dict[str, Run]:
    """Every variant in the simulator."""
    return {
        name: plan.run(on=Simulation(), into=into / f"sim-{place}") for place, (name, plan) in _each(case)
    }


def on_kernel(case: Case, into: Path) -> Mapping[str, Seen]:
    """Every variant in a guest.

    Raises:
        BackendError: there are no guests here, or one did not do it.
        InputError: it refuses the Plan.
    """
    if why := unavailable():
        raise BackendError(why)
    if case.own:
        return {name: case.own(plan) for name, plan in planned(case).items()}
    machine = VirtualMachine(case.dilate)
    return {name: plan.run(on=machine, into=into / f"vm-{place}") for place, (name, plan) in _each(case)}


def _each(case: Case) -> list[tuple[int, tuple[str, Plan]]]:
    return list(enumerate(planned(case).items()))


@dataclass(frozen=True)
class Found:
    """One quantity, everywhere."""

    quantity: Quantity
    closed: Value
    simulator: Value
    kernel: Value | None
    """None where the kernel did not run it."""

    @property
    def simulator_agrees(self) -> bool:
        """With the closed form."""
        return self.quantity.agrees(self.closed, self.simulator, kernel=False)

    @property
    def kernel_agrees(self) -> bool | None:
        """With the closed form; None where it did not run."""
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
    return quantity.seen(found) if isinstance(found, Run) else found[quantity.what]


def main() -> None:
    """Every case's figures on stdout: for whoever writes one."""
    from twin_cases import CASES

    for case in CASES:
        if sys.argv[1:] and case.name not in sys.argv[1:]:
            continue
        with TemporaryDirectory() as folder:
            why = refused(case)
            kernel = None
            try:
                simulator = simulated(case, Path(folder))
                if not why:
                    kernel = on_kernel(case, Path(folder))
            except (BackendError, InputError, subprocess.SubprocessError) as error:
                why = str(error)
            print(f"{case.name}: {why or 'both'}")
            for row in found(case, simulator, kernel):
                print(
                    " ",
                    row.quantity.what,
                    json.dumps([row.closed, row.simulator, row.kernel]),
                    row.simulator_agrees,
                    row.kernel_agrees,
                )


if __name__ == "__main__":
    main()
