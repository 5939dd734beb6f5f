"""The simulated network with a guest's causes is that of the keys in the guide."""

from __future__ import annotations

from pathlib import Path

from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from twin.causes import CAUSES, read_times, twin

ROOT = Path(__file__).parents[2]
UCC = ROOT / "scenarios" / "papers" / "engine" / "ex-ucc.yaml"


def test_the_twin_is_the_layer_of_the_guide(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guides/guest.md").read_text(encoding="utf-8")
    layer = next(part for part in guide.split("```yaml\n")[1:] if "processor: guest" in part)
    text = UCC.read_text(encoding="utf-8")
    (plain,) = read_scenario(text)
    (written,) = read_scenario(text.partition("shapers:\n")[0] + layer.partition("```")[0])
    (tmp_path / "times.yaml").write_text(layer.partition("```")[0], encoding="utf-8")
    made = plan(twin(plain, read_times(tmp_path / "times.yaml"))).document
    assert made == plan(written).document


def test_without_a_cause_it_is_the_scenario() -> None:
    (plain,) = read_scenario(UCC.read_text(encoding="utf-8"))
    assert twin(plain, {}, CAUSES[0]) is plain
