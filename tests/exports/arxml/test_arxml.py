"""AUTOSAR descriptions: a file that autosar-data wrote, parts that are missing, and hostile files."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from support.commands import tsnbench
from tsnbench.errors import InputError
from tsnbench.exports.lists import arxml
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

WRITTEN = Path(__file__).parent / "written-by-autosar-data.arxml"
"""autosar-data 0.17 (abstraction) wrote it: three ECUs, VLAN 7, static connections, three PDUs."""
TEXT = WRITTEN.read_text(encoding="utf-8")
PUBLIC = os.environ.get("TSNBENCH_ARXML")


def streams(text: str) -> list[str]:
    (found,) = read_scenario(text, "s.yaml")
    assert plan(found)
    return [line.strip() for line in text.partition("streams:\n")[2].splitlines()]


def lost(text: str) -> list[str]:
    head = text.partition("\nname:")[0].partition("# Not taken:\n")[2]
    return [line.strip("# ") for line in head.splitlines()]


def changed(tmp_path: Path, old: str, new: str) -> str:
    assert old in TEXT
    path = tmp_path / "x.arxml"
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    return arxml.scenario([path])


def test_a_file_of_another_writer() -> None:
    done = tsnbench("import", "arxml", WRITTEN)
    assert done.returncode == 0
    assert streams(done.stdout) == [
        "Steer: {from: Esp, to: [Drive, Hub], vlan: 7, period: 2500 us, payload: 72 B}",
        "Speed: {from: Hub, to: Esp, vlan: 7, period: 100 ms, payload: 16 B}",
    ]
    assert lost(done.stdout) == ["/Net/Warn of VLAN 7: I-SIGNAL-I-PDU without a cycle"]


def test_a_description_in_several_files(tmp_path: Path) -> None:
    """The second file has the PDUs; an element may be in both."""
    without = re.sub(r"<I-SIGNAL-I-PDU>.*?</I-SIGNAL-I-PDU>", "", TEXT, flags=re.DOTALL)
    (tmp_path / "a.arxml").write_text(without, encoding="utf-8")
    assert (
        arxml.scenario([tmp_path / "a.arxml", WRITTEN]).split("streams:")[1]
        == (arxml.scenario([WRITTEN]).split("streams:")[1])
    )
    with pytest.raises(InputError, match="/Net/Steer of VLAN 7: a PDU that is not in these files"):
        arxml.scenario([tmp_path / "a.arxml"])


def test_a_channel_in_several_files(tmp_path: Path) -> None:
    """The second file has the VLAN alone; a part of a channel replaces no other."""
    whole = arxml.scenario([WRITTEN]).partition("network:")[2]
    vlan = re.search(r" *<VLAN>.*?</VLAN>\n", TEXT, re.DOTALL)
    assert vlan
    (tmp_path / "a.arxml").write_text(TEXT.replace(vlan[0], ""), encoding="utf-8")
    without = re.sub(r"<PDU-TRIGGERINGS>.*?</PDU-TRIGGERINGS>", "", TEXT, flags=re.DOTALL)
    (tmp_path / "b.arxml").write_text(without, encoding="utf-8")
    found = arxml.scenario([tmp_path / "a.arxml", tmp_path / "b.arxml"])
    assert found.partition("network:")[2] == whole


PORT = '<I-PDU-PORT-REF DEST="I-PDU-PORT">/Net/{0}/{0}_conn/PT_{1}</I-PDU-PORT-REF>'
SECOND = "<PDU-TRIGGERING><SHORT-NAME>B</SHORT-NAME><I-PDU-PORT-REFS>{}</I-PDU-PORT-REFS>"
SECOND += "<I-PDU-REF>/Net/Steer</I-PDU-REF></PDU-TRIGGERING></PDU-TRIGGERINGS>"


def test_each_triggering_has_its_own_receivers(tmp_path: Path) -> None:
    ports = PORT.format("Hub", "Speed_Tx") + PORT.format("Esp", "Speed_Rx")
    text = changed(tmp_path, "</PDU-TRIGGERINGS>", SECOND.format(ports))
    assert streams(text)[:2] == [
        "Steer: {from: Esp, to: [Drive, Hub], vlan: 7, period: 2500 us, payload: 72 B}",
        "Steer-2: {from: Hub, to: Esp, vlan: 7, period: 2500 us, payload: 72 B}",
    ]


def test_senders_and_receivers_in_triggerings_of_their_own(tmp_path: Path) -> None:
    receiving = [PORT.format(one, "Steer_Rx") for one in ("Drive", "Hub")]
    text = re.sub(r"<I-PDU-PORT-REF [^>]*>/Net/(Drive|Hub)/\w+/PT_Steer_Rx</I-PDU-PORT-REF>", "", TEXT)
    text = text.replace("</PDU-TRIGGERINGS>", SECOND.format("".join(receiving)))
    path = tmp_path / "x.arxml"
    path.write_text(text, encoding="utf-8")
    assert streams(arxml.scenario([path])) == streams(arxml.scenario([WRITTEN]))


def test_several_clusters_are_told(tmp_path: Path) -> None:
    more = "<ETHERNET-CLUSTER><SHORT-NAME>B</SHORT-NAME></ETHERNET-CLUSTER></ELEMENTS>"
    assert "2 Ethernet clusters are one network: /Net/" in changed(tmp_path, "</ELEMENTS>", more)


CHANGES = {
    ("<HEADER-ID>100</HEADER-ID>", ""): (
        "Steer: {from: Esp, to: [Drive, Hub], vlan: 7, period: 2500 us, payload: 64 B}",
        None,
    ),
    (">0.0025<", ">1E-3<"): (
        "Steer: {from: Esp, to: [Drive, Hub], vlan: 7, period: 1 ms, payload: 72 B}",
        None,
    ),
    (">0.0025<", ">1e99<"): (None, "/Net/Steer of VLAN 7: I-SIGNAL-I-PDU without a cycle"),
    ("<LENGTH>64</LENGTH>", "<LENGTH>x</LENGTH>"): (
        None,
        "/Net/Steer of VLAN 7: I-SIGNAL-I-PDU with the length x",
    ),
    ("/Net/Esp/Esp_conn/PT_Steer_Tx", "/Net/Other"): (None, "/Net/Steer of VLAN 7: no sender in these files"),
    (">7</VLAN-IDENTIFIER>", ">0</VLAN-IDENTIFIER>"): (
        "Speed: {from: Hub, to: Esp, period: 100 ms, payload: 16 B}",
        None,
    ),
    ("</ELEMENTS>", "<CAN-CLUSTER><SHORT-NAME>B</SHORT-NAME></CAN-CLUSTER></ELEMENTS>"): (
        None,
        "a network of another bus: /Net/B (CAN)",
    ),
}


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_parts_that_differ(change: tuple[str, str], tmp_path: Path) -> None:
    text = changed(tmp_path, *change)
    stream, missing = CHANGES[change]
    assert stream is None or stream in streams(text)
    assert missing is None or missing in lost(text)


def test_a_long_pdu_is_sent_in_several_frames(tmp_path: Path) -> None:
    text = changed(tmp_path, "<LENGTH>64</LENGTH>", "<LENGTH>4000</LENGTH>")
    assert "units: [4008 B]" in streams(text)[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<a/>", "expected <AUTOSAR> of ARXML, found <a>"),
        (
            '<fx:FIBEX xmlns:fx="http://www.asam.net/xml/fbx"/>',
            "found <FIBEX>, which is not read\nhint: export the system description as ARXML, or write its",
        ),
        ("<AUTOSAR/>", "expected PDUs of Ethernet with a cycle, found none"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><AUTOSAR>&b;</AUTOSAR>', "found <!DOCTYPE a>"),
        ("<AUTOSAR>" + "<a>" * 300, "elements in 200 levels, found more"),
        ("", "expected XML, found no element found"),
    ],
)
def test_files_that_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.arxml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        arxml.scenario([path])
    assert message in str(error.value)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    random, words = Random(seed), re.findall(r"[^<>]+", TEXT)
    text = TEXT
    for _ in range(random.randrange(1, 12)):
        text = text.replace(f">{random.choice(words)}<", f">{random.choice(words)}<")
    path = tmp_path / "x.arxml"
    path.write_text(text, encoding="utf-8")
    with suppress(InputError):
        read_scenario(arxml.scenario([path]), "s.yaml")


@pytest.mark.skipif(PUBLIC is None, reason="needs a public description (TSNBENCH_ARXML)")
def test_a_public_description_is_that_of_its_capture() -> None:
    """``Network.arxml`` of zhacgsn/arxmlMappingPcap: its capture has 28 octets of UDP payload on VLAN 3."""
    found = streams(arxml.scenario([Path(PUBLIC or "")]))
    assert len(found) == 8
    assert found[6:] == [
        "VehicleSpeed-2: {from: VGW, to: ADAS, vlan: 3, period: 100 ms, payload: 12 B}",
        "VehicleDistance-2: {from: VGW, to: ADAS, vlan: 3, period: 250 ms, payload: 16 B}",
    ]
