"""Accepted Plans on real NETCONF servers: on all devices or none, and what the store knows of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")
pytest.importorskip("yangson", reason="needs yangson (pip install 'tsnbench[cnc]')")

import yangson
from yangson.enumerations import ContentType, ValidationScope

from cnc.cell import BOUNDED, GREEDY, SCHEDULED, Served, base_of, serving, stream_of
from support.commands import tsnbench
from support.gate_state import GateState
from support.netconf_server import PASSWORD, USER
from support.two_servers import MODULES, Two, devices_of, needs_servers, two_servers
from tsnbench.cnc.admission import Rules
from tsnbench.cnc.changes import Change, Decision
from tsnbench.cnc.devices import NetconfDevices
from tsnbench.cnc.network import Base
from tsnbench.cnc.policy import Moves
from tsnbench.cnc.restconf.model import HERE, IN_FORCE, TOP, Model
from tsnbench.cnc.restconf.resources import content, path_of
from tsnbench.cnc.restconf.routes import Restconf
from tsnbench.cnc.restconf.wanted import Streams
from tsnbench.cnc.server.events import Events
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store
from tsnbench.deploy.device import connect

pytestmark = needs_servers
OK = b'<rpc-reply message-id="%s" xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><ok/></rpc-reply>'


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    with two_servers(tmp_path) as both:
        yield both


@contextmanager
def service_of(
    base: Base, two: Two, folder: Path, rules: Rules | None = None
) -> Iterator[tuple[Service, NetconfDevices]]:
    devices = devices_of(two, folder)
    made = Service(base, Store(folder / "store", base.digest), devices, rules)
    yield made, devices
    made.close()


def asked(service: Service, change: Change) -> Decision:
    return service.ask(change).result(120)


def on_devices(devices: NetconfDevices, service: Service) -> list[str]:
    """What the devices lack of the Plan in force."""
    return list(devices.differences(service.network.plan.document))


def test_after_each_change_the_devices_have_the_plan(two: Two, tmp_path: Path) -> None:
    base = base_of(tmp_path)
    with service_of(base, two, tmp_path) as (service, devices):
        assert on_devices(devices, service)
        devices.put(service.network.plan.document)
        assert asked(service, Change("a", {"x": SCHEDULED})).accepted
        assert on_devices(devices, service) == []
        seen = [len(one.seen) for one in two]
        assert not asked(service, Change("a", {"greedy": GREEDY})).accepted
        assert [len(one.seen) for one in two] == seen, "a refusal is no matter of devices"
        told = asked(service, Change("a", {"y": {**BOUNDED, "requires": {"delay": "3 ms"}}}, ("x",)))
        assert told.accepted
        assert re.fullmatch(r"\d+ changes on 2 devices", told.notes[0])
        assert any("does not tell when its lists change" in note for note in told.notes)
        assert on_devices(devices, service) == []
        assert list(tmp_path.glob("deploy*.json")) == []


def test_a_device_that_answers_ok_and_does_nothing_is_told_and_nothing_is_half_done(
    two: Two, tmp_path: Path
) -> None:
    base = base_of(tmp_path)
    with service_of(base, two, tmp_path) as (service, devices):
        devices.put(service.network.plan.document)

        def forgets(piece: bytes) -> bytes | None:
            if b"<nc:confirmed" not in piece:
                return None
            (number,) = re.findall(rb'message-id="([^"]+)"', piece)
            answer = OK % number
            return b"\n#%d\n%s\n##\n" % (len(answer), answer)

        two[1].rules = forgets
        before = service.network
        told = asked(service, Change("a", {"x": SCHEDULED}))
        two[1].rules = None
        assert told.outcome == "devices"
        assert "sw2: it differs from the requested configuration" in told.reasons[0]["found"]
        assert service.network is before
        assert on_devices(devices, service) == []
        assert asked(service, Change("a", {"x": SCHEDULED})).accepted


def test_a_device_that_dies_is_told_and_the_other_has_its_earlier_configuration(
    two: Two, tmp_path: Path
) -> None:
    base = base_of(tmp_path)
    with service_of(base, two, tmp_path) as (service, devices):
        devices.put(service.network.plan.document)

        def dies(piece: bytes) -> bytes | None:
            if b"<nc:confirmed" not in piece:
                return None
            two[1].kill()
            return b""

        two[1].rules = dies
        told = asked(service, Change("a", {"x": SCHEDULED}))
        assert told.outcome == "devices"
        assert "sw2: the connection is lost" in told.reasons[0]["found"]
        assert service.network.requested == {}
        left = NetconfDevices(devices.where[:1], devices.access, tmp_path)
        assert left.differences(service.network.plan.document) == []
        # The record of what is left to do stays.
        assert len(list(tmp_path.glob("deploy*.json"))) == 1


def test_sessions_stay_open_until_a_device_ends_them_or_a_change_fails(two: Two, tmp_path: Path) -> None:
    base = base_of(tmp_path)

    def begun() -> list[int]:
        return [sum(b"hello" in piece for piece in one.seen) for one in two]

    with service_of(base, two, tmp_path) as (service, devices):
        devices.put(service.network.plan.document)
        first_ones = begun()
        assert asked(service, Change("a", {"x": SCHEDULED})).accepted
        assert on_devices(devices, service) == []
        assert begun() == first_ones
        # Another manager ends one of them, as a device does after a while.
        kept = devices.sessions.take()
        devices.sessions.keep(kept)
        at = devices.where[1]
        other = connect(at.node, at.host, at.port, devices.access)
        other._session.kill_session(kept[1]._session.session_id)
        other.close()
        assert asked(service, Change("a", {"y": BOUNDED})).accepted
        assert on_devices(devices, service) == []
        assert begun() == [first_ones[0] + 1, first_ones[1] + 2]
        # A session that did not free its device ends, so that others can lock the device.
        kept = devices.sessions.take()
        for one in kept:
            one._session.timeout = 2
        devices.sessions.keep(kept)
        for server in two:
            server.rules = lambda piece: b"" if b"<nc:unlock" in piece else None
        assert asked(service, Change("a", {}, ("x",))).accepted
        for server in two:
            server.rules = None
        assert devices.sessions.take() == ()
        assert asked(service, Change("a", {}, ("y",))).accepted
        assert asked(service, Change("a", {"x": SCHEDULED})).accepted
        assert on_devices(devices, service) == []
    assert devices.sessions.take() == ()


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("before", [True, False], ids=["before the devices", "after the devices"])
def test_killed_between_store_and_devices_the_devices_say_which_plan_it_is(
    two: Two, tmp_path: Path, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = base_of(tmp_path)

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with service_of(base, two, tmp_path) as (service, devices):
        devices.put(service.network.plan.document)
        with monkeypatch.context() as patch:
            if before:
                patch.setattr(NetconfDevices, "put", killed)
            else:
                patch.setattr(Store, "keep", killed)
            with pytest.raises(Killed):
                asked(service, Change("a", {"x": SCHEDULED}))
    with service_of(base, two, tmp_path) as (again, devices):
        assert list(again.network.requested) == ([] if before else ["x"])
        assert on_devices(devices, again) == []
        assert again.decisions[-1].outcome == ("devices" if before else "accepted")
        assert asked(again, Change("a", {"y": BOUNDED})).number == 2
    with service_of(base, two, tmp_path) as (last, _):
        assert len(last.decisions) == 2


LAB = """\
hosts:
  {{cam: {{ssh: root@cam, ports: {{a: eth0}}}}, cam2: {{ssh: root@cam2, ports: {{a: eth0}}}},
   ctl: {{ssh: root@ctl, ports: {{a: eth0}}}}}}
devices:
  left: {{netconf: "{user}@127.0.0.1:{left}", ports: {{p1: swp1, p2: swp2, p3: swp3}}}}
  middle: {{netconf: "{user}@127.0.0.1:{middle}", ports: {{p1: swp1, p2: swp2}}}}
  right: {{by-hand: right.txt, ports: {{p1: "1", p2: "2"}}}}
wires: [cam.a - left.p1, cam2.a - left.p2, left.p3 - middle.p1, middle.p2 - right.p1, right.p2 - ctl.a]
map: {{sw1: left, sw2: middle, sw3: right}}
"""


def test_devices_of_an_inventory_have_their_own_names_of_ports(
    two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TSNBENCH_NETCONF_PASSWORD", PASSWORD)
    direct = devices_of(two, tmp_path)
    lab = tmp_path / "lab.yaml"
    lab.write_text(LAB.format(user=USER, left=two[0].port, middle=two[1].port))
    words = ["--devices", lab, "--known-hosts", tmp_path / "known_hosts", "--overwrite"]
    with serving(tmp_path, *words) as served:
        assert served.ask("PUT", "/api/streams/x", SCHEDULED)[0] == 201
        assert served.ask("GET", "/api/devices")[1]["differences"] == []
        plan = served.ask("GET", "/api/plan")[1]
    # Under the names of the inventory, and under no others.
    own = {"sw1 -> cam": "swp1", "sw1 -> cam2": "swp2", "sw1 -> sw2": "swp3"}
    own |= {"sw2 -> sw1": "swp1", "sw2 -> sw3": "swp2"}
    assert replace(direct, interfaces=own).differences(plan) == []
    assert direct.differences(plan)
    served_by = serving(tmp_path, "--devices", lab, "--node", "sw1=127.0.0.1:1")
    with pytest.raises(AssertionError, match="--devices: expected it or --node, found both"):
        served_by.__enter__()


def _others_change_the_devices(
    served: Served, two: Two, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service tells it when it is asked, and gives the devices its Plan again."""
    assert served.ask("GET", "/api/devices")[1]["differences"] == []
    devices_of(two, folder).put(base_of(folder).plan.document)
    found = served.ask("GET", "/api/devices")[1]["differences"]
    assert found
    assert all(line.startswith(("sw1: ", "sw2: ")) for line in found)
    monkeypatch.setenv("TSNBENCH_CNC", served.address)
    told = tsnbench("cnc", "devices")
    assert (told.returncode, told.stdout.splitlines()) == (1, found)
    assert served.ask("POST", "/api/devices", {"overwrite": False})[0] == 400
    done = tsnbench("cnc", "devices", "--overwrite")
    assert (done.returncode, "devices: accepted" in done.stdout) == (0, True), done.stderr
    assert served.ask("GET", "/api/devices")[1]["differences"] == []
    assert served.ask("GET", "/api/decisions")[1]["decisions"][0]["change"]["devices"] == "overwrite"


def test_the_command_tells_differences_and_overwrites_nothing_by_itself(
    two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TSNBENCH_NETCONF_PASSWORD", PASSWORD)
    devices_of(two, tmp_path)
    words: list[Any] = ["--user", USER, "--known-hosts", tmp_path / "known_hosts"]
    for number, one in enumerate(two):
        words += ["--node", f"sw{number + 1}=127.0.0.1:{one.port}"]
    with pytest.raises(AssertionError, match="the devices differ from the Plan in force"):
        serving(tmp_path, *words).__enter__()
    with serving(tmp_path, *words, "--overwrite") as served:
        assert served.ask("PUT", "/api/streams/x", SCHEDULED)[0] == 201
        _others_change_the_devices(served, two, tmp_path, monkeypatch)
        two[0].kill()
        assert served.ask("GET", "/api/devices")[0] == 502
        status, told, _ = served.ask("PUT", "/api/streams/y", BOUNDED)
        assert (status, told["decision"]["outcome"]) == (502, "devices")
        assert served.ask("GET", "/api/streams/y")[0] == 404


def _told_by_restconf(service: Service) -> None:
    """A CUC reads the instant beside the status of its stream, once that is in the network, and the data are
    those of the modules."""
    streams = Streams(service, Model(MODULES))
    own = Restconf(streams, Events(service))
    service.soon(lambda: streams.write("b", "plant", stream_of())).result(30)

    def read() -> dict[str, Any]:
        path = path_of(f"{TOP}/domain=cell/cuc=plant/stream={stream_of()['stream-id']}/status-info")
        return dict(own._found(path, {})[1])

    assert IN_FORCE not in read()
    assert service.soon(lambda: streams.compute("b", streams.all())).result(30) == {
        stream_of()["stream-id"]: 0
    }
    found = read()
    assert found[IN_FORCE] == str(service.in_force_ns)
    assert content(found, "config") == stream_of()
    assert streams.model.has(("domain", "cuc", "stream", IN_FORCE)), "for ?fields="
    library = {"ietf-yang-library:modules-state": {"module-set-id": "", "module": streams.model.modules}}
    model = yangson.DataModel(json.dumps(library), (str(MODULES), str(HERE)))
    whole = {TOP: {"domain": [{"domain-id": "cell", "cuc": [{"cuc-id": "plant", "stream": [found]}]}]}}
    model.from_raw(whole).validate(ValidationScope.all, ContentType.all)
    service.soon(lambda: streams.remove("b", "plant", streams.all())).result(30)


def test_talkers_are_told_from_when_on_all_devices_have_the_lists(two: Two, tmp_path: Path) -> None:
    one, other = GateState(), GateState()
    base = base_of(tmp_path)
    with service_of(base, two, tmp_path, Rules(moves=Moves.IF_SILENT)) as (service, devices):
        two[0].rules, two[1].rules = one, other
        devices.put(service.network.plan.document)
        told = asked(service, Change("a", {"x": SCHEDULED}))
        assert told.accepted
        assert told.in_force_ns == service.in_force_ns
        assert told.in_force_ns is not None
        # The next change is made when the lists of this one are in force, and a device that is late gets
        # another instant.
        other.late = True
        again = asked(service, Change("a", {"y": {**SCHEDULED, "payload": "100 B"}}))
        assert again.accepted
        assert again.in_force_ns is not None
        assert again.in_force_ns > told.in_force_ns
        assert not other.late
        assert on_devices(devices, service) == []
        _told_by_restconf(service)
        # Streams that move need devices that say when they change.
        assert asked(service, Change("a", {}, ("x",))).accepted
        two[1].rules = None
        place = service.network.flows("y")
        refused = asked(service, Change("a", tidy=("y",)))
        assert refused.outcome == "devices"
        assert "does not tell when its list changes (config-change-time)" in refused.reasons[0]["found"]
        assert service.network.flows("y") == place
        two[1].rules = other
        moved = asked(service, Change("a", tidy=("y",)))
        assert moved.accepted
        assert service.network.flows("y") != place
        assert on_devices(devices, service) == []
