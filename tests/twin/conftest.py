"""The guest of the test run."""

from __future__ import annotations

from support.guest_runs import guest

__all__ = ["guest"]
