"""Every command of the guides runs, in order, and ends with the exit code that the guide says."""

from __future__ import annotations

import glob
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [
    ROOT / f"docs/guides/{name}.md"
    for name in ("getting-started", "faults", "clocks", "linux-hosts", "replay", "report", "compare")
]
BLOCK = re.compile(r"^```(sh|yaml|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRITTEN_AS = re.compile(r"here as `([a-z-]+\.yaml)`")


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_can_be_followed(guide: Path, tmp_path: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    files = WRITTEN_AS.findall(text)
    for language, block in BLOCK.findall(text):
        if language == "yaml":
            (tmp_path / files.pop(0)).write_text(block, encoding="utf-8")
        elif language == "python":
            _call([sys.executable, "-c", block], tmp_path, 0)
        else:
            for line in block.splitlines():
                _follow(line, tmp_path)


def _follow(line: str, folder: Path) -> None:
    """One line of a shell; a comment may say that it ends with exit code 1."""
    program, *words = shlex.split(line, comments=True)
    assert program == "tsnbench", line
    expanded = [
        found
        for word in words
        for found in (sorted(glob.glob(word, root_dir=folder)) if "*" in word else [word])
    ]
    here = [sys.executable, "-c", "from tsnbench.cli.main import main; main()", *expanded]
    _call(here, folder, 1 if "exit code 1" in line else 0)


def _call(command: list[str], folder: Path, expected: int) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == expected, (command, done.stdout[-2000:], done.stderr[-2000:])
