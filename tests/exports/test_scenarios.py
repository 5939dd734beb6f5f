"""Every shipped scenario can be exported: the files name every node, and YANG data conform to the modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from exports.test_yang import IS_PUBLISHED, MODULES, texts_of
from support.shipped import ROOT, SCENARIOS
from tsnbench.exports import FORMATS, export
from tsnbench.exports.inet import identifier
from tsnbench.exports.yang_check import check_all
from tsnbench.plan.network import file_name
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

SHIPPED = [path for path in SCENARIOS if path.relative_to(ROOT).parts[1] in ("tutorial", "papers")]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(ROOT / "scenarios")))
def test_a_shipped_scenario_exports(path: Path) -> None:
    document = plan(load_variants(path)[0]).document
    files = export(document, FORMATS).files
    for node in document["nodes"]:
        folder = file_name(node["name"])
        assert files[f"{folder}/tc.batch"].strip()
        assert files[f"{folder}/yang.xml"].startswith("<?xml")
        assert f" {identifier(node['name'])}: Tsn" in files["inet/network.ned"]
    if IS_PUBLISHED:
        # Large networks have many nodes of the same kind: some 20 nodes are checked.
        texts = list(texts_of(document).items())
        check_all(dict(texts[:: max(1, len(texts) // 20)]), MODULES)
