"""Packet filters of INET, tried on the packets of a stream."""

from __future__ import annotations

from tsnbench.exports.inet_import.language.expressions import Filter, Node, Value
from tsnbench.exports.inet_import.language.patterns import pattern
from tsnbench.exports.inet_import.model import Stream


def matches(given: Value, stream: Stream) -> bool | None:
    """Whether a filter matches the packets of a stream; None if that cannot be said."""
    if given is None:
        return True
    if isinstance(given, Filter):
        return _true(given.node, stream)
    if isinstance(given, str):
        return pattern(given).matches(f"{stream.packet_name}0")
    return None


def _true(node: Node, stream: Stream) -> bool | None:
    if node.kind == "constant":
        return node.text == "true"
    if node.kind == "call" and node.text == "has" and len(node.parts) == 1:
        return stream.headers > 0 and node.parts[0].text.lower() in ("udp", "udpheader", "ipv4", "ip")
    if node.kind == "unary" and node.text == "!":
        inner = _true(node.parts[0], stream)
        return None if inner is None else not inner
    if node.kind == "name":
        return (node.text in ("udp", "ipv4") and stream.headers > 0) or None
    if node.kind != "sign":
        return None
    if node.text in ("&&", "||"):
        left, right = (_true(part, stream) for part in node.parts)
        if left is None or right is None:
            return None
        return (left and right) if node.text == "&&" else (left or right)
    if node.text not in ("==", "!="):
        return None
    return _equal(node, stream)


def _equal(node: Node, stream: Stream) -> bool | None:
    name, value = node.parts
    known = {"udp.destPort": stream.port, "udp.destinationPort": stream.port}
    if name.kind != "name" or value.kind != "number":
        return None
    if name.text not in known:
        return None
    return (known[name.text] == value.number.value) == (node.text == "==")
