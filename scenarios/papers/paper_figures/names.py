"""Names of figures for the command line: ``engine/fig22``, ``engine/table9``, ``ocora/fig25-28``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paper_figures.campaigns import campaigns
from paper_figures.printed import Figure, Paper

_WORD = re.compile(r"[a-z]+\d+|[a-z]+\.?|\d+(?:\.\d+)?")
_KINDS = {"fig.": "fig", "table": "table", "tables": "table"}


def slug(figure: Figure) -> str:
    """The name of a figure within its paper: ``Fig. 25 to 28`` is ``fig25-28``."""
    words = [_KINDS.get(word, word) for word in re.findall(_WORD, figure.name.lower())]
    made = "-".join(word for word in words if word != "to")
    return re.sub(r"(fig|table)-(?=[\divx])", r"\1", made)


def known(papers: Sequence[Paper]) -> dict[str, tuple[Paper, Figure]]:
    """Every figure that is compared, by its whole name."""
    return {
        f"{paper.folder}/{slug(figure)}": (paper, figure)
        for paper in papers
        for figure in paper.figures
        if any(not entry.given for entry in figure.entries)
    }


def find(name: str, papers: Sequence[Paper]) -> tuple[Paper, Figure]:
    """The figure of a name; ``fig27`` also finds ``fig27-28``.

    Raises:
        LookupError: there is none, or there are several.
    """
    every = known(papers)
    if name in every:
        return every[name]
    folder, _, own = name.partition("/")
    found = [whole for whole in every if whole.startswith(f"{folder}/") and own in _parts(whole)]
    if len(found) == 1:
        return every[found[0]]
    there = [*every, *campaigns()]
    hint = ", ".join(found or [one for one in there if one.startswith(f"{folder}/")] or there)
    raise LookupError(f"expected the name of a figure, found {name}\nhint: {hint}")


def _parts(whole: str) -> set[str]:
    """The single figures of ``ocora/fig12-13``: ``fig12`` and ``fig13``."""
    found = re.findall(r"(fig|table)(\d+(?:-\d+)*)", whole.partition("/")[2])
    return {f"{kind}{number}" for kind, numbers in found for number in numbers.split("-")}
