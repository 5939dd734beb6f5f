"""``tsnbench cnc add``, ``remove``, ``list`` and ``explain``: requests to a service."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from tsnbench import foreign
from tsnbench.cli.console.options import argument, flag, json_of, option
from tsnbench.cli.console.output import Exit, print_json, print_line, print_table, user_errors
from tsnbench.cnc.client import Answer, Connection
from tsnbench.deploy.cut_over import instant
from tsnbench.errors import BackendError, InputError
from tsnbench.foreign import Json, Part
from tsnbench.quantities import time
from tsnbench.sheet import Column, Sheet

ADDRESS, TOKEN = "TSNBENCH_CNC", "TSNBENCH_CNC_TOKEN"
"""Variables of the environment with the address of the service, and the token of the client."""
CERTIFICATE, KEY = "TSNBENCH_CNC_CERTIFICATE", "TSNBENCH_CNC_KEY"
"""Those with the files of the client's certificate, and of its key if that is another file."""
LARGEST_FILE = 1 << 20
At = Annotated[
    str | None,
    option("URL[,URL]", f"The service: http://127.0.0.1:PORT; by default ${ADDRESS}.", "--at"),
]
Authority = Annotated[
    Path | None,
    option(
        "FILE",
        f"Certificate of the service's authority (PEM). Who asks: ${TOKEN}, or the files ${CERTIFICATE} and "
        f"${KEY}.",
        "--ca",
    ),
]
AsJson = Annotated[bool, json_of("The answer")]
Names = Annotated[list[str], argument("NAME...", "Names of streams.")]


def read_streams(file: Path) -> Part:
    """Streams by name, of a file or of stdin (``-``).

    Raises:
        InputError: the file cannot be read, or is no mapping.
    """
    if str(file) == "-":
        return foreign.parse_yaml("-", sys.stdin.read(LARGEST_FILE))
    return foreign.parse_yaml(str(file), foreign.read_text(file, LARGEST_FILE))


def add(
    file: Annotated[Path, argument("FILE", "Streams by name, as in a scenario (YAML or JSON); - is stdin.")],
    replace: Annotated[bool, flag("--replace", "Replace own streams that have these names.")] = False,
    at: At = None,
    authority: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Ask for streams: all of a file, or none."""
    with user_errors():
        streams = read_streams(file)
        line = service_at(at, authority)
        there = line.ask("GET", "/api/streams").document.get("streams", []) if replace else []
        own = {one["stream"] for one in there if one["client"]} & {str(name) for name in streams}
        document = {"add": {str(name): stream for name, stream in streams.items()}, "remove": sorted(own)}
        tell_decision(line.ask("POST", "/api/changes", document), as_json)


def remove(names: Names, at: At = None, authority: Authority = None, as_json: AsJson = False) -> None:
    """Remove streams: all of these, or none."""
    with user_errors():
        tell_decision(service_at(at, authority).ask("POST", "/api/changes", {"remove": names}), as_json)


def tidy(
    names: Annotated[list[str] | None, argument("NAME...", "Own streams whose talkers are silent.")] = None,
    maintenance: Annotated[
        bool, flag("--maintenance", "All requested streams may move: no talker sends.")
    ] = False,
    at: At = None,
    authority: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Give streams other places: the time that is left on links is in larger parts then.

    All of them move, or none. Nothing moves if that gains nothing.
    """
    with user_errors():
        if bool(names) == maintenance:
            found = "both" if names else "neither"
            raise InputError(f"--maintenance: expected it or names of silent streams, found {found}")
        asked: Json = {"maintenance": True} if maintenance else {"silent": names}
        tell_decision(service_at(at, authority).ask("POST", "/api/tidy", asked), as_json)


def devices(
    overwrite: Annotated[bool, flag("--overwrite", "Give all of them the Plan in force.")] = False,
    at: At = None,
    authority: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Compare the devices of the service with its Plan in force.

    Ends with 1 if they differ.
    """
    with user_errors():
        line = service_at(at, authority)
        if overwrite:
            tell_decision(line.ask("POST", "/api/devices", {"overwrite": True}), as_json)
            return
        found = _document(line.ask("GET", "/api/devices"))
    if as_json:
        print_json("cnc-devices", found)
    else:
        for text in found["differences"] or ["the devices have the Plan in force"]:
            print_line(text)
    if found["differences"]:
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def list_streams(at: At = None, authority: Authority = None, as_json: AsJson = False) -> None:
    """List the streams in place, with worst case and margin."""
    with user_errors():
        found = _document(service_at(at, authority).ask("GET", "/api/streams"))
    if as_json:
        print_json("cnc-streams", found)
        return
    columns = ["stream", "client", "from", "to", "kind", "release", "at most", "from release", "margin"]
    sheet = Sheet("streams", [Column(name, name=place < 4) for place, name in enumerate(columns)])
    for flow in found["streams"]:
        for listener in flow["listeners"]:
            sheet.rows.append(
                [
                    flow["flow"],
                    flow["client"] or "scenario",
                    flow["talker"],
                    listener["node"],
                    "scheduled" if flow["scheduled"] else "bounded",
                    _time(flow["offset_ns"]),
                    _time(listener["upper_ns"]),
                    _time(listener["release_upper_ns"]),
                    _time(listener["margin_ns"]),
                ]
            )
    print_table(sheet)


def explain(
    name: Annotated[str | None, argument("NAME", "Only decisions about this stream.")] = None,
    denied: Annotated[
        bool, flag("--denied", "Requests that were refused before a decision: who, what and why.")
    ] = False,
    at: At = None,
    authority: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Explain the last decisions: what was asked, the answer, and why."""
    query = f"?{urlencode({'stream': name})}" if name else ""
    with user_errors():
        if denied and name:
            raise InputError("--denied: expected it or the name of a stream, found both")
        path = "denied" if denied else f"decisions{query}"
        found = _document(service_at(at, authority).ask("GET", f"/api/{path}"))
    if as_json:
        print_json("cnc-denied" if denied else "cnc-decisions", found)
        return
    for row in found["denied"] if denied else ():
        count = "" if row["count"] == 1 else f", and {row['count'] - 1} more within the minute"
        who = f"{row['client'] or 'no client'} at {row['address']}"
        print_line(f"{row['at']}  {who}: {row['asked']}{count}: {row['status']} {row['why']}")
    for decision in () if denied else found["decisions"]:
        _print_decision(decision)


def _time(ns: int | None) -> str:
    return "-" if ns is None else time(ns)


def service_at(at: str | None, authority: Path | None) -> Connection:
    """The service of ``--at``, or of the environment.

    Raises:
        InputError: none is given.
    """
    address = at or os.environ.get(ADDRESS, "")
    if not address:
        raise InputError(f"--at: expected the address of the service, found none\n  hint: or set {ADDRESS}")
    own, key = (Path(file) if (file := os.environ.get(name)) else None for name in (CERTIFICATE, KEY))
    return Connection(address, os.environ.get(TOKEN, ""), authority, own, key)


def _document(answer: Answer) -> Json:
    """The document of an answer.

    Raises:
        InputError: the request was refused. BackendError: the service failed.
    """
    if answer.status < 300:
        return answer.document
    words = str(answer.document.get("detail", answer.status))
    raise (BackendError if answer.status >= 500 else InputError)(words)


def tell_decision(answer: Answer, as_json: bool, tell: Callable[[str], None] = print_line) -> None:
    """Prints a decision, each line with ``tell``; ends with 1 if the network has no room."""
    decision: Json | None = answer.document.get("decision")
    if answer.status < 300:
        decision = answer.document
    if decision is None:
        _document(answer)
        return
    if as_json:
        print_json("cnc-decision", decision)
    else:
        _print_decision(decision, tell)
    if decision["outcome"] == "accepted":
        return
    if decision["outcome"] == "refused":
        raise typer.Exit(Exit.REQUIREMENT_FAILED)
    raise typer.Exit(Exit.BACKEND_FAILED if decision["outcome"] == "devices" else Exit.INPUT_WRONG)


def _print_decision(decision: Json, tell: Callable[[str], None] = print_line) -> None:
    names = [*(f"+{name}" for name in decision["change"]["add"])]
    names += [f"-{name}" for name in decision["change"]["remove"]]
    names += [f"~{name}" for name in decision["change"].get("tidy", ())]
    names += ["devices"] if "devices" in decision["change"] else []
    said = "accepted" if decision["outcome"] == "accepted" else "not accepted"
    tell(f"{decision['number']}  {decision['at']}  {decision['client']}  {' '.join(names)}: {said}")
    for flow in decision["streams"]:
        for listener in flow["listeners"]:
            release = "" if flow["offset_ns"] is None else f", released at {time(flow['offset_ns'])}"
            worst = listener["upper_ns"]
            delay = "no bound" if worst is None else f"at most {time(worst)}"
            if (whole := listener["release_upper_ns"]) not in (None, worst):
                delay += f", {time(whole)} from the release"
            tell(f"  {flow['flow']} to {listener['node']}: {delay}{release}")
    for reason in decision["reasons"]:
        where = f"{reason['path']}: " if reason["path"] else ""
        tell(f"  {where}expected {reason['expected']}, found {reason['found']}")
        if reason["hint"]:
            tell(f"    hint: {reason['hint']}")
    if (at := decision.get("in_force_ns")) is not None:
        tell(f"  gate control lists in force from {instant(at)}")
    for note in decision["notes"]:
        tell(f"  {note}")
    if together := decision.get("together"):
        others = ", ".join(_named(one) for one in together if one["number"] != decision["number"])
        only = ", ".join(_named(one) for one in together if one["only_together"])
        tell(f"  planned at once with {others}; one after the other, without room: {only}")


def _named(one: Json) -> str:
    """A decision by its number and its streams."""
    return f"{one['number']} ({' '.join(one['streams'])})"
