"""The wheel, and an environment with it: made once for all tests of this room."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.new_environment import install, made_once

TREE = Path(__file__).parents[2]


def build(folder: Path) -> None:
    """Writes the wheel of ``make wheel``; ``make run`` or ``make test`` has built its parts before."""
    folder.mkdir()
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    # Without isolation pip looks for maturin in the folders of programs.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", str(TREE), *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"PATH": path},
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    (made,) = made_once(tmp_path_factory, "dist", build).glob("tsnbench-*.whl")
    return made


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel; it uses the libraries of the current environment."""
    return made_once(tmp_path_factory, "environment", lambda folder: install(wheel, folder))
