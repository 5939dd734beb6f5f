"""A console for tables, bars and rules, which shows what :mod:`~tsnbench.cli.console.visible` shows.

rich takes as long to load as a small network takes to plan: only modules that draw load this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from tsnbench.cli.console.visible import CONTROL, visible


class Terminal(Console):
    """A console that shows control characters instead of obeying them."""

    def __init__(self, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Overrides :class:`rich.console.Console`; escapes count in the width of a cell."""
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Overrides :class:`rich.console.Console`; all output passes this method."""
        for segment in super().render(renderable, options):
            if segment.control is None and CONTROL.search(segment.text):
                yield Segment(visible(segment.text), segment.style)
            else:
                yield segment
