"""The simulated network with a guest's causes is that of the keys in the guide."""

from __future__ import annotations

from pathlib import Path

from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from twin.causes import CAUSES, twin

ROOT = Path(__file__).parents[2]
UCC = ROOT / "scenarios" / "papers" / "engine" / "ex-ucc.yaml"


def test_the_twin_is_the_layer_of_the_guide() -> None:
    """The same nodes and ports; streams in the order of their talkers, as a guest's programs begin."""
    guide = (ROOT / "docs/guides/guest.md").read_text(encoding="utf-8")
    layer = next(part for part in guide.split("```yaml\n")[1:] if "processor: guest" in part)
    text = UCC.read_text(encoding="utf-8")
    (plain,) = read_scenario(text)
    (written,) = read_scenario(text.partition("shapers:\n")[0] + layer.partition("```")[0])
    made, asked = plan(twin(plain, 10)).document, plan(written).document
    assert (made["nodes"], made["ports"]) == (asked["nodes"], asked["ports"])
    talkers = [stream["talker"] for stream in made["streams"]]
    assert talkers == sorted(talkers)
    assert talkers != [stream["talker"] for stream in asked["streams"]]
    assert {stream["name"] for stream in made["streams"]} == {stream["name"] for stream in asked["streams"]}


def test_without_a_cause_it_is_the_scenario() -> None:
    (plain,) = read_scenario(UCC.read_text(encoding="utf-8"))
    assert twin(plain, 10, CAUSES[0]) is plain
