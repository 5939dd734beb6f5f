"""The output of ``--dry-run`` for the labs of the papers, command by command.

``TSNBENCH_UPDATE=1`` writes the files anew; check them as an engineer of that lab would.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.golden import matches
from tsnbench.hosts import load_inventory
from tsnbench.hosts.backend import Hosts
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

PAPERS = Path(__file__).parents[2] / "scenarios/papers"
SAY = Path(__file__).parent / "say"


@pytest.mark.parametrize(
    "scenario",
    [
        "engine/ex-cs1",
        "flextest/tas",
        "flextest/ptp",
        "farzaneh/experiment-1",
        "cots/l1/solution-2",
        "ocora/frer",
    ],
)
def test_every_command_for_the_labs_of_the_papers(scenario: str) -> None:
    lab = load_inventory(PAPERS / Path(scenario).parts[0] / "lab.yaml")
    document = plan(load_variants(PAPERS / f"{scenario}.yaml")[0])
    said = "".join(f"{line}\n" for line in Hosts(lab).say(document))
    matches(SAY / f"{scenario.replace('/', '-')}.txt", said)
