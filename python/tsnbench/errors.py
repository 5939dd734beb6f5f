"""The two kinds of failures of a run that are not bugs.

Rooms derive their own errors from these, so that the command line and notebooks need to handle only two.
"""

from __future__ import annotations


class InputError(Exception):
    """The input is wrong: the message has the place, the expected value and the found value. Exit code 2."""


class BackendError(Exception):
    """The input is right, but the backend could not do it. Exit code 3."""
