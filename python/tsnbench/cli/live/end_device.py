"""The counters of a TRDP end device, for ``send`` and ``receive``."""

from __future__ import annotations

from tsnbench.cli.console.output import print_json, print_table
from tsnbench.live.trdp import Result
from tsnbench.live.trdp_tables import tables


def print_end_device(found: Result, as_json: bool) -> None:
    """Prints the counters, as tables or JSON."""
    if as_json:
        print_json("end-device", found)
        return
    for table in tables(found):
        print_table(table)
