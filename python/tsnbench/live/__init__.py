"""Live traffic outside of runs: a talker and a listener on interfaces, with the times of a frame's stages."""

from tsnbench.live.receiving import Receiving, receive
from tsnbench.live.sending import Sending, replay, send

__all__ = ["Receiving", "Sending", "receive", "replay", "send"]
