"""Member streams in YANG: the node that numbers frames, the node that eliminates duplicates, the tags."""

from __future__ import annotations

import re
from pathlib import Path

from tsnbench.exports import export
from tsnbench.planning import plan
from tsnbench.scenario import load, read_scenario

HERE = Path(__file__).parent


def sections(text: str, name: str) -> list[str]:
    return re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)


def test_sequences_are_generated_at_one_end_and_recovered_at_the_other() -> None:
    files = export(plan(load(HERE / "rich.yaml")).document, ["yang"]).files
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
    files = export(plan(read_scenario(ACTIVE)[0]).document, ["yang"]).files
    (own, *_) = sections(files["s/yang.xml"], "dmac-vlan-stream-identification")
    for part, vlan, priority in (("down", "200", "6"), ("up", "100", "3")):
        (text,) = sections(own, part)
        assert re.findall(r"<(?:vlan|priority)>(\d+)<", text) == [vlan, priority]
