"""Mutations: each changes one parameter of a case's job, and the case must disagree.

A case that cannot fail shows nothing. ``cd tests && python -m twin.mutations [CASE…]`` runs all of them in
one guest.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from support import guest_batch as batch
from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.kernel.tsnport import TSNPORT
from tsnbench.backends.vm import VirtualMachine
from tsnbench.errors import BackendError
from tsnbench.plan.document import Plan
from twin import prp
from twin.case import Case
from twin.cases import CASES
from twin.suite import found, planned, simulated


@dataclass(frozen=True)
class Mutation:
    """A wrong value in a job."""

    case: str
    what: str
    old: str
    """A regular expression; every match is replaced."""
    new: str
    variant: str = ""


CABLES = r"(p\d+@\S+ p\d+@\S+ \d+) \d+ (\d+) \d+"
MUTATIONS = (
    Mutation("strict-priority", "no filter reads priorities", r"priority 6$", "priority 0"),
    Mutation("priority-mapping", "two classes swapped", r"map 0 0 1 1 2 2 3 3", "map 0 0 1 1 3 3 2 2"),
    Mutation("vlan-line", "priorities are lost at bridges", r"priority 5$", "priority 0"),
    Mutation("taprio-windows", "a list 45 us late", r"EPOCH-2010000000", "EPOCH-2009550000"),
    Mutation("act-gate", "open for 600 us", r"open 5000000 (.*) close 5", r"open 6000000 \1 close 4"),
    Mutation("police", "10 % too fast", r"police rate 1000000bit", "police rate 1100000bit"),
    Mutation("cbs-spacing", "an idle slope 2 % too high", r"idleslope 10000 ", "idleslope 10200 "),
    Mutation("link-rates", "10.5 Mbit/s for 10", r" 1000000 ", " 1050000 "),
    Mutation("hops", "cables of 500 m", CABLES, r"\1 25000000 \2 25000000"),
    Mutation("etf", "delta 10 us longer", r"delta 200000$", "delta 210000", "software 200 us"),
    Mutation("etf-deadline", "not in deadline mode", r" deadline_mode", ""),
    Mutation("etf-late", "no etf", r"etf clockid CLOCK_TAI delta 200000", "pfifo limit 1000"),
    Mutation("txtime-assist", "a list 20 us late", r"EPOCH-2001000000", "EPOCH-2000980000"),
    Mutation("taprio-software", "a list 20 us late", r"EPOCH-2001000000", "EPOCH-2000980000"),
    Mutation("link-down", "cut 2 ms late", r"cut \$\(\(STAMPED\+20", "cut $((STAMPED+22"),
    Mutation("loss", "half the loss", r" 100000\"", ' 50000"'),
    Mutation("delay", "10 us longer", r" 30(0+) 0 1000000 ", r" 31\1 0 1000000 "),
    Mutation("clocks", "nobody is steered", r"^clock_servo pi$", "clock_servo pi\nfree_running 1"),
)  # fmt: skip
NO_PRP = (
    "ip -n other link add prp0 type hsr slave1 a1 slave2 b1 supervision 45 proto 1 || fail prp",
    "ip -n other link add prp0 type bridge; ip -n other link set a1 master prp0; "
    "ip -n other link set b1 master prp0",
)
"""A listener that joins both legs with a bridge."""


class Mutant(VirtualMachine):
    """A guest whose configuration differs from the Plan, without a read-back."""

    def __init__(self, dilate: int, mutation: Mutation) -> None:
        super().__init__(dilate)
        self.mutation = mutation

    def job(self, plan: Plan, environment: Environment | None = None) -> dict[str, bytes]:
        """The job with the wrong value.

        Raises:
            ValueError: nothing matches the regular expression.
        """
        told, places = super().job(plan, environment), 0
        for name, content in told.items():
            if name != "plan.json":
                text, count = re.subn(self.mutation.old, self.mutation.new, content.decode(), flags=re.M)
                told[name], places = text.encode(), places + count
        if not places:
            raise ValueError(f"{self.mutation.case}: its job has no {self.mutation.old}")
        return told


def case_of(mutation: Mutation) -> Case:
    """The case of a mutation."""
    return next(case for case in CASES if case.name == mutation.case)


def plan_of(mutation: Mutation) -> Plan:
    """The Plan of the mutation's variant."""
    plans = planned(case_of(mutation))
    return plans[mutation.variant or next(iter(plans))]


def judged(mutations: list[Mutation], folder: Path) -> dict[str, str]:
    """By mutation, the quantities that disagree; empty if the case did not find the mutation."""
    parts = [
        batch.Part(Mutant(case_of(one).dilate, one), plan_of(one), folder / f"{place}")
        for place, one in enumerate(mutations)
    ]
    # The read-back is switched off: it would find most mutations before any frame is looked at.
    with patch.object(type(TSNPORT), "read_back"):
        ended = batch.execute(parts)
    said = {}
    for one, run in zip(mutations, ended, strict=True):
        name = f"{one.case}: {one.what}"
        if isinstance(run, BackendError):
            said[name] = f"no result: {run}".partition("\n")[0]
            continue
        case = case_of(one)
        simulator = simulated(case, folder / f"sim-{case.name}")
        kernel = dict.fromkeys(simulator, run)
        wrong = [
            f"{row.quantity.what} {row.kernel} for {row.closed}"
            for row in found(case, simulator, kernel)
            if row.kernel_agrees is False and row.quantity.variant in ("", one.variant)
        ]
        said[name] = "; ".join(wrong)
    return said


def main() -> None:
    """Exit code 1 if a case does not find its mutation."""
    chosen = [one for one in MUTATIONS if not sys.argv[1:] or one.case in sys.argv[1:]]
    with TemporaryDirectory(prefix="tsnbench-twin-") as folder:
        said = judged(chosen, Path(folder))
        if not sys.argv[1:] or "prp" in sys.argv[1:]:
            case = next(case for case in CASES if case.name == "prp")
            plan = next(iter(planned(case).values()))
            script = prp.script(plan.document)
            assert NO_PRP[0] in script
            (back,) = batch.execute([prp.job(plan, script.replace(*NO_PRP))])
            assert isinstance(back, dict)
            rows = found(case, simulated(case, Path(folder) / "prp"), {"": prp.figures(plan, back)})
            said["prp: a bridge for PRP"] = "; ".join(
                f"{row.quantity.what} {row.kernel} for {row.closed}" for row in rows if not row.kernel_agrees
            )
    for name, wrong in said.items():
        print(f"{name}\n    {wrong or 'NOT SEEN'}")
    sys.exit(0 if all(said.values()) else 1)


if __name__ == "__main__":
    main()
