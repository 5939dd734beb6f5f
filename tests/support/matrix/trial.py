"""One scenario of the matrix: planned, bounded, run in several phases, judged and replayed."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.journeys import disagreements
from support.matrix import reasons
from support.matrix.phases import phase
from support.matrix.table import combined, rows
from tsnbench import Simulation
from tsnbench.errors import InputError
from tsnbench.measure.verdict import judge
from tsnbench.plan.bounds import bounds
from tsnbench.plan.bounds.promise import after_promise
from tsnbench.plan.bounds.types import Bounds, FlowBounds
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.replay.passages import ReplayError
from tsnbench.replay.waiting import History
from tsnbench.runs import Run
from tsnbench.runs.bounds import promise_of
from tsnbench.runs.measures import Measures
from tsnbench.scenario import load


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is told of a scenario, or that is wrong with it."""

    kind: str
    text: str
    where: str = ""
    number: int = 0
    """The phase."""


@dataclass
class Trial:
    """What a scenario of the matrix showed."""

    names: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)
    flows: int = 0
    bounded: int = 0
    lossless: int = 0
    runs: int = 0
    broken: int = 0
    """Runs whose clocks were farther apart than the scenario promises."""
    wide: dict[str, float] = field(default_factory=dict)
    """By flow, its bound over the longest delay of all runs."""

    def of(self, *kinds: str) -> list[Finding]:
        return [one for one in self.findings if one.kind in kinds]


WRONG = (
    "beyond",
    "below",
    "backlog",
    "lost",
    "contradiction",
    "false reason",
    "false warning",
    "crash",
    "stuck",
)
"""Kinds of findings that are defects."""


def tried(names: Sequence[str], phases: Sequence[int]) -> Trial:
    """Tries a combination of rows in these phases: :mod:`support.matrix.phases`."""
    trial = Trial(tuple(names))
    scenario = combined(names)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "times.csv").write_text("time_ms\n0\n1\n1.2\n1.4\n5\n5.1\n9\n", encoding="utf-8")
        with caught(trial, 0):
            made = planned(scenario, folder)
            found = bounds(made)
            trial.flows = len(found["flows"])
            trial.bounded = sum(flow["upper_ns"] is not None for flow in found["flows"])
            trial.lossless = sum(flow["loss_reason"] is None for flow in found["flows"])
            trial.findings += told(names, found)
        longest: dict[str, int] = {}
        for number in phases if trial.flows else ():
            with caught(trial, number):
                own = planned(phase(scenario, number, made.document, found), folder) if number else made
                _run(trial, own, number, folder / f"run{number}", longest)
    for flow in found["flows"] if trial.flows else ():
        most = longest.get(_name(flow), 0)
        if flow["upper_ns"] and most > 0:
            trial.wide[_name(flow)] = flow["upper_ns"] / most
    trial.findings = list(dict.fromkeys(trial.findings))
    return trial


@contextmanager
def caught(trial: Trial, number: int) -> Iterator[None]:
    """What is refused, and what ends with another error than one of the input, becomes a finding."""
    try:
        yield
    except InputError as error:
        text = re.sub(r"^\S*scenario\.yaml(:\d+:\d+)?: ", "", str(error).splitlines()[0])
        trial.findings.append(Finding("refused", text, number=number))
    except Exception as error:
        trial.findings.append(Finding("crash", f"{type(error).__name__}: {error}", number=number))


def planned(scenario: dict[str, Any], folder: Path) -> Plan:
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    return plan(load(file))


def told(names: Sequence[str], found: Bounds) -> Iterator[Finding]:
    """The reasons for no bound, and those of which no row is a cause."""
    allowed = {reason for name in names for reason in rows()[name].reasons}
    for flow in found["flows"]:
        for kind in ("reason", "loss_reason"):
            text = flow[kind]  # type: ignore[literal-required]
            if text is None:
                continue
            yield Finding("no bound" if kind == "reason" else "loss not known", text, _name(flow))
            own = reasons.names_of(text)
            if not set(own) & allowed:
                yield Finding("false reason", text, f"{kind} of {_name(flow)}")


def _run(trial: Trial, own: Plan, number: int, folder: Path, longest: dict[str, int]) -> None:
    run = own.run(on=Simulation(), into=folder)
    promise = promise_of(run)
    # Where clocks were farther apart than the scenario promises, bounds that rely on that say nothing.
    found = after_promise(bounds(own), promise)
    broken = promise is not None and not promise["kept"]
    trial.broken += broken
    measures = run.measures()
    trial.runs += 1
    wrong = [*([] if broken else kept(found, measures)), *queues(found, run), *judged(own, measures, found)]
    wrong += [*cautions(trial.names, own), *stuck(run)]
    if number == 0:
        wrong += replayed(run)
    trial.findings += [Finding(one.kind, one.text, one.where, number) for one in wrong]
    for path in measures["paths"]:
        if path["delay"]:
            key = f"{path['stream']} {path['listener']}"
            longest[key] = max(longest.get(key, 0), path["delay"]["max"])


def _name(flow: FlowBounds) -> str:
    return f"{flow['stream']} {flow['listener']}"


def kept(found: Bounds, measures: Measures) -> Iterator[Finding]:
    """Delays beyond their bounds, and lost frames of flows that lose none."""
    flows = {(flow["stream"], flow["listener"]): flow for flow in found["flows"]}
    for path in measures["paths"]:
        flow = flows[path["stream"], path["listener"]]
        where = _name(flow)
        spans = [("delay", path["delay"], flow["upper_ns"], flow["lower_ns"])]
        if path.get("release_delay"):
            most = flow["release_upper_ps"]
            most = None if most is None else -(-most // 1_000)
            spans.append(
                ("delay from release", path["release_delay"], most, flow["release_lower_ps"] // 1_000)
            )
        for what, stat, upper, lower in spans:
            if stat and upper is not None and stat["max"] > upper:
                yield Finding("beyond", f"{what}: {stat['max']} ns, told at most {upper}", where)
            if stat and stat["min"] < lower:
                yield Finding("below", f"{what}: {stat['min']} ns, told at least {lower}", where)
        varies, delay = flow.get("jitter_ns"), path["delay"]
        if varies is not None and delay and delay["max"] - delay["min"] > varies:
            apart = delay["max"] - delay["min"]
            yield Finding("beyond", f"jitter: {apart} ns, told at most {varies}", where)
        if flow["loss_reason"] is None and path["count"]["lost"]:
            yield Finding("lost", f"{path['count']['lost']} frames, told none", where)


def queues(found: Bounds, run: Run) -> Iterator[Finding]:
    """Queues that were fuller than their bounds."""
    ports = {port["port"]: port for port in run.counters["ports"]}
    for port in found["ports"]:
        for one in port["classes"]:
            seen = ports[port["port"]]["classes"][one["class"]]
            most, told = seen.get("most_octets"), one["backlog_octets"]
            if most is not None and told is not None and most > told:
                where = f"{port['port']} class {one['class']}"
                yield Finding("backlog", f"{most} B, told at most {told}", where)


GONE = ("dropped_at_talker", "dropped_in_network", "lost_to_faults", "eliminated", "filtered")


def stuck(run: Run) -> Iterator[Finding]:
    """Streams of which no frame arrives and none is lost: their frames wait for ever."""
    for one in run.counters["streams"]:
        gone = any(one.get(key) for key in GONE)
        if one["released"] > 1 and not gone and not any(one["delivered"].values()):
            yield Finding("stuck", f"{one['released']} frames released, none delivered or lost", one["name"])


def judged(own: Plan, measures: Measures, found: Bounds) -> Iterator[Finding]:
    """Rows of the verdict that contradict themselves, or each other."""
    for row in judge(own.document, measures, found)["rows"]:
        where = f"{row['stream']} {row['listener']} {row['requirement']}"
        if row["proof"] == "exceeded":
            yield Finding("contradiction", "measured beyond the worst case", where)
        if row["proof"] == "proved" and row["met"] not in ("yes", "no-data"):
            yield Finding("contradiction", f"proved, and {row['met']}", where)


def cautions(names: Sequence[str], own: Plan) -> Iterator[Finding]:
    """Warnings of which no row is a cause."""
    allowed = {kind for name in names for kind in rows()[name].warnings}
    for one in own.warnings:
        if one.kind not in allowed:
            yield Finding("false warning", f"{one.kind}: {one.text}", one.where)


def replayed(run: Run) -> Iterator[Finding]:
    """Runs that cannot be replayed, and replays that disagree with what was measured."""
    try:
        history = History.of(run)
    except ReplayError as error:
        yield Finding("not replayed", str(error).partition(": ")[2])
        return
    for text in disagreements(run, history):
        where, _, what = text.partition(": ")
        yield Finding("not replayed", what, where)
