"""A capture file that may grow: which of its octets are whole records, and files with a part of them.

pcap: the format of libpcap, draft-ietf-opsawg-pcap. pcapng: draft-ietf-opsawg-pcapng, 3.1, 4.1, 4.2.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from tsnbench import foreign
from tsnbench.errors import ContentError

_PCAP = {struct.pack(f"{order}I", magic): order for order in "<>" for magic in (0xA1B2C3D4, 0xA1B23C4D)}
"""The first octets of a pcap file, and how ``struct`` writes its octet order."""
_SECTION, _INTERFACE, _BYTE_ORDER = 0x0A0D0D0A, 1, 0x1A2B3C4D
"""Types of blocks, and the number of a section that shows its octet order; the first is the same in both."""
_HEAD, _RECORD = 24, 16
_LONGEST = 1 << 22
"""Longest record in octets; a longer one shows that the file is damaged."""
_COPIED = 1 << 20
_CHUNK = 2 * _LONGEST
_BEGIN = 1 << 10


@dataclass(frozen=True)
class Piece:
    """Octets of a capture from one record to the end of another one."""

    head: bytes
    """The octets before these records in a file of their own: its header, or section and interfaces."""
    begin: int
    end: int


class GrowingCapture:
    """One capture file. Each call of :meth:`take` reads on where the last one ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.generation = 0
        """How often the file was replaced or made shorter, and was begun anew."""
        self._identity: tuple[int, int] | None = None
        self._begun = b""
        """The first octets; a file that has others was begun anew, also if it has the same inode."""
        self._order = ""
        self._is_ng = False
        self._head = b""
        self._at = 0

    def take(self) -> Piece:
        """The records that were completed since the last call; none if there are no new ones.

        Raises:
            OSError: the file is not there.
            InputError: it is no capture, or is damaged.
        """
        foreign.regular(self.path)
        with self.path.open("rb") as file:
            found = os.fstat(file.fileno())
            identity, begun = (found.st_dev, found.st_ino), file.read(_BEGIN)
            is_same = identity == self._identity and begun.startswith(self._begun)
            if not is_same or found.st_size < self._at:
                self.generation += self._identity is not None
                self._identity, self._at, self._head = identity, 0, b""
            self._begun = begun
            if not self._head:
                file.seek(0)
                self._at = self._begin(file.read(_LONGEST))
            head, begin = self._head, self._at
            while head:
                file.seek(self._at)
                octets = file.read(_CHUNK)
                whole = self._whole(octets)
                self._at += whole
                if not whole or len(octets) < _CHUNK:
                    break
        if not head:
            raise ContentError(f"{self.path}: expected a capture, found no complete header")
        return Piece(head, begin, self._at)

    def write(self, head: bytes, begin: int, end: int, into: Path) -> None:
        """Writes a capture with a part of this one's records.

        Raises:
            OSError: the file is gone, or the disk is full.
        """
        with self.path.open("rb") as source, into.open("wb") as target:
            target.write(head)
            source.seek(begin)
            left = end - begin
            while left > 0 and (octets := source.read(min(left, _COPIED))):
                target.write(octets)
                left -= len(octets)

    def _begin(self, octets: bytes) -> int:
        """Reads the header; returns its octets, or 0 if it is not there yet."""
        if len(octets) < _HEAD:
            return 0
        if struct.unpack_from("<I", octets)[0] == _SECTION:
            self._is_ng = True
            self._order = "<" if octets[8:12] == _BYTE_ORDER.to_bytes(4, "little") else ">"
            length = int(struct.unpack_from(f"{self._order}I", octets, 4)[0])
            if len(octets) < length:
                return 0
        elif octets[:4] in _PCAP:
            self._is_ng, self._order, length = False, _PCAP[octets[:4]], _HEAD
        else:
            raise ContentError(f"{self.path}: expected a capture (pcap or pcapng), found another file")
        self._head = octets[:length]
        return length

    def _whole(self, octets: bytes) -> int:
        """Number of the octets that are whole records."""
        if self._is_ng:
            return self._whole_blocks(octets)
        length_of, size = struct.Struct(f"{self._order}8xI4x").unpack_from, len(octets)
        at = 0
        while at + _RECORD <= size:
            (length,) = length_of(octets, at)
            if length > _LONGEST:
                raise self._damaged(at, length)
            if at + _RECORD + length > size:
                break
            at += _RECORD + length
        return at

    def _whole_blocks(self, octets: bytes) -> int:
        size, at = len(octets), 0
        fields = struct.Struct(f"{self._order}II").unpack_from
        while at + 12 <= size:
            kind, length = fields(octets, at)
            if kind == _SECTION:
                self._order = "<" if octets[at + 8 : at + 12] == _BYTE_ORDER.to_bytes(4, "little") else ">"
                fields = struct.Struct(f"{self._order}II").unpack_from
                kind, length = fields(octets, at)
            if length < 12 or length % 4 or length > _LONGEST:
                raise self._damaged(at, length)
            if at + length > size:
                break
            if kind == _SECTION:
                self._head = octets[at : at + length]
            elif kind == _INTERFACE:
                self._head += octets[at : at + length]
            at += length
        return at

    def _damaged(self, at: int, length: int) -> ContentError:
        return ContentError(f"{self.path}: damaged at octet {self._at + at}: a record of {length} octets")
