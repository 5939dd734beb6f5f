"""Any reply of a device and any record give at most one line of error."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tsnbench.deploy import record
from tsnbench.deploy.device import Device, DeviceError
from tsnbench.deploy.tree import DEEPEST, UnreadableXmlError, read
from tsnbench.errors import InputError
from tsnbench.yang import xml

HEAD = '<rpc-reply xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" message-id="1">'
REPLIES = {
    "deep": HEAD + "<data>" + "<a>" * 100_000 + "</a>" * 100_000 + "</data></rpc-reply>",
    "entity": HEAD + "<data>&what;</data></rpc-reply>",
    "declared": '<!DOCTYPE a [<!ENTITY what "x">]>' + HEAD + "<data>&what;</data></rpc-reply>",
    "not UTF-8": HEAD + "<data>\udcff</data></rpc-reply>",
    "control": HEAD + "<data>\x1b</data></rpc-reply>",
    "cut": HEAD + "<data>",
    "nothing": "",
    "words": "no XML",
}


class Session:
    """A session with one reply to all requests; ``parsed``: the reply passes through the library's parser."""

    server_capabilities = (
        "urn:ietf:params:netconf:capability:candidate:1.0",
        f"{xml.INTERFACES}?module=ietf-interfaces",
    )

    def __init__(self, reply: str, parsed: bool) -> None:
        self.reply, self.parsed = reply, parsed

    def get_config(self, *_: Any, **__: Any) -> Any:
        if self.parsed:
            from ncclient.operations.retrieve import GetReply

            reply = GetReply(self.reply)
            reply.parse()
            return reply
        return SimpleNamespace(xml=self.reply)


@pytest.mark.parametrize("parsed", [False, True])
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_a_reply_that_cannot_be_read_is_the_devices_fault(reply: str, parsed: bool) -> None:
    pytest.importorskip("ncclient")
    with pytest.raises(DeviceError, match="its messages cannot be read: ") as error:
        Device("a", "::1", 830, Session(reply, parsed)).has()
    assert "\n" not in str(error.value)


def test_trees_up_to_the_greatest_depth_are_read() -> None:
    depth = DEEPEST - 1
    read("<a>" * depth + "</a>" * depth)
    with pytest.raises(UnreadableXmlError, match="levels of nesting"):
        read("<a>" * (DEEPEST + 1) + "</a>" * (DEEPEST + 1))


def _record() -> dict[str, Any]:
    path = [["urn:x", "a", [["key", "value"]]]]
    change = {"path": path, "before": None, "after": "<a xmlns='urn:x'/>"}
    device = {"node": "a", "host": "::1", "port": 830, "changes": [change]}
    return {"format": record.FORMAT, "scenario": "s", "plan": "p", "state": "done", "devices": [device]}


def test_a_whole_record_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(_record()))
    assert record.load(path).entries[0].port == 830


@pytest.mark.parametrize("wrong", [None, 5, -1.5, float("inf"), "x", [], {}, [5], {"a": 5}, "<a>" * 10_000])
@pytest.mark.parametrize("key", ["devices", "port", "changes", "path", "after", "format", "whole"])
def test_values_of_other_types_in_a_record_are_errors(tmp_path: Path, key: str, wrong: Any) -> None:
    document = _record()
    device = document["devices"][0]
    for holder in (document, device, device["changes"][0]):
        if key in holder:
            holder[key] = wrong
    path = tmp_path / "a.json"
    path.write_text(json.dumps(wrong if key == "whole" else document))
    legal = {("devices", "[]"), ("changes", "[]"), ("after", "null"), ("port", "5")}
    if (key, json.dumps(wrong)) in legal:
        record.load(path)
        return
    with pytest.raises(InputError, match=r"a.json: expected a record of ") as error:
        record.load(path)
    assert "\n" not in str(error.value)
