"""Synthetic run folders, written once per session; a test that changes one copies it first."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from support import synthetic


@pytest.fixture(scope="session")
def in_vehicle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """EnGINE's use case, with losses and one jitter that is above its limit."""
    return synthetic.write(synthetic.in_vehicle(), tmp_path_factory.mktemp("runs") / "ex-ucc")


@pytest.fixture(scope="session")
def star(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A star with gates."""
    return synthetic.write(synthetic.star(), tmp_path_factory.mktemp("runs") / "star")


@pytest.fixture(scope="session")
def hops(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A sweep over one to four hops."""
    folder = tmp_path_factory.mktemp("sweep")
    return [synthetic.write(synthetic.line(n), folder / f"hops={n}") for n in range(1, 5)]


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """A function that copies a folder, so that the test may damage the copy."""

    def copy(folder: Path) -> Path:
        return Path(shutil.copytree(folder, tmp_path / "copy"))

    return copy


RECORDED = Path(__file__).parents[1] / "captures"


@pytest.fixture
def ends(tmp_path: Path) -> tuple[Path, Path]:
    """RTC-Testbench's frames as they left A, and as they reached B without 100 of them."""
    made = []
    for name in ("rtc_out_A.pcap", "rtc_in_B.pcap"):
        path = tmp_path / name
        path.write_bytes(gzip.decompress((RECORDED / f"{name}.gz").read_bytes()))
        made.append(path)
    without(made[1], range(1000, 1100))
    return made[0], made[1]


def without(path: Path, places: Iterable[int]) -> None:
    """Remove the frames at these places from a capture."""
    content, taken = path.read_bytes(), set(places)
    kept, place, number = [content[:24]], 24, 0
    while place < len(content):
        end = place + 16 + int.from_bytes(content[place + 8 : place + 12], "little")
        if number not in taken:
            kept.append(content[place:end])
        place, number = end, number + 1
    path.write_bytes(b"".join(kept))


def made(folder: Path, text: str) -> Path:
    """The folder of a simulated run without a report."""
    from tsnbench.campaign.campaign import Options, run_one
    from tsnbench.scenario import read_scenario

    run_one(read_scenario(text)[0].plan(), folder / "run", Options(report=False))
    return folder / "run"
