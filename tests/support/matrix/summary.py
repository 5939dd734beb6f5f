"""What the matrix shows, as tables: shares, reasons for no bound, refusals and defects."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from support.matrix import reasons
from support.matrix.trial import WRONG, Finding, Trial


def summary(trials: Sequence[Trial]) -> str:
    """All tables as text."""
    ran = [one for one in trials if one.runs]
    flows, bounded = sum(one.flows for one in ran), sum(one.bounded for one in ran)
    lossless = sum(one.lossless for one in ran)
    wide = [ratio for one in ran for ratio in one.wide.values()]
    lines = [
        f"{len(trials)} scenarios, {len(ran)} ran in {sum(one.runs for one in ran)} runs, "
        f"{sum(one.broken for one in ran)} of which broke a promise of clocks",
        f"{bounded} of {flows} flows have a bound ({bounded / max(flows, 1):.1%}), "
        f"{lossless} a proof that no frame is lost",
    ]
    if wide:
        many = sum(one > 10 for one in wide)
        lines.append(f"bound over longest delay: median {median(wide):.2f}, more than 10 of {many} flows")
    for kind in ("no bound", "loss not known", "refused", "not replayed", *WRONG):
        lines += _table(kind, trials)
    return "\n".join(lines) + "\n"


def _table(kind: str, trials: Sequence[Trial]) -> Iterator[str]:
    groups: dict[str, list[tuple[Trial, Finding]]] = defaultdict(list)
    for trial in trials:
        for one in trial.of(kind):
            groups[sort_of(one)].append((trial, one))
    if not groups:
        return
    yield f"\n{kind}: {sum(len(own) for own in groups.values())}"
    for sort, own in sorted(groups.items(), key=lambda item: -len(item[1])):
        trial, one = min(own, key=lambda item: (len(item[0].names), item[1].number))
        scenarios = len({other.names for other, _ in own})
        yield f"  {len(own):5} in {scenarios:4}  {sort}"
        yield f"      {' + '.join(trial.names) or 'base'} #{one.number}: {one.where}: {one.text}"


def sort_of(one: Finding) -> str:
    """What findings of one sort have in common."""
    if one.kind in ("no bound", "loss not known", "false reason"):
        return " <- ".join(reasons.names_of(one.text)) or one.text
    if one.kind == "refused":
        return re.sub(r"\b[a-z]+\d\b|\d+", "_", one.text)[:150]
    if one.kind == "false warning":
        return one.text.partition(":")[0]
    if one.kind in ("beyond", "below"):
        return one.text.partition(":")[0]
    return re.sub(r"\d+", "_", one.text)[:150]
