"""Every shipped scenario can be read, planned and run; every lost frame is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.shipped import MS, ROOT, SCENARIOS, planned, simulated, variants

NAMES = [str(path.relative_to(ROOT / "scenarios").with_suffix("")) for path in SCENARIOS]


def test_there_are_scenarios() -> None:
    assert "papers/engine/ex-ucc" in NAMES
    assert "papers/flextest/tas" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_plans_are_experiments_of_their_own(name: str) -> None:
    hashes = {planned(name, variant).hash for variant in variants(name)}
    assert len(hashes) == len(variants(name))


INTENDED = {
    # A stream that saturates its class, as cross traffic in experiments of papers.
    "starvation": ["bench/line", "papers/cots/ex-c1", "papers/cots/ex-c2", "papers/cots/l3"]
    + [f"papers/engine/ex-{name}" for name in ("cm1", "cm2", "mq2", "tm")]
    + ["papers/engine/twins/ex-mq2", "papers/engine/twins/ex-mq2-across"],
    "full-queue": ["papers/farzaneh/experiment-2", "papers/farzaneh/experiment-3", "tutorial/2-gates"],
    # More cross traffic than a link, a window or a shaper passes.
    "port-overload": ["bench/star", "papers/farzaneh/experiment-1"]
    + [f"papers/flextest/{name}" for name in ("matrix", "no-prioritisation", "psi-omega", "spq")]
    + [f"papers/flextest/{name}" for name in ("synchronised-senders", "tas", "tas-guard-band")]
    + [f"papers/flextest/reasons/{name}" for name in ("list-phases", "queue")],
    "gate-overload": ["bench/star", "twin/taprio-windows"]
    + [f"papers/flextest/{name}" for name in ("matrix", "psi-omega")]
    + [f"papers/flextest/{name}" for name in ("synchronised-senders", "tas", "tas-guard-band")]
    + ["papers/flextest/reasons/list-phases"],
    "class-over-reservation": ["twin/cbs-beside", "twin/cbs-spacing"],
    # The lesson of the paper: a schedule without a window for PTP.
    "ptp-no-window": ["papers/cots/l1/taprio"],
}
"""By kind of warning, the scenarios that have it on purpose."""


@pytest.mark.parametrize("name", NAMES)
def test_no_other_scenario_is_warned_of(name: str) -> None:
    """``check --strict`` accepts every shipped scenario but those that do on purpose what a warning names."""
    found = {warning.kind for variant in variants(name) for warning in planned(name, variant).warnings}
    assert found == {kind for kind, names in INTENDED.items() if name in names}


@pytest.mark.parametrize("name", NAMES)
def test_what_goes_in_comes_out_or_is_accounted_for(name: str) -> None:
    for variant, scenario in variants(name).items():
        counters = simulated(name, variant, min(scenario.duration, 10 * MS)).counters
        streams = counters["streams"]
        if any(len(stream["delivered"]) > 1 for stream in streams):
            continue  # one frame per listener, so the sums differ
        ends = sum(
            stream["dropped_at_talker"] + stream["dropped_in_network"] + sum(stream["delivered"].values())
            for stream in streams
        )
        released = sum(stream["released"] for stream in streams)
        assert released or variant == "omega-high", variant  # its mean gap is longer than this run
        assert released == ends + counters["in_network_at_end"], variant


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("papers/")])
def test_papers_are_named(name: str) -> None:
    for scenario in variants(name).values():
        assert scenario.source
        assert scenario.title


def test_names_are_unique() -> None:
    names = [next(iter(variants(name).values())).name for name in NAMES]
    assert len(names) == len(set(names))


def test_folders_that_ship_papers_explain_themselves() -> None:
    for folder in {path.parent for path in SCENARIOS if "papers" in path.relative_to(ROOT).parts}:
        assert (Path(folder) / "README.md").is_file(), folder


def test_readmes_name_every_scenario_of_their_paper() -> None:
    for path in SCENARIOS:
        if "papers" in path.relative_to(ROOT).parts:
            assert f"`{path.name}`" in (path.parent / "README.md").read_text(encoding="utf-8"), path
