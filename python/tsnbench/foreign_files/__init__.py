"""Files of other tools: the format of a file, recognised by its content, and the figures in it.

:data:`FORMATS` is the only table of formats: name, rule of recognition, and reader if there is one.
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
