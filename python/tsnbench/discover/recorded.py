"""What hosts said, as a file: a state that is compared later, or on another machine.

The file has the output of each command, so that it is read as the hosts' own answers are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.discover import running
from tsnbench.foreign import UnusableFileError, mapping_of, read_json
from tsnbench.hosts.remote.answers import Done

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tsnbench.discover.running import RunningHost

FORMAT = "tsnbench-running/1"


@dataclass(frozen=True)
class Heard:
    """The answers of one host, or why there are none."""

    kernel: str = ""
    done: Sequence[Done] = ()
    why: str = ""

    def state(self, host: str) -> tuple[RunningHost | None, str]:
        """The running state, or the reason why nothing is known about it."""
        return (None, self.why) if self.why else (running.read(host, self.kernel, self.done), "")


def text(heard: Mapping[str, Heard]) -> str:
    """The file of the answers of hosts."""
    hosts = {
        name: {
            "kernel": one.kernel,
            "why": one.why,
            "answers": {
                part: {"code": said.code, "out": said.out, "err": said.err}
                for part, said in zip(running.LOOK, one.done, strict=False)
            },
        }
        for name, one in heard.items()
    }
    return json.dumps({"format": FORMAT, "hosts": hosts}, indent=1) + "\n"


def read(path: Path) -> dict[str, Heard]:
    """The answers of hosts from a file.

    Raises:
        UnusableFileError: it cannot be read, or has another format.
    """
    document = mapping_of(read_json(path))
    if document.get("format") != FORMAT:
        raise UnusableFileError(path, f"a state that diff --record wrote ({FORMAT})", "another file")
    return {str(name): _heard(mapping_of(one)) for name, one in mapping_of(document.get("hosts")).items()}


def _heard(one: Mapping[str, object]) -> Heard:
    """A command that another version did not ask is one without an answer."""
    answers = mapping_of(one.get("answers"))
    done = []
    for part, step in zip(running.LOOK, running.steps(), strict=True):
        said = mapping_of(answers.get(part, {"code": 127, "err": "it was not recorded"}))
        code = said.get("code")
        out, err = (str(said.get(name, "")) for name in ("out", "err"))
        done.append(Done(step, code if isinstance(code, int) else 127, out, err, 0, 0))
    return Heard(str(one.get("kernel", "")), done, str(one.get("why", "")))
