"""Figures of a study: curves with their intervals, heat maps of two axes, main effects, runs that met."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tsnbench.report.figures.distributions import delay_axis
from tsnbench.report.figures.study import printed
from tsnbench.report.figures.study.axes import (
    chosen,
    columns_of,
    columns_of_range,
    legend,
    line,
    ticks,
    turned,
)
from tsnbench.report.figures.style import (
    COLOURS,
    DASHES,
    INK,
    MARKERS,
    Drawing,
    Row,
    Size,
    axis_of,
)
from tsnbench.report.formatting import micros, printable, shortened
from tsnbench.report.parts.study import MOST_LINES, Answers, Combination, Estimate, StudyAxis, StudyFacts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def drawings(study: StudyFacts) -> list[Drawing]:
    """Every figure for which the study has data."""
    found: list[Drawing] = []
    if study.answers is not None:
        # Curves and heat maps need all combinations, not chosen ones.
        return [_front(study.answers)] if study.answers.tried else found
    across, beside = study.across, study.beside
    if across is None or len(across.values) < 2:
        return found
    made = [one for one in study.combinations if one.share is not None]
    if study.ends:
        found.append(_curves(study, across, beside))
    if beside is not None and len(beside.values) > 1 and study.ends:
        found += [_heat_map(study, across, beside), _main_effects(study)]
    if made and any(one.met < one.runs for one in made):
        found.append(_met(study, across, beside))
    return found + printed.drawings(study, across)


def _lines(study: StudyFacts, beside: StudyAxis | None) -> list[tuple[str, dict[str, str]]]:
    """What has a line of its own: its label and its values."""
    if beside is None:
        return [("", {})]
    return [(value, {beside.name: value}) for value in beside.values[:MOST_LINES]]


def _words(study: StudyFacts, beside: StudyAxis | None) -> str:
    """What a caption says of the other axes."""
    said = ""
    if beside is not None and len(beside.values) > MOST_LINES:
        said += f" The first {MOST_LINES} values of {printable(beside.name)} are drawn."
    for axis in study.fixed:
        said += f" {printable(axis.name)} is {axis.values[0]}."
    return said


def _draw_curves(
    at: Axes, study: StudyFacts, end: str, across: StudyAxis, lines: Sequence[tuple[str, dict[str, str]]]
) -> None:
    """The mean delay of one stream, with its interval and what a paper prints."""
    lows, highs = [], []
    for place, (label, own) in enumerate(lines):
        points: list[tuple[float, Estimate]] = []
        for x, value in zip(across.at, across.values, strict=True):
            found = study.at({across.name: value, **own})
            mean = found.ends[end].mean if found is not None and end in found.ends else None
            if mean is not None:
                points.append((x, mean))
        if not points:
            continue
        line(at, place, label or "mean", points, 1e-3, across.numeric)
        lows += [one.value if one.low is None else one.low for _, one in points]
        highs += [one.value if one.high is None else one.high for _, one in points]
        if beside_them := printed.marks(study, end, across, own):
            printed.draw_marks(at, place, beside_them, 1e-3)
            lows += [least for _, least, _ in beside_them]
            highs += [most for _, _, most in beside_them]
    if highs:
        delay_axis(at, "y", max(min(lows), 0) / 1e3, max(highs) / 1e3)
    at.set_title(shortened(end))


def _curves(study: StudyFacts, across: StudyAxis, beside: StudyAxis | None) -> Drawing:
    lines = _lines(study, beside)

    marked = any(printed.marks(study, end, across, own) for end in study.drawn for _, own in lines)

    def beside_it(end: str, value: str, own: Mapping[str, str]) -> Row:
        """The columns of the printed number, in a study of a paper alone."""
        if not marked:
            return {}
        x = across.at[across.values.index(value)]
        there = [mark for mark in printed.marks(study, end, across, own) if mark[0] == x]
        return columns_of_range("printed_us", there[0][1:] if there else None, 1e3)

    def draw(size: Size) -> Figure:
        figure, axes = axis_of(study.drawn, size, 1.9)
        for at, end in zip(axes, study.drawn, strict=True):
            _draw_curves(at, study, end, across, lines)
            ticks(at, across, last=at is axes[-1])
        legend(figure, axes, size, None if beside is None else beside.name)
        return figure

    return Drawing(
        "study-delay",
        f"Mean delay over {printable(across.name)}",
        "The shaded band is the 95 % confidence interval over repetitions; without a band there is one "
        "repetition."
        + (" A cross is a number that the paper prints." if marked else "")
        + _words(study, beside)
        + study.left_out,
        "; ".join(
            f"{end}, {label or 'mean'}: "
            + ", ".join(
                f"{value} {micros(found.ends[end].mean.value)} µs"  # type: ignore[union-attr]
                for value in across.values
                if (found := study.at({across.name: value, **own})) is not None
                and end in found.ends
                and found.ends[end].mean is not None
            )
            for end in study.drawn
            for label, own in lines
        ),
        draw,
        lambda: (
            chosen(across, value, own)
            | {"stream": end}
            | columns_of(found.ends[end].mean, "mean_us", 1e3)
            | beside_it(end, value, own)
            for end in study.drawn
            for _, own in lines
            for value in across.values
            if (found := study.at({across.name: value, **own})) is not None and end in found.ends
        ),
    )


def _draw_map(
    figure: Figure, at: Axes, across: StudyAxis, beside: StudyAxis, numbers: list[list[float]]
) -> None:
    """The numbers of one stream as colours: NaN where there is none."""
    image = at.imshow(numbers, aspect="auto", origin="lower", cmap="viridis")
    if len(across.values) * len(beside.values) <= 60:
        known = [one for row in numbers for one in row if one == one]
        middle = (min(known) + max(known)) / 2 if known else 0.0
        for y, row in enumerate(numbers):
            for x, one in enumerate(row):
                if one == one:
                    at.text(
                        x, y, f"{one:.3g}", ha="center", va="center",
                        color="#ffffff" if one < middle else "#000000", fontsize="small",
                    )  # fmt: skip
    at.grid(visible=False)
    at.set_yticks(range(len(beside.values)), [shortened(value, 18) for value in beside.values])
    at.set_ylabel(shortened(printable(beside.name), 24))
    at.set_xticks(range(len(across.values)), [shortened(value, 14) for value in across.values])
    turned(at, across.values)
    figure.colorbar(image, ax=at).set_label("µs")


def _heat_map(study: StudyFacts, across: StudyAxis, beside: StudyAxis) -> Drawing:
    def greatest(end: str, x: str, y: str) -> float | None:
        found = (one.ends.get(end) for one in study.over({across.name: x, beside.name: y}))
        values = [one.greatest for one in found if one is not None and one.greatest is not None]
        return max(values, default=None)

    places = itertools.product(study.drawn, beside.values, across.values)
    cells = [(end, x, y, greatest(end, x, y)) for end, y, x in places]
    known = [(end, x, y, value) for end, x, y, value in cells if value is not None]

    def draw(size: Size) -> Figure:
        height = max(1.6, 0.28 * len(beside.values) + 1.0)
        figure, axes = axis_of(study.drawn, size, height)
        for at, end in zip(axes, study.drawn, strict=True):
            row = [float("nan") if one is None else one / 1e3 for of, _, _, one in cells if of == end]
            wide = len(across.values)
            rows = [row[place : place + wide] for place in range(0, len(row), wide)]
            _draw_map(figure, at, across, beside, rows)
            at.set_title(shortened(end))
        axes[-1].set_xlabel(printable(across.name))
        return figure

    others = [axis for axis in study.axes if axis not in (across, beside)]
    over = f" and over all values of {', '.join(printable(axis.name) for axis in others)}" if others else ""
    return Drawing(
        "study-greatest",
        "Greatest delay of two parameters",
        f"The greatest delay of all repetitions{over}, in µs; a field without colour has no frame."
        + study.left_out,
        "; ".join(f"{end}, {x} and {y}: {micros(value)} µs" for end, x, y, value in known),
        draw,
        lambda: (
            {across.name: x, beside.name: y, "stream": end, "greatest_us": value / 1e3}
            for end, x, y, value in known
        ),
    )


def _main_effects(study: StudyFacts) -> Drawing:
    """A panel for each axis: how far the mean delay at each value is from that over all values."""
    axes_drawn = [axis for axis in study.axes if len(axis.values) > 1]

    def mean(end: str, chosen: dict[str, str]) -> float | None:
        found = [
            one.ends[end].mean.value  # type: ignore[union-attr]
            for one in study.over(chosen)
            if end in one.ends and one.ends[end].mean is not None
        ]
        return sum(found) / len(found) if found else None

    def effects(end: str, axis: StudyAxis) -> list[tuple[float, str, float]]:
        whole = mean(end, {})
        return [
            (x, value, 100 * (own / whole - 1))
            for x, value in zip(axis.at, axis.values, strict=True)
            if whole and (own := mean(end, {axis.name: value})) is not None
        ]

    def draw(size: Size) -> Figure:
        figure, axes = axis_of(axes_drawn, size, 1.9)
        for at, axis in zip(axes, axes_drawn, strict=True):
            for place, end in enumerate(study.drawn):
                points = [(x, Estimate(percent)) for x, _, percent in effects(end, axis)]
                if points:
                    line(at, place, end, points, 1.0, axis.numeric)
            at.axhline(0, color=INK, linewidth=0.6)
            at.set_ylabel("mean delay (%)")
            at.set_title(shortened(printable(axis.name)))
            ticks(at, axis, last=False)
        for at in axes[1:]:
            at.sharey(axes[0])
        axes[0].autoscale_view()
        legend(figure, axes, size, None)
        return figure

    return Drawing(
        "study-effects",
        "Main effects",
        "Mean delay at each value of a parameter, minus the mean over all its values; both over every value "
        "of the other parameters. A flat line means that the parameter alone has no effect." + study.left_out,
        "; ".join(
            f"{end}, {axis.name} {value}: {percent:+.1f} %"
            for end in study.drawn
            for axis in axes_drawn
            for _, value, percent in effects(end, axis)
        ),
        draw,
        lambda: (
            {"parameter": axis.name, "value": value, "stream": end, "effect_percent": percent}
            for end in study.drawn
            for axis in axes_drawn
            for _, value, percent in effects(end, axis)
        ),
    )


def _met(study: StudyFacts, across: StudyAxis, beside: StudyAxis | None) -> Drawing:
    lines = _lines(study, beside)

    def share(found: Combination | None) -> Estimate | None:
        if found is None or found.share is None:
            return None
        return Estimate(*(None if one is None else 100 * one for one in (
            found.share.value, found.share.low, found.share.high
        )))  # type: ignore[arg-type]  # fmt: skip

    def draw(size: Size) -> Figure:
        figure, axes = axis_of([None], size, 2.2)
        for place, (label, own) in enumerate(lines):
            points = [
                (x, one)
                for x, value in zip(across.at, across.values, strict=True)
                if (one := share(study.at({across.name: value, **own}))) is not None
            ]
            if points:
                line(axes[0], place, label or "runs", points, 1.0, across.numeric)
        axes[0].set_ylim(-3, 103)
        axes[0].set_ylabel("runs that met all (%)")
        ticks(axes[0], across, last=True)
        legend(figure, axes, size, None if beside is None else beside.name)
        return figure

    return Drawing(
        "study-met",
        "Runs that met all requirements",
        "The band is the 95 % confidence interval of the probability (Clopper-Pearson)."
        + _words(study, beside),
        "; ".join(
            f"{label} {value}: {found.met} of {found.runs}".strip()
            for label, own in lines
            for value in across.values
            if (found := study.at({across.name: value, **own})) is not None
        ),
        draw,
        lambda: (
            chosen(across, value, own)
            | {"runs": found.runs, "met": found.met}
            | columns_of(found.share, "met_share", 1.0)
            for _, own in lines
            for value in across.values
            if (found := study.at({across.name: value, **own})) is not None
        ),
    )


def _front(answers: Answers) -> Drawing:
    """All combinations that a search tried, by two goals; the best ones are connected."""
    best = sorted((one for one in answers.tried if one.best), key=lambda one: (one.x, one.y))
    others = [one for one in answers.tried if not one.best]

    def draw(size: Size) -> Figure:
        figure, axes = axis_of([None], size, 2.6)
        at = axes[0]
        at.plot(
            [one.x for one in others], [one.y for one in others],
            linestyle="none", marker=MARKERS[1], markersize=3, color=COLOURS[1], alpha=0.6, label="tried",
        )  # fmt: skip
        at.plot(
            [one.x for one in best], [one.y for one in best],
            linestyle=DASHES[0], marker=MARKERS[0], markersize=4, color=COLOURS[0], label="best",
        )  # fmt: skip
        at.set_xlabel(printable(answers.goals[0]))
        at.set_ylabel(printable(answers.goals[1]))
        legend(figure, axes, size, None)
        return figure

    return Drawing(
        "study-front",
        "Pareto front",
        "All combinations that have a value for both goals. No allowed combination is at least as good as "
        "a best one in all goals and better in one.",
        "; ".join(one.words for one in best),
        draw,
        lambda: (
            {answers.goals[0]: one.x, answers.goals[1]: one.y, "best": "yes" if one.best else "no"}
            for one in (*best, *others)
        ),
    )
