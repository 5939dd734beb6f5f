"""``tsnbench discover``: a scenario of what runs in a lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import flag, option
from tsnbench.cli.console.output import Exit, print_line, print_message, user_errors
from tsnbench.discover import asking, scenario
from tsnbench.hosts import load_inventory
from tsnbench.hosts.inventory.types import Inventory

OF_LABS = (".yaml", ".yml", ".json")


def discover(
    hosts: Annotated[
        str, option("FILE", "The lab (lab.yaml): hosts with their interfaces; or ssh names: root@a,root@b.")
    ],
    no_probes: Annotated[bool, flag("--no-probes", "Send no frames: only LLDP finds wires.")] = False,
) -> None:
    """Print a scenario of what runs in a lab: wires, queues, gates.

    Wires come from the neighbours that hosts know by LLDP, and from one probe frame of each other port. What
    could not be read is a comment. Nothing is changed.
    """
    with user_errors():
        found = asking.discover(_inventory(hosts), probes=not no_probes)
        for name, why in found.silent.items():
            print_message(f"not reached: {name}: {why}")
        if not found.states:
            raise typer.Exit(Exit.BACKEND_FAILED)
        print_line(scenario.text(found).rstrip("\n"))
    print_message(f"{len(found.states)} hosts, {len(found.wires)} wires; next: tsnbench check")
    raise typer.Exit(Exit.REQUIREMENT_FAILED if found.silent else Exit.MET)


def _inventory(words: str) -> Inventory:
    """A lab's file, or hosts with commas between them."""
    if Path(words).is_file() or words.endswith(OF_LABS):
        return load_inventory(words)
    return asking.named([one.strip() for one in words.split(",")])
