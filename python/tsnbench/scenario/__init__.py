"""What people write: one YAML file with units, read into a :class:`Scenario` or refused with every mistake named."""

from __future__ import annotations

from tsnbench.scenario.errors import Problem, ScenarioErrors
from tsnbench.scenario.load import load, load_variants, read_scenario
from tsnbench.scenario.model import Scenario

__all__ = ["Problem", "Scenario", "ScenarioErrors", "load", "load_variants", "read_scenario"]
