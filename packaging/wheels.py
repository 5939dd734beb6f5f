"""Wheels for Linux on x86-64 and on Arm, from the tree as it is committed: ``make release``.

Both are built on any machine: zig is the linker, and has the C library of each of them. Modules need glibc
2.17 (manylinux2014) and any Python from 3.11 (abi3). The live talker is linked statically, with musl, so it
also runs in a guest that has no libraries. The same commit gives the same octets, in whatever folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MACHINES = ("x86_64", "aarch64")


def output(*command: str) -> str:
    """What a program says in the tree."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def exported(folder: Path) -> None:
    """Writes the committed tree into an empty folder; what is built or changed beside it does not come in."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    if archive.returncode:
        raise SystemExit("git archive failed: wheels are built from a commit")


def targets(machine: str) -> tuple[str, str]:
    """Rust's targets of the module and of the talker, installed where rustup can."""
    found = f"{machine}-unknown-linux-gnu", f"{machine}-unknown-linux-musl"
    if shutil.which("rustup"):
        subprocess.run(["rustup", "target", "add", *found], check=True, cwd=ROOT)
    return found


def build(machine: str, work: Path, into: Path) -> None:
    """Builds one wheel from ``source`` in a folder, and keeps there what was compiled."""
    source = work / "source"
    module, talker = targets(machine)
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    # Messages of panics name files of the tree and of crates, wherever these are on this machine.
    places = {source: "tsnbench", cargo / "registry/src": "crates"}
    flags = " ".join(f"--remap-path-prefix={place}={name}" for place, name in places.items())
    own = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(work / "target"),
        "RUSTFLAGS": flags,
        "SOURCE_DATE_EPOCH": output("git", "log", "-1", "--format=%ct"),
        "TSNBENCH_TALKER_TARGET": talker,
        "MATURIN_PEP517_ARGS": f"--zig --target {module} --compatibility manylinux2014",
    }
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(source),
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    subprocess.run([*command, "--wheel-dir", str(into)], check=True, cwd=source, env=os.environ | own)


def main() -> None:
    """Writes the wheels, and names them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "machines", nargs="*", metavar="MACHINE", help=f"one of {', '.join(MACHINES)}; all unless given"
    )
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="the folder for the wheels (dist)")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "target/wheels", help="the folder to build in (target/wheels)"
    )
    options = parser.parse_args()
    if unknown := set(options.machines) - set(MACHINES):
        parser.error(f"expected {' or '.join(MACHINES)}, got {' '.join(sorted(unknown))}")
    work = options.work.resolve()
    exported(work / "source")
    options.into.mkdir(parents=True, exist_ok=True)
    for machine in options.machines or MACHINES:
        build(machine, work, options.into.resolve())
    for made in sorted(options.into.glob("tsnbench-*manylinux*.whl")):
        print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
