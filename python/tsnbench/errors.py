"""The two kinds of failures of a run that are not bugs.

Rooms derive their own errors from these, so that the command line and notebooks need to handle only two.
"""

from __future__ import annotations

import time


class InputError(Exception):
    """The input is wrong: the message has the place, the expected value and the found value. Exit code 2.

    Example:
        >>> from tsnbench import load
        >>> from tsnbench.errors import InputError
        >>> try:
        ...     load("missing.yaml")
        ... except InputError as error:
        ...     print(error)
        missing.yaml:1:1: expected a scenario file, found no such file
          hint: check the path
    """


class ContentError(InputError):
    """A file of another tool, or its output, is not as that tool writes it; the text names the place.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench.deploy.record import load
        >>> from tsnbench.errors import ContentError
        >>> done = Path("done.json").write_text("[]", encoding="utf-8")
        >>> try:
        ...     load(Path("done.json"))
        ... except ContentError as error:
        ...     print(error)
        done.json: expected a record of `tsnbench deploy`, found JSON without the keys of one
    """


class InterfaceError(InputError):
    """A network interface that is missing, in use, or lacks what the traffic needs.

    Example:
        >>> from tsnbench.errors import InterfaceError
        >>> from tsnbench.live.device import mac
        >>> try:
        ...     mac("none0")
        ... except InterfaceError as error:
        ...     print(error)
        none0: expected a network interface, found none (in this namespace)
    """


class BackendError(Exception):
    """The input is right, but the backend could not do it. Exit code 3.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench.errors import BackendError
        >>> from tsnbench.exports import Exported, write
        >>> try:
        ...     write(Exported(), Path("/sys/tables"))
        ... except BackendError as error:
        ...     print(str(error).partition(":")[0])
        /sys/tables
    """


class UnmeasuredError(BackendError):
    """A run that is no valid measurement, on a backend that works: another run may be valid.

    Args:
        host: where it became invalid.
        reason: why, in one line.
        text: the whole message; the reason alone if it is empty.

    Example:
        >>> from tsnbench.errors import UnmeasuredError
        >>> error = UnmeasuredError("h2", "the capture at eth1 lost 12 frames")
        >>> print(error.host, error)
        h2 the capture at eth1 lost 12 frames
    """

    def __init__(self, host: str, reason: str, text: str = "") -> None:
        self.host, self.reason = host, reason
        self.at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        """When it was rejected, in UTC."""
        super().__init__(text or reason)

    def __reduce__(self) -> tuple[type[UnmeasuredError], tuple[str, str, str], dict[str, object]]:
        # An exception is copied by its text alone, for example to another process.
        return type(self), (self.host, self.reason, str(self)), vars(self)
