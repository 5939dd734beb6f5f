"""Process data as TRDP device configurations: the import reads them, and notes name what they omit."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tsnbench.exports import export
from tsnbench.exports.trdp_import import scenario
from tsnbench.planning import plan
from tsnbench.scenario import model, read_scenario

NETWORK = """
name: train
duration: 1 s
network:
  stations: [tcms, door1, door2, Brake]
  bridges: [sw]
  links: {rate: 100 Mbit/s, between: [tcms -- sw, door1 -- sw, door2 -- sw, Brake -- sw]}
streams:
"""
STREAMS = """
  doors: {from: tcms, to: [door1, door2], period: 100 ms, address: 239.1.1.2,
    vlan: none, trdp: {com-id: 1000, data-set: 29 B, qos: 6, time-out: 300 ms}}
  # A second publisher of the same telegrams: subscribers tell them apart by their source.
  doors-b: {from: Brake, to: [door1, door2], period: 50 ms, address: 239.1.1.2,
    vlan: none, trdp: {com-id: 1000, data-set: 30 B, qos: 2}}
  state1: {from: door1, to: tcms, period: 20 ms, vlan: none, trdp: {com-id: 2000, data-set: 1432 B}}
  state2: {from: door2, to: tcms, period: 1500 us,
    vlan: none, trdp: {com-id: 2001, data-set: 14 B, qos: 0, time-out: 7 ms}}
"""


def told(scenario: model.Scenario) -> set[tuple[object, ...]]:
    """All facts of a device configuration about process data."""
    found = set()
    for stream in scenario.streams.values():
        assert stream.trdp is not None
        assert isinstance(stream.pattern, model.Periodic)
        trdp = stream.trdp
        found.add(
            (
                *(stream.talker, stream.listeners, stream.pattern.period, stream.address),
                *(trdp.com_id, trdp.data_set, trdp.qos, trdp.time_out, stream.size),
            )
        )
    return found


def test_the_import_reads_what_the_export_wrote() -> None:
    (first,) = read_scenario(NETWORK + STREAMS, "train.yaml")
    done = export(plan(first).document, ["trdp"])
    files = [(path.rpartition("/")[2], text) for path, text in done.files.items() if path.endswith(".xml")]
    assert [name for name, _ in files] == ["tcms.xml", "door1.xml", "door2.xml", "Brake.xml"]
    (again,) = read_scenario(scenario(files), "again.yaml")
    assert told(again) == told(first)
    # A second export and import changes nothing: the first files held everything that the format can express.
    second = export(plan(again).document, ["trdp"])
    (third,) = read_scenario(
        scenario([(n.rpartition("/")[2], t) for n, t in second.files.items() if n.endswith("xml")]), "t"
    )
    assert told(third) == told(first)


def test_a_subscriber_names_a_destination_only_of_a_group() -> None:
    """A subscriber without a destination receives telegrams to the device's own address."""
    (one,) = read_scenario(NETWORK + STREAMS, "train.yaml")
    files = export(plan(one).document, ["trdp"]).files
    sinks = {
        name: [
            sub.get("uri")
            for one in ET.fromstring(files[f"trdp/{name}.xml"]).iter("telegram")
            for sub in one
            if one.get("type") == "sink" and sub.tag == "destination"
        ]
        for name in ("tcms", "door1")
    }
    assert sinks == {"tcms": [], "door1": ["239.1.1.2", "239.1.1.2"]}


def test_a_file_is_a_device() -> None:
    (one,) = read_scenario(NETWORK + STREAMS, "train.yaml")
    root = ET.fromstring(export(plan(one).document, ["trdp"]).files["trdp/door1.xml"])
    assert (root.tag, root.get("host-name")) == ("device", "door1")
    told = {
        (
            one.get("com-id"),
            one.get("type"),
            *(sub.get("uri") or sub.get("uri1") for sub in one if sub.tag != "pd-parameter"),
        )
        for one in root.iter("telegram")
    }
    assert told == {
        ("1000", "sink", "10.0.0.1", "239.1.1.2"),
        ("1000", "sink", "10.0.0.4", "239.1.1.2"),
        ("2000", "source", "10.0.0.1"),
    }
    sets = {one.get("id") for one in root.iter("data-set")}
    assert sets == {one.get("data-set-id") for one in root.iter("telegram")}
    parameters = {one.get("id"): one.get("qos") for one in root.iter("com-parameter")}
    assert parameters == {"7": "6", "3": "2", "6": "5"}


@pytest.mark.parametrize(
    ("stream", "note"),
    [
        ("{from: tcms, to: door2, period: 1 ms, payload: 64 B}", "streams (x), because they carry no TRDP"),
        (
            "{from: tcms, to: door2, period: 1 ms, trdp: {com-id: 5, data-set: 24 B, pattern: tsn}}",
            "TRDP-TSN (version 2) (x)",
        ),
        (
            "{from: tcms, to: door2, poisson: 1 Mbit/s, trdp: {com-id: 5, data-set: 24 B}}",
            "process data without a period (x)",
        ),
        (
            "{from: tcms, to: door2, period: 1001 ns, trdp: {com-id: 5, data-set: 24 B}}",
            "no whole microseconds (x)",
        ),
    ],
)
def test_what_is_left_out_is_said(stream: str, note: str) -> None:
    (found,) = read_scenario(f"{NETWORK}{STREAMS}  x: {stream}\n", "train.yaml")
    done = export(plan(found).document, ["trdp"])
    assert any(note in str(one) for one in done.notes), done.notes
    assert all('name="x"' not in text for text in done.files.values())


def test_what_a_telegram_cannot_say_is_said() -> None:
    trdp = "{com-id: 5, data-set: 24 B, service-id: 3, etb-topo-count: 1}"
    stream = f"{{from: tcms, to: door2, period: 1 ms, trdp: {trdp}}}"
    (found,) = read_scenario(f"{NETWORK}  x: {stream}\n", "train.yaml")
    said = {note.what for note in export(plan(found).document, ["trdp"]).notes}
    assert {"topography counters", "service identifiers", "VLAN tags"} <= said


def test_a_plan_without_process_data_has_no_devices() -> None:
    (found,) = read_scenario(
        f"{NETWORK}  x: {{from: tcms, to: door2, period: 1 ms, payload: 64 B}}\n", "t.yaml"
    )
    done = export(plan(found).document, ["trdp"])
    assert list(done.files) == ["notes.txt"]
    assert any(note.what == "all devices" for note in done.notes)


MESSAGES = """
  order: {from: tcms, to: [door1, door2], address: 239.1.1.7, period: 1 s,
    vlan: none, trdp: {com-id: 3000, pattern: request, data-set: 64 B, reply-time-out: 20 ms}}
  state1: {answers: order, from: door1, vlan: none,
    trdp: {com-id: 3001, pattern: reply, data-set: 128 B, qos: 1, confirm-time-out: 5 ms}}
  confirmed: {answers: state1, vlan: none, trdp: {pattern: confirm}}
  state2: {answers: order, from: door2, vlan: none, trdp: {com-id: 3001, pattern: reply, data-set: 100 B}}
  event: {from: Brake, to: tcms, period: 1 s, vlan: none,
    trdp: {com-id: 4000, pattern: notify, data-set: 32 B}}
"""


def message_facts(scenario: model.Scenario) -> set[tuple[object, ...]]:
    """All facts of a device configuration about message data."""
    found = set()
    for stream in scenario.streams.values():
        trdp = stream.trdp
        assert trdp is not None
        request = (
            scenario.streams[stream.pattern.answers] if isinstance(stream.pattern, model.Answer) else None
        )
        waits = {"request": trdp.reply_time_out, "reply": trdp.confirm_time_out}.get(trdp.pattern)
        found.add(
            (
                *(stream.talker, stream.listeners, stream.address, trdp.pattern, trdp.com_id, trdp.data_set),
                *(trdp.qos, stream.size, waits, None if request is None else request.talker),
            )
        )
    return found


def test_the_import_reads_message_data_that_the_export_wrote() -> None:
    (first,) = read_scenario(NETWORK + MESSAGES, "train.yaml")
    done = export(plan(first).document, ["trdp"])
    files = [(path.rpartition("/")[2], text) for path, text in done.files.items() if path.endswith(".xml")]
    (again,) = read_scenario(scenario(files), "again.yaml")
    assert message_facts(again) == message_facts(first)
    assert again.streams["door1.state1"].requires.round_trip == 20_000_000
    assert "the release times of message data" in done.files["notes.txt"]
    tcms = ET.fromstring(dict(files)["tcms.xml"])
    parameters = {one.get("com-id"): dict(one.find("md-parameter").attrib) for one in tcms.iter("telegram")}
    assert parameters["3000"] == {"reply-timeout": "20000", "marshall": "off"}
