"""A Plan on the guest's own device, with its rates, hardware clocks, gates and launch times."""

from tsnbench.backends.kernel.tsnport.device import TSNPORT

__all__ = ["TSNPORT"]
