"""RESTCONF over the modules of 802.1Qdj: requests in, status out; yangson judges both."""

from __future__ import annotations

import copy
import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")
pytest.importorskip("yangson", reason="needs yangson (pip install 'tsnbench[cnc]')")

import yangson
from yangson.enumerations import ContentType, ValidationScope

from cnc.cell import BOUNDED, CAM, CAM2, CTL, SCENARIO, SCHEDULED, Served, base_of, serving, stream_of
from tsnbench.cnc.changes import SettingError
from tsnbench.cnc.devices import NetconfDevices
from tsnbench.cnc.restconf.mapping import name_of, scenario_stream
from tsnbench.cnc.restconf.model import CNC, HERE, REASON, TOP, Model
from tsnbench.cnc.restconf.resources import content
from tsnbench.cnc.restconf.stations import Stations
from tsnbench.cnc.restconf.status import status_of
from tsnbench.cnc.restconf.wanted import Streams
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store
from tsnbench.deploy import Access
from tsnbench.scenario.model import Policy

MODULES = Path(os.environ.get("TSNBENCH_YANG", Path(__file__).resolve().parents[3] / "shared/yang"))
pytestmark = pytest.mark.skipif(
    not (MODULES / f"{CNC}.yang").is_file(),
    reason="needs IEEE's modules (TSNBENCH_YANG, or shared/yang beside the repository)",
)
MEDIA = "application/yang-data+json"
DATA = f"/restconf/data/{TOP}"
CUC = f"{DATA}/domain=cell/cuc=plant"
ID = "00-11-22-33-44-55:00-01"


def bounded(number: int = 1) -> dict[str, Any]:
    made = stream_of(number)
    del made["talker"]["traffic-specification"]["time-aware"]
    made["talker"]["data-frame-specification"][0]["ieee802-vlan-tag"]["priority-code-point"] = 3
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("cnc"), "--yang", MODULES) as found:
        yield found


@pytest.fixture
def streams(tmp_path: Path) -> Iterator[Streams]:
    base = base_of(tmp_path)
    service = Service(base, Store(tmp_path / "store", base.digest))
    yield Streams(service, Model(MODULES))
    service.close()


def put(served: Served, stream: dict[str, Any], **headers: str) -> tuple[int, Any, dict[str, str]]:
    path = f"{CUC}/stream={stream['stream-id']}"
    return served.ask("PUT", path, {f"{CNC}:stream": [stream]}, content_type=MEDIA, **headers)


def operation(served: Served, name: str, asked: dict[str, Any]) -> tuple[int, Any]:
    path = f"/restconf/operations/{CNC}:{name}"
    status, told, _ = served.ask("POST", path, {f"{CNC}:input": asked}, content_type=MEDIA)
    return status, told[f"{CNC}:output"]["result"] if status == 200 else told


def judged(served: Served) -> None:
    """yangson allows all of the data, configuration and state."""
    whole = served.ask("GET", DATA)[1]
    library = {"ietf-yang-library:modules-state": {"module-set-id": "", "module": Model(MODULES).modules}}
    model = yangson.DataModel(json.dumps(library), (str(MODULES), str(HERE)))
    model.from_raw(whole).validate(ValidationScope.all, ContentType.all)


def of_cuc(name: str = "plant") -> dict[str, Any]:
    return {"domain": [{"domain-id": "cell", "cuc": [{"cuc-id": name}]}]}


def read(served: Served, stream_id: str = ID) -> dict[str, Any]:
    status, found, _ = served.ask("GET", f"{CUC}/stream={stream_id.replace(':', '%3A')}")
    assert status == 200
    (stream,) = found[f"{CNC}:stream"]
    return dict(stream)


def written(streams: Streams, *found: dict[str, Any], client: str = "a", cuc: str = "plant") -> None:
    for one in found:
        streams.service.soon(lambda one=one: streams.write(client, cuc, one)).result(30)  # type: ignore[misc]


def computed(streams: Streams, *ids: str) -> dict[str, int]:
    return streams.service.soon(lambda: streams.compute("a", ids or streams.all())).result(30)


def test_a_stream_is_planned_then_configured_and_its_data_are_those_of_the_module(served: Served) -> None:
    assert put(served, stream_of())[0] == 201
    assert read(served)["stream-status"] == "planned"
    assert read(served)["status-info"]["talker-status"] == "none"
    status, told = operation(served, "compute_all_streams", of_cuc())
    assert (status, told) == (200, "1 of 1 streams are configured")
    found = read(served)
    assert found["stream-status"] == "configured"
    assert found["status-info"] == {"talker-status": "ready", "listener-status": "ready", "failure-code": 0}
    (interface,) = found["talker"]["interface-configuration"]["interface-list"]
    assert interface["mac-address"] == CAM2
    tag, offset = interface["config-list"]
    assert tag["ieee802-vlan-tag"] == {"priority-code-point": 7, "vlan-id": 100}
    # Four links of 100 Mbit/s: 1000 octets, 22 of the frame around them, 8 before it.
    assert found["listener"][0]["accumulated-latency"] == offset["time-aware-offset"] + 4 * 8 * 1030 * 10
    assert found["talker"]["accumulated-latency"] == found["listener"][0]["accumulated-latency"]
    # The offset is for the talker alone.
    (end,) = found["listener"][0]["interface-configuration"]["interface-list"]
    assert end == {"mac-address": CTL, "interface-name": "eth1", "config-list": []}
    judged(served)
    assert put(served, stream_of())[0] == 204
    assert read(served)["stream-status"] == "configured"
    assert served.ask("DELETE", f"{CUC}/stream={ID}")[0] == 204
    assert served.ask("GET", f"{CUC}/stream={ID}")[0] == 404
    assert served.ask("GET", f"/api/streams/{name_of(ID)}")[0] == 404


def test_what_is_asked_of_the_api_resource(served: Served) -> None:
    assert served.ask("GET", "/.well-known/host-meta")[0] == 200
    root = served.ask("GET", "/restconf")[1]["ietf-restconf:restconf"]
    assert len(root["operations"]) == 5
    assert served.ask("GET", "/restconf/yang-library-version")[1] == {
        "ietf-restconf:yang-library-version": "2016-06-21"
    }
    library = served.ask("GET", "/restconf/data/ietf-yang-library:modules-state")[1]
    assert library["ietf-yang-library:modules-state"]["module"][0]["name"] == CNC
    assert served.ask("GET", "/restconf/data/other:data")[0] == 404
    assert served.ask("GET", f"{DATA}/domain=other")[0] == 404
    assert served.ask("GET", f"{DATA}?depth=0")[0] == 400
    status, _, headers = served.ask("PUT", DATA, {}, content_type=MEDIA)
    assert (status, headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    status, _, headers = served.ask("OPTIONS", f"{CUC}/stream={ID}")
    assert (status, headers["allow"]) == (200, "GET, HEAD, OPTIONS, PUT, PATCH, DELETE")
    assert headers["accept-patch"] == MEDIA
    monitoring = served.ask("GET", "/restconf/data/ietf-restconf-monitoring:restconf-state")[1]
    capabilities = monitoring["ietf-restconf-monitoring:restconf-state"]["capabilities"]["capability"]
    assert [one.rpartition("capability:")[2] for one in capabilities] == [
        "defaults:1.0?basic-mode=explicit",
        "depth:1.0",
        "fields:1.0",
        "with-defaults:1.0",
    ]
    assert served.ask("PUT", f"{CUC}/stream={ID}", {}, content_type="application/json")[0] == 415


def test_the_data_store_has_all_data_and_a_tag_of_its_configuration(served: Served) -> None:
    store = "/restconf/data"
    assert put(served, stream_of(13, talker=CAM))[0] == 201
    _, found, headers = served.ask("GET", store)
    assert found == {"ietf-restconf:data": served.ask("GET", DATA)[1]}
    assert parsedate_to_datetime(headers["last-modified"]).tzinfo is not None
    assert served.ask("GET", DATA)[2]["etag"] == headers["etag"]
    assert served.ask("GET", f"{store}?depth=1")[1] == {"ietf-restconf:data": {}}
    assert served.ask("GET", f"{store}?fields=cnc-config")[0] == 400
    assert served.ask("OPTIONS", store)[2]["allow"] == "GET, HEAD, OPTIONS"
    # A computation changes state alone.
    operation(served, "compute_all_streams", of_cuc())
    assert served.ask("GET", store)[2]["etag"] == headers["etag"]
    other = stream_of(13, talker=CAM)
    other["talker"]["stream-rank"]["rank"] = 0
    assert put(served, other)[0] == 204
    assert (tag := served.ask("GET", store)[2]["etag"]) != headers["etag"]
    assert served.ask("DELETE", f"{CUC}/stream={other['stream-id']}")[0] == 204
    assert served.ask("GET", store)[2]["etag"] not in (tag, headers["etag"])


def test_defaults_are_those_of_the_module(served: Served) -> None:
    """yangson adds all that are missing; what was written stays, and goes with trim."""
    own = stream_of(12)
    own["talker"]["user-to-network-requirements"] = {"num-seamless-trees": 1, "max-latency": 900_000}
    own["talker"]["interface-capabilities"] = {"vlan-tag-capable": False}
    assert put(served, own)[0] == 201
    whole = served.ask("GET", DATA)[1]
    library = {"ietf-yang-library:modules-state": {"module-set-id": "", "module": Model(MODULES).modules}}
    model = yangson.DataModel(json.dumps(library), (str(MODULES), str(HERE)))
    assert served.ask("GET", f"{DATA}?with-defaults=explicit")[1] == whole
    every = served.ask("GET", f"{DATA}?with-defaults=report-all&content=config")[1]
    # It adds empty containers of state, too.
    assert every == content(model.from_raw(whole).add_defaults().raw_value(), "config")
    where = f"{CUC}/stream={own['stream-id']}"
    listener = f"{where}/listener=0/user-to-network-requirements"
    assert served.ask("GET", listener)[0] == 404
    found = served.ask("GET", f"{listener}?with-defaults=report-all")[1]
    assert found == {f"{CNC}:user-to-network-requirements": {"num-seamless-trees": 1, "max-latency": 0}}
    trimmed = served.ask("GET", f"{where}?with-defaults=trim&content=config")[1][f"{CNC}:stream"][0]["talker"]
    assert trimmed["user-to-network-requirements"] == {"max-latency": 900_000}
    assert "interface-capabilities" not in trimmed
    for wrong in ("report-all-tagged", "", "trim&with-defaults=trim"):
        assert served.ask("GET", f"{where}?with-defaults={wrong}")[0] == 400, wrong
    assert served.ask("DELETE", where)[0] == 204


def test_depth_content_tags_and_creation(served: Served) -> None:
    created = served.ask("POST", CUC, {f"{CNC}:stream": [stream_of(9)]}, content_type=MEDIA)
    assert created[0] == 201
    where = created[2]["location"]
    _, found, headers = served.ask("GET", where)
    assert found[f"{CNC}:stream"][0]["stream-id"].endswith("00-09")
    assert served.ask("POST", CUC, {f"{CNC}:stream": [stream_of(9)]}, content_type=MEDIA)[0] == 409
    config = served.ask("GET", f"{where}?content=config")[1][f"{CNC}:stream"][0]
    assert config == stream_of(9)
    state = served.ask("GET", f"{where}?content=nonconfig")[1][f"{CNC}:stream"][0]
    assert set(state) == {"stream-id", "stream-status", "status-info", "listener"}
    # RFC 8040, 4.8.2: the node alone; its leaves are one level below.
    assert served.ask("GET", f"{where}?depth=1")[1][f"{CNC}:stream"] == [{}]
    two = served.ask("GET", f"{where}?depth=2")[1][f"{CNC}:stream"][0]
    assert (two["stream-status"], two["talker"], two["listener"]) == ("planned", {}, [{}])
    rank = served.ask("GET", f"{where}/talker/stream-rank/rank")[1]
    assert rank == {f"{CNC}:rank": 1}
    assert served.ask("GET", f"{where}/listener=0/end-station-interfaces")[0] in (200, 404)
    assert served.ask("GET", f"{where}/nothing")[0] == 404
    later = stream_of(9, **{"max-frame-size": 500})
    assert put(served, later, if_match='"of another time"')[0] == 412
    assert put(served, later, if_match=headers["etag"])[0] == 204
    assert served.ask("DELETE", where, if_match=headers["etag"])[0] == 412
    assert served.ask("DELETE", where)[0] == 204
    assert put(served, later, if_match=headers["etag"])[0] == 412


def test_fields_select_nodes_of_the_module(served: Served) -> None:
    assert put(served, stream_of(7))[0] == 201
    where = f"{CUC}/stream={stream_of(7)['stream-id']}"

    def of(fields: str, more: str = "") -> Any:
        return served.ask("GET", f"{where}?fields={fields}{more}")[1][f"{CNC}:stream"][0]

    assert of("stream-id") == {"stream-id": stream_of(7)["stream-id"]}
    assert of("talker/stream-rank/rank;listener(index)") == {
        "talker": {"stream-rank": {"rank": 1}},
        "listener": [{"index": 0}],
    }
    assert of(f"{CNC}:talker(stream-rank;traffic-specification/interval);talker/stream-rank/rank") == {
        "talker": {
            "stream-rank": {"rank": 1},
            "traffic-specification": {"interval": {"numerator": 1, "denominator": 1000}},
        }
    }
    # The selected node counts as the first level.
    assert of("talker/traffic-specification", "&depth=1") == {"talker": {"traffic-specification": {}}}
    assert of("talker", "&content=config&depth=2")["talker"]["traffic-specification"] == {}
    whole = served.ask("GET", f"{DATA}?fields=domain/cuc(cuc-id)")[1]
    assert whole == {TOP: {"domain": [{"cuc": [{"cuc-id": "plant"}]}]}}
    for wrong in ("", "no-such", "talker/rank", "talker(", "talker)", "a;;b", "talker/", "%00", "(" * 40):
        assert served.ask("GET", f"{where}?fields={wrong}")[0] == 400, wrong
    assert served.ask("GET", f"{where}?depth=1&depth=2")[0] == 400
    assert served.ask("DELETE", where)[0] == 204


def test_a_patch_is_merged_and_judged_as_a_whole(served: Served) -> None:
    stream = stream_of(6)
    where = f"{CUC}/stream={stream['stream-id']}"

    def patched(more: dict[str, Any], **headers: str) -> int:
        own = {"stream-id": stream["stream-id"], **more}
        return served.ask("PATCH", where, {f"{CNC}:stream": [own]}, content_type=MEDIA, **headers)[0]

    assert patched({"talker": {"stream-rank": {"rank": 0}}}) == 404
    assert put(served, stream)[0] == 201
    tag = served.ask("GET", where)[2]["etag"]
    assert patched({"talker": {"traffic-specification": {"max-frame-size": 500}}}, if_match=tag) == 204
    assert patched({"talker": {"stream-rank": {"rank": 0}}}, if_match=tag) == 412
    end = {"mac-address": CAM, "interface-name": "eth1"}
    assert patched({"listener": [{"index": 1, "end-station-interfaces": [end]}]}) == 204
    # Of a choice, the case that is written replaces the other one (RFC 7950, 7.9).
    mac = {"destination-mac-address": "01-00-5E-00-00-01", "source-mac-address": CAM2}
    address = {"index": 0, "ieee802-mac-addresses": mac}
    assert patched({"talker": {"data-frame-specification": [address]}}) == 204
    config = served.ask("GET", f"{where}?content=config")[1][f"{CNC}:stream"][0]
    expected = stream_of(6, **{"max-frame-size": 500})
    expected["listener"].append({"index": 1, "end-station-interfaces": [end]})
    expected["talker"]["data-frame-specification"] = [address]
    assert config == expected
    for wrong in (
        {"talker": 1},
        {"listener": {}},
        {"no-such": 1},
        {"talker": {"stream-rank": {"rank": 900}}},
    ):
        assert patched(wrong) == 400, wrong
    assert served.ask("GET", f"{where}?content=config")[1][f"{CNC}:stream"][0] == expected
    assert served.ask("PATCH", DATA, {}, content_type=MEDIA)[0] == 405
    assert served.ask("DELETE", where)[0] == 204


def test_operations_name_what_is_wrong(served: Served) -> None:
    assert operation(served, "request_domain_id", {"cuc-id": "plant"}) == (200, "cell")
    status, free = operation(served, "request_free_stream_id", {"domain-id": "cell", "cuc-id": "plant"})
    assert (status, free) == (200, f"{CAM}:00-01")
    status, free = operation(served, "request_free_stream_id", {"domain-id": "cell", "cuc-id": "other"})
    assert (status, free) == (200, f"{CAM}:00-02"), "another CUC gets another one"
    for asked in (
        {},
        {"domain-id": "x", "cuc-id": "y"},
        {"domain-id": "cell"},
        {"domain-id": 1, "cuc-id": 1},
    ):
        assert operation(served, "request_free_stream_id", asked)[0] == 400
    assert operation(served, "compute_streams", {"domain": 1})[0] == 400
    unknown = of_cuc()
    unknown["domain"][0]["cuc"][0]["stream-list"] = [{"stream-id": ID}]
    status, told = operation(served, "compute_streams", unknown)
    (error,) = told["ietf-restconf:errors"]["error"]
    assert (status, error["error-message"]) == (400, "no stream of this CUC")
    assert operation(served, "no_such", {})[0] == 404
    action = {f"{CNC}:input": {"stream-list": [{"stream-id": ID}]}}
    assert served.ask("POST", f"{CUC}/remove_streams", action, content_type=MEDIA)[0] == 400


def test_events_tell_every_decision(served: Served) -> None:
    put(served, stream_of(7))
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        host = f"127.0.0.1:{served.port}"
        line.sendall(f"GET /restconf/streams/NETCONF/json HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        reader = line.makefile("r")
        while not reader.readline().startswith(": decisions"):
            pass
        operation(served, "compute_planned_and_modified_streams", of_cuc())
        served.ask("DELETE", f"{CUC}/stream={stream_of(7)['stream-id']}")
        told = []
        while len(told) < 2:
            text = reader.readline()
            if text.startswith("data: "):
                told.append(json.loads(text.removeprefix("data: "))["ietf-restconf:notification"])
    kinds = [next(key for key in one if key != "eventTime") for one in told]
    assert kinds == [f"{CNC}:configure_streams_completed", f"{CNC}:remove_streams_completed"]
    for kind, one in zip(kinds, told, strict=True):
        (cuc,) = one[kind]["domain"][0]["cuc"]
        assert cuc["stream"] == [{"stream-id": stream_of(7)["stream-id"], "failure-code": 0}]


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    """Sets the value at a path: the last one of the words."""
    *steps, last, value = path

    def change(stream: dict[str, Any]) -> None:
        part: Any = stream
        for step in steps:
            part = part[step]
        if value is None:
            del part[last]
        else:
            part[last] = value

    return change


TSPEC = ("talker", "traffic-specification")
WRONG: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (_set("other", 1), "other"),
    (_set("stream-status", "configured"), ""),
    (_set("talker", "accumulated-latency", 1), "talker"),
    (_set("talker", []), "talker"),
    (_set("listener", []), "listener"),
    (_set("talker", "end-station-interfaces", None), "talker"),
    (_set("talker", "end-station-interfaces", 0, "mac-address", "02-00-00-09-00-01"), "talker"),
    (_set("talker", "end-station-interfaces", 0, "mac-address", "<script>"), "talker"),
    (_set("talker", "end-station-interfaces", 0, "interface-name", "eth7"), "talker"),
    (_set("listener", 0, "index", -1), "listener"),
    (_set("talker", "traffic-specification", None), "talker/traffic-specification"),
    (_set(*TSPEC, "interval", None), "talker/traffic-specification/interval"),
    (_set(*TSPEC, "interval", "denominator", 0), "talker/traffic-specification/interval"),
    (_set(*TSPEC, "interval", "denominator", 3_000_000_001), "talker/traffic-specification/interval"),
    (_set(*TSPEC, "max-frame-size", 0), "talker/traffic-specification/max-frame-size"),
    (_set(*TSPEC, "max-frame-size", 1 << 16), "talker/traffic-specification/max-frame-size"),
    (_set(*TSPEC, "max-frames-per-interval", None), "talker/traffic-specification/max-frames-per-interval"),
    (_set(*TSPEC, "transmission-selection", 2), "talker/traffic-specification/transmission-selection"),
    (_set(*TSPEC, "time-aware", {"jitter": 5}), "talker/traffic-specification/time-aware/jitter"),
    (
        _set("talker", "user-to-network-requirements", "max-latency", 1 << 32),
        "talker/user-to-network-requirements/max-latency",
    ),
    (_set("talker", "data-frame-specification", 0, {"index": 0, "ipv4-tuple": {}}), "talker/data-frame"),
]


@pytest.mark.parametrize(("change", "path"), WRONG, ids=range(len(WRONG)))
def test_wrong_data_have_a_path_and_change_nothing(
    served: Served, change: Callable[[dict[str, Any]], None], path: str
) -> None:
    stream = copy.deepcopy(stream_of(3))
    change(stream)
    status, told, _ = put(served, stream)
    assert status == 400, told
    (error,) = told["ietf-restconf:errors"]["error"]
    assert error.get("error-path", "/").startswith(f"/{path}")
    assert error["error-message"]
    assert served.ask("GET", f"{CUC}/stream={stream_of(3)['stream-id']}")[0] == 404


@pytest.mark.parametrize(
    "document",
    [
        {},
        {f"{CNC}:stream": []},
        {f"{CNC}:stream": [1]},
        {f"{CNC}:stream": {}},
        {f"{CNC}:stream": [{}]},
        {"stream": []},
    ],
)
def test_wrong_bodies_are_refused(served: Served, document: Any) -> None:
    assert served.ask("PUT", f"{CUC}/stream={ID}", document, content_type=MEDIA)[0] == 400


def test_the_stream_of_the_guide_is_admitted(streams: Streams) -> None:
    page = (Path(__file__).parents[2] / "docs/guides/cnc.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (one,) = json.loads(text)[f"{CNC}:stream"]
    assert f"$STREAM={one['stream-id']} -H" in page
    written(streams, one)
    assert computed(streams) == {one["stream-id"]: 0}


def test_a_refused_stream_has_a_failure_code_and_the_others_stay(streams: Streams) -> None:
    tight = stream_of(2, talker=CAM)
    tight["talker"]["user-to-network-requirements"]["max-latency"] = 200_000
    written(streams, stream_of(1), tight)
    assert computed(streams) == {stream_of(1)["stream-id"]: 0, tight["stream-id"]: 21}
    one = streams.all()[tight["stream-id"]]
    assert "338" in str(one.reasons) or "329.6 us" in str(one.reasons)
    assert streams.status(tight["stream-id"], one) == "planned"


def test_a_refusal_is_explained_beside_the_status_with_what_was_tried(served: Served) -> None:
    tight, late = stream_of(5), bounded(6)
    tight["talker"]["user-to-network-requirements"]["max-latency"] = 200_000
    late["talker"]["traffic-specification"]["max-frame-size"] = 1400
    late["talker"]["user-to-network-requirements"]["max-latency"] = 500_000
    hints = {
        tight["stream-id"]: "requires.delay from release: 329600 ns",
        late["stream-id"]: "requires.delay from release: 1 ms would be admitted (tried)",
    }
    for one in (tight, late):
        assert put(served, one)[0] == 201
    operation(served, "compute_all_streams", of_cuc())
    for key, hint in hints.items():
        found = read(served, key)
        assert found["status-info"]["failure-code"] == 21
        # It is the listener that the frames reach too late.
        assert found["failed-interfaces"] == [{"mac-address": CTL, "interface-name": "eth1"}]
        assert hint in found[REASON][0]["hint"]
        assert found[REASON][0].keys() <= {"path", "expected", "found", "hint", "code"}
        where = f"{CUC}/stream={key}?fields=tsnbench-cnc:reason/hint"
        assert served.ask("GET", where)[1][f"{CNC}:stream"] == [
            {REASON: [{"hint": one["hint"]} if "hint" in one else {} for one in found[REASON]]}
        ]
        assert REASON not in served.ask("GET", f"{CUC}/stream={key}?content=config")[1][f"{CNC}:stream"][0]
    judged(served)
    for key in hints:
        served.ask("DELETE", f"{CUC}/stream={key}")


def test_failed_interfaces_are_those_where_the_network_has_no_room(tmp_path: Path) -> None:
    """The slow port of the path: a bridge's, by the Plan's address and the device's own name."""
    links = (
        "[{rate: 100 Mbit/s, between: [cam-sw1, sw2-sw3, sw3-ctl, cam2-sw1]}, "
        "{rate: 20 Mbit/s, between: sw1-sw2}, {rate: 100 Mbit/s, between: sw1-sw2}]"
    )
    text = re.sub(r"links: .*", f"links: {links}", SCENARIO).replace("200 us", "900 us")
    base = base_of(tmp_path, text)
    service = Service(base, Store(tmp_path / "store", base.digest))
    service.devices = NetconfDevices([], Access("admin"), tmp_path, {"sw1 -> sw2 #1": "port7"})
    streams = Streams(service, Model(MODULES))
    fits, wide = bounded(), bounded(2)
    wide["talker"]["traffic-specification"]["interval"]["denominator"] = 2500
    fits["talker"]["user-to-network-requirements"]["max-latency"] = 3_000_000
    written(streams, fits, wide)
    # It is late as well, but a longer latency would not help.
    assert computed(streams) == {fits["stream-id"]: 0, wide["stream-id"]: 3}
    own = streams.all()[wide["stream-id"]]
    found = status_of(service.network, wide, "planned", own.failure, streams.stations, None, own.reasons)
    service.close()
    assert found["failed-interfaces"] == [{"mac-address": "02-00-00-04-00-03", "interface-name": "port7"}]
    assert "failed-interfaces" not in status_of(service.network, fits, "configured", 0, streams.stations)


def test_a_talker_without_a_tag_has_the_class_of_the_policy(tmp_path: Path) -> None:
    aware, other, rated = stream_of(), bounded(2), bounded(3)
    for one in (aware, other, rated):
        one["talker"]["data-frame-specification"] = [{"index": 0, "ieee802-mac-addresses": {}}]
    rated["talker"]["traffic-specification"]["transmission-selection"] = 1
    stations = Stations(base_of(tmp_path).plan.document)
    words = [scenario_stream(one, stations) for one in (aware, other, rated)]
    assert [(one.get("pcp"), one.get("class")) for one in words] == [(7, None), (5, None), (None, "sr/A")]
    given = Policy(pcp=4, scheduled_pcp=6)
    words = [scenario_stream(one, stations, None, given) for one in (aware, other, rated)]
    assert [one.keys() & {"pcp", "class"} for one in words] == [set(), set(), {"class"}]
    other["talker"]["user-to-network-requirements"]["max-latency"] = 3_000_000
    base = base_of(tmp_path, SCENARIO + "policy: {pcp: 4, scheduled-pcp: 6}\n")
    service = Service(base, Store(tmp_path / "store", base.digest))
    streams = Streams(service, Model(MODULES))
    written(streams, aware, other)
    assert {*computed(streams).values()} == {0}
    service.close()
    assert [service.network.flows(name_of(one["stream-id"]))[0]["pcp"] for one in (aware, other)] == [6, 4]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("more than sw1 -> sw21 has, and sw21 -> b.c", ["sw1", "sw21"]),
        ("the link sw1 -> sw2, at b.c", ["sw1"]),
        ("shapers.sw1 -> sw2.gates", ["sw1"]),
        ("a worst case of 3 ms at b.c", ["b.c"]),
        ("log to a: late; b.c to b.c", ["a", "b.c"]),
        ("at sw2, to nobody -> sw3, and a", []),
    ],
)
def test_interfaces_that_a_reason_names(tmp_path: Path, text: str, nodes: list[str]) -> None:
    links = "{rate: 1 Gbit/s, between: [a-sw1, sw1-sw2, sw1-sw21, sw21-b.c]}"
    network = f"network: {{stations: [a, b.c], bridges: [sw1, sw2, sw21], links: {links}}}"
    streams = "streams: {x: {from: a, to: b.c, period: 1 ms, payload: 100 B}}"
    base = base_of(tmp_path, f"name: cell\nduration: 10 ms\n{network}\n{streams}\n")
    assert [one.node for one in Stations(base.plan.document).named(text)] == nodes


def test_of_two_streams_that_do_not_fit_together_the_rank_decides(streams: Streams) -> None:
    first, second = bounded(1), bounded(2)
    for one, rank in ((first, 1), (second, 0)):
        one["talker"]["traffic-specification"]["max-frame-size"] = 1400
        one["talker"]["stream-rank"]["rank"] = rank
        one["talker"]["user-to-network-requirements"]["max-latency"] = 900_000
    written(streams, first, second)
    assert computed(streams) == {second["stream-id"]: 0, first["stream-id"]: 21}


def test_the_latency_of_a_time_aware_talker_counts_from_its_interval(streams: Streams) -> None:
    """The release is before the limit, also where the early part of the interval is taken."""
    for number in range(1, 6):
        one = stream_of(number, talker=(CAM, CAM2)[number % 2], **{"max-frame-size": 400})
        one["talker"]["user-to-network-requirements"]["max-latency"] = 400_000
        written(streams, one)
    codes = computed(streams)
    assert list(codes.values()).count(0) >= 3
    assert set(codes.values()) <= {0, 2, 21}
    network = streams.service.network
    for own in network.plan.document["streams"]:
        if own["group"] in network.requested:
            released = own["pattern"]["offset_ns"]  # type: ignore[typeddict-item]
            # Four links, each for 422 + 8 octets, with at most the wait that the proof knows.
            assert released + 4 * 8 * 430 * 10 <= 400_000
    placed = {one["group"] for one in network.plan.document["streams"]} - {"loop", "log"}
    assert placed == {name_of(key) for key, code in codes.items() if code == 0}


def test_a_latency_that_has_no_number_in_the_module_is_refused(tmp_path: Path) -> None:
    slow = re.sub("  loop: .*\n", "", SCENARIO).replace("1 ms, payload: 100 B, ", "60 s, payload: 10 B}#")
    slow = slow.replace("bridges: [sw1, sw2, sw3]", "bridges: {sw1: {processing: 5 s}, sw2: {}, sw3: {}}")
    service = Service(base_of(tmp_path, slow))
    streams = Streams(service, Model(MODULES))
    one = bounded()
    one["talker"]["traffic-specification"] |= {"interval": {"numerator": 60, "denominator": 1}}
    one["talker"]["user-to-network-requirements"]["max-latency"] = 0
    written(streams, one)
    # A number of 32 bits has 4.29 s.
    assert computed(streams) == {ID: 21}
    assert service.network.requested == {}
    assert "5 s" in streams.all()[ID].reasons[0]["found"]
    service.close()


def test_a_changed_stream_is_modified_until_it_is_computed(streams: Streams) -> None:
    written(streams, bounded())
    assert computed(streams) == {ID: 0}
    before = streams.service.network.requested[name_of(ID)]
    changed = bounded()
    changed["talker"]["traffic-specification"]["max-frame-size"] = 300
    written(streams, changed)
    assert streams.status(ID, streams.all()[ID]) == "modified"
    assert streams.service.network.requested[name_of(ID)] is before
    assert computed(streams) == {ID: 0}
    assert streams.status(ID, streams.all()[ID]) == "configured"
    # A change that does not fit leaves the earlier stream in place.
    changed = bounded()
    changed["talker"]["user-to-network-requirements"]["max-latency"] = 1_000
    written(streams, changed)
    assert computed(streams) == {ID: 21}
    assert streams.status(ID, streams.all()[ID]) == "modified"
    assert name_of(ID) in streams.service.network.requested


def test_streams_of_others_are_not_changed(streams: Streams) -> None:
    from tsnbench.cnc.restconf.wanted import NotAllowedError

    written(streams, bounded())
    with pytest.raises(NotAllowedError, match="another CUC"):
        written(streams, bounded(), cuc="other")
    streams.service.rules = type(streams.service.rules)()
    with pytest.raises(NotAllowedError, match="another client"):
        written(streams, bounded(), client="b")
    with pytest.raises(NotAllowedError, match="another client"):
        streams.service.soon(lambda: streams.remove("b", "plant", [ID])).result(30)


def test_what_cucs_want_is_there_again(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    first = Service(base, Store(tmp_path / "store", base.digest))
    one = Streams(first, Model(MODULES))
    written(one, bounded(1), bounded(2))
    assert computed(one, ID) == {ID: 0}
    first.close()
    second = Service(base, Store(tmp_path / "store", base.digest))
    two = Streams(second, Model(MODULES))
    assert two.all() == one.all()
    assert [two.status(key, own) for key, own in two.all().items()] == ["configured", "planned"]
    second.close()


def test_several_frames_in_an_interval_follow_each_other(streams: Streams) -> None:
    three = bounded()
    three["talker"]["traffic-specification"] |= {"max-frames-per-interval": 3, "max-frame-size": 200}
    written(streams, three)
    assert computed(streams) == {ID: 0}
    (flow,) = streams.service.network.flows(name_of(ID))
    from tsnbench.plan.frames import data_units

    # 200 octets with the header of the frame, three times.
    assert data_units(flow["size"]) == [[222, 222, 222]]


def test_modules_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=f"expected the module {CNC}.yang, found none"):
        Model(tmp_path)
    assert BOUNDED["pcp"] != SCHEDULED["pcp"]
