"""Scenarios to begin with, for ``tsnbench init``; each checks, plans, runs and meets its requirements."""

from __future__ import annotations

from importlib.resources import files


def names() -> tuple[str, ...]:
    """All templates, the most usual one first."""
    return ("zonal", "ring", "line", "star", "train")


def text(name: str) -> str:
    """A template's text."""
    return files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
