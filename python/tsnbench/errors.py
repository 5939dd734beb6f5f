"""The two ways in which a run can go wrong that are not bugs.

Rooms derive their own errors from these, so that the command line and notebooks need to know only two.
"""

from __future__ import annotations


class InputError(Exception):
    """The input is wrong: the message has the place, what was expected and what was found. Exit code 2."""


class BackendError(Exception):
    """The input is right, but the backend could not do it. Exit code 3."""
