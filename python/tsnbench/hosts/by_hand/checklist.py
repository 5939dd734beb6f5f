"""The text of a checklist, and the check of its confirmation."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from tsnbench.errors import InputError

CONFIRMED = re.compile(r"^[ \t]*confirmed:[ \t]*([0-9a-f]{64})[ \t]*$", re.MULTILINE)


class UnconfirmedError(InputError):
    """A device whose checklist is not confirmed."""


@dataclass(frozen=True)
class Checklist:
    """The configuration of one device, as text."""

    device: str
    text: str
    """All lines, without the hash."""
    left_out: tuple[str, ...] = ()
    """Parts of the Plan's configuration of the device that cannot be configured before a run."""

    @property
    def hash(self) -> str:
        """SHA-256 of the text, as lower-case hex."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    @property
    def file(self) -> str:
        """The file's content: the text, and how to confirm it."""
        return (
            f"{self.text}\n"
            "When all of this is configured and saved on the device, write the line below into this file,\n"
            "without the # before it. A run is refused until then.\n"
            f"# confirmed: {self.hash}\n"
        )

    def confirmed(self, content: str | None) -> bool:
        """Whether a file confirms this very checklist. ``content``: None if there is no file."""
        return content is not None and self.hash in CONFIRMED.findall(content)

    def require(self, content: str | None, path: str) -> None:
        """Checks the confirmation.

        Args:
            content: the content of the file; None if there is none.
            path: the file, for the message.

        Raises:
            UnconfirmedError: the file does not confirm this checklist.
        """
        if self.confirmed(content):
            return
        if content is None:
            found = "no such file"
        elif CONFIRMED.search(content):
            found = "the confirmation of another checklist: what the Plan needs of the device has changed"
        else:
            found = "none"
        raise UnconfirmedError(
            f"{path}: expected the line confirmed: {self.hash[:12]}… for {self.device}, "
            f"which is configured by hand, found {found}\n"
            f"  hint: configure {self.device} as the checklist says, then write confirmed: {self.hash}"
        )
