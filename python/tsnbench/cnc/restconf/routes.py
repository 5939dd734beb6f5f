"""The routes of RESTCONF.

RFC 8040: 3.1 (root), 3.3 (API resource), 3.5 (data), 3.6 (operations), 4 (methods), 6 (events), 7.1 (errors).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from email.utils import formatdate
from functools import wraps
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tsnbench.cnc.changes import Decision
from tsnbench.cnc.changing.writer import BusyError
from tsnbench.cnc.requests import NoJsonError
from tsnbench.cnc.restconf.defaults import Mode, with_defaults
from tsnbench.cnc.restconf.mapping import name_of
from tsnbench.cnc.restconf.model import CNC, TOP, DataError
from tsnbench.cnc.restconf.operations import OPERATIONS, input_of, remove_streams
from tsnbench.cnc.restconf.resources import (
    KEYS,
    MOST_DEPTH,
    Fields,
    NoResourceError,
    Path,
    below,
    content,
    fields_of,
    path_of,
    paths,
    selected,
    shallow,
)
from tsnbench.cnc.restconf.status import failure_code, status_of
from tsnbench.cnc.restconf.wanted import NotAllowedError, Streams, Wanted, canonical, tag_of
from tsnbench.cnc.server.asking import client_of, encoded, ended, expected_of, object_of
from tsnbench.cnc.server.clients import Scope
from tsnbench.cnc.server.events import Events
from tsnbench.cnc.store import FullStoreError, LostStoreError
from tsnbench.ui.requests.exchange import RefusedError

if TYPE_CHECKING:
    from tsnbench.foreign import Json

Endpoint = Callable[[Request], Awaitable[Response]]
MEDIA = "application/yang-data+json"
PARAMETERS = {"content", "depth", "fields", "with-defaults"}
"""Of a query."""
CAPABILITIES = ("defaults:1.0?basic-mode=explicit", "depth:1.0", "fields:1.0", "with-defaults:1.0")
"""RFC 8040, 9.1."""
LIBRARY = "2016-06-21"
"""The revision of ietf-yang-library."""
TAGS = {
    400: "invalid-value",
    403: "access-denied",
    404: "invalid-value",
    405: "operation-not-supported",
    409: "data-exists",
    412: "operation-failed",
    413: "too-big",
    415: "invalid-value",
    429: "resource-denied",
    503: "resource-denied",
    507: "resource-denied",
}
"""Error tags by status (RFC 8040, 7)."""


def answer(document: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Data of YANG as JSON (RFC 7951)."""
    return Response(encoded(document), status, headers, MEDIA)


def error(status: int, message: str, path: str = "") -> Response:
    """Errors of RESTCONF (RFC 8040, 7.1)."""
    own = {"error-type": "application", "error-tag": TAGS.get(status, "operation-failed")}
    where = {"error-path": f"/{path}"} if path else {}
    found = {**own, **where, "error-message": message}
    again = {"retry-after": "1"} if status in (429, 503) else None
    return answer({"ietf-restconf:errors": {"error": [found]}}, status, again)


def answered(endpoint: Endpoint) -> Endpoint:
    """The endpoint, with an answer for every request that it refuses."""

    @wraps(endpoint)
    async def safe(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RefusedError as why:
            return error(why.status, str(why))
        except DataError as why:
            return error(400, why.why, why.path)
        except NoJsonError as why:
            return error(400, str(why))
        except NotAllowedError as why:
            return error(why.status, str(why))
        except NoResourceError:
            return error(404, "there is no such resource")
        except BusyError as why:
            return error(503, str(why))
        except LostStoreError as why:
            return error(503, str(why))
        except FullStoreError as why:
            return error(507, str(why))

    return safe


class Restconf:
    """The endpoints.

    Args:
        streams: what CUCs want.
    """

    def __init__(self, streams: Streams, events: Events) -> None:
        self.streams, self.service, self.events = streams, streams.service, events

    async def root(self, request: Request) -> Response:
        """The API resource."""
        client_of(request, Scope.READ)
        rpcs = {name: [None] for name in OPERATIONS}
        inside = {"data": {}, "operations": rpcs, "yang-library-version": LIBRARY}
        part = request.path_params.get("part")
        if part:
            if part not in inside:
                raise NoResourceError(part)
            return answer({f"ietf-restconf:{part}": inside[part]})
        return answer({"ietf-restconf:restconf": inside})

    async def library(self, request: Request) -> Response:
        """The modules (RFC 7895), and the capabilities and event streams (RFC 8040, 9)."""
        client_of(request, Scope.READ)
        capability = "urn:ietf:params:restconf:capability"
        own = {"name": "NETCONF", "description": "decisions of the CNC"}
        own["access"] = [{"encoding": "json", "location": "/restconf/streams/NETCONF/json"}]  # type: ignore[assignment]
        found: Json = {
            "ietf-yang-library:modules-state": {"module-set-id": "cnc", "module": self.streams.model.modules},
            "ietf-restconf-monitoring:restconf-state": {
                "capabilities": {"capability": [f"{capability}:{name}" for name in CAPABILITIES]},
                "streams": {"stream": [own]},
            },
        }
        name = request.path_params["name"]
        return answer({name: found[name]})

    async def events_of(self, request: Request) -> Response:
        """The event stream: notifications of the module for every decision about a stream of a CUC."""
        client_of(request, Scope.READ)
        return self.events.answer(self._notification, request)

    async def data(self, request: Request) -> Response:
        """Reads, writes or removes a resource of the module."""
        raw = request.scope["raw_path"].decode("ascii", "replace").partition("/restconf/data/")[2]
        path = path_of(raw)
        if path.domain not in (None, self.streams.domain):
            raise NoResourceError(raw)
        allowed = path.methods
        if request.method == "OPTIONS":
            client_of(request, Scope.READ)
            patches = {"accept-patch": MEDIA} if "PATCH" in allowed else {}
            return Response(headers={"allow": ", ".join(allowed), **patches})
        if request.method not in allowed:
            made = error(405, "a stream is written, changed or removed as a whole")
            made.headers["allow"] = ", ".join(allowed)
            return made
        if request.method in ("GET", "HEAD"):
            client_of(request, Scope.READ)
            return self._read(request, path)
        client = client_of(request, Scope.OWN).name
        if request.method == "POST":
            return await self._post(request, client, path)
        cuc, stream, expected = str(path.cuc), str(path.stream), expected_of(request)
        if request.method == "DELETE":
            await self._written(lambda: self.streams.remove(client, cuc, [stream], expected))
            return Response(status_code=204)
        found = _stream_of(await object_of(request, (MEDIA,)))
        if not isinstance(found.get("stream-id"), str) or canonical(found["stream-id"]) != canonical(stream):
            raise DataError("stream-id", "it differs from the key of the resource")
        if request.method == "PATCH":
            await self._written(lambda: self.streams.patch(client, cuc, stream, found, expected))
            return Response(status_code=204)
        new = await self._written(lambda: self.streams.write(client, cuc, found, expected))
        return Response(status_code=201 if new else 204)

    async def store(self, request: Request) -> Response:
        """All data: the data store resource (RFC 8040, 3.4)."""
        client_of(request, Scope.READ)
        if request.method == "OPTIONS":
            return Response(headers={"allow": "GET, HEAD, OPTIONS"})
        return self._read(request, None)

    async def operation(self, request: Request) -> Response:
        """Carries out an RPC."""
        client = client_of(request, Scope.OWN).name
        name = request.path_params["name"]
        if name not in OPERATIONS:
            raise NoResourceError(name)
        asked = input_of(await object_of(request, (MEDIA,)))
        result = await self._written(lambda: OPERATIONS[name](self.streams, client, asked))
        return answer({f"{CNC}:output": {"result": result}})

    async def _post(self, request: Request, client: str, path: Path) -> Response:
        """Creates a stream of a CUC, or carries out its action."""
        cuc, document = str(path.cuc), await object_of(request, (MEDIA,))
        if path.rest == ("remove_streams",):
            asked = input_of(document)
            result = await self._written(lambda: remove_streams(self.streams, client, cuc, asked))
            return answer({f"{CNC}:output": {"result": result}})
        if path.rest:
            raise NoResourceError("/".join(path.rest))
        found = _stream_of(document)

        def create() -> None:
            if canonical(str(found.get("stream-id"))) in self.streams.all():
                raise NotAllowedError(409, "the stream is there already")
            self.streams.write(client, cuc, found)

        await self._written(create)
        where = f"/restconf/data/{TOP}/domain={self.streams.domain}/cuc={cuc}/stream={found['stream-id']}"
        return Response(status_code=201, headers={"location": where.replace(" ", "%20")})

    async def _written(self, what: Callable[[], Any]) -> Any:
        return await ended(self.service.soon(what))

    def _read(self, request: Request, path: Path | None) -> Response:
        """The data of a path; None: the whole store."""
        which, depth = request.query_params.get("content", "all"), request.query_params.get("depth")
        asked = [name for name, _ in request.query_params.multi_items()]
        if not {*asked} <= PARAMETERS or len({*asked}) < len(asked):
            raise RefusedError(f"The query parameters are {', '.join(sorted(PARAMETERS))}, each once", 400)
        if which not in ("all", "config", "nonconfig"):
            raise RefusedError("The content is all, config or nonconfig", 400)
        if depth not in (None, "unbounded") and not (depth.isdecimal() and 0 < int(depth) <= MOST_DEPTH):
            raise RefusedError("The depth is a number from 1, or unbounded", 400)
        try:
            mode = Mode(request.query_params.get("with-defaults", Mode.EXPLICIT.value))
        except ValueError:
            words = ", ".join(one.value for one in Mode)
            raise RefusedError(f"The parameter with-defaults is one of {words}", 400) from None
        headers: dict[str, str] = {}
        name, data = self._found(path or Path(), headers)
        data = with_defaults(data, mode)
        if path is None:
            name, data = "ietf-restconf:data", {TOP: data}
        elif path.rest:
            name, data = below(data, path.rest)
        data, levels = content(data, which), MOST_DEPTH if depth in (None, "unbounded") else int(depth)
        text = request.query_params.get("fields")
        if path is None and text is not None:
            raise RefusedError(f"The fields are those of {TOP} or of a resource below it", 400)
        fields = None if path is None or text is None else self._fields(text, path)
        data = shallow(data, levels) if fields is None else selected(data, fields, levels)
        # A node of another module keeps its name.
        return answer({name if ":" in name else f"{CNC}:{name}": data}, headers=headers)

    def _fields(self, text: str, path: Path) -> Fields:
        """The fields of a request.

        Raises:
            RefusedError: the text is wrong, or the module has no such node there.
        """
        try:
            found = fields_of(text)
        except ValueError as why:
            raise RefusedError(f"The fields are {why}", 400) from None
        for names in paths(found):
            if not self.streams.model.has((*path.names, *names)):
                raise RefusedError(f"The module has no {'/'.join(names)} there", 400)
        return found

    def _found(self, path: Path, headers: dict[str, str]) -> tuple[str, Any]:
        """The name and the data of a container, a list entry or a stream."""
        if path.stream is None:
            # Before the data: a change in between makes the tag an old one, and never the data.
            headers["etag"] = f'"{self.streams.tag}"'
            headers["last-modified"] = formatdate(self.streams.changed_s, usegmt=True)
        wanted = self.streams.all()
        if path.stream is not None:
            key = canonical(path.stream)
            own = wanted.get(key)
            if own is None or own.cuc != path.cuc:
                raise NoResourceError(key)
            headers["etag"] = f'"{tag_of(own)}"'
            entry = self._status(key, own)
            return "stream", entry if path.rest else [entry]
        cucs: dict[str, list[Json]] = {}
        for key, own in wanted.items():
            if path.cuc in (None, own.cuc):
                cucs.setdefault(own.cuc, []).append(self._status(key, own))
        lists = [{KEYS["cuc"]: name, "stream": found} for name, found in cucs.items()]
        if path.cuc is not None:
            if not lists:
                raise NoResourceError(path.cuc)
            return "cuc", lists[0] if path.rest else lists
        domain: Json = {KEYS["domain"]: self.streams.domain, "cnc-enabled": True, "cuc": lists}
        if path.domain is not None:
            return "domain", domain if path.rest else [domain]
        return "cnc-config", {"domain": [domain]}

    def _status(self, key: str, own: Wanted) -> Json:
        status = self.streams.status(key, own)
        service, stations = self.service, self.streams.stations
        return status_of(
            service.network, own.stream, status, own.failure, stations, service.in_force_ns, own.reasons
        )

    def _notification(self, decision: Decision) -> Json:
        """A decision as a notification (RFC 8040, 6.4): 46.2.9."""
        moved = {one["stream"] for one in decision.streams} if decision.change.get("tidy") else set()
        placed = decision.change["add"] or moved
        kind = "configure_streams_completed" if placed else "remove_streams_completed"
        code = 0 if decision.accepted else failure_code(decision.reasons)
        names = {*decision.change["add"], *decision.change["remove"], *moved}
        cucs: dict[str, list[Json]] = {}
        for key, own in self.streams.all().items():
            if name_of(key) in names:
                entry = {"stream-id": key, "failure-code": code}
                cucs.setdefault(own.cuc, []).append(entry)
        lists = [{"cuc-id": name, "stream": found} for name, found in cucs.items()]
        inside = {"domain": [{"domain-id": self.streams.domain, "cuc": lists}]}
        return {"ietf-restconf:notification": {"eventTime": decision.at, f"{CNC}:{kind}": inside}}


def _stream_of(document: Json) -> Json:
    """The one stream of a body.

    Raises:
        DataError: it has none, or several.
    """
    found = document.get(f"{CNC}:stream")
    if len(document) != 1 or not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
        raise DataError("", f"expected an object with {CNC}:stream alone, a list of one stream")
    return found[0]


async def host_meta(_: Request) -> Response:
    """Where the API is (RFC 8040, 3.1)."""
    text = (
        "<XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'><Link rel='restconf' href='/restconf'/></XRD>"
    )
    return Response(text, media_type="application/xrd+xml")


def routes(streams: Streams, events: Events) -> list[Route]:
    """The routes of RESTCONF."""
    own = Restconf(streams, events)
    every = ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"]
    libraries = ("ietf-yang-library:modules-state", "ietf-restconf-monitoring:restconf-state")
    return [
        Route("/.well-known/host-meta", host_meta),
        Route("/restconf", answered(own.root)),
        *(Route(f"/restconf/data/{name}", _named(name, answered(own.library))) for name in libraries),
        Route("/restconf/data/{path:path}", answered(own.data), methods=every),
        Route("/restconf/operations/{name}", answered(own.operation), methods=["POST"]),
        Route("/restconf/streams/NETCONF/json", answered(own.events_of)),
        Route("/restconf/data", answered(own.store), methods=["GET", "HEAD", "OPTIONS"]),
        Route("/restconf/{part}", answered(own.root)),
    ]


def _named(name: str, endpoint: Endpoint) -> Endpoint:
    async def named(request: Request) -> Response:
        request.path_params["name"] = name
        return await endpoint(request)

    return named
