"""What a check of a Plan finds: something to look at before trusting a result, or what can never work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Doubt:
    """One finding at a port or stream.

    ``path`` is the part of the scenario: ``streams.cam.requires.delay``; of a port ``gates``, to which its
    selector is added.
    """

    kind: str
    where: str
    text: str
    path: str = ""
    port: str = ""
    """The port, where ``path`` is what shapes it."""
    hint: str = ""
