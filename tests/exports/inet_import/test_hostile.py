"""Hostile models: every mistake ends in a message with its line, and no file takes long."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from tsnbench.errors import InputError
from tsnbench.exports.inet_import import scenario
from tsnbench.exports.inet_import.language import ini, ned
from tsnbench.exports.inet_import.language.expressions import parse

HEAD = "[General]\nnetwork = N\nsim-time-limit = 1ms\n"
NED = "network N { submodules: a: TsnDevice; b: TsnDevice; connections: a.ethg++ <--> Eth1G <--> b.ethg++; }"


def refused(tmp_path: Path, text: str, network: str = NED, **more: str) -> str:
    for name, content in {"omnetpp.ini": text, "n.ned": network, **more}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        scenario(tmp_path / "omnetpp.ini")
    return str(error.value)


INI = {
    "include omnetpp.ini\n": "omnetpp.ini: include: expected each file once, found omnetpp.ini again",
    "[A]\nextends = A\n": "omnetpp.ini:4: extends: expected a section other than itself",
    "[A]\nextends = C\n": "expected a section that is there, found C",
    "nothing\n": "omnetpp.ini:4: expected a key and its value, found nothing",
    "*.a.numApps = 2000000000\n": "omnetpp.ini:4: numApps: expected at most 1000, found 2000000000",
    "*.a.numApps = " + "(" * 200 + "1" + ")" * 200 + "\n": "expected at most 40 levels of brackets",
    "*.a.numApps = " + "1 + " * 5000 + "1\n": "expected at most 100 terms",
    "*.a.numApps = " + "1s " * 5000 + "1\n": "expected parts of one dimension",
    "*.x = ${v = 1..90000}\n*.y = ${w = 1..90000}\n": "omnetpp.ini:5: expected at most 100000 values",
    "*.a.numApps = 1e999999999\n": "omnetpp.ini:4: expected a number of at most 60 digits",
    "*.a.numApps = \xa7\n": "omnetpp.ini:4: expected a value, found",
    "*.a.numApps = x\n*.a.x = numApps\n": "the parameter",
    "**.a**.b**.c**.d**.numApps = 1\n": "expected at most 4 `**` and 16 `*`, found more",
    "*.x = ${v = 1..1000000000}\n": "expected at most 100000 values",
    '*.scenarioManager.script = xml("<!DOCTYPE a><a/>")\n': "expected a document of XML",
    "*.scenarioManager.script = uniform(1, 2)\n": "omnetpp.ini:4: script: expected a value that is known",
    "*.scenarioManager.script = xml(\"<s><at t='-5s'/></s>\")\n": "t: expected a time from 0 on, found -5s",
    "*.x = ${v = 1..5 step 0}\n": "omnetpp.ini:4: ${ 1..5 step 0}: expected at most 100000 values, found 0",
    "*.{z-a}.x = 1\n": "omnetpp.ini:4: *.{z-a}.x: expected a pattern, found brackets without a meaning",
    '*.a.eth[0].macLayer.queue.typename = "PriorityQueue"\n*.a.eth[0].macLayer.queue.numQueues = 99\n': (
        "omnetpp.ini:5: numQueues: expected at most 8, found 99"
    ),
    "*.a.hasEgressTrafficShaping = true\n"
    "*.a.eth[0].macLayer.queue.classifier.mapping = [inf, 1, 1, 1, 1, 1, 1, 1]\n": (
        "omnetpp.ini:5: mapping: expected classes from 0 to 7"
    ),
    '*.a.clock.typename = "OscillatorBasedClock"\n*.a.clock.oscillator.driftRate = uniform(1s, 2)\n': (
        "omnetpp.ini:5: driftRate: expected a value that is known"
    ),
    '*.a.clock.typename = "OscillatorBasedClock"\n*.a.clock.oscillator.typename = "RandomDriftOscillator"\n'
    "*.a.clock.oscillator.driftRateChange = uniform(-1ppm, 1ppm)\n"
    "*.a.clock.oscillator.changeInterval = exponential(0s)\n": (
        "omnetpp.ini:7: changeInterval: expected a value that is known"
    ),
}


@pytest.mark.parametrize("text", INI, ids=range(len(INI)))
def test_an_ini_file_that_is_refused(text: str, tmp_path: Path) -> None:
    assert INI[text] in refused(tmp_path, HEAD + text)


MODULES = {
    "network N { submodules: a[1000000]: TsnDevice; }": "expected a number of at most 20000, found 1000000",
    "network N extends M {} network M extends N {}": "extends: expected a type other than itself",
    "network N { submodules: a: Host; }": "n.ned:1: expected a network with stations and switches of INET",
    "network N { ": "n.ned:1: expected `;`, found the end",
    'network N { @x("': "n.ned:1: expected `)`, found",
    "network N { submodules: a: TsnDevice; b: TsnDevice; connections: "
    "a.ethg++ <--> EthernetLink <--> b.ethg++; }": "expected a datarate of the channel or a bitrate",
    "network N { submodules: a: TsnDevice; connections: for i=0..1000000000 { "
    "a.ethg++ <--> Eth1G <--> a.ethg++; } }": "expected at most 100000 connections",
    "network N { submodules: a[uniform(1, 2)]: TsnDevice; }": "expected a whole number, found one that",
    "network N { submodules: a: <x> like I; }": "expected a type that is known, found the parameter x",
    "network N { submodules: a: TsnDevice if uniform(1, 2) > 1; }": "expected a condition that is known",
    "network N { submodules: a: TsnDevice; connections: for i=0..x { "
    "a.ethg++ <--> Eth1G <--> a.ethg++; } }": "n.ned:1: expected a whole number, found the parameter x",
    "network N extends Z { submodules: a: TsnDevice; }": "extends: expected a type that is known, found Z",
    "network N { parameters: int a = default(b); int b = default(a); "
    "submodules: x[a]: TsnDevice; }": "the parameter",
}


@pytest.mark.parametrize("network", MODULES, ids=range(len(MODULES)))
def test_a_network_that_is_refused(network: str, tmp_path: Path) -> None:
    assert MODULES[network] in refused(tmp_path, HEAD, network)


def test_a_listener_that_is_missing_is_named(tmp_path: Path) -> None:
    text = HEAD + (
        '*.a.numApps = 1\n*.a.app[0].typename = "UdpSourceApp"\n*.a.app[0].io.destAddress = "nobody"\n'
        "*.a.app[0].source.packetLength = 10B\n*.a.app[0].source.productionInterval = 1ms\n"
    )
    assert refused(tmp_path, text).startswith("omnetpp.ini:6: destAddress: expected the name of a node")


INTERVALS = {
    "simTime() * 0": "omnetpp.ini:8: expected intervals above 0",
    "exponential(0s)": "omnetpp.ini:8: productionInterval: expected a value that is known",
    "1s * (0 - 2) ^ 0.5": "omnetpp.ini:8: productionInterval: expected a value that is known",
    "1s * exp(1000)": "omnetpp.ini:8: productionInterval: expected a value that is known",
    "1s + truncnormal(-1000000s, 0s)": "truncnormal() whose values are below 0",
}


@pytest.mark.parametrize("interval", INTERVALS)
def test_an_interval_that_never_ends_is_refused(interval: str, tmp_path: Path) -> None:
    text = HEAD + (
        '*.a.numApps = 1\n*.a.app[0].typename = "UdpSourceApp"\n*.a.app[0].io.destAddress = "b"\n'
        f"*.a.app[0].source.packetLength = 10B\n*.a.app[0].source.productionInterval = {interval}\n"
    )
    assert INTERVALS[interval] in refused(tmp_path, text)


WORDS = st.sampled_from(
    [
        *'[]{}()=,.;:#"\\*?$ \n',
        "network N",
        "**",
        "..",
        "${",
        "}",
        "for",
        "if",
        "<-->",
        "ethg++",
        "1ms",
        "xml(",
    ]
)


@examples(2)
@given(st.lists(WORDS | st.text(max_size=3), max_size=40))
def test_any_text_is_read_or_refused(words: list[str]) -> None:
    text = "".join(words)
    for read in (
        lambda: ini.read("x.ini", lambda _: text),
        lambda: ned.parse(text, "x.ned"),
        lambda: parse(text, "x.ini", 1),
    ):
        with suppress(InputError):
            read()
