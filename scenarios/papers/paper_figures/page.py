"""The tables for people: a row per figure in ``scenarios/README.md``, a row per number beside a paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from textwrap import fill

from paper_figures.printed import PAPERS, Paper
from paper_figures.verdicts import Compared, JudgedFigure, Results, Verdict, compare

OVERVIEW = PAPERS.parent / "README.md"
FRONT = OVERVIEW.parents[1] / "README.md"
WIDTH = 100
"""Of a line of text."""
BETWEEN = " \u00b7 "
"""Between reasons of one row."""
_COUNT = re.compile(r"(<!-- count -->\n).*?(<!-- end -->)", re.DOTALL)
_SUM = re.compile(r"(<!-- printed numbers -->\n).*?(\n<!-- end -->)", re.DOTALL)
_BLOCK = re.compile(r"(<!-- paper: ([a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def overview(text: str, judged: dict[str, tuple[Paper, list[JudgedFigure]]]) -> str:
    """``scenarios/README.md`` with the table of every paper made anew."""
    made: Callable[[re.Match[str]], str] = lambda found: (  # noqa: E731
        f"{found[1]}{_table(*judged[found[2]])}{found[3]}"
    )
    counted = count([one for _, figures in judged.values() for one in figures])
    return _COUNT.sub(lambda found: f"{found[1]}{counted}{found[2]}", _BLOCK.sub(made, text))


def count(figures: Sequence[JudgedFigure]) -> str:
    """How many of all printed numbers, and of all statements, have which verdict; what twins predict."""
    rows = [["", *Verdict], ["---", *["---:"] * len(Verdict)]]
    for what, statements in (("numbers", False), ("statements and bounds", True)):
        rows.append([what, *(str(sum(len(one.of(each, statements)) for one in figures)) for each in Verdict)])
    of_twins = [other.inside for one in figures for other in one.compared if other.inside is not None]
    text = (
        f"Twins tried {len(of_twins)} numbers that their fits had not seen; {sum(of_twins)} are inside the "
        "intervals of 95 %. An interval that is wider than a factor of 10 does not count as a prediction. "
        f"{_crosswise(figures)} of the predicted numbers are of rows to which a first twin was fitted: a "
        "second one, fitted to the other rows, predicts them."
    )
    return f"{_markdown(rows)}\n{fill(text, WIDTH)}\n"


def _crosswise(figures: Sequence[JudgedFigure]) -> int:
    """How many numbers second twins predict, which were fitted to what the first ones predict."""
    predicted = (one.entry.twin for each in figures for one in each.of(Verdict.PREDICTED))
    return sum(own is not None and own.crosswise for own in predicted)


def front(text: str, figures: Sequence[JudgedFigure]) -> str:
    """The page of the project with the sum of all printed numbers made anew."""
    met, predicted, fitted, differ = (
        sum(len(one.of(each, statements=False)) for one in figures)
        for each in (Verdict.FIGURE_MET, Verdict.PREDICTED, Verdict.FITTED, Verdict.DIFFERS)
    )
    every = met + predicted + fitted + differ
    made = (
        f"Of {every} printed numbers, {met} are met without a fit, and {predicted} are predicted by fits to "
        f"other numbers ({_crosswise(figures)} of them by second fits, to what the first fits predict). "
        f"{fitted} are fitted only. {differ} differ, each with a reason that a run or a calculation of ours "
        "supports."
    )
    return _SUM.sub(lambda found: f"{found[1]}{fill(made, WIDTH)}{found[2]}", text)


def blocks(text: str) -> list[str]:
    """The papers that have a table in it."""
    return [found[2] for found in _BLOCK.finditer(text)]


def _table(paper: Paper, figures: Sequence[JudgedFigure]) -> str:
    rows = [["figure", "what", "scenario", "verdict"], ["---"] * 4]
    for one in figures:
        links = ", ".join(
            f"[{name.rsplit('/')[-1]}](papers/{paper.folder}/{name}.yaml)" for name in one.figure.scenarios
        )
        rows.append([one.figure.name, one.figure.what, links or "-", verdict_of(one)])
    return _markdown(rows)


def verdict_of(one: JudgedFigure) -> str:
    """``figure met 3 of 4; statement holds; differs: why``."""
    parts = [
        part
        for part in (
            _share(one, Verdict.FIGURE_MET, statements=False),
            _share(one, Verdict.STATEMENT_HOLDS, statements=True),
            *(_twin(one, verdict) for verdict in (Verdict.PREDICTED, Verdict.FITTED)),
        )
        if part
    ]
    if reasons := dict.fromkeys(other.entry.why for other in one.of(Verdict.DIFFERS)):
        parts.append(f"**{Verdict.DIFFERS}**: {BETWEEN.join(reasons)}")
    if inputs := dict.fromkeys(other.entry.given for other in one.of(Verdict.GIVEN)):
        parts.append(f"given: {'; '.join(inputs)}")
    if one.figure.note:
        parts.append(one.figure.note)
    return "; ".join(parts)


def _share(one: JudgedFigure, verdict: Verdict, *, statements: bool) -> str:
    agree = len(one.of(verdict, statements))
    others = (Verdict.DIFFERS, Verdict.PREDICTED, Verdict.FITTED)
    differ = sum(len(one.of(other, statements)) for other in others)
    if not agree + differ:
        return ""
    if not differ:
        return f"**{verdict}**" + (f" ({agree})" if agree > 1 else "")
    return f"**{verdict}** {agree} of {agree + differ}"


def _twin(one: JudgedFigure, verdict: Verdict) -> str:
    count = len(one.of(verdict))
    return f"**{verdict}** {count}" if count else ""


def details(paper: Paper, figures: Sequence[JudgedFigure], results: Results) -> str:
    """``figures.md`` of a paper: every printed number and statement with ours beside it."""
    lines = [
        f"# {paper.heading}: every number compared",
        "",
        f"What *{paper.title}* prints, what the scenarios give at their own durations, and the verdict.",
        "Written by `make papers` from [printed.yml](printed.yml) and [recorded results](../results.json).",
        "",
    ]
    for one in figures:
        lines += [f"## {one.figure.name}: {one.figure.what}", ""]
        rows = [["what", "where", "printed", "ours", "verdict"], ["---"] * 5]
        rows += [_row(compared) for compared in one.compared]
        lines += [_markdown(rows).rstrip("\n"), ""] if one.compared else [one.figure.note, ""]
    lines += reasons(paper, figures, results)
    return "\n".join(lines).rstrip("\n") + "\n"


def shown(paper: Paper, figures: Sequence[JudgedFigure], results: Results) -> list[tuple[int, Compared]]:
    """Every experiment about a reason of numbers of these figures, and how many these are."""
    numbers = (other for one in figures for other in one.of(Verdict.DIFFERS, statements=False))
    counted = Counter(one.entry.why for one in numbers)
    found = [compare(one, paper.folder, results) for one in paper.experiments if one.why in counted]
    return [(counted[one.entry.why], one) for one in found]


def supports(experiment: Compared) -> str:
    return "shown" if experiment.verdict is Verdict.STATEMENT_HOLDS else "**not shown**"


def reasons(paper: Paper, figures: Sequence[JudgedFigure], results: Results) -> list[str]:
    """The end of ``figures.md``: what runs show of every reason, and whether they still do."""
    rows = [["reason", "numbers", "what runs show", "condition", ""], ["---", "---:", "---", "---", "---"]]
    for count, one in shown(paper, figures, results):
        where = ", ".join(
            f"[{file}]({file}.yaml)" for file in sorted({quantity.file for quantity in one.entry.quantities})
        )
        says = f"{one.entry.what} ({where})" if where else one.entry.what
        rows.append([one.entry.why, str(count), says, f"`{one.entry.expression}`", supports(one)])
    return ["## Reasons of numbers that differ", "", _markdown(rows).rstrip("\n")] if len(rows) > 2 else []


def _row(one: Compared) -> list[str]:
    entry = one.entry
    why = entry.given or (entry.why if one.verdict is Verdict.DIFFERS else entry.tolerance)
    if one.twin:
        why = "; ".join(part for part in (f"the twin gives {one.twin}", why) if part)
    return [
        entry.what,
        entry.where,
        entry.printed,
        one.ours or ("" if entry.printed else f"`{entry.expression}`"),
        f"{one.verdict}: {why}" if why else str(one.verdict),
    ]


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)
