"""Sessions with devices that stay open between deployments: each begin costs a handshake of SSH."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from tsnbench.deploy.at_once import at_once
from tsnbench.deploy.device import Device


class Sessions:
    """Open sessions that no deployment uses.

    A device may end its session meanwhile, so who takes them is prepared to open others.
    """

    def __init__(self) -> None:
        self._free: Sequence[Device] = ()
        self._ended = False
        self._lock = Lock()

    def take(self) -> Sequence[Device]:
        """Those that are open; they belong to the caller then."""
        with self._lock:
            found, self._free = self._free, ()
        return found

    def keep(self, devices: Sequence[Device]) -> None:
        """Takes them back, or closes them: the end of a session frees a device that it may still lock."""
        with self._lock:
            fits = not self._ended and not self._free and not any(device.locked for device in devices)
            if fits:
                self._free = devices
        if not fits:
            at_once(Device.close, devices)

    def close(self) -> None:
        """Closes them, and from now on each one that comes back."""
        with self._lock:
            self._ended = True
        at_once(Device.close, self.take())
