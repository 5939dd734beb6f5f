"""Values in the job's script: quoted in one place, except for expressions that the shell evaluates."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from tsnbench.errors import BackendError
from tsnbench.libraries import jinja2

if TYPE_CHECKING:
    from jinja2 import Environment as Templates

_MOMENT = re.compile(r"\$\(\((?:EPOCH|STAMPED)[+-]\d+\)\)")
_READ_BY_SHELLS = re.compile(rf"[`\\]|\$(?!{_MOMENT.pattern[2:]})")


class Shell(str):
    """Text that a shell reads without quotes."""

    __slots__ = ()


def after_epoch(at_ns: int) -> Shell:
    """A moment of the Plan in TAI, which the script computes when it runs."""
    return Shell(f"$((EPOCH{at_ns:+d}))")


def on_wall(at_ns: int) -> Shell:
    """A moment of the Plan on the clock of captures' timestamps."""
    return Shell(f"$((STAMPED{at_ns:+d}))")


def names_a_moment(lines: Iterable[str]) -> bool:
    """Whether a shell needs the Plan's zero before it reads these lines."""
    return any(_MOMENT.search(line) for line in lines)


def quoted(value: object) -> str:
    """A value as one word of a shell."""
    return value if isinstance(value, Shell) else shlex.quote(str(value))


def heredoc(lines: Iterable[str]) -> Shell:
    """Lines between ``<<END`` and ``END``, in which a shell evaluates only moments.

    Raises:
        BackendError: a Plan contains a text that a shell would evaluate.
    """
    found = list(lines)
    for line in found:
        if _READ_BY_SHELLS.search(line) or "\n" in line:
            raise BackendError(f"expected a line without special characters of the shell, found {line!r}")
    return Shell("\n".join(found))


@lru_cache(maxsize=1)
def templates() -> Templates:
    """The templates of the job's script, in which every value is quoted."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("tsnbench.backends.kernel", "."),
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        finalize=quoted,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["heredoc"] = heredoc
    return found
