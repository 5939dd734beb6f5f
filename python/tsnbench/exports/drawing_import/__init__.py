"""Drawn networks as scenarios: draw.io, GraphML, and topologies of containerlab."""

from __future__ import annotations

from tsnbench.exports.drawing_import import containerlab, drawio, graphml
from tsnbench.exports.drawing_import.writing import scenario

__all__ = ["containerlab", "drawio", "graphml", "scenario"]
