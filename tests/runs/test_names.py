"""Folder names of a sweep's runs: readable, unique, and short enough for any file system."""

from __future__ import annotations

import pytest

from tsnbench.campaign.names import LONGEST, folder_names


def test_names_that_are_unique_and_short_are_the_values() -> None:
    variants = [{"hops": "3", "rate": "10 Mbit/s"}, {"hops": "4", "rate": "10 Mbit/s"}]
    assert folder_names(variants) == ["hops=3,rate=10_Mbit_s", "hops=4,rate=10_Mbit_s"]


def test_values_that_give_one_name_have_folders_of_their_own() -> None:
    variants = [{"x": "a b"}, {"x": "a/b"}, {"x": "a_b"}, {"x": "c"}]
    names = folder_names(variants)
    assert len(set(names)) == 4
    assert names[3] == "x=c"
    assert all(name.startswith("x=a_b-") for name in names[:3])
    assert folder_names(variants[::-1]) == names[::-1], "whatever their order"


@pytest.mark.parametrize("letter", ["a", "ä", "\U0001d7d9"])
def test_long_values_are_cut_and_stay_apart(letter: str) -> None:
    names = folder_names([{"x": letter * 300 + "1"}, {"x": letter * 300 + "2"}])
    assert len(set(names)) == 2
    for name in names:
        assert len(name.encode()) <= LONGEST
        assert name.startswith(f"x={letter * 20}")
