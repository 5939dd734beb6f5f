"""One device and its NETCONF session: capabilities, configuration, and its errors in plain words.

RFC 6241, 8 (capabilities); RFC 6243 (defaults); RFC 8525 and RFC 7895 (modules).
"""

from __future__ import annotations

import base64
import contextlib
import logging
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench import foreign, quantities
from tsnbench.deploy.changes import Has, base_ns
from tsnbench.deploy.tree import Node, UnreadableXmlError, read
from tsnbench.errors import BackendError, InputError
from tsnbench.exports.scenario_text import one_line
from tsnbench.foreign import UnusableFileError
from tsnbench.libraries import load, ncclient, paramiko
from tsnbench.yang import xml

CAPABILITY = "urn:ietf:params:netconf:capability:"
LIBRARY = "urn:ietf:params:xml:ns:yang:ietf-yang-library"
PORT = 830
PASSWORD = "TSNBENCH_NETCONF_PASSWORD"
"""In the environment: the password on devices; without one, keys are tried."""
LARGEST_REPLY = 16 * 10**6
"""Octets of a device's reply."""
ENDS = (b"]]>]]>", b"\n##\n")
"""Ends of a message: RFC 6242, 4.3 and 4.2."""
LONGEST_END = max(map(len, ENDS)) - 1
TAKES, TAKE_S = 100, 0.05
"""How often a lock is tried while another session ends, and the time between two attempts."""
CLOSE_S = 2
"""Time limit for a device to end the session."""
TICK_S = 0.005
"""How long the library listens before it looks whether something is to be sent."""
GREETING_S = 0.1
"""Between our hello and the first request: netconfd takes both for one if they arrive together."""
LARGEST_FILE = 16 << 20
"""Octets of a private key, or of the keys of known hosts."""
DENIED = "access-denied"
"""The tag of an error if rules of the device forbid a user something (RFC 8341, NACM)."""
PENDING, CHANGE_TIME, CURRENT_TIME = "config-pending", "config-change-time", "current-time"
ROOTS = (
    (xml.INTERFACES, "interfaces"),
    (xml.BRIDGE, "bridges"),
    (xml.STREAM_IDENTIFICATION, "stream-identity"),
    (xml.FRER, "frer"),
    (xml.PTP, "ptp"),
)


@dataclass(frozen=True)
class Access:
    """Credentials and time limits, equal for all devices."""

    user: str
    password: str | None = None
    key: Path | None = None
    known_hosts: Path | None = None
    timeout_s: int = 30


class AccessError(InputError):
    """User, password or key are not accepted, or the key of a device is not known."""


class DeviceError(BackendError):
    """A device cannot be reached, lacks a capability, or has refused a request."""

    def __init__(self, text: str, *, lost: bool = False) -> None:
        # A device's text must not begin a line of its own between ours.
        super().__init__(one_line(text))
        self.lost = lost
        """Whether the connection is lost, and with it every unconfirmed commit."""


@dataclass(frozen=True)
class Schedule:
    """What a device tells about the gates of a port (IEEE 802.1Q-2022, 12.29.1); times in ns, TAI."""

    pending: bool
    """Whether a list waits for its instant (ConfigPending)."""
    change_ns: int | None
    """When it comes into force (ConfigChangeTime)."""
    now_ns: int | None
    """The device's own time (CurrentTime)."""


class Device:
    """A session with one device."""

    def __init__(self, node: str, host: str, port: int, session: Any, user: str = "") -> None:
        self.node, self.host, self.port = node, host, port
        self._user = user
        self._session = session
        self._locked: list[str] = []
        every = [str(one) for one in session.server_capabilities]
        self.capabilities = {
            one.removeprefix(CAPABILITY).partition("?")[0] for one in every if one.startswith(CAPABILITY)
        }
        self.base_1_1 = any(one.startswith("urn:ietf:params:netconf:base:1.1") for one in every)
        self._defaults = next((one for one in every if one.startswith(f"{CAPABILITY}with-defaults")), "")
        self.modules = {
            one.partition("?")[0]: found[1]
            for one in every
            if (found := re.search(r"[?&]module=([^&]+)", one))
        }

    def can(self, name: str) -> bool:
        return any(one.partition(":")[0] == name for one in self.capabilities)

    @property
    def candidate(self) -> bool:
        return self.can("candidate")

    @property
    def confirmed(self) -> bool:
        """Whether the device restores its configuration itself unless a commit is confirmed."""
        return self.candidate and self.can("confirmed-commit")

    @property
    def remove(self) -> str:
        return "remove" if self.base_1_1 else "delete"

    def look(self) -> None:
        """Reads the modules that the greeting does not list.

        Raises:
            DeviceError: it cannot be configured by NETCONF.
        """
        if not self.candidate and not self.can("writable-running"):
            raise DeviceError(
                "its NETCONF can only be read: it announces neither `candidate` nor `writable-running`"
            )
        if self.can("yang-library"):
            with contextlib.suppress(DeviceError):
                self._library()

    def _library(self) -> None:
        """The modules, also those of YANG 1.1, which the greeting leaves out but the YANG library lists."""
        query = "".join(f'<{name} xmlns="{LIBRARY}"/>' for name in ("modules-state", "yang-library"))
        with device_errors(self._user):
            reply = read(self._session.get(filter=_filter(query)).xml)
        for one in _every(reply, "module"):
            leaf = {child.name: child.text for child in one.children if not child.children}
            if leaf.get("namespace") and leaf.get("conformance-type", "implement") in ("implement", "import"):
                self.modules.setdefault(leaf["namespace"], leaf.get("name", leaf["namespace"]))

    def has(self) -> Has:
        """The running configuration of the modules that tsnbench writes."""
        mode = re.search(r"basic-mode=([a-z-]+)", self._defaults)
        also = re.search(r"also-supported=([a-z,-]+)", self._defaults)
        modes = {*(also[1].split(",") if also else []), *([mode[1]] if mode else [])}
        explicit = not mode or mode[1] != "report-all"
        told = self._configuration(None if explicit or "trim" not in modes else "trim")
        full = self._configuration("report-all") if "report-all" in modes and explicit else told
        return Has(told, full, explicit or "trim" in modes)

    def _configuration(self, defaults: str | None) -> Node:
        query = "".join(f'<{name} xmlns="{space}"/>' for space, name in ROOTS if space in self.modules)
        more = {"with_defaults": defaults} if defaults else {}
        if not query:
            return Node(xml.BASE, "config")
        with device_errors(self._user):
            reply = read(self._session.get_config("running", filter=_filter(query), **more).xml)
        data = next((one for one in reply.children if one.name == "data"), Node(xml.BASE, "data"))
        return Node(xml.BASE, "config", children=data.children)

    def schedules(self) -> dict[str, Schedule]:
        """By interface, what the device tells about its gates; without ports of which it tells nothing.

        Raises:
            DeviceError: the connection is lost.
        """
        if xml.SCHED_BRIDGE not in self.modules:
            return {}
        query = "".join(f"<{name}/>" for name in (PENDING, CHANGE_TIME, CURRENT_TIME))
        query = f'<gate-parameter-table xmlns="{xml.SCHED_BRIDGE}">{query}</gate-parameter-table>'
        query = f'<bridge-port xmlns="{xml.BRIDGE}">{query}</bridge-port>'
        query = f'<interfaces xmlns="{xml.INTERFACES}"><interface><name/>{query}</interface></interfaces>'
        try:
            with device_errors(self._user):
                reply = read(self._session.get(filter=_filter(query)).xml)
        except DeviceError as error:
            if error.lost:
                raise
            # A device that refuses the question tells nothing.
            return {}
        found = {}
        for port in _every(reply, "interface"):
            name = dict(port.step[2]).get("name", "")
            table = next(_every(port, "gate-parameter-table"), None)
            if table is not None and (told := _schedule(table)) is not None:
                found[name] = told
        return found

    def lock(self) -> None:
        """Locks the candidate, or the running configuration of a device without a candidate.

        Both are never locked: some servers cannot revert a confirmed commit while the running configuration
        is locked.
        """
        store = "candidate" if self.candidate else "running"
        with device_errors(self._user):
            self._session.lock(store)
        self._locked.append(store)

    def take(self) -> None:
        """Ends a session that has locked the configuration; the device takes back what it has not confirmed.

        RFC 6241, 7.5 (a refused lock names the session) and 7.9 (`kill-session`).

        Raises:
            DeviceError: it cannot be locked, or its user may not end sessions.
        """
        store = "candidate" if self.candidate else "running"
        for _ in range(TAKES):
            with device_errors(self._user):
                try:
                    self._session.lock(store)
                except ncclient.operations.RPCError as error:
                    holder = re.search(r"session-id\b[^>]*>\s*([1-9]\d*)", str(error.info or ""))
                    if error.tag != "lock-denied" or holder is None:
                        raise
                    with contextlib.suppress(ncclient.operations.RPCError):
                        self._session.kill_session(holder[1])
                    refusal = DeviceError(_refusal(error, self._user))
                else:
                    self._locked.append(store)
                    self.unlock()
                    return
            time.sleep(TAKE_S)
        raise refusal

    def unlock(self) -> None:
        """Frees what is locked; what the device does not free stays so until the end of the session."""
        held = []
        for store in reversed(self._locked):
            try:
                with device_errors(self._user):
                    self._session.unlock(store)
            except DeviceError:
                held.append(store)
        self._locked = held

    @property
    def locked(self) -> bool:
        """Whether this session may still lock the device."""
        return bool(self._locked)

    def stage(self, config: str) -> None:
        """Sends a change for inspection; the change is not in force yet.

        `validate` is not used: some servers do not commit a candidate after they have validated it.
        """
        with device_errors(self._user):
            if self.candidate:
                test = {"test_option": "test-then-set"} if self.can("validate") else {}
                self._session.edit_config(config, target="candidate", **test)
            elif "validate:1.1" in self.capabilities:
                self._session.edit_config(config, target="running", test_option="test-only")

    def discard(self) -> None:
        """Discards the staged change, except in a candidate that another session has locked."""
        if self.candidate and self._locked:
            with device_errors(self._user):
                self._session.discard_changes()

    def commit(self, config: str, within_s: int) -> None:
        """Puts the staged change into force; only for a time, if the device supports confirmed commits."""
        with device_errors(self._user):
            if self.confirmed:
                self._session.commit(confirmed=True, timeout=str(within_s))
            elif self.candidate:
                self._session.commit()
            else:
                more = {"error_option": "rollback-on-error"} if self.can("rollback-on-error") else {}
                self._session.edit_config(config, target="running", **more)

    def keep(self) -> None:
        """Confirms a commit, so that the change stays in force."""
        if self.confirmed:
            with device_errors(self._user):
                self._session.commit()

    def cancel(self, config: str) -> None:
        """Cancels an unconfirmed commit; on devices that cannot, `config` reverses the change."""
        if self.confirmed and "confirmed-commit:1.1" in self.capabilities:
            with device_errors(self._user):
                self._session.cancel_commit()
            return
        self.undo(config)

    def undo(self, config: str) -> None:
        """Reverses a change that is confirmed."""
        with device_errors(self._user):
            if self.candidate:
                self._session.discard_changes()
                self._session.edit_config(config, target="candidate")
                self._session.commit()
            else:
                self._session.edit_config(config, target="running")

    def save(self) -> None:
        """Saves the running configuration for the next start, if the device stores it separately."""
        if self.can("startup"):
            with device_errors(self._user):
                self._session.copy_config(source="running", target="startup")

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._session.timeout = min(self._session.timeout, CLOSE_S)
            self._session.close_session()


def connect(node: str, host: str, port: int, access: Access) -> Device:
    """Opens a session.

    Raises:
        InputError: user, password or key are not accepted, or the host's key is not known.
        DeviceError: it cannot be reached, or speaks no NETCONF.
    """
    try:
        load(ncclient)
    except ImportError:
        raise BackendError("NETCONF needs ncclient: pip install 'tsnbench[netconf]'") from None
    for library in ("ncclient", "paramiko"):
        # Without a handler, Python prints the library's own lines between ours.
        logging.getLogger(library).addHandler(logging.NullHandler())
    # A message waits in the library until it has listened for this long: 0.1 s for each request as it comes.
    ncclient.transport.session.TICK = TICK_S
    where = f"{node} ({host}:{port})"
    if access.key is not None:
        foreign.regular(access.key, LARGEST_FILE)
    host_key = _host_key(access.known_hosts, host, port)
    try:
        session = ncclient.manager.connect_ssh(
            host=host,
            port=port,
            username=access.user,
            password=access.password,
            key_filename=str(access.key) if access.key else None,
            hostkey_b64=host_key,
            allow_agent=access.password is None,
            look_for_keys=access.password is None,
            timeout=access.timeout_s,
        )
    except ncclient.transport.errors.AuthenticationError:
        raise AccessError(f"{where}: user {access.user} was rejected: wrong password or key") from None
    except ncclient.transport.errors.SSHUnknownHostError as error:
        raise AccessError(
            f"{where}: its key is not known (fingerprint {error.fingerprint})\n"
            "  hint: check it, then add the key with ssh-keyscan to known_hosts (--known-hosts FILE)"
        ) from None
    except ncclient.transport.errors.SSHError as error:
        text = str(error)
        if "Could not open socket" in text:
            raise DeviceError(f"{where}: cannot be reached: nothing answers there") from None
        if "Negotiation failed" in text:
            raise DeviceError(f"{where}: no common SSH algorithm, or no SSH: {text}") from None
        raise DeviceError(f"{where}: has no NETCONF: {text}") from None
    except ncclient.transport.errors.SessionError as error:
        raise DeviceError(f"{where}: its NETCONF is not supported: {error}") from None
    except (ncclient.transport.errors.TransportError, OSError) as error:
        raise DeviceError(f"{where}: cannot be reached: {error}") from None
    except Exception as error:
        # The NETCONF library does not convert exceptions of the SSH package.
        raise DeviceError(f"{where}: has no NETCONF: {error}") from None
    time.sleep(GREETING_S)
    limit_replies(session._session)
    session.timeout = access.timeout_s
    session.raise_mode = ncclient.operations.RaiseMode.ERRORS
    return Device(node, host, port, session, access.user)


class LimitedParser:
    """The library's parser of replies; it gets whole messages, and none that is too long.

    The library examines all of a message again with each part that arrives.
    """

    def __init__(self, session: Any) -> None:
        self._session, self._parser = session, session.parser
        self._parts: list[bytes] = []
        self._octets = 0

    def parse(self, data: bytes) -> None:
        """Takes the next part of the device's messages.

        Raises:
            DeviceError: the message is too long.
        """
        before = self._parts[-1][-LONGEST_END:] if self._parts else b""
        self._parts.append(data)
        self._octets += len(data)
        if self._octets > LARGEST_REPLY:
            raise DeviceError(f"its reply is larger than {quantities.size(LARGEST_REPLY)}", lost=True)
        if any(end in before + data for end in ENDS):
            whole, self._parts = b"".join(self._parts), []
            self._parser.parse(whole)
            if not self._session._buffer.getvalue() and not self._session._message_list:
                self._octets = 0


def limit_replies(session: Any) -> None:
    """Limits the replies that a session of the library reads."""
    session.parser = LimitedParser(session)


def _host_key(file: Path | None, host: str, port: int) -> str | None:
    """The key of a host in a file of known hosts; None if the key is not checked."""
    if file is None:
        return None

    try:
        known = paramiko.HostKeys(str(foreign.regular(file, LARGEST_FILE)))
    except UnusableFileError:
        raise
    except OSError:
        raise AccessError(f"{file}: expected a file of known hosts, found none") from None
    except Exception as error:
        raise AccessError(f"{file}: expected a file of known hosts, found another: {error}") from None
    keys = known.lookup(f"[{host}]:{port}") or known.lookup(host)
    if not keys:
        raise AccessError(
            f"{file}: expected the key of [{host}]:{port}, found none\n"
            f"  hint: ssh-keyscan -p {port} {host}, and compare it with the device's"
        )
    best = next((kind for kind in ("ssh-ed25519", "ssh-rsa") if kind in keys), next(iter(keys)))
    return base64.b64encode(keys[best].asbytes()).decode()


def _filter(inner: str) -> str:
    return f'<filter xmlns="{xml.BASE}" type="subtree">{inner}</filter>'


def _schedule(table: Node) -> Schedule | None:
    """What a table of gates tells of its state; None if that is nothing about changes."""
    own = {one.name: one for one in table.children}
    change, now = own.get(CHANGE_TIME), own.get(CURRENT_TIME)
    if PENDING not in own or change is None:
        return None
    pending = own[PENDING].text == "true"
    return Schedule(pending, base_ns(change), None if now is None else base_ns(now))


def _every(node: Node, name: str) -> Iterator[Node]:
    for one in node.children:
        if one.name == name:
            yield one
        yield from _every(one, name)


@contextlib.contextmanager
def device_errors(user: str = "") -> Iterator[None]:
    """Converts exceptions of the NETCONF library into the device's own messages to a user."""
    try:
        yield
    except ncclient.operations.RPCError as error:
        raise DeviceError(_refusal(error, user)) from None
    except ncclient.operations.TimeoutExpiredError:
        raise DeviceError("it no longer answers", lost=True) from None
    except (ncclient.transport.errors.TransportError, OSError, EOFError) as error:
        words = (str(error) or type(error).__name__).splitlines()[0]
        raise DeviceError(f"the connection is lost ({words})", lost=True) from None
    except DeviceError:
        raise
    except UnreadableXmlError as error:
        raise DeviceError(f"its messages cannot be read: {error}") from None
    except ncclient.NCClientError as error:
        raise DeviceError(f"it cannot do that: {error}") from None
    except Exception as error:
        # The library does not convert exceptions of its XML parser at a reply.
        words = (str(error) or type(error).__name__).splitlines()[0]
        raise DeviceError(f"its messages cannot be read: {words}") from None


def _refusal(error: Any, user: str) -> str:
    """The server's messages with the paths that they name; each message once."""
    # The library joins several errors in one exception, which lacks the fields of a single error.
    every = list(dict.fromkeys(_words(one, user) for one in getattr(error, "errors", None) or [error]))
    more = f" (and {len(every) - 3} more)" if len(every) > 3 else ""
    return f"it refuses: {'; '.join(every[:3])}{more}"


def _words(error: Any, user: str) -> str:
    tag, message, path = (
        str(getattr(error, name, None) or "").strip() for name in ("tag", "message", "path")
    )
    text = message or tag or str(error)
    if tag and tag not in text:
        text += f" ({tag})"
    bad = re.search(r"bad-element\b[^>]*>\s*([\w:.-]+)", str(getattr(error, "info", None) or ""))
    if bad is not None and bad[1] not in f"{text} {path}":
        text += f": {bad[1]}"
    if tag == "lock-denied":
        text += "; someone else is changing it"
    if tag == DENIED:
        text += f"; its user {user} may not do that"
    return f"{text}, at {path}" if path else text
