"""Drawn networks as scenarios: draw.io, GraphML, and topologies of containerlab."""

from __future__ import annotations

from tsnbench.exports.lists.drawings import containerlab, drawio, graphml
from tsnbench.exports.lists.drawings.writing import scenario

__all__ = ["containerlab", "drawio", "graphml", "scenario"]
