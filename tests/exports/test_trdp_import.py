"""TRDP's XML device configurations as a scenario: values, lists of missing values, errors."""

from __future__ import annotations

import pytest

from tsnbench.errors import InputError
from tsnbench.exports.trdp_import import scenario
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<device host-name="{name}" type="dummy">
  <bus-interface-list>
    <bus-interface network-id="1" name="eth0" host-ip="{address}">
      <pd-com-parameter qos="4" timeout-value="250000"/>
"""
TAIL = """    </bus-interface>
  </bus-interface-list>
  <com-parameter-list><com-parameter id="1" qos="6" ttl="64"/></com-parameter-list>
  <data-set-list>
    <data-set name="doors" id="1001">
      <element name="state" type="UINT16" array-size="10"/><element name="inner" type="1002"/>
    </data-set>
    <data-set name="inner" id="1002"><element name="t" type="16"/><element name="b" type="1"/></data-set>
    <data-set name="open" id="1003"><element name="text" type="2" array-size="0"/></data-set>
  </data-set-list>
</device>
"""


def device(name: str, address: str, *telegrams: str) -> tuple[str, str]:
    return f"{name}.xml", HEAD.format(name=name, address=address) + "\n".join(telegrams) + TAIL


SENT = """<telegram name="doors" com-id="2000" data-set-id="1001" com-parameter-id="1">
  <pd-parameter cycle="100000" timeout="300000"/><destination id="1" uri="239.1.1.2"/></telegram>"""
TAKEN = """<telegram name="doors" com-id="2000" data-set-id="1001">
  <pd-parameter timeout="{time_out}"/><source id="1" uri1="10.0.0.1"/></telegram>"""
STATUS = """<telegram com-id="2001" data-set-id="1002">
  <pd-parameter cycle="20000" redundant="1"/><destination id="1" uri="anyone@10.0.0.1"/></telegram>"""
MESSAGE = '<telegram com-id="3000" data-set-id="1001"><md-parameter reply-timeout="1"/></telegram>'
TO_NOBODY = """<telegram com-id="2002" data-set-id="1001"><pd-parameter cycle="1000"/>
  <destination id="1" uri="239.9.9.9"/></telegram>"""
OPEN = """<telegram com-id="2003" data-set-id="1003"><pd-parameter cycle="1000"/>
  <destination id="1" uri="10.0.0.1"/></telegram>"""


def test_several_devices_become_a_scenario_that_can_be_planned() -> None:
    text = scenario(
        [
            device("tcms", "10.0.0.1", SENT, MESSAGE, TO_NOBODY),
            device("door1", "10.0.0.2", TAKEN.format(time_out=400_000), STATUS, OPEN),
            device("door 2", "10.0.0.3", TAKEN.format(time_out=250_000)),
        ]
    )
    (found,) = read_scenario(text, "trdp.yaml")
    assert set(found.streams) == {"tcms.doors", "door1.com2001"}
    doors = found.streams["tcms.doors"]
    assert (doors.talker, doors.listeners, doors.address) == ("tcms", ("door1", "door-2"), "239.1.1.2")
    assert doors.trdp is not None
    # 10 numbers of 16 bits, one time of 64 bits, one octet.
    assert (doors.trdp.com_id, doors.trdp.data_set, doors.trdp.qos) == (2000, 29, 6)
    assert doors.requires.time_out == 250_000_000, "the least of those that wait"
    status = found.streams["door1.com2001"]
    assert status.trdp is not None
    assert (status.listeners, status.trdp.data_set, status.trdp.qos) == (("tcms",), 14, 4)
    assert [line for line in text.splitlines() if line.startswith("#   ")] == [
        "#   message data: tcms comId 3000",
        "#   redundancy groups: door1 comId 2001",
        "#   data sets of less than 14 B, which have 14 B here: door1 comId 2001",
        "#   data sets that are missing, of variable length or longer than 1432 B: door1 comId 2003",
        "#   process data that no device of these files takes: tcms comId 2002",
    ]
    document = plan(found).document
    assert {stream["destination_ipv4"] for stream in document["streams"]} == {"239.1.1.2", "10.0.0.1"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<device", "expected XML"),
        ("<scenario/>", "found <scenario>"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><device/>', "document type definition"),
        (device("a", "10.0.0.1", SENT.replace("100000", "fast"))[1], "cycle: expected a number, found fast"),
        (device("a", "10.0.0.1", SENT)[1], "no process data or message data goes from one device"),
        (
            device("a", "10.0.0.1", SENT.replace("1001", "9"))[1],
            "no process data or message data goes from one device",
        ),
    ],
)
def test_what_is_no_configuration_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        scenario([("a.xml", text)])


def test_data_sets_that_hold_themselves_end() -> None:
    loop = '<data-set id="1001"><element name="x" type="1001"/></data-set>'
    name, text = device("a", "10.0.0.1", SENT)
    other = device("b", "10.0.0.2", TAKEN.format(time_out=1))
    start, end = text.index('<data-set name="doors"'), text.index('<data-set name="inner"')
    with pytest.raises(InputError, match="no process data or message data"):
        scenario([(name, text[:start] + loop + text[end:]), other])
