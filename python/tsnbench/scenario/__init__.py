"""Scenario files: one YAML file with units becomes a :class:`Scenario`, or a list of all mistakes with their
places."""

from __future__ import annotations

from tsnbench.scenario.errors import Problem, ScenarioErrors
from tsnbench.scenario.loader import load, load_variants, read_scenario
from tsnbench.scenario.model import Scenario

__all__ = ["Problem", "Scenario", "ScenarioErrors", "load", "load_variants", "read_scenario"]
