"""Starter scenarios for ``tsnbench init``; each checks, plans, runs and meets its requirements."""

from __future__ import annotations

from importlib.resources import files

ABOUT = {
    "small": "two end stations, a bridge, one stream",
    "zonal": "a zonal car with cameras, lidar and control",
    "ring": "a ring whose control stream survives a cut link",
    "line": "six drives in a line, with a schedule",
    "star": "a bridge under test with gates",
    "train": "a train with two planes",
    "audio": "a concert hall with SR class A",
}
"""Every template and what it describes; the smallest one comes first."""


def names() -> tuple[str, ...]:
    """All templates, the smallest one first."""
    return tuple(ABOUT)


def text(name: str) -> str:
    """A template's text."""
    return files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
