"""The operations of the module: five RPCs, and the action that removes streams.

IEEE 802.1Q-2022, 46.2.7 and 46.2.8. A computation has ended when its answer is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tsnbench.cnc.restconf.model import CNC, DataError
from tsnbench.cnc.restconf.wanted import Streams, canonical

if TYPE_CHECKING:
    from tsnbench.foreign import Json

Operation = Callable[[Streams, str, "Json"], str]
"""Carries an operation out for a client; gets its input, and returns its result."""


def _lists(data: Json, name: str, path: str) -> list[Json]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise DataError(path, "expected a list of objects")
    return found


def _text(data: Json, name: str, path: str) -> str:
    found = data.get(name)
    if not isinstance(found, str):
        raise DataError(f"{path}/{name}" if path else name, "expected a text")
    return found


def _cucs(streams: Streams, asked: Json) -> list[tuple[str, Json, str]]:
    """The CUCs of an input, each with its entry and its path."""
    found = []
    for domain in _lists(asked, "domain", "domain"):
        _of_domain(streams, domain)
        for cuc in _lists(domain, "cuc", "domain/cuc"):
            name = _text(cuc, "cuc-id", "domain/cuc")
            found.append((name, cuc, f"domain={streams.domain}/cuc={name}"))
    return found


def _of_domain(streams: Streams, asked: Json) -> None:
    if _text(asked, "domain-id", "domain") != streams.domain:
        raise DataError("domain/domain-id", f"the only domain is {streams.domain}")


def _ids(streams: Streams, cuc: str, entry: Json, path: str) -> list[str]:
    """The identifiers of a list of streams; each has to be one of the CUC's."""
    found = []
    own = {key for key, one in streams.all().items() if one.cuc == cuc}
    for one in _lists(entry, "stream-list", f"{path}/stream-list"):
        key = canonical(_text(one, "stream-id", f"{path}/stream-list"))
        if key not in own:
            raise DataError(f"{path}/stream-list={key}", "no stream of this CUC")
        found.append(key)
    return found


def _told(codes: Mapping[str, int]) -> str:
    failed = [f"{key} ({code})" for key, code in codes.items() if code]
    done = f"{len(codes) - len(failed)} of {len(codes)} streams are configured"
    return f"{done}; failed, with failure codes: {', '.join(failed)}" if failed else done


def compute_streams(streams: Streams, client: str, asked: Json) -> str:
    """46.2.7.1: the streams of the list."""
    ids = [key for cuc, entry, path in _cucs(streams, asked) for key in _ids(streams, cuc, entry, path)]
    return _told(streams.compute(client, ids))


def compute_planned_and_modified(streams: Streams, client: str, asked: Json) -> str:
    """46.2.7.2: the streams of these CUCs that are not configured."""
    cucs = {cuc for cuc, _, _ in _cucs(streams, asked)}
    found = streams.all().items()
    ids = [key for key, one in found if one.cuc in cucs and streams.status(key, one) != "configured"]
    return _told(streams.compute(client, ids))


def compute_all(streams: Streams, client: str, asked: Json) -> str:
    """46.2.7.3: all streams of these CUCs. Those in place stay as they are."""
    cucs = {cuc for cuc, _, _ in _cucs(streams, asked)}
    return _told(streams.compute(client, [key for key, one in streams.all().items() if one.cuc in cucs]))


def request_domain_id(streams: Streams, client: str, asked: Json) -> str:
    """46.2.7.4: the domain of a CUC."""
    _text(asked, "cuc-id", "")
    return streams.domain


def request_free_stream_id(streams: Streams, client: str, asked: Json) -> str:
    """46.2.7.5: a StreamID that no stream has, with the address of the first end station."""
    _of_domain(streams, asked)
    _text(asked, "cuc-id", "")
    used = {*streams.all(), *streams.offered}
    macs = [one.mac for one in streams.stations.all()]
    ids = (f"{mac}:{n >> 8:02X}-{n & 255:02X}" for mac in macs for n in range(1, 1 << 16))
    found = next(one for one in ids if one not in used)
    streams.offered.append(found)
    return found


def remove_streams(streams: Streams, client: str, cuc: str, asked: Json) -> str:
    """46.2.8.1: removes streams of a CUC, all or none."""
    ids = _ids(streams, cuc, asked, f"cuc={cuc}")
    streams.remove(client, cuc, ids)
    return f"{len(ids)} streams are removed"


OPERATIONS: dict[str, Operation] = {
    f"{CNC}:compute_streams": compute_streams,
    f"{CNC}:compute_planned_and_modified_streams": compute_planned_and_modified,
    f"{CNC}:compute_all_streams": compute_all,
    f"{CNC}:request_domain_id": request_domain_id,
    f"{CNC}:request_free_stream_id": request_free_stream_id,
}
"""Every RPC by its name."""


def input_of(document: Json) -> Json:
    """The input of an operation (RFC 8040, 3.6.1).

    Raises:
        DataError: it is none.
    """
    found = document.get(f"{CNC}:input")
    if not isinstance(found, dict) or len(document) != 1:
        raise DataError("", f"expected an object with {CNC}:input alone")
    return found
