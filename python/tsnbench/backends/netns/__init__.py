"""The whole network on this machine's own kernel, in namespaces that end with the run."""

from tsnbench.backends.netns.backend import Namespaces, unavailable

__all__ = ["Namespaces", "unavailable"]
