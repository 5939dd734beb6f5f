"""Every shipped scenario can be exported, and the files of tc, YANG and INET name every node."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.exports import FORMATS, export
from tsnbench.exports.inet import identifier
from tsnbench.plan.network import file_name
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SHIPPED = sorted(
    path
    for path in [*SCENARIOS.glob("tutorial/*.yaml"), *SCENARIOS.glob("papers/**/*.yaml")]
    if path.name != "lab.yaml"
)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(SCENARIOS)))
def test_a_shipped_scenario_exports(path: Path) -> None:
    document = plan(load_variants(path)[0]).document
    files = export(document, FORMATS).files
    for node in document["nodes"]:
        folder = file_name(node["name"])
        assert files[f"{folder}/tc.batch"].strip()
        assert files[f"{folder}/yang.xml"].startswith("<?xml")
        assert f" {identifier(node['name'])}: Tsn" in files["inet/network.ned"]
