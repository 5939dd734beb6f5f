"""The guest of the test run. Its tests belong to one process, where processes take tests by groups."""

from __future__ import annotations

import pytest

from support.guest_runs import guest

__all__ = ["guest"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "guest" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("guest"))
