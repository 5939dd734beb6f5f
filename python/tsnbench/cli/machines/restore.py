"""``tsnbench restore``: undo what a run left on this machine when it was killed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.backends.netns import state
from tsnbench.cli.console.options import json_of, option
from tsnbench.cli.console.output import Exit, print_json, print_line, user_errors
from tsnbench.hosts import load_inventory
from tsnbench.hosts.state.restore import restore_hosts


def restore(
    hosts: Annotated[
        Path | None, option("FILE", "Also on every host of this lab (lab.yaml) that can be reached.")
    ] = None,
    as_json: Annotated[bool, json_of("The removed objects")] = False,
) -> None:
    """Remove everything that killed runs left on machines.

    These are this machine and the hosts of a lab. Active runs are not changed.
    """
    if hosts is not None:
        _restore_hosts(hosts, as_json)
        return
    with user_errors():
        done = state.restore()
    if as_json:
        print_json("restore", {"removed": [asdict(one) for one in done]})
        return
    for one in done:
        print_line(str(one))
    if not done:
        print_line("nothing to undo")


def _restore_hosts(file: Path, as_json: bool) -> None:
    with user_errors():
        found = restore_hosts(load_inventory(file))
    if as_json:
        print_json("restore", {"removed": [asdict(one) for one in found]})
    else:
        for one in found:
            print_line(str(one))
    raise typer.Exit(Exit.MET if all(one.done for one in found) else Exit.BACKEND_FAILED)
