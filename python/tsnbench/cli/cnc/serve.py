"""``tsnbench cnc SCENARIO``: the service."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from tsnbench.cli.cnc.configured import Given, configured
from tsnbench.cli.console.listening import address_of
from tsnbench.cli.console.options import ScenarioFile, flag, given_ns, option, setting
from tsnbench.cli.console.output import Exit, fail, print_line, print_message, user_errors
from tsnbench.cli.machines.deploy import Interfaces, KnownHosts, Partial
from tsnbench.cli.parts import cnc_server, cnc_standby, postgres
from tsnbench.cnc.admission import Rules
from tsnbench.cnc.devices import LEAST_LEAD_S, LONGEST_LEAD_S, NetconfDevices
from tsnbench.cnc.network import Base
from tsnbench.cnc.policy import Moves
from tsnbench.cnc.restconf.model import Model
from tsnbench.cnc.restconf.wanted import Streams
from tsnbench.cnc.server.clients import Clients, read_clients
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store
from tsnbench.errors import BackendError, InputError
from tsnbench.foreign import shown
from tsnbench.scenario.model.scenario import MOST_STREAMS

Listen = Annotated[str, setting("ADDRESS:PORT", "Where to listen; port 0 takes a free one.")]
Kept = Annotated[
    str | None,
    option(
        "DIR|URL",
        "Keep streams and decisions: a folder, or postgresql://… for several services, of which "
        "one leads; without it they end with the service.",
        "--store",
    ),
]
Tokens = Annotated[
    Path | None,
    option(
        "FILE",
        "Clients with tokens or names of their certificates, and scopes (TOML); without it this machine's "
        "users.",
    ),
]
Certificate = Annotated[Path | None, option("FILE", "The server's certificate (PEM).", "--tls-certificate")]
Key = Annotated[Path | None, option("FILE", "The key of the certificate (PEM).", "--tls-key")]
Authority = Annotated[
    Path | None,
    option(
        "FILE",
        "Clients need certificates of this authority (PEM); their names say who asks.",
        "--tls-clients",
    ),
]

Most = Annotated[
    int | None,
    option(
        "NUMBER",
        "Most requested streams; default: as the scenario's policy says, or 10000.",
        "--most-streams",
        min=1,
        max=MOST_STREAMS,
    ),
]
Reserve = Annotated[
    list[str] | None,
    option(
        "PCP=SHARE",
        "Streams have this PCP or another given one, and at most this share of a link: 6=30%; repeatable. "
        "In place of those of the scenario's policy.",
    ),
]
Moving = Annotated[
    str | None,
    option(
        "WHEN",
        "Whether tidy may move streams: never, if-silent or in-maintenance; default: as the scenario's "
        "policy says.",
    ),
]
Overwrite = Annotated[
    bool, flag("--overwrite", "Give devices the Plan although they have another configuration.")
]
Lead = Annotated[
    str | None,
    option(
        "TIME",
        "From the choice of the instant at which devices change until it is there; default: measured.",
    ),
]
Nodes = Annotated[
    list[str] | None,
    option("NODE=HOST[:PORT]", "The device of a node: sw1=HOST[:PORT]; may be repeated.", "--node"),
]
Lab = Annotated[
    Path | None,
    option("FILE", "Inventory of a lab with the devices and their ports, in place of --node.", "--devices"),
]
NoDeploy = Annotated[
    bool,
    flag("--no-deploy", "Deploy nothing: the files for devices are at /api/files; refused beside devices."),
]
User = Annotated[str | None, option("NAME", "User name on the devices; default: yours.")]
DeviceKey = Annotated[Path | None, option("FILE", "File of a private key for the devices.")]
Modules = Annotated[
    Path | None, option("DIR", "RESTCONF over ieee802-dot1q-cnc-config, a module in this folder.", "--yang")
]


def serve(
    file: ScenarioFile,
    listen: Listen = "127.0.0.1:0",
    store: Kept = None,
    most: Most = None,
    reserve: Reserve = None,
    moves: Moving = None,
    tokens: Tokens = None,
    certificate: Certificate = None,
    tls_key: Key = None,
    authority: Authority = None,
    yang: Modules = None,
    node: Nodes = None,
    lab: Lab = None,
    no_deploy: NoDeploy = False,
    interface: Interfaces = None,
    user: User = None,
    key: DeviceKey = None,
    known_hosts: KnownHosts = None,
    partial: Partial = False,
    lead: Lead = None,
    overwrite: Overwrite = False,
) -> None:
    """Serve a network: clients add and remove streams while it runs.

    Each change is planned beside the streams in place, which stay as they are, then proved and bounded as a
    whole. It is accepted, or refused with the reason and with what would be admitted. With --node or
    --devices, every accepted Plan goes to these devices by NETCONF, as with deploy: to all, or to none. They
    change to it at one instant.
    """
    try:
        room = cnc_server.serve
    except ImportError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        fail(Exit.INPUT_WRONG, f"cnc: needs {error.name}\nhint: python -m pip install 'tsnbench[ui]'")
    with user_errors():
        host, port = address_of(listen, "127.0.0.1:8443")
        clients = read_clients(tokens) if tokens else Clients()
        if (certificate is None) != (tls_key is None) or (authority and not certificate):
            raise InputError("--tls-certificate: expected with --tls-key, and both for --tls-clients")
        if clients.certified and not authority:
            raise InputError(
                "--tls-clients: expected the authority of the certificates in --tokens, found none"
            )
        tls = cnc_server.Tls(certificate, tls_key, authority) if certificate and tls_key else None
        if tls is not None:
            tls.check()
        base = Base(file)
        database = _database(store)
        given = Given(node or (), lab, interface or (), user, key, known_hosts, partial, _lead_s(lead))
        devices = _devices(given, no_deploy, base, store, bool(database))
        policy = _policy(base, reserve or (), moves)
        most = base.scenario.policy.most_streams if most is None else most
        rules = Rules(most, clients.most_streams, clients.may_change, *policy)
        own = _Own(base, store, database, devices, rules, overwrite, yang)
        own.serve(room, host, port, clients, tls)


def _devices(
    given: Given, no_deploy: bool, base: Base, store: str | None, in_database: bool
) -> NetconfDevices | None:
    """The devices that the options name; None if they name none.

    Raises:
        InputError: an option is wrong, or there is no store.
    """
    if no_deploy:
        named = {"--node": given.node, "--devices": given.inventory, "--interface": given.interface}
        if wrong := [name for name, value in named.items() if value]:
            raise InputError(f"--no-deploy: expected no devices, found {' and '.join(wrong)}")
        print_message("nothing is deployed: the files for devices are at /api/files")
    if not given:
        if given.interface:
            raise InputError("--interface: expected --node or --devices, found neither")
        return None
    if store is None:
        raise InputError("--store: expected one for devices, found none\n  hint: add --store cnc")
    return configured(given, base.plan.document, Path() if in_database else Path(store))


@dataclass
class _Own:
    """What this process serves: a service, now or when the one that leads has ended."""

    base: Base
    store: str | None
    database: postgres.Postgres | None
    devices: NetconfDevices | None
    rules: Rules
    overwrite: bool
    yang: Path | None
    address: str = ""
    service: Service | None = None

    def serve(
        self, room: Callable[..., None], host: str, port: int, clients: Clients, tls: cnc_server.Tls | None
    ) -> None:
        """Serves until Ctrl-C.

        Raises:
            InputError: the address cannot be used. BackendError: another service may lead.
        """
        waits = None
        try:
            if self.database is not None and not self.database.lead():
                waits = cnc_standby.Standby(self.database, self.begin)
                leader = f": {waits.leader}" if waits.leader else ""
                print_message(f"another service leads{leader}; this one takes over when that ends")
                room(waits, host, port, self.opened, clients, tls)
            else:
                service, streams = self.begin()
                room(service, host, port, self.opened, clients, tls, streams)
        except OSError as error:
            raise InputError(f"--listen {host}:{port}: {error.strerror or error}") from None
        finally:
            if waits is not None:
                waits.end()
            if self.service is not None:
                self.service.close()
            elif self.database is not None:
                self.database.close()
        if waits is not None and waits.failed is not None:
            raise waits.failed
        if self.service is not None and self.service.lost:
            raise BackendError(self.service.lost)

    def begin(self) -> tuple[Service, Streams | None]:
        """The service of this process, which leads now."""
        place = self.database or (Path(self.store) if self.store else None)
        store = Store(place, self.base.digest) if place else None
        if store is not None and self.devices is not None and self.database is not None:
            # From now on this process leads in the database; after the next line on the devices, too.
            self.devices.fence = store.beat
            self.devices.take_over()
        self.service = Service(self.base, store, self.devices, self.rules)
        if self.devices is not None:
            _compare(self.devices, self.service, self.overwrite)
        streams = _restconf(self.service, self.yang) if self.yang else None
        _tell(self.service)
        self._announce()
        return self.service, streams

    def opened(self, address: str) -> None:
        """Is called when connections are accepted."""
        print_line(address)
        self.address = re.sub(r"//(0\.0\.0\.0|\[::\])", f"//{socket.gethostname()}", address)
        self._announce()

    def _announce(self) -> None:
        """Tells those that wait where the leader is."""
        database, address = self.database, self.address
        if self.service is not None and database is not None and address:
            self.service.soon(lambda: database.announce(address))


def _database(store: str | None) -> postgres.Postgres | None:
    """The database of ``--store``; None for a folder.

    Raises:
        InputError: psycopg is missing, or the address is none. BackendError: the server does not answer.
    """
    if store is None or not store.startswith(("postgresql:", "postgres:")):
        return None
    try:
        return postgres.Postgres(store)
    except ImportError as error:
        if error.name != "psycopg":
            raise
        fail(Exit.INPUT_WRONG, "cnc: needs psycopg\nhint: python -m pip install 'tsnbench[postgres]'")


def _policy(base: Base, reserve: Sequence[str], moves: str | None) -> tuple[Mapping[int, Fraction], Moves]:
    """Shares and moves: those of the options, or else of the scenario."""
    own = base.scenario.policy
    shares = _shares(reserve) or {pcp: Fraction(share, 10**6) for pcp, share in own.reserve.items()}
    return shares, _moves(own.moves if moves is None else moves)


def _shares(texts: Sequence[str]) -> dict[int, Fraction]:
    """The greatest share of a link by PCP."""
    found: dict[int, Fraction] = {}
    for text in texts:
        written = re.fullmatch(r"\s*([0-7])\s*=\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*", text)
        if written is None or not 0 < Fraction(written[2]) <= 100:
            raise InputError(f"--reserve: expected PCP=SHARE such as 6=30%, found {shown(text)}")
        found[int(written[1])] = Fraction(written[2]) / 100
    return found


def _lead_s(text: str | None) -> float | None:
    ns = given_ns("--lead", text, "s")
    if ns is not None and not LEAST_LEAD_S <= ns / 1e9 <= LONGEST_LEAD_S:
        raise InputError(
            f"--lead: expected {LEAST_LEAD_S:g} to {LONGEST_LEAD_S:g} s, found {shown(str(text))}"
        )
    return None if ns is None else ns / 1e9


def _moves(text: str) -> Moves:
    try:
        return Moves(text)
    except ValueError:
        words = ", ".join(one.value for one in Moves)
        raise InputError(f"--moves: expected {words}, found {shown(text)}") from None


def _tell(service: Service) -> None:
    if service.store is None:
        print_message("without --store, streams end with this service")
    now = service.network
    print_message(f"{len(now.requested)} requested streams are in place; Ctrl-C ends the service")


def _compare(devices: NetconfDevices, service: Service, overwrite: bool) -> None:
    """Compares the devices with the Plan in force.

    Raises:
        BackendError: they differ, and may not be overwritten.
    """
    document = service.network.plan.document
    found = devices.differences(document)
    for line in found if not overwrite else ():
        print_message(line)
    if found and not overwrite:
        raise BackendError(
            f"the devices differ from the Plan in force at {len(found)} places\n"
            "  hint: --overwrite gives them the Plan"
        )
    if found:
        for note in devices.put(document):
            print_message(note)


def _restconf(service: Service, yang: Path) -> Streams:
    """The streams of RESTCONF.

    Raises:
        InputError: yangson is missing, or a module.
    """
    try:
        return Streams(service, Model(yang))
    except ImportError as error:
        if error.name != "yangson":
            raise
        raise InputError("cnc: needs yangson\nhint: python -m pip install 'tsnbench[cnc]'") from None
