"""The guest of the test run, and which tests belong to one process, where processes take tests by groups."""

from __future__ import annotations

import pytest

from support.guest_runs import grouped, guest

__all__ = ["guest"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    grouped(items)
