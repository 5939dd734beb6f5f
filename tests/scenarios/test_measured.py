"""tsnbench's figures and verdicts of the use case against those that the tests compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.shipped import MS, planned, simulated, variants
from support.statistics import mean, quantile, steps
from tsnbench.campaign.campaign import Options, Outcome, run_one
from tsnbench.planning import plan

DURATION = 100 * MS


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    scenario = variants("papers/engine/ex-ucc")[""].model_copy(update={"duration": DURATION})
    return run_one(plan(scenario), tmp_path_factory.mktemp("ucc") / "run", Options(report=False))


def test_measures_agree_with_a_plain_join(outcome: Outcome) -> None:
    ours = simulated("papers/engine/ex-ucc", duration=DURATION)
    paths = outcome.run.measures()["paths"]
    assert len(paths) == 26
    for path in paths:
        delays = ours.delays(path["stream"])
        delay = path["delay"]
        assert path["count"]["received"] == delay["count"] == len(delays)
        assert (delay["min"], delay["max"]) == (delays.min(), delays.max())
        assert delay["mean"] == pytest.approx(mean(delays), abs=1e-6)
        for key, share in (("median", "0.5"), ("p90", "0.9"), ("p99", "0.99"), ("p99_9", "0.999")):
            assert delay[key] == quantile(delays, share)
        jitter = path["jitter"]["delay-step-abs"]
        if len(delays) > 1:
            assert jitter["max"] == steps(delays).max()
        assert delays[delay["max_seq"]] == delay["max"]


def test_every_class_is_met(outcome: Outcome) -> None:
    verdict = outcome.verdict
    assert verdict["met"]
    judged = {(row["stream"], row["requirement"].split()[0]) for row in verdict["rows"]}
    shaped = [s["name"] for s in planned("papers/engine/ex-ucc").document["streams"] if s["pcp"] >= 2]
    assert judged == {(name, what) for name in shaped for what in ("delay", "jitter", "loss")}
    assert {row["met"] for row in verdict["rows"]} == {"yes"}


def test_a_tighter_limit_is_not_met(tmp_path: Path) -> None:
    """The verdict can fail: with a limit of 35 us for path 1, the last of six frames takes longer."""
    scenario = variants("papers/engine/ex-ucc")[""].model_copy(update={"duration": DURATION})
    tight = scenario.streams["f1-cc"].requires.model_copy(update={"delay": 35_000})
    streams = scenario.streams | {"f1-cc": scenario.streams["f1-cc"].model_copy(update={"requires": tight})}
    outcome = run_one(
        plan(scenario.model_copy(update={"streams": streams})), tmp_path / "run", Options(report=False)
    )
    assert not outcome.verdict["met"]
    failed = [row for row in outcome.verdict["rows"] if row["met"] != "yes"]
    assert failed
    assert {row["group"] for row in failed} == {"f1-cc"}
    assert all(row["found"] > 35_000 for row in failed)
