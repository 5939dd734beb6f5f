"""``tsnbench schema`` and ``catalogue``: the keys and the names that a scenario can use."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import argument, json_of, option
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_prose
from tsnbench.hosts.inventory import grammar as inventory
from tsnbench.hosts.inventory.grammar import INVENTORY
from tsnbench.scenario.catalogue.listing import device_entries, entries
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.reference import schema as scenario
from tsnbench.scenario.reference.keys import find, hint
from tsnbench.scenario.reference.text import in_words

DEVICES = "devices"
"""Instead of a prefix: all hardware."""


class Subject(StrEnum):
    """The kinds of input files."""

    SCENARIO = "scenario"
    INVENTORY = "inventory"


def schema(
    key: Annotated[str, argument("KEY", "Only this key, in words: streams.*.period, cbs.")] = "",
    of: Annotated[Subject, typer.Option(help="The kind of file.")] = Subject.SCENARIO,
) -> None:
    """Print the JSON Schema of scenarios or inventories, or one key.

    Editors complete and check files with the schema. A key is named by its path, or by the end of
    its path; its type, unit, default, range, clause, first version and an example are printed.
    """
    if key:
        language = INVENTORY if of is Subject.INVENTORY else SCENARIO
        keys = find(language, key)
        if not keys:
            fail(Exit.INPUT_WRONG, f"{key}: no key of this name\nhint: {hint(language, key)}")
        print_prose("\n\n".join(map(in_words, keys)))
        return
    found = (inventory if of is Subject.INVENTORY else scenario).json_schema()
    # Only programs read the schema: without indentation it has less than half the size.
    print_line(json.dumps(found, separators=(",", ":")))


def catalogue(
    prefix: Annotated[
        str, argument("PREFIX", "Only names with this prefix: engine/, flextest/gcl; or devices.")
    ] = "",
    folder: Annotated[
        Path | None,
        option("DIR", "With devices: also the descriptions of this folder of your own."),
    ] = None,
    as_json: Annotated[bool, json_of("Names and their meaning")] = False,
) -> None:
    """List named patterns, classes and gate control lists.

    A scenario can use these names in place of numbers.
    """
    if folder is not None and (prefix != DEVICES or not folder.is_dir()):
        what = "a folder" if prefix == DEVICES else f"catalogue {DEVICES}"
        fail(
            Exit.INPUT_WRONG,
            f"--folder: expected {what}, found {folder if prefix == DEVICES else prefix or 'all'}",
        )
    if prefix == DEVICES:
        found = list(device_entries(folder))
    else:
        found = [(name, text) for name, text in entries() if name.startswith(prefix)]
    if not found:
        fail(
            Exit.INPUT_WRONG, f"{prefix}: no name begins like this\nhint: tsnbench catalogue lists all names"
        )
    if as_json:
        print_json("catalogue", {"names": dict(found)})
    else:
        for name, text in found:
            print_line(f"{name:32} {text}")
