"""Exported scenarios in INET itself: ``TSNBENCH_INET`` names the folder of an INET that is already there.

This project neither fetches nor builds INET. The folder has INET's ``setenv``, and OMNeT++ is in the path
already. A program in place of INET tests the way to it, and always runs.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.compare.test_inet import HERE, STREAMS, recorded, vectors

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.compare.inet import beside
from tsnbench.exports import export
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

INET = os.environ.get("TSNBENCH_INET")
COMMAND = "inet -n . -u Cmdenv"


def in_inet(name: str, inet: Path, into: Path) -> tuple[Path, Path]:
    """Run a scenario in the simulator, and its export in INET: the run folder, and INET's vectors."""
    made = plan(load_variants(HERE / f"{name}.yaml")[0])
    run_one(made, into / "run", Options(report=False))
    for place, text in export(made.document, ["inet"]).files.items():
        (into / place).parent.mkdir(parents=True, exist_ok=True)
        (into / place).write_text(text, encoding="utf-8")
    # The word of the export's own first line is the command.
    assert (into / "inet/omnetpp.ini").read_text(encoding="utf-8").partition("\n")[0].endswith(COMMAND)
    done = subprocess.run(
        ["bash", "-c", f'cd "$0" && . ./setenv > /dev/null && cd "$1" && {COMMAND}', inet, into / "inet"],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (found,) = (into / "inet/results").glob("*.vec")
    return into / "run", found


@pytest.mark.skipif(INET is None, reason="needs INET 4.5.4 (TSNBENCH_INET)")
@pytest.mark.parametrize("name", STREAMS)
def test_an_exported_scenario_agrees_in_inet(name: str, tmp_path: Path) -> None:
    run, file = in_inet(name, Path(INET or ""), tmp_path)
    found = beside(run, file)
    assert len(found) == STREAMS[name]
    assert [one.stream for one in found if not one.agrees] == []


@pytest.fixture
def instead(tmp_path: Path) -> Path:
    """A folder with a ``setenv``, and a program that writes what INET recorded of one scenario."""
    folder = tmp_path / "instead"
    (folder / "bin").mkdir(parents=True)
    (folder / "recorded.vec").write_text(vectors(recorded("base-time")), encoding="utf-8")
    (folder / "setenv").write_text(f"export PATH={folder}/bin:$PATH\n", encoding="utf-8")
    program = folder / "bin/inet"
    program.write_text(
        "#!/bin/sh -e\n"
        '[ "$*" = "-n . -u Cmdenv" ]\n'
        "grep -q meanBitLifeTimePerPacket:vector omnetpp.ini\n"
        "grep -q network network.ned\n"
        f"mkdir results\ncp {folder}/recorded.vec results/General-#0.vec\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return folder


def test_the_way_to_inet(instead: Path, tmp_path: Path) -> None:
    run, file = in_inet("base-time", instead, tmp_path)
    found = beside(run, file)
    assert len(found) == STREAMS["base-time"]
    assert [one.stream for one in found if not one.agrees] == []


def test_a_failure_of_inet_is_one_of_the_test(instead: Path, tmp_path: Path) -> None:
    (instead / "bin/inet").write_text("#!/bin/sh\necho Module not found >&2; exit 1\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="Module not found"):
        in_inet("base-time", instead, tmp_path)
