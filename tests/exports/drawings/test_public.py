"""Drawings and topologies of public repositories, which this project neither fetches nor keeps.

``TSNBENCH_DRAWINGS`` names a folder with three clones: ``drawio-diagrams`` of jgraph, ``containerlab`` of
srl-labs, and ``topologyzoo`` of sk2.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tsnbench.errors import InputError
from tsnbench.exports.lists import drawings
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

PUBLIC = os.environ.get("TSNBENCH_DRAWINGS")
pytestmark = pytest.mark.skipif(PUBLIC is None, reason="needs public drawings (TSNBENCH_DRAWINGS)")
LEAST = {
    "drawio-diagrams/templates/network/*.xml": 24,
    "containerlab/**/*clab.y*ml": 67,
    "topologyzoo/sources/*.graphml": 260,
}
"""How many of the files of a pattern are networks with links."""


@pytest.mark.parametrize("pattern", LEAST)
def test_public_files_are_planned_or_have_no_links(pattern: str) -> None:
    taken, refused = 0, []
    for path in sorted(Path(PUBLIC or "").glob(pattern)):
        try:
            if pattern.startswith("drawio"):
                drawing = drawings.drawio.read(path)
            elif pattern.startswith("topologyzoo"):
                drawing = drawings.graphml.read(path)
            else:
                drawing = drawings.containerlab.read(path).drawing
            text = drawings.scenario(drawing)
        except InputError as error:
            refused.append(str(error))
            continue
        (found,) = read_scenario(text, path.name)
        assert plan(found)
        taken += 1
    assert taken >= LEAST[pattern]
    known = ("links between them, found none", "a template that is not filled in")
    assert [one for one in refused if not any(words in one for words in known)] == []
