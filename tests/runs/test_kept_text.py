"""A run folder keeps the text of its scenario: as it was read, and only if it is what was planned."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from support.small_plan import SCENARIO
from tsnbench import Plan, Simulation, load
from tsnbench.runs.clearing import clear
from tsnbench.scenario import Scenario
from tsnbench.scenario.selection import shortened

TEXT = SCENARIO.format(duration="5 ms").replace("\n", "\r\n", 1) + "# \u00fc: no end of line"


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    (tmp_path / "small.yaml").write_text(TEXT, encoding="utf-8", newline="")
    return load(tmp_path / "small.yaml")


def test_the_text_is_kept_octet_by_octet(scenario: Scenario, tmp_path: Path) -> None:
    plan = scenario.plan()
    # What is run is what was read, also if the file has been edited meanwhile.
    (tmp_path / "small.yaml").write_text("name: edited")
    run = plan.run(on=Simulation(), into=tmp_path / "run")
    kept = (run.folder / "scenario.yaml").read_bytes()
    assert kept == TEXT.encode()
    assert run.manifest["scenario"] == hashlib.sha256(kept).hexdigest()
    clear(run.folder)
    assert list(run.folder.iterdir()) == []


def test_another_duration_or_seed_is_an_option_of_the_command_and_other_values_are_the_variant(
    scenario: Scenario,
) -> None:
    assert scenario.text() == TEXT
    assert shortened(scenario, 1_000_000, 9).text() == TEXT
    period = next(f"streams.{name}.period" for name in scenario.streams)
    (varied,) = scenario.vary({period: "900 us"})
    assert (varied.text(), varied.variant) == (TEXT, {period: "900 us"})


def test_a_plan_that_no_text_describes_keeps_none(scenario: Scenario, tmp_path: Path) -> None:
    renamed = scenario.model_copy(update={"name": "other"})
    (tmp_path / "plan.json").write_text(scenario.plan().to_json())
    for number, plan in enumerate((renamed.plan(), Plan.read(tmp_path / "plan.json"))):
        run = plan.run(on=Simulation(), into=tmp_path / str(number))
        assert not (run.folder / "scenario.yaml").exists()
        assert "scenario" not in run.manifest
        # A text that a user puts there is the user's.
        (run.folder / "scenario.yaml").write_text(TEXT)
        with pytest.raises(Exception, match=r"holds files that no run has written: scenario\.yaml"):
            clear(run.folder)


def test_a_text_that_was_not_written_to_its_end_is_removed_with_its_run(
    scenario: Scenario, tmp_path: Path
) -> None:
    run = scenario.plan().run(on=Simulation(), into=tmp_path / "run")
    (run.folder / "scenario.yaml").rename(run.folder / "scenario.yaml.part")
    (run.folder / "scenario.yaml.part").write_text("na")
    clear(run.folder)
    assert list(run.folder.iterdir()) == []


def test_no_entry_of_a_manifest_makes_an_edited_text_ours(scenario: Scenario, tmp_path: Path) -> None:
    run = scenario.plan().run(on=Simulation(), into=tmp_path / "run")
    (run.folder / "scenario.yaml").write_text("edited")
    manifest = json.loads((run.folder / "manifest.json").read_text())
    (run.folder / "manifest.json").write_text(json.dumps(manifest | {"files": ["scenario.yaml"]}))
    with pytest.raises(Exception, match=r"scenario\.yaml"):
        clear(run.folder)
    assert (run.folder / "scenario.yaml").read_text() == "edited"
