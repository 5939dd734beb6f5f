"""``tsnbench plan``: the results of planning, before a run."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import (
    Exit,
    data,
    print_json,
    print_json_text,
    print_line,
    print_message,
    print_table,
    user_errors,
)
from tsnbench.cli.console.strict import HELP, refuse_warnings

if TYPE_CHECKING:
    from tsnbench.planning import Plan


def plan(
    file: Annotated[Path, argument("FILE", "Scenario file.")],
    as_json: Annotated[bool, typer.Option("--json", help="The Plan as JSON (a list for a sweep).")] = False,
    bounds: Annotated[bool, typer.Option("--bounds", help="Worst-case bounds of delay and backlog.")] = False,
    tight: Annotated[
        bool,
        typer.Option(
            "--tightest",
            help="The limits with the least reserve: worst cases, links, gates, reservations.",
        ),
    ] = False,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="With --bounds: exit code 1 if the worst case breaks a requirement."),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="All rows of the tables; with --bounds all requirements, not only those with the smallest "
            "margin.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None, option("PARAMETER=VALUE", "Only the runs with this parameter: hops=3.")
    ] = None,
    keep: Annotated[
        Path | None,
        option(
            "FILE",
            "Keep the schedule of this earlier Plan (--json) as far as possible, and report what moved.",
        ),
    ] = None,
    export: Annotated[
        Path | None, option("DIR", "Write files for devices and other tools into this folder.")
    ] = None,
    report: Annotated[
        Path | None,
        option("DIR", "Write the schedule, bounds and network as one HTML file into this folder."),
    ] = None,
    to: Annotated[
        str | None,
        option(
            "FORMATS",
            "With --export: some of tc, ptp4l, yang, inet, tsnkit, csv, ansible, trdp; all but the last two "
            "unless given.",
        ),
    ] = None,
    taprio: Annotated[
        str, typer.Option(metavar="WAY", help="How taprio opens gates: software, txtime-assist or full.")
    ] = "software",
    queues: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="Queues of classes: reversed, renumbered (Linux up to 6.2) or straight (highest first).",
        ),
    ] = "reversed",
    yang: Annotated[
        Path | None, option("DIR", "Check YANG data against the modules in this folder (yanglint).")
    ] = None,
    interface: Annotated[
        list[str] | None, option("PORT=NAME", "Interface of a port: 'sw1 -> sw2=enp3s0'.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help=HELP)] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="The processor time of each planning pass, on stderr.")
    ] = False,
) -> None:
    """Plan a scenario: paths, classes, shapers, loads, or the worst case; as tables, JSON or files."""
    from tsnbench.planning.passes import Planned, planned
    from tsnbench.scenario import load_variants
    from tsnbench.scenario.selection import selected

    with user_errors():
        from tsnbench.errors import InputError

        for name, value in (("--to", to), ("--yang", yang), ("--interface", interface)):
            if value and export is None:
                raise InputError(f"{name}: expected --export with it, found none\n  hint: add --export out")
        done = Timing().done if timing else _untimed
        done("start")
        scenarios = selected(load_variants(file), only or [])
        done("read")
        if keep is not None:
            from tsnbench.cli.incremental import plan_incrementally

            made, changes = plan_incrementally(scenarios, keep)
            plans = [made]
            all_planned = [Planned(made, *made.written())]
            if as_json and not bounds and export is None and report is None:
                print_json({"plan": json.loads(made.to_json()), "changes": changes})
                return
        else:
            all_planned = [planned(scenario, done=done) for scenario in scenarios]
            plans = [one.plan for one in all_planned]
        if strict:
            refuse_warnings(plans)
        if report is not None:
            _report(plans, scenarios[0].title, report)
        if export is not None:
            _export(
                plans, export, to or "tc,ptp4l,yang,inet,tsnkit,csv", taprio, queues, interface or [], yang
            )
        if report is not None or export is not None:
            return
        if tight:
            _tightest(plans, as_json, everything)
            return
        if bounds:
            _bounds(plans, as_json, judge, everything)
            return
        if as_json:
            texts = [one.text for one in all_planned]
            print_json_text(texts[0] if len(texts) == 1 else f"[{','.join(texts)}]")
            done("print")
            return
        from tsnbench.cli.console.plan_tables import print_plan

        for each in all_planned:
            print_plan(each.plan, data(), everything, each.hash)
        done("print")


def _tightest(plans: list[Plan], as_json: bool, everything: bool) -> None:
    """Prints the limits of each Plan by the share that is used, the greatest share first."""
    from dataclasses import asdict

    from tsnbench.quantities import share_of, some
    from tsnbench.sheet import Column, Sheet
    from tsnbench.tuning.tightest import tightest

    if as_json:
        variants = [plan.document["variant"] for plan in plans]
        found = [asdict(tightest(plan)) for plan in plans]
        print_json([{"variant": own, **uses} for own, uses in zip(variants, found, strict=True)])
        return
    columns = [
        Column("what", name=True), Column("where", name=True), Column("used"), Column("of"), Column("share")
    ]  # fmt: skip
    for plan in plans:
        label = ", ".join(f"{key} {value}" for key, value in plan.document["variant"].items())
        sheet = Sheet(
            f"what runs out first{f': {label}' if label else ''}", columns, most=None if everything else 10
        )
        found_here = tightest(plan)
        for use in found_here.uses:
            sheet.rows.append([str(use.kind), use.where, use.used, use.limit, share_of(use.share)])
        if found_here.unknown:
            sheet.captions.append(f"No bound is known: {some(found_here.unknown)}.")
        print_table(sheet)


class Timing:
    """Prints how long each step took, in processor time of the whole process."""

    def __init__(self) -> None:
        self.before = 0.0

    def done(self, step: str) -> None:
        """A step has ended."""
        now = process_time()
        print_message(f"{step:<24}{now - self.before:8.3f} s")
        self.before = now


def _untimed(_: str) -> None:
    """Stands in for :meth:`Timing.done` if times were not requested."""


def _bounds(plans: list[Plan], as_json: bool, judge: bool, everything: bool) -> None:
    """The worst case of every stream, and its verdict on every requirement."""
    from tsnbench.measure.headline import worst_case_line
    from tsnbench.measure.tables import MOST_ROWS, worst_cases_table
    from tsnbench.measure.verdict import counting, worst_cases
    from tsnbench.plan.bounds import bounds, bounds_table

    broken = False
    documents = []
    for one in plans:
        found = bounds(one)
        rows = worst_cases(one.document, found)
        broken |= any(row["proof"] != "proved" for row in counting(one.document, rows, every=judge))
        documents.append(found | {"requirements": rows})
        if as_json:
            continue
        if one.document["variant"]:
            data().rule(", ".join(f"{key} {value}" for key, value in one.document["variant"].items()))
        print_table(bounds_table(found))
        if rows:
            print_table(worst_cases_table(rows, None if everything else MOST_ROWS))
        print_line(worst_case_line(rows))
    if as_json:
        print_json(documents[0] if len(documents) == 1 else documents)
    if broken:
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def _report(plans: list[Plan], title: str, folder: Path) -> None:
    """Writes the page of a Plan; prints its path on stdout."""
    from tsnbench.errors import InputError
    from tsnbench.report.plan_page import write_plan

    if len(plans) != 1:
        raise InputError(
            f"--report: expected one run, found {len(plans)}\n  hint: choose with --only, such as hops=3"
        )
    print_line(str(write_plan(plans[0], folder, title)))


def _export(
    plans: list[Plan],
    folder: Path,
    to: str,
    taprio: str,
    queues: str,
    interfaces: list[str],
    yang: Path | None,
) -> None:
    """Writes files; prints the losses on stderr, and their paths on stdout."""
    from tsnbench.errors import InputError
    from tsnbench.exports import export, write
    from tsnbench.exports.yang_check import check
    from tsnbench.linux.profile import Layout, Mode, Profile
    from tsnbench.plan.notes import SHOWN

    if len(plans) != 1:
        raise InputError(
            f"--export: expected one run, found {len(plans)}\n  hint: choose with --only, such as hops=3"
        )
    for name, text, words in (("--taprio", taprio, list(Mode)), ("--queues", queues, list(Layout))):
        if text not in words:
            raise InputError(f"{name}: expected one of {', '.join(words)}, found {text}")
    names = {}
    ports = {port["name"] for port in plans[0].document["ports"]}
    for text in interfaces:
        port, _, name = text.rpartition("=")
        if port not in ports or not name:
            raise InputError(
                f"--interface: expected a port and its interface, such as `a -> b=eth0`, found {text}"
            )
        names[port] = name
    profile = Profile(mode=Mode(taprio), layout=Layout(queues), interfaces=names)
    done = export(plans[0].document, [one.strip() for one in to.split(",") if one.strip()], profile)
    if yang is not None:
        for name, content in done.files.items():
            if name.endswith("/yang.xml"):
                check(content, yang)
    for path in write(done, folder):
        print_line(str(path))
    for note in done.notes:
        print_message(note.line(SHOWN))
