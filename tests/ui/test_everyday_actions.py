"""The ten most used actions on a few shipped scenarios, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from ui.everyday import Walk, scenarios, walking

FEW = ["tutorial/2-gates.yaml", "twin/delay.yaml"]


@pytest.fixture(scope="module")
def walk(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walking(tmp_path_factory.mktemp("everyday") / "work", browser) as found:
        yield found


@pytest.mark.parametrize("name", FEW)
def test_nothing_goes_wrong_in_ten_actions(walk: Walk, name: str) -> None:
    for keyboard in (False, True):
        found = walk.scenario(name, keyboard)
        assert found.wrong == {}
        # A run that takes too long on a busy machine is stopped, and then has nothing to look at.
        assert set(found.refused) <= {"run", "compared"}, found.refused
        assert {"open", "node", "stream", "zoomed", "problems", "renamed", "linked", "unchanged"} <= {
            *found.done
        }


def test_all_shipped_scenarios_are_walked() -> None:
    assert {*FEW} < {*scenarios()}
    assert len(scenarios()) > 80
    assert not [name for name in scenarios() if Path(name).name == "lab.yaml"]
