"""The scenarios of ``tsnbench init``: no warnings, and requirements that are proved and met."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import tsnbench
from tsnbench import Simulation
from tsnbench.plan.bounds import bounds
from tsnbench.scenario import ScenarioErrors, load_variants, read_scenario
from tsnbench.templates import names, text

FOLDER = Path(__file__).parents[2] / "python/tsnbench/templates"


def test_all_are_named() -> None:
    assert sorted(names()) == sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("name", names())
def test_a_template_is_proved_and_met(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.yaml"
    file.write_text(text(name), encoding="utf-8")
    for number, scenario in enumerate(load_variants(file)):
        plan = scenario.plan()
        assert not plan.warnings
        limits = {
            one["name"]: one["requirements"]["delay_ns"]
            for one in plan.document["streams"]
            if "delay_ns" in one["requirements"]
        }
        proved = {flow["stream"]: flow["upper_ns"] for flow in bounds(plan)["flows"]}
        assert limits
        for stream, limit in limits.items():
            assert proved[stream] is not None
            assert proved[stream] <= limit
        # Long enough for the faults of the templates that have faults.
        short = scenario.model_copy(update={"duration": min(scenario.duration, 520_000_000)}).plan()
        run = short.run(on=Simulation(), into=tmp_path / str(number))
        verdict = run.verdict()
        assert verdict["met"], [row for row in verdict["rows"] if row["met"] != "yes"]
        assert {row["group"] for row in verdict["rows"]} >= set(limits)


@pytest.mark.parametrize("name", names())
def test_comments_name_the_next_steps(name: str) -> None:
    words = text(name)
    assert words.startswith("# ")
    for command in (f"tsnbench check {name}.yaml", f"tsnbench run {name}.yaml"):
        assert command in words
    assert max(map(len, words.splitlines())) <= 160
    comments = sum("#" in line for line in words.splitlines())
    assert comments >= 12


def test_init_writes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = tsnbench("init", "zonal")
    assert (done.returncode, done.stdout) == (0, "zonal.yaml\n")
    assert (tmp_path / "zonal.yaml").read_text(encoding="utf-8") == text("zonal")
    (tmp_path / "zonal.yaml").write_text("mine", encoding="utf-8")
    again = tsnbench("init", "zonal")
    assert again.returncode == 2
    assert "hint: name another one: tsnbench init zonal my-zonal.yaml" in again.stderr
    assert (tmp_path / "zonal.yaml").read_text(encoding="utf-8") == "mine"
    assert tsnbench("init", "zonal", "my-zonal.yaml").returncode == 0
    assert tsnbench("init", "ring", "-").stdout == text("ring")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my-zonal.yaml", "zonal.yaml"]


def test_an_unknown_template_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = tsnbench("init", "zonel")
    assert done.returncode == 2
    assert "hint: did you mean zonal?" in done.stderr
    assert tsnbench("init", "star", "no/such/folder.yaml").returncode == 2


def test_the_guide_shows_the_message_for_a_mistake() -> None:
    wrong = text("zonal").replace("requires: {delay: 300 us", "requires: {latency: 300 us", 1)
    with pytest.raises(ScenarioErrors) as raised:
        read_scenario(wrong, "zonal.yaml")
    guide = Path(__file__).parents[2] / "docs/tutorial/12-your-own.md"
    assert f"```\n{raised.value}\n```" in guide.read_text(encoding="utf-8")
