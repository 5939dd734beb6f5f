"""The wheel, built once for all tests of this room."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of ``make wheel``; cargo has built its parts before, with ``make run`` or ``make test``."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(TREE),
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    done = subprocess.run(
        [*command, "--wheel-dir", folder],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        # Without isolation pip looks for maturin in the folders of programs.
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("tsnbench-*.whl")
    return made
