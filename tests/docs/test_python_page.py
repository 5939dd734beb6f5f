"""Every name on the page of the Python API exists and has a docstring; every public name is on the page."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import tsnbench

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/python.md").read_text(encoding="utf-8")
NAMES = re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_page_exists_and_explains_itself(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert getattr(import_module(module), attribute).__doc__


def test_all_public_names_are_on_the_page() -> None:
    public = {name for name in tsnbench.__all__ if not name.startswith("_")}
    assert len(NAMES) > 20
    assert public <= {name.rpartition(".")[2] for name in NAMES}
