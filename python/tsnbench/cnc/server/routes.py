"""Plain JSON for people and scripts: streams, changes, decisions, the Plan, and files for devices."""

from __future__ import annotations

from collections import deque
from itertools import islice

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tsnbench.cnc.changes import Change, Decision
from tsnbench.cnc.facts import link_facts, stream_facts
from tsnbench.cnc.network import Network
from tsnbench.cnc.policy import Moves
from tsnbench.cnc.requests import NoJsonError
from tsnbench.cnc.server.asking import (
    answered,
    client_of,
    decided,
    denied,
    ended,
    expected_of,
    object_of,
    problem,
    refusal,
)
from tsnbench.cnc.server.clients import Scope
from tsnbench.cnc.server.events import Events
from tsnbench.cnc.service import Service
from tsnbench.errors import BackendError, InputError
from tsnbench.foreign import Json
from tsnbench.plan.network import Network as PlanNetwork
from tsnbench.plan.notes import Notes
from tsnbench.ui.drawing import drawing
from tsnbench.ui.live.numbers import port_loads
from tsnbench.yang import files as yang_files

SHOWN = 100
"""Decisions in one answer."""
DRAWN = ("name", "talker", "listeners", "paths", "count")
"""Keys of a stream in a drawing."""


class Plain:
    """The endpoints of the plain interface.

    Args:
        service: the CNC.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self._drawn: tuple[str, Json] = "", {}
        """The last drawing, and the hash of its Plan."""

    async def change(self, request: Request) -> Response:
        """Decides about a change: streams in ``add`` by name, names in ``remove``; all or none."""
        client = client_of(request, Scope.OWN)
        found = await object_of(request)
        if not found.keys() <= {"add", "remove"}:
            raise NoJsonError("expected the keys add and remove, found others")
        add, remove = found.get("add", {}), found.get("remove", [])
        named = isinstance(remove, list) and all(isinstance(name, str) for name in remove)
        if not isinstance(add, dict) or not named:
            raise NoJsonError("expected streams by name in add, and a list of names in remove")
        asked = Change(client.name, add, tuple(dict.fromkeys(remove)), expected_of(request))
        return self._answer(await decided(self.service, asked))

    async def tidy(self, request: Request) -> Response:
        """Gives streams other places, so that the time on links is in larger parts.

        ``silent``: streams whose talkers are silent; ``maintenance``: all requested streams may move.
        """
        client = client_of(request, Scope.OWN)
        found, now = await object_of(request), self.service.network
        silent, whole = found.get("silent", []), found.get("maintenance", False)
        named = isinstance(silent, list) and all(isinstance(name, str) for name in silent)
        if not found.keys() <= {"silent", "maintenance"} or not named or not isinstance(whole, bool):
            raise NoJsonError("expected a list of names in silent, or maintenance: true")
        names = [*now.requested] if whole else [*dict.fromkeys(silent)]
        if not names:
            raise NoJsonError("expected a requested stream that may move, found none")
        moves = self.service.rules.moves
        if whole and (client.scope < Scope.ALL or moves is Moves.IF_SILENT):
            raise denied(request, "Maintenance needs the policy in-maintenance, and a client of scope all")
        if not whole and moves is Moves.IN_MAINTENANCE:
            raise denied(request, "The policy lets streams move in maintenance alone")
        asked = Change(client.name, expected=expected_of(request), tidy=names)
        return self._answer(await decided(self.service, asked))

    async def stream(self, request: Request) -> Response:
        """Reads, adds, replaces or removes one stream."""
        name = request.path_params["name"]
        if request.method in ("GET", "HEAD"):
            client_of(request, Scope.READ)
            return _stream(self.service.network, name)
        client = client_of(request, Scope.OWN)
        own = self.service.network.requested.get(name)
        if request.method == "DELETE":
            asked = Change(client.name, {}, (name,), expected_of(request))
        else:
            written = await object_of(request)
            # The same words again are no change; others replace the stream.
            again = own is None or (own.client, own.written) == (client.name, written)
            asked = Change(client.name, {name: written}, () if again else (name,), expected_of(request))
        return self._answer(await decided(self.service, asked), 200 if own else 201)

    async def network(self, request: Request) -> Response:
        """Nodes, links and their load; who asks, and what it may do."""
        client, now = client_of(request, Scope.READ), self.service.network
        own = {"client": client.name, "scope": client.scope.name.lower()}
        document = {**network_document(now), "in_force_ns": self.service.in_force_ns, **own}
        return _json(now, document)

    async def drawing(self, request: Request) -> Response:
        """The network as ``tsnbench ui`` draws it: positions of nodes, paths of streams, loads of links."""
        client_of(request, Scope.READ)
        now, base = self.service.network, self.service.base
        if self._drawn[0] != now.hash:
            # Without the text: its places are for those who edit it, and to find them takes most of the time.
            found = drawing("", [(base.scenario, now.plan)])
            document = {
                "format": "tsnbench-cnc-drawing/1",
                "nodes": [{**node, "made": ""} for node in found["nodes"]],
                "links": [{**link, "made": ""} for link in found["links"]],
                "streams": [
                    {key: value for key, value in one.items() if key in DRAWN} for one in found["streams"]
                ],
                "more_streams": found["more_streams"],
                "ports": list(port_loads(now.plan.document)),
            }
            self._drawn = now.hash, document
        return _json(now, self._drawn[1])

    async def streams(self, request: Request) -> Response:
        """The facts of all streams, also those of the scenario."""
        client_of(request, Scope.READ)
        now = self.service.network
        names = {one["group"] for one in now.plan.document["streams"]}
        return _json(now, {"format": "tsnbench-cnc-streams/1", "streams": stream_facts(now, names)})

    async def plan(self, request: Request) -> Response:
        """The Plan in force."""
        client_of(request, Scope.READ)
        now = self.service.network
        return Response(now.text, media_type="application/json", headers=tag(now))

    async def decisions(self, request: Request) -> Response:
        """The last decisions, the newest first; about one stream with ``?stream=NAME``."""
        client_of(request, Scope.READ)
        found = _decisions(self.service.decisions, request.query_params.get("stream", ""))
        return JSONResponse({"format": "tsnbench-cnc-decisions/1", "decisions": found})

    async def denied(self, request: Request) -> Response:
        """The last requests that were refused before a decision, the newest first."""
        client_of(request, Scope.ALL)
        found = [row.document() for row in self.service.denied.last(SHOWN)]
        return JSONResponse({"format": "tsnbench-cnc-denied/1", "denied": found})

    async def devices(self, request: Request) -> Response:
        """Compares the devices with the Plan in force, or gives it to them."""
        reads = request.method in ("GET", "HEAD")
        client = client_of(request, Scope.ALL if reads else Scope.DEVICES)
        if self.service.devices is None:
            return problem(404, "The service has no devices: start it with --node")
        if not reads:
            if await object_of(request) != {"overwrite": True}:
                raise NoJsonError("expected overwrite: true alone")
            done = self.service.soon(lambda: self.service.overwrite(client.name))
            return self._answer(await ended(done))
        asked = self.service.soon(self.service.differing)
        try:
            found = await ended(asked)
        except (BackendError, InputError) as error:
            return problem(502, str(error))
        return _json(self.service.network, {"format": "tsnbench-cnc-devices/1", "differences": [*found]})

    async def files(self, request: Request) -> Response:
        """The YANG data of every node, as ``tsnbench plan --into DIR --as yang`` writes them."""
        client_of(request, Scope.READ)
        now = self.service.network
        made = yang_files.instance_data(PlanNetwork(now.plan.document, None), Notes("yang"))
        name = request.path_params.get("name")
        if name is None:
            return _json(now, {"format": "tsnbench-cnc-files/1", "files": sorted(made)})
        if name not in made:
            return problem(404, "No such file")
        return PlainTextResponse(made[name], headers=tag(now))

    def _answer(self, decision: Decision, status: int = 200) -> Response:
        if not decision.accepted:
            return refusal(decision)
        document = {"format": "tsnbench-cnc-decision/1", **decision.document()}
        return JSONResponse(document, status, {"etag": f'"{decision.plan}"'})


def routes(service: Service, told: Events) -> list[Route]:
    """The routes of the plain interface."""
    plain = Plain(service)

    async def events(request: Request) -> Response:
        client_of(request, Scope.READ)
        return told.answer(Decision.document, request)

    return [
        Route("/api/changes", answered(plain.change), methods=["POST"]),
        Route("/api/tidy", answered(plain.tidy), methods=["POST"]),
        Route("/api/streams", answered(plain.streams)),
        Route("/api/streams/{name}", answered(plain.stream), methods=["GET", "PUT", "DELETE"]),
        Route("/api/network", answered(plain.network)),
        Route("/api/drawing", answered(plain.drawing)),
        Route("/api/plan", answered(plain.plan)),
        Route("/api/devices", answered(plain.devices), methods=["GET", "POST"]),
        Route("/api/decisions", answered(plain.decisions)),
        Route("/api/denied", answered(plain.denied)),
        Route("/api/events", answered(events)),
        Route("/api/files", answered(plain.files)),
        Route("/api/files/{name:path}", answered(plain.files)),
    ]


def tag(now: Network) -> dict[str, str]:
    """The entity tag: the hash of the Plan."""
    return {"etag": f'"{now.hash}"'}


def network_document(now: Network) -> Json:
    """What the network is made of, and how much of each link is used."""
    document = now.plan.document
    return {
        "format": "tsnbench-cnc-network/1",
        "name": document["name"],
        "changes": now.number,
        "plan": now.hash,
        "nodes": [{"name": node["name"], "kind": node["kind"]} for node in document["nodes"]],
        "links": link_facts(now),
        "requested": len(now.requested),
        "flows": len(document["streams"]),
    }


def _json(now: Network, document: Json) -> Response:
    return JSONResponse(document, headers=tag(now))


def _stream(now: Network, name: str) -> Response:
    found = stream_facts(now, [name])
    if not found:
        return problem(404, "No such stream")
    own = now.requested.get(name)
    written = own.written if own else None
    return _json(now, {"format": "tsnbench-cnc-stream/1", "name": name, "requested": written, "flows": found})


def _decisions(decisions: deque[Decision], name: str) -> list[Json]:
    """The last decisions about a stream, or about all; the newest first."""
    found = (
        one.document()
        for one in reversed(decisions.copy())
        if not name or any(name in one.change.get(key, ()) for key in ("add", "remove", "tidy"))
    )
    return list(islice(found, SHOWN))
