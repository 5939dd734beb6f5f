"""Experiments of papers on a kernel, from the same files as in the simulator: shortened and slowed down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm import VirtualMachine
from tsnbench.compare import Comparison, compare, opened
from tsnbench.errors import BackendError, InputError
from tsnbench.planning import plan as make_plan
from tsnbench.planning.document import Plan
from tsnbench.runs.campaign import selected, shortened
from tsnbench.scenario import load_variants

PAPERS = Path(__file__).parents[2] / "scenarios" / "papers"
MS = 1_000_000


@dataclass(frozen=True)
class Experiment:
    """One run of a paper's scenario."""

    scenario: str
    called: str
    only: tuple[str, ...] = ()
    duration_ns: int = 100 * MS
    dilate: int = 10
    words: str = field(default="", compare=False)


CS = "The slowest frames are later than the kernel's time in its hops accounts for; why is not known yet."

EXPERIMENTS = (
    Experiment("engine/ex-cs1", "EnGINE EX_CS1, 7 hops", ("hops=7",), words=CS),
    Experiment("engine/ex-cs2", "EnGINE EX_CS2, 3 hops", ("hops=3",), words=CS),
    Experiment(
        "engine/ex-ts",
        "EnGINE EX_TS, strict, 2 hops",
        ("hops=2", "mode=strict", "txtime-delay=200 us"),
        words="Open: the kernel's frames come most of a cycle earlier than simulated ones; which of "
        "the two is "
        "right about the cycle is not known yet.",
    ),
    Experiment(
        "engine/ex-ucc",
        "EnGINE EX_UCC",
        words="Class B of path 3 (f3-radar, f3-us, f3-gps) has a reservation as large as its load: "
        "on veth interfaces, where software cbs gives it less (the case of a shaper beside "
        "best effort, above), its queues grow and it is later than its bound; here it is not. "
        "What differs is tails of some 10 us, where frames meet others in another order.",
    ),
    Experiment(
        "flextest/tas",
        "FlexTest TAS, list 1, slots of 15 us, cross traffic",
        ("gcl=1", "slot=15 us", "traffic=crossed"),
        20 * MS,
        60,
        "Two streams of 1 Gbit/s each are offered to a quarter of a link: which frame of them finds room "
        "is decided by "
        "ns, so their losses agree in number and not frame by frame.",
    ),
    Experiment(
        "flextest/synchronised-senders",
        "FlexTest synchronised senders, list 1, Theta",
        ("gcl=1", "traffic=theta"),
        20 * MS,
        60,
    ),
    Experiment(
        "farzaneh/experiment-1",
        "Farzaneh experiment 1, 400 Mbit/s of priority 7",
        ("priority=7", "load=400 Mbit/s"),
        50 * MS,
    ),
    Experiment("farzaneh/experiment-2", "Farzaneh experiment 2, priority 7", ("priority=7",), 100 * MS),
    Experiment("farzaneh/experiment-3", "Farzaneh experiment 3", (), 100 * MS),
)


@cache
def planned(experiment: Experiment) -> Plan:
    """The first run that fits."""
    scenarios = selected(load_variants(PAPERS / f"{experiment.scenario}.yaml"), experiment.only)
    return make_plan(shortened(scenarios[0], experiment.duration_ns, None))


def refused(experiment: Experiment) -> list[str]:
    """What a kernel refuses of it; empty where it runs."""
    with TemporaryDirectory(prefix="tsnbench-twin-") as folder:
        try:
            VirtualMachine(experiment.dilate).prepare(planned(experiment), Path(folder) / "run")
        except InputError as error:
            return [line.strip() for line in str(error).splitlines()[1:] if not line.startswith("hint")]
        except BackendError:
            return []
    return []


def compared(experiment: Experiment, into: Path) -> Comparison:
    """In the simulator and on a kernel.

    Raises:
        BackendError: the kernel could not do it.
    """
    plan = planned(experiment)
    plan.run(on=Simulation(), into=into / "sim")
    plan.run(on=VirtualMachine(experiment.dilate), into=into / "vm")
    return compare([opened(into / "sim"), opened(into / "vm")])


def section(experiment: Experiment, folder: Path) -> Iterator[str]:
    """Lines of the page."""
    yield f"### {experiment.called}"
    yield ""
    options = "".join(f' --only "{one}"' for one in experiment.only)
    command = f"tsnbench run scenarios/papers/{experiment.scenario}.yaml{options}"
    command += f" --duration {experiment.duration_ns // MS}ms --on vm --dilate {experiment.dilate}"
    yield f"`{command}`"
    yield ""
    why = "; ".join(dict.fromkeys(line.partition(": ")[2] or line for line in refused(experiment)))
    if not why:
        try:
            found = compared(experiment, folder)
        except BackendError as error:
            why = str(error).partition("\n")[0]
    if why:
        yield f"The kernel does not run this yet: {why}."
        yield ""
        return
    yield "| stream | run | sent | lost | min (us) | median | p99 | max | bound |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in found.rows:
        delay = row.delay or {}
        figures = [f"{delay[name] / 1e3:,.3f}" if delay else "" for name in ("min", "median", "p99", "max")]
        upper = found.bounds.get((row.stream, row.listener), (None, ""))[0]
        kind = "kernel" if row.side else "simulator"
        bound = "" if upper is None or row.side else f"{upper / 1e3:,.3f}"
        cells = [row.stream if not row.side else "", kind, f"{row.sent:,}", f"{row.lost:,}", *figures, bound]
        yield f"| {' | '.join(cells)} |"
    yield ""
    agree = sum(one.agrees for one in found.agreements)
    text = f"{agree} of {len(found.agreements)} quantities agree within the tolerances of `tsnbench compare`"
    worst = [one for one in found.agreements if not one.agrees and one.unit == "ns"]
    if worst:
        most = max(worst, key=lambda one: abs(one.difference))
        text += f"; farthest apart is {most.stream}, {most.quantity}: {most.difference / 1e3:+,.3f} us"
    yield f"{text}. {experiment.words}".strip()
    yield ""
