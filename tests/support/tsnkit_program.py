"""tsnkit's own simulator, which runs as its program does.

The package requires commercial solvers, which its simulator does not use. So the package is downloaded with
the few packages that the simulator imports, by the hashes in ``tsnkit.lock``, into a folder of the user's
cache.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

LOCK = Path(__file__).parents[1] / "exports" / "tsnkit.lock"


@dataclass(frozen=True)
class Frames:
    """The simulator's results for one stream, in ns."""

    sent: list[int]
    """The instants at which each frame has left the talker's link and the next node's 2 us have passed."""
    received: list[int]
    """The instants at which each frame has left the listener's link."""


@dataclass(frozen=True)
class Tsnkit:
    """An unpacked tsnkit."""

    folder: Path

    def simulate(self, files: Path, hyperperiods: int = 4) -> list[Frames]:
        """Results by stream, from an export's folder; errors of the program and overlapping windows raise."""
        words = (str(files / "task.csv"), str(files / "schedule-"), "--iter", str(hyperperiods))
        said = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
            patch.syspath_prepend(self.folder)
            patch.setattr(sys, "argv", ["tas", *words, "--verbose", "--no-draw"])
            runpy.run_module("tsnkit.simulation.tas", run_name="__main__")
        out = said.getvalue()
        assert "overlap" not in out
        assert "[Potential Errors]: []" in out, out[-2000:]
        sent, received = (
            [ast.literal_eval(one) for one in re.findall(rf"^{word} time: (\[.*\])$", out, re.MULTILINE)]
            for word in ("Send", "Receive")
        )
        return [Frames(*both) for both in zip(sent, received, strict=True)]


def tsnkit_program() -> Tsnkit | str:
    """The program, after a download if necessary; or the reason why it is not available."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tsnbench"
    folder = base / f"tsnkit-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    if not folder.is_dir():
        try:
            import pandas  # noqa: F401
        except ImportError:
            return "tsnkit's simulator needs pandas, which comes with the extra `exact`"
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=base) as scratch:
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"),
                    *("--no-deps", "--require-hashes", "-r", str(LOCK), "-d", scratch),
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                return f"tsnkit cannot be downloaded: {done.stderr.strip().splitlines()[-1:]}"
            ready = Path(scratch) / "unpacked"
            for path in Path(scratch).glob("*.whl"):
                with zipfile.ZipFile(path) as wheel:
                    wheel.extractall(ready)
            # Python before 3.11.4 has no extraction filters; the hash of the archive is fixed.
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            for path in Path(scratch).glob("*.tar.gz"):
                with tarfile.open(path) as source:
                    source.extractall(Path(scratch) / "source", **safe)
            for package in (Path(scratch) / "source").glob("*/tsnkit"):
                shutil.copytree(package, ready / "tsnkit")
            ready.rename(folder)
    return Tsnkit(folder)
