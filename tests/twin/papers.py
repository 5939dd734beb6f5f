"""Experiments of papers on a kernel, from the simulator's scenario files: shortened and dilated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from support.guest_batch import Part
from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm import VirtualMachine
from tsnbench.compare import Comparison, compare, opened
from tsnbench.errors import BackendError, InputError
from tsnbench.plan.document import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.runs import Run
from tsnbench.scenario import Scenario, load_variants
from tsnbench.scenario.model import Constant
from tsnbench.scenario.selection import selected, shortened

PAPERS = Path(__file__).parents[2] / "scenarios" / "papers"
MS = 1_000_000
OVERLOADED = 0.02
"""A stream that loses more than this share of its frames has a full queue."""
GUESTS_STAGES_NS = {"wakeup": 3_600, "send": 200, "qdisc": 4_000, "kernel-rx": 3_000}
"""Times of a host's stages in the guest: medians of EX_TS, Linux 6.12.117, in the guest's time."""
OWN = "simulator with the guest's software"


@dataclass(frozen=True)
class Experiment:
    """One run of a paper's scenario."""

    scenario: str
    called: str
    only: tuple[str, ...] = ()
    duration_ns: int = 100 * MS
    dilate: int = 10
    hosts: bool = False
    """Whether hosts' software decides the result: then also simulated with the guest's software times."""
    words: str = field(default="", compare=False)


CS = (
    "If a reservation is as large as the load, there is no spare credit: a frame that is late delays all "
    "later frames, and delays rise in steps (in EX_CS2 from 31.96 to 35.8 us, by 3.2 us at once). "
    "Software cbs counts whole octets. The distance of two frames that leave the talker is therefore "
    "larger by 0.08 us (1 octet of 1250). This is the difference of the interval."
)
RING = (
    "A full queue of the kernel is longer by one frame, and by two while its gate is closed: these frames "
    "are already in the card. A few ns decide which frame finds room. Therefore losses agree in number, "
    "but not frame by frame."
)
PROCESSING = (
    "The Plan's bridges take 2 us for each frame; the guest takes its own time, some 0.4 us of the Plan's "
    "time."
)

EXPERIMENTS = (
    Experiment("engine/ex-cs1", "EnGINE EX_CS1, 7 hops", ("hops=7",), words=CS),
    Experiment("engine/ex-cs2", "EnGINE EX_CS2, 3 hops", ("hops=3",), words=CS),
    Experiment(
        "engine/ex-ts",
        "EnGINE EX_TS, strict, 2 hops",
        ("hops=2", "mode=strict", "txtime-delay=200 us"),
        hosts=True,
        words=(
            "The scenario's hosts take 60 to 176 us for a frame that they receive, as the paper's did; "
            "the guest takes 0.3 us. A frame that arrives at the start of a window gets a launch time 200 "
            "us after it was received. In the guest the window is then still open; in the paper's hosts "
            "the frame has to wait for the next window. With the guest's own times the simulator agrees "
            "with the kernel: taprio and etf are equal in both, and the software before them makes the "
            "difference. This is also the paper's explanation."
        ),
    ),
    Experiment(
        "engine/ex-ucc",
        "EnGINE EX_UCC",
        words=(
            "Reservations are as large as their loads, and Linux's software cbs gives slightly less: it "
            "rounds credit down to whole octets whenever it computes the credit. The queues of shaped "
            "classes therefore grow during the whole run (f1-adas.1 from 25 to 48 us in 100 ms, by 0.14 "
            "us a frame). With 1 % more idle slope for the kernel only, no queue grows, and 84 quantities "
            "agree: f2-lidar.1 then has a median of 50.8 us and a 99th percentile of 51.7 us. The other "
            "differences come from the order of frames that the scenario releases at one instant: the "
            "simulator sends the highest class first, and a kernel's talker hands over one frame after "
            "the other. EnGINE's I210 cards shape in hardware and do not have this effect."
        ),
    ),
    Experiment(
        "flextest/tas",
        "FlexTest TAS, list 1, slots of 15 us, cross traffic",
        ("gcl=1", "slot=15 us", "traffic=crossed"),
        20 * MS,
        60,
        words=(
            f"{RING} Here one frame passes in a slot, 60 us on average: one additional frame gives 108 us "
            "more. Talkers share the guest's one processor: theta-high leaves up to 48 us late, 0.8 us of "
            "the Plan's time, and waits less for its window by this time."
        ),
    ),
    Experiment(
        "flextest/synchronised-senders",
        "FlexTest synchronised senders, list 1, Theta",
        ("gcl=1", "traffic=theta"),
        20 * MS,
        60,
        words=(
            f"{RING} Here many frames pass in a window: one additional frame gives 12.3 us more. If this "
            "frame is the first one that finds the window closed, it gives 475 us more, the time of a "
            "window. Talkers are up to some us late, which is 0.1 us of the Plan's time in an interval."
        ),
    ),
    Experiment(
        "farzaneh/experiment-1",
        "Farzaneh experiment 1, 400 Mbit/s of priority 7",
        ("priority=7", "load=400 Mbit/s"),
        30 * MS,
        20,
        words=(
            f"{PROCESSING} The notebook sends its frames back to back. Therefore the next frame of "
            "priority 7 arrives at a port exactly when the frame before it leaves. In the simulator a "
            "frame that arrives at an instant takes part in the selection at this instant, and the "
            "motor's frame 23 waits 211 us for the end of the burst. In the kernel, as in a switch, the "
            "next frame is some ns late or early, and the motor's frame leaves between two frames of the "
            "burst (48 us). If the notebook's link has 999 Mbit/s, frames are 12 ns apart, and the "
            "simulator's maximum is 96.1 us, of frame 15, as in the kernel. Both orders conform to the "
            "standard; the exact coincidence is the worst case."
        ),
    ),
    Experiment(
        "farzaneh/experiment-2",
        "Farzaneh experiment 2, priority 7",
        ("priority=7",),
        30 * MS,
        20,
        words=f"{PROCESSING} {RING}",
    ),
    Experiment(
        "farzaneh/experiment-3",
        "Farzaneh experiment 3, as measured, sent 27 us early",
        ("sender=as-measured", "delta=27 us"),
        30 * MS,
        20,
        hosts=True,
        words=(
            "The paper's sender takes 27 us from its timer to its frame, and is therefore configured to "
            "begin 27 us earlier. The guest's sender takes 0.2 us of the Plan's time. Its frame arrives "
            f"early and waits for its window. {PROCESSING} {RING}"
        ),
    ),
    Experiment(
        "ocora/trdp-tsn",
        "OCORA Task 2: TRDP-TSN through its window, from an i210, with best effort",
        ("sender=i210", "traffic=loaded"),
        100 * MS,
        20,
        hosts=True,
        words=(
            "The scenario's hosts take 108 us from the interval to the card, as the paper's did; the "
            "guest takes 0.3 us, and the telegram waits longer for its window. In both the gate opens 200 "
            "us after the interval's beginning, and the telegram arrives 0.2 to 1.5 us later. The "
            "ordinary telegram leaves the talker behind it, always at the same time after the gates' "
            "cycle. Whether a frame of best effort (12.3 us) has just begun there depends on less than 1 "
            "us."
        ),
    ),
    Experiment(
        "ocora/trdp-priority",
        "OCORA Task 3: TRDP-TSN with a priority, from an i210, with best effort",
        ("sender=i210", "traffic=loaded"),
        100 * MS,
        20,
        hosts=True,
    ),
    Experiment(
        "ocora/trdp-pd",
        "OCORA Task 3: ordinary TRDP with a priority, from an i210, with best effort",
        ("sender=i210", "traffic=loaded"),
        500 * MS,
        20,
        hosts=True,
    ),
)


@cache
def planned(experiment: Experiment, *, guests_hosts: bool = False) -> Plan:
    """The Plan of the first matching run; ``guests_hosts``: with the software times of the guest."""
    scenarios = selected(load_variants(PAPERS / f"{experiment.scenario}.yaml"), experiment.only)
    scenario = shortened(scenarios[0], experiment.duration_ns, None)
    if guests_hosts:
        scenario = _with_guests_hosts(scenario, experiment.dilate)
    return make_plan(scenario)


def _with_guests_hosts(scenario: Scenario, dilate: int) -> Scenario:
    """The scenario with hosts whose software takes as long as in the guest."""
    took = {stage: Constant(kind="constant", ns=ns // dilate) for stage, ns in GUESTS_STAGES_NS.items()}
    own = {name: one.model_copy(update={"latencies": took}) for name, one in scenario.hosts.items()}
    return scenario.model_copy(update={"hosts": own})


def refused(experiment: Experiment) -> list[str]:
    """The parts that a kernel does not support; empty if it supports all."""
    with TemporaryDirectory(prefix="tsnbench-twin-") as folder:
        try:
            VirtualMachine(experiment.dilate).prepare(planned(experiment), Path(folder) / "run")
        except InputError as error:
            return [line.strip() for line in str(error).splitlines()[1:] if not line.startswith("hint")]
        except BackendError:
            return []
    return []


def part_of(experiment: Experiment, folder: Path) -> Part:
    """The experiment as a part of a guest's job."""
    return Part(VirtualMachine(experiment.dilate), planned(experiment), folder)


def compared(experiment: Experiment, into: Path, ran: Run | None = None) -> list[tuple[str, Comparison]]:
    """The runs in the simulator compared with the kernel's run, each with the simulator's name.

    ``ran``: the kernel's run, if there is one.

    Raises:
        BackendError: the kernel has no result.
    """
    plan = planned(experiment)
    plan.run(on=Simulation(), into=into / "sim")
    ran = ran or plan.run(on=VirtualMachine(experiment.dilate), into=into / "vm")
    kernel = opened(ran.folder)
    found = [("simulator", compare([opened(into / "sim"), kernel]))]
    if experiment.hosts:
        planned(experiment, guests_hosts=True).run(on=Simulation(), into=into / "own")
        found.append((OWN, compare([opened(into / "own"), kernel])))
    return found


def section(experiment: Experiment, folder: Path) -> Iterator[str]:
    """The experiment's lines of the page."""
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
    for stream in dict.fromkeys((row.stream, row.listener) for row in found[0][1].rows):
        yield from _rows(found, stream)
    yield ""
    for number, (called, one) in enumerate(found):
        yield _agreement(f"the {called}" if number else "the simulator", one)
    if experiment.words:
        yield experiment.words
        yield ""


def _rows(found: list[tuple[str, Comparison]], stream: tuple[str, str]) -> Iterator[str]:
    """A stream's row of every run; the kernel's row is the last."""
    rows = [(called, row, one) for called, one in found for row in one.rows if not row.side]
    rows += [("kernel", row, found[0][1]) for row in found[0][1].rows if row.side]
    first = True
    for called, row, one in rows:
        if (row.stream, row.listener) != stream:
            continue
        delay = row.delay or {}
        figures = [f"{delay[name] / 1e3:,.3f}" if delay else "" for name in ("min", "median", "p99", "max")]
        upper = one.bounds.get(stream, (None, ""))[0]
        bound = "" if upper is None or row.side else f"{upper / 1e3:,.3f}"
        cells = [row.stream if first else "", called, f"{row.sent:,}", f"{row.lost:,}", *figures, bound]
        first = False
        yield f"| {' | '.join(cells)} |"


def overloaded(found: Comparison) -> set[tuple[str, str]]:
    """Streams that lose frames in both runs: their queues are full, and a delay shows the queue's length."""
    lost: dict[tuple[str, str], list[bool]] = {}
    for row in found.rows:
        lost.setdefault((row.stream, row.listener), []).append(row.lost > OVERLOADED * row.sent)
    return {stream for stream, runs in lost.items() if all(runs)}


def _agreement(called: str, found: Comparison) -> str:
    """How many quantities agree, and for streams with full queues the share of frames that arrive."""
    full = overloaded(found)
    counted = [one for one in found.agreements if (one.stream, one.listener) not in full]
    agree = sum(one.agrees for one in counted)
    text = (
        f"The kernel and {called}: {agree} of {len(counted)} quantities agree within the tolerances of "
        "`tsnbench compare`"
    )
    worst = [one for one in counted if not one.agrees and one.unit == "ns"]
    if worst:
        most = max(worst, key=lambda one: abs(one.difference))
        text += f"; farthest apart is {most.stream}, {most.quantity}: {most.difference / 1e3:+,.3f} us"
    if full:
        arrive = []
        for stream in sorted(full):
            shares = [
                f"{1 - row.lost / row.sent:.1%}" for row in found.rows if (row.stream, row.listener) == stream
            ]
            arrive.append(f"{stream[0]} {' and '.join(shares)}")
        text += (
            ". Streams in full queues are compared by the share of their frames that arrives "
            f"({', '.join(arrive)}), not by their delay, which is the queue's length"
        )
    return f"{text}.\n"
