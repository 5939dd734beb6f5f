"""Links of the pages lead to existing targets, and the README's scenario gives the results that it prints."""

from __future__ import annotations

import re
from pathlib import Path

from support.planned import run_of
from tsnbench.measure import judge, measure_run
from tsnbench.plan.bounds import bounds
from tsnbench.scenario import read_scenario

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("scenarios/**/*.md")]
    if not page.is_relative_to(ROOT / "docs/_build")
)


def test_links_lead_somewhere() -> None:
    link = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
    missing = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in link.findall(page.read_text(encoding="utf-8"))
        if not target.startswith(("http:", "https:")) and not (page.parent / target).exists()
    ]
    assert missing == []


def test_the_scenario_of_the_readme_meets_its_requirements(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (scenario,) = read_scenario(text, "first-bridge.yaml")
    plan = scenario.model_copy(update={"duration": 50_000_000}).plan()
    assert not plan.warnings
    limits = {"video": 2_000_000, "brake": 30_000}
    bounded = {flow["stream"]: flow["upper_ns"] for flow in bounds(plan)["flows"]}
    # The worst cases of both are known, and keep the limits.
    assert all(bounded[name] <= limit for name, limit in limits.items())
    run = run_of(plan, tmp_path)
    verdict = judge(plan.document, measure_run(run.folder))
    assert verdict["met"]
    assert {row["group"] for row in verdict["rows"]} == {"video", "brake"}
