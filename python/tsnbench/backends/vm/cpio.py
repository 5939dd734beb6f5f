"""Archives that the kernel unpacks at boot: cpio, new ASCII format."""

from __future__ import annotations

_MAGIC = b"070701"


class Archive:
    """Files and folders, in the order in which they are added.

    Times and owners are zero: equal inputs give equal octets.
    """

    def __init__(self) -> None:
        self._octets = bytearray()
        self._number = 0
        self._folders: set[str] = set()

    def directory(self, name: str) -> None:
        """A folder, with its parent folders; once."""
        above = name.rpartition("/")[0]
        if above:
            self.directory(above)
        if name not in self._folders:
            self._folders.add(name)
            self._entry(name, 0o40755, b"")

    def file(self, name: str, content: bytes, mode: int) -> None:
        """A file, with its parent folders."""
        above = name.rpartition("/")[0]
        if above:
            self.directory(above)
        self._entry(name, 0o100000 | mode, content)

    def device(self, name: str, major: int, minor: int) -> None:
        """A character device."""
        self._entry(name, 0o20600, b"", (major, minor))

    def finish(self) -> bytes:
        """The whole archive."""
        self._entry("TRAILER!!!", 0, b"")
        self._octets += bytes(-len(self._octets) % 512)
        return bytes(self._octets)

    def _entry(self, name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)) -> None:
        self._number += 1
        path = name.encode() + b"\0"
        # Inode, mode, user, group, links, time, size, two devices (2 each), name, sum.
        fields = (self._number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(path), 0)
        self._octets += _MAGIC + b"".join(b"%08X" % field for field in fields) + path
        self._octets += bytes(-len(self._octets) % 4) + content
        self._octets += bytes(-len(self._octets) % 4)
