"""YANG data conforms to the published modules, and data that violates them is found."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from exports.plans import document_of, rich
from support.planned import document_of as planned
from tsnbench.errors import BackendError, InputError
from tsnbench.exports import export
from tsnbench.exports.yang_check import check, check_all
from tsnbench.plan.network import Network

HERE = Path(__file__).parent
MODULES = Path(os.environ.get("TSNBENCH_YANG", HERE.parents[2] / "shared/yang"))

IS_PUBLISHED = (MODULES / "ieee802-dot1q-sched.yang").is_file() and shutil.which("yanglint") is not None
published = pytest.mark.skipif(
    not IS_PUBLISHED,
    reason="needs IEEE's modules (TSNBENCH_YANG) and yanglint (Debian: libyang2-tools)",
)


def policed(ats: bool) -> dict[str, Any]:
    """The same Plan with filters, stream gates and meters, or with ATS schedulers."""
    document = rich()
    network = Network(document)
    node = next(number for number, one in enumerate(network.nodes) if one["name"] == "left")
    first = {"name": "video", "streams": [1], "priority": 3, "max_sdu_octets": 1000, "block_oversize": True}
    first["gate"] = 0
    second: dict[str, Any] = {"name": "rest"}
    entries = [
        {"open": True, "ipv": 3, "interval_ns": 25_000, "octets_max": 1500},
        {"open": False, "interval_ns": 100_000},
    ]
    gate = {"base_time_ns": -1000, "cycle_ns": 125_000, "entries": entries, "close_on_invalid_rx": True}
    own: dict[str, Any] = {
        "node": node,
        "filters": [first, second],
        "gates": [gate],
        "regeneration": [{"port": network.ports_of(node)[0], "pcp": [0, 0, 2, 3, 0, 0, 0, 0]}],
    }
    if ats:
        own["schedulers"] = [{"cir_bps": 10_000_000, "cbs_bits": 12_000, "group": 0}]
        own["groups"] = [{"name": "in", "max_residence_ns": 1_000_000}]
        first["scheduler"] = 0
    else:
        own["meters"] = [
            {"cir_bps": 10_000_000, "cbs_octets": 3000, "eir_bps": 0, "ebs_octets": 0, "drop_on_yellow": True}
        ]
        second["meter"] = 0
    document["policing"] = [own]
    return document


def texts_of(document: dict[str, Any]) -> dict[str, str]:
    """The data of every node, by its file."""
    files = export(document, ["yang"]).files
    texts = {name: text for name, text in files.items() if name.endswith("yang.xml")}
    assert len(texts) == len(document["nodes"])
    return texts


@published
def test_the_data_of_every_node_conforms_to_the_modules() -> None:
    policed_too = document_of(HERE / "policed.yaml")
    for document in (rich(), policed(False), policed(True), policed_too):
        check_all(texts_of(document), MODULES)


@published
@pytest.mark.parametrize(
    ("what", "becomes"),
    [
        ("<supported-list-max>2</supported-list-max>", ""),
        ("<supported-list-max>2</supported-list-max>", "<supported-list-max>1</supported-list-max>"),
        ("<supported-interval-max>450000</supported-interval-max>", ""),
        ("<gate-states-value>8</gate-states-value>", "<gate-states-value>256</gate-states-value>"),
        ("<bridge-name>left</bridge-name>", "<bridge-name>right</bridge-name>"),
    ],
)
def test_known_violations_are_found(what: str, becomes: str) -> None:
    text = export(rich(), ["yang"]).files["left/yang.xml"]
    assert what in text
    with pytest.raises(InputError):
        check_all({"good": text, "bad": text.replace(what, becomes)}, MODULES)


def test_identities_have_the_prefix_that_is_compared() -> None:
    text = export(rich(), ["yang"]).files["left/yang.xml"]
    assert set(re.findall(r"<operation-name[^>]*>(\w+):", text)) == {"sched"}
    assert text.count("<supported-list-max>") == text.count("<gate-parameter-table")


def test_bridges_drop_frames_of_other_vlans_where_they_arrive() -> None:
    """It is off by default (IEEE 802.1Q-2022, 8.6.2); the simulator and the kernel do it."""
    files = export(rich(), ["yang"]).files
    for name, text in files.items():
        ports = re.findall(r"<bridge-port.*?</bridge-port>", text, re.DOTALL)
        assert all("<enable-ingress-filtering>true<" in one for one in ports), name
    assert "<bridge-port" in files["left/yang.xml"]


def test_a_missing_program_or_module_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = export(rich(), ["yang"]).files["left/yang.xml"]
    with pytest.raises(BackendError, match="libyang2-tools"):
        check(text, tmp_path, program="no-such-yanglint")
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    with pytest.raises(InputError, match="ietf-interfaces"):
        check(text, tmp_path)


# Member streams: the node that numbers frames, the node that eliminates duplicates, the tags.


def sections(text: str, name: str) -> list[str]:
    return re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)


def test_sequences_are_generated_at_one_end_and_recovered_at_the_other() -> None:
    files = export(rich(), ["yang"]).files
    right, left = files["right/yang.xml"], files["left/yang.xml"]
    assert len(sections(right, "sequence-generation")) == 1
    assert not sections(right, "sequence-recovery")
    assert not sections(left, "sequence-generation")
    (recovery,) = sections(left, "sequence-recovery")
    assert re.findall(r"<port>(\w+)</port>", recovery) == ["eth2", "eth3"]
    assert "<vector/>" in recovery
    for text, ports in ((right, ["eth1", "eth3"]), (left, ["eth2", "eth3"])):
        tags = sections(text, "sequence-identification")
        assert [re.findall(r"<port>(\w+)</port>", tag)[0] for tag in tags] == ports
        assert all("<r-tag/>" in tag for tag in tags)
    assert "frer" not in files["detour/yang.xml"].split("<bridges")[1]


ACTIVE = """\
name: active
duration: 10 ms
network:
  stations: [t, l]
  bridges: [s, x, y, m]
  links: {rate: 1 Gbit/s, between: [t-s, s-x, s-y, x-m, y-m, m-l]}
streams:
  b:
    {from: t, to: l, pcp: 3, period: 1 ms, frame: 99 B, frer: {identification: {active: {vlan: 200, pcp: 6}}}}
"""


def test_rewritten_member_streams_have_both_identifications() -> None:
    files = export(planned(ACTIVE), ["yang"]).files
    (own, *_) = sections(files["s/yang.xml"], "dmac-vlan-stream-identification")
    for part, vlan, priority in (("down", "200", "6"), ("up", "100", "3")):
        (text,) = sections(own, part)
        assert re.findall(r"<(?:vlan|priority)>(\d+)<", text) == [vlan, priority]


def test_a_device_has_its_own_credits() -> None:
    """The module has the idle slope alone: given values that differ from what follows are noted."""
    given = "streams: {v: {from: t, to: l, pcp: 3, period: 1 ms, frame: 99 B}}\n"
    given = ACTIVE.partition("streams:")[0] + given + "shapers: {m -> l: {cbs: {3: SHAPER}}}\n"

    def notes(shaper: str) -> list[str]:
        found = export(planned(given.replace("SHAPER", shaper)), ["yang"])
        return [place for note in found.notes if "credits" in note.what for place in note.places]

    assert notes("{idle-slope: 10 Mbit/s, send-slope: -990 Mbit/s}") == []
    assert notes("{idle-slope: 10 Mbit/s, lo-credit: -10 bit}") == ["class 3 of m -> l"]
