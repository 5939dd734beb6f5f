"""What `make release` wrote into the folder TSNBENCH_WHEELS: wheels that strangers install, and their parts.

Not in `make test`: two wheels with the release profile take minutes. `make release`, also at night, runs it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
sys.path.insert(0, str(TREE / "packaging"))
import parts  # noqa: E402

TOOLS = TREE / "target/release-tools/bin/python"
FOLDER = Path(os.environ.get("TSNBENCH_WHEELS", "dist"))
MACHINES = {"x86_64": 62, "aarch64": 183}
"""Machines and their numbers in the head of an ELF file."""


def wheel(machine: str) -> Path:
    (found,) = FOLDER.glob(f"tsnbench-*-cp311-abi3-manylinux*_{machine}.whl")
    return found


@pytest.mark.parametrize("machine", MACHINES)
def test_module_and_talker_are_of_the_wheels_machine(machine: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel(machine)) as archive:
        for name in ("tsnbench/_native.abi3.so", "tsnbench/tsnbench-traffic"):
            octets = archive.read(name)
            assert octets[:4] == b"\x7fELF"
            assert int.from_bytes(octets[18:20], "little") == MACHINES[machine]
            assert str(Path.home()).encode() not in octets
        # So the same commit gives the same octets in any folder.
        assert [name for name in archive.namelist() if str(TREE).encode() in archive.read(name)] == []
    # A program without an interpreter needs no libraries.
    (tmp_path / "talker").write_bytes(octets)
    told = subprocess.run(["readelf", "-l", tmp_path / "talker"], capture_output=True, text=True, check=True)
    assert "Requesting program interpreter" not in told.stdout


def test_a_stranger_installs_the_wheel_and_has_a_verdict_in_ten_seconds(tmp_path: Path) -> None:
    made = tmp_path / "new"
    subprocess.run([sys.executable, "-m", "venv", made], check=True)
    subprocess.run(
        [made / "bin/pip", "install", "--quiet", wheel(os.uname().machine)], check=True, timeout=600
    )
    plain = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TSNBENCH", "CARGO"))
    }
    plain["PATH"] = "/usr/bin:/bin"
    began = time.monotonic()
    for words in (["init", "zonal"], ["run", "zonal.yaml"]):
        done = subprocess.run(
            [made / "bin/tsnbench", *words], cwd=tmp_path, env=plain, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    print(f"init and run: {time.monotonic() - began:.1f} s")
    assert (tmp_path / "runs/zonal/report.html").is_file()


@pytest.fixture(scope="session")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Debian's Python for Arm, unpacked and not installed, and the packages of tsnbench."""
    if gone := [name for name in ("qemu-aarch64-static", "debootstrap") if not shutil.which(name)]:
        pytest.skip(f"needs {' and '.join(gone)}: apt-get install qemu-user-static debootstrap")
    if os.geteuid():
        pytest.skip("debootstrap needs root")
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)"], capture_output=True, text=True
    )
    site, release = told.stdout.split("\n")[0].split()
    root = tmp_path_factory.mktemp("arm") / "root"
    options = ["--foreign", "--arch=arm64", "--variant=minbase", "--include=python3"]
    subprocess.run(["debootstrap", *options, release, root, site], check=True, capture_output=True)
    for package in sorted((root / "var/cache/apt/archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    version = next(path.name for path in (root / "usr/lib").glob("python3.*"))
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in (17, 24, 26, 27, 28)]
    platforms += ["--platform=manylinux2014_aarch64", f"--python-version={version.removeprefix('python')}"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--only-binary=:all:",
        "--target",
        root / "packages",
    ]
    subprocess.run([*command, *platforms, wheel("aarch64")], check=True)
    return root


def test_the_wheel_for_arm_plans_and_simulates_the_same(arm: Path, tmp_path: Path) -> None:
    """The module for Arm in emulation: each frame has the same stamps as in this Python's run."""
    python = next((arm / "usr/bin").glob("python3.*"))
    code = "import sys; sys.argv[0] = 'tsnbench'; from tsnbench.__main__ import main; main()"
    own = {"PYTHONPATH": str(arm / "packages"), "PATH": "/usr/bin:/bin", "PYTHONHOME": str(arm / "usr")}
    emulated = ["qemu-aarch64-static", "-L", arm, python, "-c", code]
    for words in (["init", "small"], ["run", "small.yaml", "--into", "arm"]):
        done = subprocess.run([*emulated, *words], cwd=tmp_path, env=own, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    here = [sys.executable, "-m", "tsnbench", "run", "small.yaml", "--into", "here"]
    subprocess.run(here, cwd=tmp_path, check=True, capture_output=True)
    frames = [(tmp_path / name / "frames.parquet").read_bytes() for name in ("arm", "here")]
    assert frames[0] == frames[1]
    talker = next((arm / "packages/tsnbench").glob("tsnbench-traffic"))
    told = subprocess.run(["qemu-aarch64-static", talker, "--help"], capture_output=True, text=True)
    assert "talk PLAN --node N" in told.stderr


def test_the_bill_of_materials_names_each_crate_and_package() -> None:
    """Its schema is CycloneDX's own; the parts are compared with the lock files by test_parts.py."""
    told = json.loads((FOLDER / "tsnbench.cdx.json").read_text(encoding="utf-8"))
    assert told == parts.bill()
    code = "import sys; from cyclonedx.schema import SchemaVersion as Of;"
    code += "from cyclonedx.validation.json import JsonStrictValidator;"
    code += "told = JsonStrictValidator(Of.V1_6).validate_str(sys.stdin.read());"
    code += "sys.exit(str(told) if told else 0)"
    done = subprocess.run([TOOLS, "-c", code], input=json.dumps(told), text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
