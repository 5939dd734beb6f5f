"""The replay in each mechanism's page: one file of its scenario's run, made when the pages are built."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from tsnbench import Simulation
from tsnbench.planning import plan
from tsnbench.replay.page import page as html
from tsnbench.replay.window import around, window
from tsnbench.runs import Run
from tsnbench.scenario import load
from tsnbench.ui.replays import Replay

LARGEST = 300_000
"""Octets of a file."""
AROUND = 15
"""How much is shown before and after the slowest frame, as a multiple of what its own replay shows."""
ENDING = ".replay.html"
_SCENARIO = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
_TIMES = "time_s\n0\n0.001\n0.002\n"
"""The recording that one of the scenarios names."""


def run_of(page: Path, folder: Path) -> Run:
    """A run of the scenario of a mechanism's page, in a folder."""
    file = folder / "example.yaml"
    file.write_text("".join(_SCENARIO.findall(page.read_text(encoding="utf-8"))), encoding="utf-8")
    (folder / "times.csv").write_text(_TIMES, encoding="utf-8")
    return plan(load(file)).run(on=Simulation(), into=folder / "run")


def write(page: Path, target: Path) -> None:
    """Writes the replay of a mechanism's page as one HTML file."""
    with TemporaryDirectory() as folder:
        replay = Replay.of(run_of(page, Path(folder)))
        begin, end = around(replay.journeys[0])
        more = AROUND * (end - begin)
        content = window(replay.history, replay.table, max(0, begin - more), end + more, replay.journeys)
        target.write_text(html(content), encoding="utf-8")


def frame(page: str) -> str:
    """The player within its page, in an origin of its own; without scripts, the page has its picture."""
    return (
        f'<iframe class="player" src="{page}{ENDING}" title="Replay of the scenario of this page" '
        'loading="lazy" sandbox="allow-scripts allow-downloads" '
        'style="width: 100%; height: 40rem; border: 1px solid #8888; border-radius: 6px"></iframe>'
    )
