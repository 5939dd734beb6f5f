"""The RO-Crate of a study: its files, the build that made them, and the rules of version 1.1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.study_processes import study
from tsnbench.runs.engine import identity


def test_the_crate_of_a_study(load: tuple[Path, str]) -> None:
    folder, _ = load
    document = json.loads((folder / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    assert document["@context"] == "https://w3id.org/ro/crate/1.1/context"
    graph: dict[str, dict[str, Any]] = {one["@id"]: one for one in document["@graph"]}
    # RO-Crate 1.1, 3.1: the descriptor is about the root, and names the version that it follows.
    descriptor, root = graph["ro-crate-metadata.json"], graph["./"]
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert (root["@type"], root["name"]) == ("Dataset", "load")
    assert len(root["datePublished"]) == 10
    # Every file that it names is there with its size, and every table of the folder is named.
    parts = {one["@id"] for one in root["hasPart"]}
    tables = {path.name for path in folder.iterdir() if path.suffix in (".csv", ".parquet")}
    assert parts == tables | {"study.yaml", "scenario.yaml", "study.json"}
    for name in parts:
        assert graph[name]["@type"] == "File"
        assert graph[name]["contentSize"] == str((folder / name).stat().st_size)
    action = graph["#runs"]
    assert {one["@id"] for one in action["object"]} == {"study.yaml", "scenario.yaml", "study.json"}
    assert {one["@id"] for one in action["result"]} == tables
    assert graph[action["instrument"]["@id"]]["identifier"] == f"engine {identity()}"
    # Every entity that is referred to is described.
    named = [one for one in graph.values() for value in one.values() for one in _links(value)]
    assert set(named) - {"https://w3id.org/ro/crate/1.1"} <= set(graph)
    printed, _ = study(folder.parent, "export", "made")
    assert printed.splitlines()[-1] == "made/ro-crate-metadata.json"


def _links(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one["@id"] for one in values if isinstance(one, dict)]
