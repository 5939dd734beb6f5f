"""Live traffic outside of runs: send on an interface, receive on one, see when frames passed which stage."""

from tsnbench.live.receiving import Receiving, receive
from tsnbench.live.sending import Sending, replay, send

__all__ = ["Receiving", "Sending", "receive", "replay", "send"]
