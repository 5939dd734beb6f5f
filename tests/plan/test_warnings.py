"""Each kind of warning: printed for its cause, and not printed without it."""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from support.networks import line, periodic
from support.planned import plan_of, problems_of
from tsnbench.planning import plan
from tsnbench.scenario import model

NETWORKS = {
    "line": "stations: [talker, listener], bridges: [b1], links: [talker -- b1, b1 -- listener]",
    "star": "stations: [a, b, l], bridges: [sw], links: [a -- sw, b -- sw, sw -- l]",
}
USUAL = {"from": "talker", "to": "listener", "pcp": "3", "period": "100 us", "frame": "1230 B"}


def written(row: dict[str, Any]) -> str:
    kind = row.get("network", "line")
    lines = []
    for one in row["streams"]:
        name, _, keys = one.partition(": ")
        usual = USUAL | ({"to": "l"} if kind == "star" else {})
        given = [f"{key}: {value}" for key, value in usual.items() if f"{key}: " not in keys]
        if "saturating" in keys:
            given = [one.replace("1230", "1522") for one in given if not one.startswith("period")]
        lines.append(f"  {name}: {{{', '.join([*given, *filter(None, [keys])])}}}\n")
    shapers = f"shapers: {{{row['shapers']}}}\n" if "shapers" in row else ""
    network = f"network: {{rate: 1 Gbit/s, {NETWORKS[kind]}}}\n"
    return f"name: warned\nduration: 10 ms\n{network}streams:\n{''.join(lines)}{shapers}"


@pytest.mark.parametrize("row", table(__file__, "warnings.yaml"), ids=lambda row: row["case"])
def test_warnings(row: dict[str, Any]) -> None:
    found = plan_of(written(row)).warnings
    assert [{"kind": one.kind, "where": one.where, "text": one.text} for one in found] == row["warnings"]


@pytest.mark.parametrize(
    ("requires", "hint"),
    [
        (model.Requirements(delay=19_744), None),
        (model.Requirements(delay=19_743), "write delay: 19744 ns or more"),
        (model.Requirements(percentiles={999_000: 19_743}), "write delay p99.9: 19744 ns or more"),
        (model.Requirements(percentiles={999_000: 19_744}), None),
        (model.Requirements(rate=98_400_000), None),
        (model.Requirements(rate=98_400_001), "write rate: 98400 kbit/s, or send more"),
    ],
)
def test_requirements_that_can_never_hold(requires: model.Requirements, hint: str | None) -> None:
    own = periodic("talker", "listener", requires=requires, count=2)
    made = line().model_copy(update={"streams": {"s": own}})
    if hint is None:
        assert plan(made).warnings == ()
    else:
        assert [found.hint for found in problems_of(made)] == [hint], "once per stream, not once per flow"


@pytest.mark.parametrize(("pcp", "kinds"), [(3, ["untagged-priority"]), (0, [])])
def test_a_priority_without_a_tag(pcp: int, kinds: list[str]) -> None:
    """Programs can write what no file can."""
    made = line().model_copy(update={"streams": {"s": periodic("talker", "listener", vid=None, pcp=pcp)}})
    assert [warning.kind for warning in plan(made).warnings] == kinds
