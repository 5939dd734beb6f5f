"""The grammar of a scenario: every key that can be written, with its kind and a sentence about it."""

from __future__ import annotations

from tsnbench.scenario.grammar.scenario import SCENARIO

__all__ = ["SCENARIO"]
