"""The version of tsnbench."""

__version__ = "0.1.0"
