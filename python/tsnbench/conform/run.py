"""Runs the stimuli of suites, and judges what came out: one run folder for each stimulus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tsnbench.campaign.campaign import Options, begin_sweep, run_one, write_json
from tsnbench.conform import budget
from tsnbench.conform.bench import Stimulus, Unsent
from tsnbench.conform.catalogue import TESTS, Test
from tsnbench.conform.judge import Result, Verdict, heeded, undecided
from tsnbench.conform.seen import Seen
from tsnbench.conform.suites import (
    cbs,
    forwarding,
    frer,
    frer_gaps,
    gates,
    gates_turns,
    load,
    preempt,
    preempt_hold,
    priority,
    priority_untagged,
    psfp,
    queue,
)
from tsnbench.conform.suites.ptp import clock, correction, told
from tsnbench.conform.suites.vlan import foreign, member
from tsnbench.errors import BackendError, InputError, UnmeasuredError
from tsnbench.runs import clearing, file_names, lock
from tsnbench.runs.errors import FolderError, writing

if TYPE_CHECKING:
    from tsnbench.backends.protocol import Backend, Progress
    from tsnbench.conform.bench import Bench
    from tsnbench.conform.judge import Error, Reason
    from tsnbench.foreign import Json
    from tsnbench.plan.types import Port
    from tsnbench.runs import Run

FORMAT = "tsnbench-conform/1"
NO_CERTIFICATE = "This is a measurement of these ports, these lists and these frames, and no certificate."


class Suite(Protocol):
    """A module of :mod:`tsnbench.conform.suites`."""

    def ports(self, bench: Bench) -> Sequence[Port]:
        """The device's ports that have what the suite tests."""
        ...

    def stimuli(self, bench: Bench) -> Iterator[Stimulus | Unsent]:
        """What testers send, for each of these ports, or why they cannot."""
        ...

    def judged(self, bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
        """The results of all tests of the stimulus at one port."""
        ...


SUITES: dict[str, Suite] = {
    "gates": gates,
    "gates-turns": gates_turns,
    "forwarding": forwarding,
    "load": load,
    "vlan": member,
    "vlan-foreign": foreign,
    "priority": priority,
    "priority-untagged": priority_untagged,
    "queue": queue,
    "psfp": psfp,
    "frer": frer,
    "frer-gaps": frer_gaps,
    "preempt": preempt,
    "preempt-hold": preempt_hold,
    "cbs": cbs,
    "ptp": correction,
    "ptp-time": told,
    "ptp-clock": clock,
}
"""Stimuli by kind, in the order of the catalogue."""

BEHIND = {"gates", "gates-turns", "cbs"}
"""Those whose tests look at no stamps but those behind the device."""


@dataclass(frozen=True)
class Prepared:
    """The stimuli of the chosen tests."""

    bench: Bench
    tests: Sequence[Test]
    stimuli: Sequence[tuple[str, Stimulus]]
    """Each with its kind."""
    unsent: Sequence[tuple[str, Unsent]] = ()

    @property
    def duration_ns(self) -> int:
        """Of all runs together, in the time of the scenario."""
        plans = [one.plan.document for _, one in self.stimuli]
        return sum(plan["duration_ns"] + plan["drain_ns"] for plan in plans)

    def missing(self) -> Iterator[Result]:
        """Results of tests for which there is no stimulus."""
        names = {test.id for test in self.tests}
        for name, suite in SUITES.items():
            own = [test for test in TESTS if test in names and TESTS[test].stimulated == name]
            ports = [port["name"] for port in suite.ports(self.bench)]
            unsent = [one for of, one in self.unsent if of == name]
            for test in own:
                if not ports:
                    sentence = "no port of the scenario's device has it"
                    yield Result(test, self.bench.name, "not-offered", sentence)
                yield from (undecided(test, one.port, one.reason, one.why) for one in unsent)


def prepare(bench: Bench, tests: Sequence[Test]) -> Prepared:
    """The stimuli of the chosen tests, planned and not run."""
    names = dict.fromkeys(test.stimulated for test in tests)
    every = [(name, one) for name in names for one in SUITES[name].stimuli(bench)]
    sent = [(name, one) for name, one in every if isinstance(one, Stimulus)]
    unsent = [(name, one) for name, one in every if isinstance(one, Unsent)]
    return Prepared(bench, tests, sent, unsent)


@dataclass(frozen=True)
class Outcome:
    """All results, and what is known of the testers."""

    bench: Bench
    backend: str
    results: Sequence[Result]
    errors: Sequence[Error]
    measured: Collection[str]
    """The stimuli whose runs were judged."""
    ended: BackendError | None = None
    """Why not all stimuli were run, if the command cannot go on."""

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many tests have each verdict."""
        found: dict[Verdict, int] = {}
        for one in self.results:
            found[one.verdict] = found.get(one.verdict, 0) + 1
        return found

    def document(self) -> Json:
        """``tsnbench-conform/1``."""
        worst = max(self.errors, key=lambda one: (one.clock_ns is None, one.stamps_ns), default=None)
        return {
            "format": FORMAT,
            "dut": {
                "node": self.bench.name,
                "scenario": self.bench.expected.name,
                "plan": self.bench.expected.hash,
            },
            "backend": self.backend,
            "tester": None if worst is None else asdict(worst),
            "tests": [_of_result(one) for one in self.results],
            "verdicts": self.verdicts,
            "note": NO_CERTIFICATE,
        } | ({"ended": str(self.ended)} if self.ended else {})


def _of_result(one: Result) -> Json:
    test = TESTS[one.test]
    found = {"id": one.test, "clause": test.clause, "after": list(test.after)}
    return found | {key: value for key, value in asdict(one).items() if key != "test"}


def conform(
    prepared: Prepared,
    into: Path,
    on: Backend,
    asked_ns: int = 0,
    options: Options | None = None,
    watch: Callable[[Stimulus, int], AbstractContextManager[Progress | None]] = lambda _, __: nullcontext(),
) -> Outcome:
    """Runs all stimuli and judges them; complete runs of the same Plans are used again.

    A stimulus without a valid run leaves its tests undecided. An error that others would meet, too, ends the
    command: :attr:`Outcome.ended` has it, if there are results until then.

    Args:
        prepared: the stimuli.
        into: the folder, with a run folder for each stimulus, and ``conform.json``.
        on: the backend.
        asked_ns: a tolerance that is wider than the error of the testers.
        options: of the runs.
        watch: is entered for each run, with its stimulus and number; gives what is called during the run.

    Raises:
        InputError: the folder has files of others, or another device.
        BackendError: the backend failed before there was a result, or the disk is full.
        KeyboardInterrupt: a later call continues with the runs that are missing.
    """
    bench, how = prepared.bench, options or Options(report=False)
    folders = [into / one.name for _, one in prepared.stimuli]
    name = f"conform-{bench.name}"
    clearing.refuse_foreign(into)
    begin_sweep(into, folders, True, how, name, Path(bench.expected.name))
    results: list[Result] = []
    errors: list[Error] = []
    measured: list[str] = []
    ended = None
    for number, (suite, one) in enumerate(prepared.stimuli):
        try:
            with watch(one, number) as progress:
                made = run_one(one.plan, into / one.name, _with_captures(how, suite), progress, on=on)
        except FolderError:
            raise
        except (InputError, UnmeasuredError) as problem:
            # Neither says anything of the device, nor of the other stimuli.
            results += _without(suite, one, *_why(problem))
        except BackendError as problem:
            if not results:
                raise
            ended = problem
            results += [one for of, left in prepared.stimuli[number:] for one in _without(of, left, "ended")]
            break
        else:
            errors.append(_error(bench, one, made.run, on.name, asked_ns))
            measured.append(one.name)
            results += judged(suite, bench, one, Seen.of(made.run), errors[-1])
    wanted = {test.id for test in prepared.tests}
    every = in_order([*results, *prepared.missing()])
    outcome = Outcome(bench, on.name, [one for one in every if one.test in wanted], errors, measured, ended)
    with writing(into), lock.held(into):
        write_json(into / file_names.CONFORM, outcome.document())
    return outcome


def _with_captures(how: Options, kind: str) -> Options:
    """PTP's corrections are in captures alone."""
    return replace(how, pcap=True) if kind.startswith("ptp") else how


def _why(problem: InputError | UnmeasuredError) -> tuple[Reason, str]:
    """Why a stimulus has no run: the place where it runs refuses the Plan, or no run of it was valid."""
    if isinstance(problem, UnmeasuredError):
        return "rejected", f"no valid run: {problem.host}, {problem.at}: {problem.reason}"
    every = str(problem).splitlines()
    lines = [line.strip() for line in every if line.startswith("  ")]
    return "unsupported-dut", f"this place cannot run it: {(lines or every)[0]}"


def _without(suite: str, stimulus: Stimulus, reason: Reason, words: str = "") -> list[Result]:
    """The results of a stimulus without a run."""
    tests = [test.id for test in TESTS.values() if test.stimulated == suite]
    found = (undecided(test, stimulus.port, reason, words) for test in tests)
    return [replace(one, stimulus=stimulus.name) for one in found]


def judged(suite: str, bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> list[Result]:
    """The results of a suite at one port, each as if all tests before it had passed."""
    found = SUITES[suite].judged(bench, stimulus, seen, error.behind if suite in BEHIND else error)
    return [replace(one, stimulus=stimulus.name) for one in found]


def in_order(results: Sequence[Result]) -> list[Result]:
    """Results by port, in the order of the catalogue; a test is not run if one that it depends on failed."""
    places = {test: place for place, test in enumerate(TESTS)}
    after = {name: one.after for name, one in TESTS.items()}
    ordered = sorted(results, key=lambda one: (one.verdict == "not-offered", one.port, places[one.test]))
    return [one for _, own in groupby(ordered, key=lambda one: one.port) for one in heeded(own, after)]


def _error(bench: Bench, one: Stimulus, run: Run, backend: str, asked_ns: int) -> Error:
    """What a run of a stimulus says of the testers."""
    before = budget.before(one.plan, backend, asked_ns)
    senders, at, dilate = _senders(bench, one), _stamps_at(bench, one), int(run.manifest.get("dilate", 1))
    return budget.after(before, one.plan, run.folder, bench.name, senders, at, dilate)


def _senders(bench: Bench, one: Stimulus) -> list[str]:
    """The nodes whose stamps show when frames of a stimulus entered the device."""
    ports, nodes = bench.network.ports, bench.network.nodes
    hops = {hop["port"] for stream in one.plan.document["streams"] for hop in stream["route"]}
    return sorted({nodes[ports[hop]["node"]]["name"] for hop in hops if bench.network.far(hop) == bench.node})


def _stamps_at(bench: Bench, one: Stimulus) -> str:
    """The node whose stamps show when frames left the device."""
    return bench.network.nodes[bench.network.far(bench.number(one.port))]["name"]
