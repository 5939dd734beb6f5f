"""The fuzzing corpus of the scenario loader: replayed whole, cut, and with changed characters."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tsnbench.errors import InputError
from tsnbench.scenario import read_scenario

SEEDS = sorted((Path(__file__).resolve().parents[2] / "fuzz/corpus/scenario").glob("*.yaml"))


def read_and_plan(text: str) -> int:
    """The number of runs of a text; -1 for an InputError. Any other exception is a defect."""
    try:
        scenarios = read_scenario(text)
        scenarios[0].plan()
    except InputError:
        return -1
    return len(scenarios)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.stem)
def test_seeds_cut_and_changed(seed: Path) -> None:
    text = seed.read_text(encoding="utf-8")
    draws = random.Random(seed.name)
    for cut in range(0, len(text), max(1, len(text) // 40)):
        read_and_plan(text[:cut])
    for _ in range(60):
        place = draws.randrange(len(text))
        read_and_plan(text[:place] + draws.choice("0-:,{}[]#&*!|>'\"%@`\t\n\x00é") + text[place + 1 :])


def test_complete_texts_are_read() -> None:
    runs = {seed.stem: read_and_plan(seed.read_text(encoding="utf-8")) for seed in SEEDS}
    assert runs == {
        "alias-bomb": -1,
        "alias-of-itself": -1,
        "alternatives": 3,
        "everything": 3,
        "first-link": 1,
        "odd-scalars": -1,
        "sweep": 7,
        "tags-and-documents": -1,
    }
