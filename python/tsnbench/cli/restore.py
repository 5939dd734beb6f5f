"""``tsnbench restore``: undo what a run left on this machine when it was killed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from tsnbench.cli.console.output import print_json, say, told


def restore(
    as_json: Annotated[bool, typer.Option("--json", help="What was removed, as JSON on stdout.")] = False,
) -> None:
    """Remove what killed runs (--on netns) left on this machine. Active runs are not touched."""
    from tsnbench.backends.netns import state

    with told():
        done = state.restore()
    if as_json:
        print_json([asdict(one) for one in done])
        return
    for one in done:
        say(str(one))
    if not done:
        say("nothing to undo")
