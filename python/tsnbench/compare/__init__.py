"""Comparison of equal streams in several runs: simulations, kernels, captures, and the worst-case bound."""

from tsnbench.compare.comparison import Comparison, compare
from tsnbench.compare.runs import Side, captured, opened

__all__ = ["Comparison", "Side", "captured", "compare", "opened"]
