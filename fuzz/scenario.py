"""Coverage-guided fuzzing of the scenario loader: whatever the text, a scenario or :class:`ScenarioErrors`.

pip install atheris; python fuzz/scenario.py fuzz/corpus/scenario
"""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["tsnbench"]):
    from tsnbench.errors import InputError
    from tsnbench.scenario import read_scenario


def one(content: bytes) -> None:
    """Reads one text, and plans the first run where it has one."""
    try:
        scenario = read_scenario(content.decode("utf-8", errors="replace"))[0]
        scenario.plan()
    except InputError:
        pass


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
