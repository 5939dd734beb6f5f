"""Scripts for clusters: what sbatch and Kubernetes are given, and what is refused."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from support.study_processes import study
from tsnbench.errors import InputError
from tsnbench.studies.clusters.scripts import kubernetes_job, slurm_script


@pytest.fixture
def folder(place: Path) -> Path:
    (place / "study.yaml").write_text("study: Window_width\nscenario: port.yaml\n", encoding="utf-8")
    study(place, "run", "study.yaml", "--into", "my study", "--workers", "0")
    return place / "my study"


def test_an_array_of_slurm_is_a_worker_each(folder: Path) -> None:
    lines = list(slurm_script(folder, 3, "1-00:00:00", "/opt/my python"))
    assert lines[0] == "#!/bin/sh"
    assert "#SBATCH --array=1-3" in lines
    command = shlex.split(lines[-1])
    assert command == ["exec", "/opt/my python", "-m", "tsnbench", "study", "work", str(folder.resolve())]
    with pytest.raises(InputError, match="--time: expected a time such as 01:00:00, found soon"):
        list(slurm_script(folder, 3, "soon", "python"))


def test_a_job_of_kubernetes_is_a_queue_of_workers(folder: Path) -> None:
    text = "\n".join(
        kubernetes_job(folder, 3, "registry.local:5000/tsnbench@sha256:00ff", "studies", "a/my study")
    )
    job = YAML(typ="safe").load(text)
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert job["metadata"] == {"generateName": "window-width-"}
    # A work queue: the number of pods at the same time, and no number of completions.
    assert (job["spec"]["parallelism"], "completions" in job["spec"]) == (3, False)
    pod = job["spec"]["template"]["spec"]
    (worker,) = pod["containers"]
    assert worker["image"] == "registry.local:5000/tsnbench@sha256:00ff"
    assert worker["command"] == ["tsnbench", "study", "work", "/study/a/my study"]
    assert worker["volumeMounts"] == [{"name": pod["volumes"][0]["name"], "mountPath": "/study"}]
    assert pod["volumes"][0]["persistentVolumeClaim"] == {"claimName": "studies"}
    # Pods of a Job may not restart always.
    assert pod["restartPolicy"] == "Never"


@pytest.mark.parametrize(
    ("image", "claim", "path", "problem"),
    [
        ("a b", "studies", "x", "--image: expected a name such as registry/tsnbench:1.0, found a b"),
        ("tsnbench", "Studies", "x", "--claim: expected a name such as studies, found Studies"),
        ("tsnbench", "studies", "../x", "--path: expected a folder on the volume, such as window-width"),
        ("tsnbench", "studies", "/x", "--path: expected a folder on the volume"),
        ("tsnbench", "studies", 'x"\ncommand: rm', "--path: expected a name"),
    ],
)
def test_names_that_kubernetes_does_not_have(
    folder: Path, image: str, claim: str, path: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        list(kubernetes_job(folder, 3, image, claim, path))


def test_the_command_prints_the_job(folder: Path) -> None:
    printed, _ = study(
        folder.parent, "k8s", "my study", "--image", "tsnbench:1", "--claim", "c", "--workers", "2"
    )
    assert YAML(typ="safe").load(printed)["spec"]["parallelism"] == 2
