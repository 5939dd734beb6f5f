"""Files of the package import each other in no circle, and functions import nothing."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from support.package_imports import FILES, IMPORTS, LATE

LATE_FILES = {
    "__init__.py": "what notebooks use is loaded when they use it",
    "__main__.py": "a signal that comes while the command line is loaded ends it as later",
}
"""Files whose functions import modules, with reasons. Libraries have ``tsnbench/libraries.py``."""


def test_no_files_import_each_other_in_a_circle() -> None:
    """Every import counts: at the top of a file, in a function, and for types only."""
    graph = {file: {FILES[module] for module in modules} - {file} for file, modules in IMPORTS.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(error.args[1])}")


def test_functions_import_nothing() -> None:
    assert {file for file, modules in LATE.items() if modules} == set(LATE_FILES)
