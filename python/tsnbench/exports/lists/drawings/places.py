"""Where shapes of a drawing lie, and at which of them a line ends that is not connected to any."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping
from math import hypot

NEAR = 10
"""From a shape to the end of a line, in the units of the drawing: draw.io's grid."""
MOST_COMPARED = 5_000_000
"""Ends of lines times shapes."""
MOST_LEVELS = 50
_NUMBER = re.compile(r"-?\d{1,7}(?:\.\d{0,20})?")


class Places:
    """The places of all cells.

    Args:
        cells: the parent of each cell, and its geometry.
        shapes: the cells at which lines can end.
    """

    def __init__(self, cells: Mapping[str, tuple[str, ET.Element | None]], shapes: Collection[str]) -> None:
        self._cells = cells
        self._left = MOST_COMPARED
        self._boxes: dict[str, tuple[float, float, float, float]] = {}
        for key in shapes:
            geometry = cells[key][1]
            if geometry is not None:
                x, y = self._origin(cells[key][0])
                left, top = x + _number(geometry, "x"), y + _number(geometry, "y")
                right, bottom = left + _number(geometry, "width"), top + _number(geometry, "height")
                self._boxes[key] = left, top, right, bottom

    def shape_at(self, line: str, end: str) -> str | None:
        """The shape at the end of a line (``sourcePoint`` or ``targetPoint``); None if there is none.

        Of several, the nearest one; of those that have the point inside, the smallest one.
        """
        parent, geometry = self._cells[line]
        points = () if geometry is None else geometry.iterfind("mxPoint")
        point = next((one for one in points if one.get("as") == end), None)
        self._left -= len(self._boxes)
        if point is None or self._left < 0:
            return None
        x, y = self._origin(parent)
        x, y = x + _number(point, "x"), y + _number(point, "y")
        found = []
        for key, (left, top, right, bottom) in self._boxes.items():
            distance = hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom))
            if distance <= NEAR:
                found.append((distance, (right - left) * (bottom - top), key))
        return min(found)[2] if found else None

    def _origin(self, key: str) -> tuple[float, float]:
        """The place of a cell's own coordinates: each cell lies relative to its parent."""
        x = y = 0.0
        for _ in range(MOST_LEVELS):
            if key not in self._cells:
                break
            key, geometry = self._cells[key]
            if geometry is not None and geometry.get("relative") != "1":
                x, y = x + _number(geometry, "x"), y + _number(geometry, "y")
        return x, y


def _number(element: ET.Element, key: str) -> float:
    text = element.get(key, "")
    return float(text) if _NUMBER.fullmatch(text) else 0.0
