"""The two ways in which a run can go wrong that are not bugs.

Rooms derive their own errors from these, so that the command line and notebooks need to know only two.
"""

from __future__ import annotations


class InputError(Exception):
    """What the person gave cannot be used; the text says where, what was expected, what was found."""


class BackendError(Exception):
    """The input was right, but the backend could not do it."""
