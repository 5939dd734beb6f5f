"""``tsnbench deploy``: a Plan onto running devices, and back."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Annotated

from tsnbench import deploy as room
from tsnbench.cli.console.options import argument, flag, interfaces_of, json_of, option, setting
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_message, user_errors
from tsnbench.deploy import Outcome
from tsnbench.deploy.deploy import targets
from tsnbench.errors import InputError
from tsnbench.plan.network import file_name
from tsnbench.plan.types import PlanDocument
from tsnbench.planning import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import load_variants
from tsnbench.scenario.selection import selected

Device = Annotated[str | None, option("HOST[:PORT]", "The device: HOST[:PORT], port 830 by default.")]
Devices = Annotated[
    list[str] | None,
    option(
        "NODE=HOST[:PORT]",
        "The device of a node: sw1=HOST[:PORT]; may be repeated. With --restore: only these.",
    ),
]
KnownHosts = Annotated[Path | None, option("FILE", "Keys of hosts; default ~/.ssh/known_hosts.")]
Interfaces = Annotated[
    list[str] | None, option("PORT=NAME", "The device's name for a port: 'sw1 -> sw2=port3'.")
]
Modules = Annotated[Path | None, option("DIR", "Check the data against the modules in this folder first.")]
OneRun = Annotated[list[str] | None, option("PARAMETER=VALUE", "Only the run with this parameter: hops=3.")]
Partial = Annotated[bool, flag("--partial", "Leave out settings that a device's modules cannot express.")]
DryRun = Annotated[bool, flag("--dry-run", "Report what would change; change nothing.")]
Record = Annotated[Path | None, option("FILE", "File for the earlier state; default NAME.deploy.json.")]
Restored = Annotated[Path | None, option("RECORD", "Bring devices back to the state in this record.")]
ConfirmWithin = Annotated[
    int,
    setting("SECONDS", "Seconds after which devices undo the change by themselves.", min=10, max=3600),
]
TimeOut = Annotated[int, setting("SECONDS", "Seconds to wait for an answer.", min=1, max=600)]


def deploy(
    file: Annotated[Path | None, argument("FILE", "Plan (JSON) or scenario file.")] = None,
    netconf: Device = None,
    node: Devices = None,
    user: Annotated[str | None, option("NAME", "User name on the device; default: yours.")] = None,
    key: Annotated[Path | None, option("FILE", "File of a private key.")] = None,
    known_hosts: KnownHosts = None,
    interface: Interfaces = None,
    yang: Modules = None,
    only: OneRun = None,
    partial: Partial = False,
    dry_run: DryRun = False,
    record: Record = None,
    restore: Restored = None,
    confirm_within: ConfirmWithin = 120,
    timeout: TimeOut = 30,
    as_json: Annotated[bool, json_of("The outcome")] = False,
) -> None:
    """Configure running devices by NETCONF: all or none.

    The earlier state is recorded. The password is taken from the environment (TSNBENCH_NETCONF_PASSWORD);
    without one, keys are tried.
    """
    if (file is None) == (restore is None):
        fail(Exit.INPUT_WRONG, "expected a Plan or scenario, or --restore RECORD, and not both")
    with user_errors():
        password = os.environ.get(room.PASSWORD)
        access = room.Access(user or getpass.getuser(), password, key, known_hosts, timeout)
        try:
            if restore is not None:
                outcome = room.restore(
                    restore, access, nodes=node or [], dry_run=dry_run, within_s=confirm_within
                )
            else:
                assert file is not None
                document = _document(file, only or [])
                ports = {port["name"] for port in document["ports"]}
                outcome = room.deploy(
                    document,
                    targets(document, netconf, node or []),
                    access,
                    record or Path(f"{file_name(document['name'])}.deploy.json"),
                    interfaces=interfaces_of(ports, interface, "port3"),
                    yang=yang,
                    partial=partial,
                    dry_run=dry_run,
                    within_s=confirm_within,
                )
        except KeyboardInterrupt:
            fail(
                Exit.INTERRUPTED,
                "interrupted; devices revert changes that are not yet confirmed. "
                "tsnbench deploy --restore reverts the rest",
            )
    _tell(outcome, as_json, dry_run)


def _document(file: Path, only: list[str]) -> PlanDocument:
    """The document of a Plan, read from a file or planned from a scenario."""
    if file.suffix == ".json":
        return Plan.read(file).document
    plans = [make_plan(scenario) for scenario in selected(load_variants(file), only)]
    if len(plans) != 1:
        raise InputError(f"expected one run, found {len(plans)}\n  hint: choose with --only, such as hops=3")
    for warning in plans[0].warnings:
        print_message(str(warning))
    return plans[0].document


def _tell(outcome: Outcome, as_json: bool, dry_run: bool) -> None:
    for note in outcome.notes:
        print_message(note)
    for node, lines in outcome.left_out.items():
        for line in lines:
            print_message(f"{node}: left out, because it lacks {line}")
    for warning in outcome.warnings:
        print_message(f"warning: {warning}")
    if as_json:
        print_json("deployed", outcome.document())
        return
    for node, lines in outcome.changes.items():
        if not lines:
            print_line(f"{node}: nothing to change")
        for line in lines:
            print_line(f"{node}: {line}")
    if any(outcome.changes.values()):
        if dry_run:
            print_line("dry run: nothing was changed")
        elif outcome.done:
            print_line(f"done, and read back as requested; the earlier state is in {outcome.record}")
