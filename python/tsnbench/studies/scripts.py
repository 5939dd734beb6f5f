"""Scripts that start workers on clusters. They are printed and never submitted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tsnbench.errors import InputError
from tsnbench.studies.store import Store

_TIME = re.compile(r"(\d+-)?\d{1,3}(:\d{2}){0,2}")


def slurm_script(folder: Path, workers: int, limit: str, python: str) -> Iterator[str]:
    """A batch script for sbatch: an array of workers, each of which makes runs until none is left.

    Raises:
        InputError: the folder is no study's, or the limit is no time of SLURM.
    """
    if not _TIME.fullmatch(limit):
        raise InputError(f"--time: expected a time such as 01:00:00, found {limit}")
    name = Store(folder).read().name
    where = shlex.quote(str(folder.resolve()))
    yield "#!/bin/sh"
    yield f"#SBATCH --job-name={name}"
    yield f"#SBATCH --array=1-{workers}"
    yield "#SBATCH --cpus-per-task=1"
    yield f"#SBATCH --time={limit}"
    yield "#SBATCH --output=/dev/null"
    yield "# A worker that is killed costs the run that it was making; submit again to go on."
    yield f"exec {shlex.quote(python)} -m tsnbench study work {where}"
