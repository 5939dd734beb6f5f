"""A new virtual environment with a wheel, without Cargo and without the source tree."""

from __future__ import annotations

import site
import subprocess
import sys
from pathlib import Path


def installed(wheel: Path, place: Path) -> Path:
    """The environment's folder; the wheel is its own, and libraries are those of the current environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(packages), str(wheel)], check=True)
    return place
