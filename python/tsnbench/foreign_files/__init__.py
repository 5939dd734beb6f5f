"""Files of other tools: what a file is by its content, and the figures that it holds.

:data:`FORMATS` is the one table: a name, how the content is recognised, and the reader where there is one.
"""

from __future__ import annotations

from tsnbench.foreign_files.figures import Figure, ForeignMeasures, foreign_table
from tsnbench.foreign_files.formats import FORMATS, Format, measure_foreign, recognise

__all__ = [
    "FORMATS",
    "Figure",
    "ForeignMeasures",
    "Format",
    "foreign_table",
    "measure_foreign",
    "recognise",
]
