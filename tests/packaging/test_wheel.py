"""The wheel is complete, and works without Cargo and without the source tree."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path


def test_the_wheel_carries_the_native_module_and_the_live_talker(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        content = {info.filename: info for info in archive.infolist()}
    assert "tsnbench/_native.abi3.so" in content
    talker = content["tsnbench/tsnbench-traffic"]
    assert talker.external_attr >> 16 & 0o111 == 0o111
    assert "tsnbench/catalogue/sr_classes.yaml" in content
    assert {f"tsnbench/replay/player/player.{kind}" for kind in ("html", "css", "js")} <= set(content)
    assert {f"tsnbench/ui/page/{name}" for name in ("index.html", "app.js", "style.css")} <= set(content)
    assert [name for name in content if name.startswith("tsnbench/backends/vm/module/")]
    assert not [name for name in content if "/target/" in name or name.endswith(".rs")]


def test_the_wheel_works_in_an_environment_without_cargo(environment: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "own.yaml"
    scenario.write_text(
        "name: own\nduration: 10 ms\n"
        "network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a-b]}}\n"
        "streams: {s: {from: a, to: b, period: 1 ms, frame: 200 B, requires: {delay: 1 ms}}}\n",
        encoding="utf-8",
    )
    code = (
        "import pathlib, subprocess, sys, tsnbench; from tsnbench.backends.kernel.traffic import program;"
        "print(pathlib.Path(tsnbench.__file__).parent); print(program());"
        "subprocess.run([program(), '--help'], check=False, stdout=sys.stderr);"
        "sys.argv[1:] = ['run', 'own.yaml', '--into', 'run', '--json'];"
        "from tsnbench.cli.main import main; main()"
    )
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "TSNBENCH_TRAFFIC")}
    done = subprocess.run(
        [str(environment / "bin/python"), "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=kept | {"PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    package, talker = done.stdout.splitlines()[:2]
    assert Path(package).is_relative_to(environment), "the tree's own package was used"
    assert Path(talker) == Path(package) / "tsnbench-traffic"
    assert (tmp_path / "run" / "report.html").is_file()
