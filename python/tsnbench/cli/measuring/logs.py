"""``tsnbench measure`` of logs: of other tools, and of linuxptp."""

from __future__ import annotations

from tsnbench.cli.console.forms import print_found
from tsnbench.cli.console.options import given_ns
from tsnbench.cli.console.output import Exit, fail, print_warnings
from tsnbench.cli.measuring.asked import Asked
from tsnbench.cli.measuring.captures import NO_TELEGRAMS
from tsnbench.foreign_files import foreign_table, measure_foreign
from tsnbench.foreign_files.linuxptp import measure_sync, sync_tables
from tsnbench.measure.tidy import of_figures, of_sync, text_of


def foreign(asked: Asked) -> Exit:
    """The figures of a log of another tool."""
    found = measure_foreign(asked.folder)
    if asked.timeout is not None:
        fail(Exit.INPUT_WRONG, f"--timeout: {NO_TELEGRAMS}")
    print_warnings(found["warnings"])
    print_found(
        asked.form,
        found,
        lambda: text_of(of_figures(found["streams"])),
        lambda: [foreign_table(found, asked.most)],
    )
    return Exit.MET


def clocks(asked: Asked) -> Exit:
    """Clocks of a log of linuxptp; a requirement has failed if the gate of one is closed at the end."""
    assert asked.sync is not None
    found = measure_sync(asked.sync, given_ns("--below", asked.below))
    print_warnings(found["warnings"])
    print_found(asked.form, found, lambda: text_of(of_sync(found["clocks"])), lambda: sync_tables(found))
    gates = [one["gate"] for one in found["clocks"] if one["gate"] is not None]
    return Exit.MET if all(gate["open"] for gate in gates) else Exit.REQUIREMENT_FAILED
