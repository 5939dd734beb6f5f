"""Errors that prevent measures."""

from __future__ import annotations

from tsnbench.errors import InputError


class MeasureError(InputError):
    """A capture or run folder that cannot be measured; the text names the file and its problem.

    Example:
        >>> from tsnbench import measure_captures
        >>> measure_captures("first.yaml", "first.yaml")
        Traceback (most recent call last):
        ...
        tsnbench.measure.errors.MeasureError: first.yaml: is neither pcap nor pcapng: ...
    """
