"""The signals that end a command: Ctrl-C, SIGTERM and SIGHUP."""

from __future__ import annotations

import _thread
import signal
import sys
import time
from typing import NoReturn

AGAIN_S = 0.01
"""The time after which a signal that Python has ignored is raised again."""


class StoppedError(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does."""


_received: list[int] = []
"""The signals that ended the command, in their order."""


def stopped_by() -> int:
    """The exit code for the signal that ended the command: 128 and its number; 0 if there was none."""
    return 128 + _received[0] if _received else 0


def is_interrupt(error: BaseException) -> bool:
    """Whether this error is what is left of a signal.

    An import that a signal interrupts can fail with an error of another kind: a source with a named
    character is then a SyntaxError, a descriptor's ``__set_name__`` a RuntimeError, as is a lock of the
    importer itself.
    """
    if isinstance(error, KeyboardInterrupt):
        return True
    return bool(_received) and (
        isinstance(error, ImportError | SyntaxError)
        or isinstance(error.__cause__, KeyboardInterrupt)
        or _in_import(error)
    )


def _in_import(error: BaseException) -> bool:
    step = error.__traceback__
    while step is not None and not step.tb_frame.f_code.co_filename.startswith("<frozen importlib"):
        step = step.tb_next
    return step is not None


def heed_signals() -> None:
    """Handles the first SIGTERM or SIGHUP as Ctrl-C; signals that are ignored (nohup) stay ignored."""
    for number, usual, handler in (
        (signal.SIGINT, signal.default_int_handler, _interrupt),
        (signal.SIGTERM, signal.SIG_DFL, _stop),
        (signal.SIGHUP, signal.SIG_DFL, _stop),
    ):
        if signal.getsignal(number) is usual:
            signal.signal(number, handler)
    sys.unraisablehook = _unraisable


def heed_interrupts() -> None:
    """Handles Ctrl-C also where it is ignored, as it is in a job that a shell starts with ``&``."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, _: object) -> NoReturn:
    """Ctrl-C ends the command, and when it is pressed again also the work that cleans up."""
    _received.append(number)
    raise KeyboardInterrupt


def _stop(number: int, _: object) -> None:
    if not any(one != signal.SIGINT for one in _received):
        _received.append(number)
        raise StoppedError


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Raises a signal again that came where Python ignores exceptions, such as in a callback of the garbage
    collection: without this the command would go on as if nothing had been pressed."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    # An import may be going on here: no module may be loaded, also not ``threading``.
    _thread.start_new_thread(_raise_again, (_received.pop() if _received else signal.SIGINT,))


def _raise_again(number: int) -> None:
    time.sleep(AGAIN_S)
    _thread.interrupt_main(signal.Signals(number))
