"""Where a command listens: ``--listen ADDRESS:PORT``."""

from __future__ import annotations

import ipaddress

from tsnbench.errors import InputError


def address_of(text: str, example: str) -> tuple[str, int]:
    """Host and port of ``127.0.0.1:8443``, ``[::1]:8443`` or ``:0``; without a host the loopback interface.

    Args:
        text: the value of ``--listen``.
        example: an address for the message.

    Raises:
        InputError: it is no such address.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    try:
        ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise InputError(f"--listen: expected ADDRESS:PORT, found {text}\n  hint: {example}") from None
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise InputError(f"--listen: expected ADDRESS:PORT, found {text}\n  hint: {example}")
    return ("127.0.0.1" if host == "localhost" else host), int(port)
