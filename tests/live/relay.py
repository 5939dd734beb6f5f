"""A relay between two interfaces that loses, repeats and swaps TRDP telegrams by their sequence number.

``python relay.py ONE OTHER``: of each ten numbers of process data, number 3 is lost, number 5 is sent twice,
and number 7 is sent after number 8. All other frames pass as they are.
"""

from __future__ import annotations

import select
import socket
import sys

LOST, TWICE, HELD = 3, 5, 7
PORT = (17224).to_bytes(2, "big")
IPV4, UDP, OUTGOING = b"\x08\x00", 17, 4


def telegram(frame: bytearray) -> int | None:
    """The sequence number of process data, over IPv4 without options."""
    if frame[12:14] != IPV4 or frame[23] != UDP or frame[36:38] != PORT:
        return None
    return int.from_bytes(frame[42:46], "big")


def relay(one: str, other: str) -> None:
    """Pass all frames on, for ever."""
    sides = []
    for name in (one, other):
        side = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        side.bind((name, 0))
        sides.append(side)
    held: dict[socket.socket, bytes] = {}
    print("ready", flush=True)
    while True:
        for side in select.select(sides, [], [])[0]:
            octets, address = side.recvfrom(65_536)
            if address[2] == OUTGOING:
                continue
            out = sides[1 - sides.index(side)]
            frame = bytearray(octets)
            if frame[12:14] == IPV4 and frame[23] == UDP:
                # The kernel leaves the checksum to the interface; zero means that there is none.
                frame[40:42] = b"\0\0"
            number = telegram(frame)
            place = None if number is None else number % 10
            if place == LOST:
                continue
            if place == HELD:
                held[side] = bytes(frame)
                continue
            out.send(frame)
            if place == TWICE:
                out.send(frame)
            if place is not None and side in held:
                out.send(held.pop(side))


if __name__ == "__main__":
    relay(sys.argv[1], sys.argv[2])
