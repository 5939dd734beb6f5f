"""Scripts and manifests that start workers on clusters. They are printed and never submitted."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tsnbench.errors import InputError
from tsnbench.studies.store import Store

_IMAGE = re.compile(r"[A-Za-z0-9][\w.\-/:@]{0,254}")
_CLAIM = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
"""Names of objects of Kubernetes."""
_PATH = re.compile(r"[\w.\-+=@/ ]{1,1000}")
_MOUNT = "/study"
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


def kubernetes_job(folder: Path, workers: int, image: str, claim: str, path: str) -> Iterator[str]:
    """The manifest of a Kubernetes Job: a work queue of pods, each of which makes runs until none is left.

    Args:
        folder: the study.
        workers: pods at the same time.
        image: a container image with the same build of tsnbench as its command.
        claim: the PersistentVolumeClaim on which the study lies; it must allow ReadWriteMany.
        path: the folder of the study on that volume.

    Raises:
        InputError: the folder is no study's, or a name is none of Kubernetes.
    """
    for option, pattern, text, example in (
        ("--image", _IMAGE, image, "registry/tsnbench:1.0"),
        ("--claim", _CLAIM, claim, "studies"),
        ("--path", _PATH, path, "window-width"),
    ):
        if not pattern.fullmatch(text):
            raise InputError(f"{option}: expected a name such as {example}, found {text}")
    parts = PurePosixPath(path).parts
    if ".." in parts or path.startswith("/"):
        raise InputError(f"--path: expected a folder on the volume, such as window-width, found {path}")
    name = re.sub(r"[^a-z0-9]+", "-", Store(folder).read().name.lower()).strip("-")[:50] or "study"
    where = str(PurePosixPath(_MOUNT, *parts))
    command = ["tsnbench", "study", "work", where]
    yield "# kubectl create -f FILE; a pod that is killed costs the run that it was making, so create again."
    yield "apiVersion: batch/v1"
    yield "kind: Job"
    yield "metadata:"
    yield f"  generateName: {name}-"
    yield "spec:"
    yield f"  parallelism: {workers}"
    yield "  # Without completions, the Job ends when a pod has found no run left and all pods have ended."
    yield f"  backoffLimit: {10 * workers}"
    yield "  template:"
    yield "    spec:"
    yield "      restartPolicy: Never"
    yield "      containers:"
    yield "        - name: worker"
    yield f"          image: {json.dumps(image)}"
    yield f"          command: {json.dumps(command)}"
    yield "          resources:"
    yield "            requests: {cpu: 1}"
    yield "          volumeMounts:"
    yield f"            - {{name: study, mountPath: {_MOUNT}}}"
    yield "      volumes:"
    yield "        - name: study"
    yield f"          persistentVolumeClaim: {{claimName: {json.dumps(claim)}}}"
