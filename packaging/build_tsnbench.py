"""How pip builds tsnbench: maturin for the native module, cargo for the live talker, both into one wheel.

The live talker (``tsnbench-traffic``) is a program, not a module, so maturin does not build it. It is linked
statically: the same file runs on this machine and in a guest that has no libraries.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from maturin import build_editable as _editable
from maturin import build_wheel as _wheel
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "tsnbench-traffic"

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def talker() -> Path:
    """Build the live talker and put it into the package, where the wheel takes it from.

    Raises:
        SystemExit: there is no cargo, or it fails.
    """
    if shutil.which("cargo") is None:
        raise SystemExit("tsnbench needs a stable Rust toolchain (cargo) to be built; see https://rustup.rs")
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    # Wheels for other machines are linked by zig (packaging/wheels.py).
    other = os.environ.get("TSNBENCH_TALKER_TARGET", "")
    build = ["cargo-zigbuild", "rustc", "--target", other] if other else ["cargo", "rustc"]
    build += ["--release", "--locked", "--quiet", "-p", "tsn-traffic", "--bin", PROGRAM]
    build += ["--target-dir", str(target), "--", "-C", "target-feature=+crt-static", "-C", "strip=symbols"]
    subprocess.run(build, cwd=ROOT, check=True)
    place = ROOT / "python" / "tsnbench" / PROGRAM
    part = place.with_name(PROGRAM + ".part")
    shutil.copyfile(target / other / "release" / PROGRAM, part)
    part.chmod(0o755)
    part.replace(place)
    return place


def build_wheel(wheel_directory: str, *more: Any, **named: Any) -> str:
    """A wheel with the native module and the live talker."""
    talker()
    return str(_wheel(wheel_directory, *more, **named))


def build_editable(wheel_directory: str, *more: Any, **named: Any) -> str:
    """The package in place; its native module and live talker beside its files."""
    talker()
    return str(_editable(wheel_directory, *more, **named))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """There is none: maturin would leave the live talker's sources out of it."""
    raise SystemExit("tsnbench has no source distribution; build wheels from its repository")


if __name__ == "__main__":
    print(talker())
