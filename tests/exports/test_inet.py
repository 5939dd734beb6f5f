"""INET's files against the known behaviour of INET 4.5.4 (decision 0019), without a run of INET."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from exports.plans import rich
from support.planned import document_of
from tsnbench.errors import InputError
from tsnbench.exports import export
from tsnbench.exports.inet import identifier
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

HERE = Path(__file__).parent
SCENARIOS = HERE.parents[1] / "scenarios"


class Exported:
    """Both files, their lines by key, and the notes."""

    def __init__(self, document: dict[str, Any]) -> None:
        done = export(document, ["inet"])
        self.document = document
        self.ned, self.ini = done.files["inet/network.ned"], done.files["inet/omnetpp.ini"]
        self.notes = "\n".join(map(str, done.notes))
        joined = re.sub(r",\n    ", ", ", self.ini)
        self.lines = dict(line.split(" = ", 1) for line in joined.splitlines() if " = " in line)
        # INET uses the first line that matches, so a second line with the same key would be lost.
        keys = [line.split(" = ", 1)[0] for line in joined.splitlines() if " = " in line]
        assert len(keys) == len(set(keys))

    def of(self, prefix: str) -> dict[str, str]:
        """The lines whose key begins with a prefix, by the rest of the key."""
        return {key.removeprefix(prefix): text for key, text in self.lines.items() if key.startswith(prefix)}

    def apps(self, module: str, kind: str = "UdpSourceApp") -> list[dict[str, str]]:
        """The applications of a module, in order."""
        found = []
        for number in range(int(self.lines[f"*.{module}.numApps"])):
            own = self.of(f"*.{module}.app[{number}].")
            if own["typename"] == f'"{kind}"':
                found.append(own)
        return found


def inet(text: str) -> Exported:
    return Exported(document_of(text))


def shipped(name: str, only: str | None = None) -> Exported:
    (run, *_) = [
        one
        for one in load_variants(SCENARIOS / name)
        if only is None or only in map(str, one.variant.values())
    ]
    return Exported(plan(run).document)


def releases(app: dict[str, str], end_ns: int) -> list[int]:
    """The instants at which a source of INET sends, computed from its parameters."""
    at = int(app["source.initialProductionOffset"].removesuffix("ns"))
    found = []
    pattern = re.compile(r"simTime\(\) < (-?\d+)\.5ns \? (\d+)ns : (\d+)ns|(\d+)ns")
    match = pattern.fullmatch(app["source.productionInterval"])
    assert match
    while at < end_ns:
        found.append(at)
        at += int(match[4] or match[2 if at < int(match[1]) + 0.5 else 3])
    return found


LINE = """\
name: line
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 1 Gbit/s, cable: 10 m, between: [a--s, b--s, s--c]}
"""


def test_queues_drop_where_they_have_a_limit() -> None:
    text = LINE + "  queues: {classes: {7: 2, 3: 1, 0: 0}, LIMIT}\n"
    streams = "streams: {x: {from: a, to: c, pcp: 7, period: 1 ms, frame: 100 B}}\n"
    queue = "*.s.eth[2].macLayer.queue.queue[1]."
    frames = inet(text.replace("LIMIT", "limit-frames: 20") + streams).of(queue)
    assert frames == {"typename": '"DropTailQueue"', "packetCapacity": "20"}
    # Without a value, DropTailQueue has a default limit of frames.
    document = document_of(text.replace("LIMIT", "limit-octets: 5000 B") + streams)
    for port in document["ports"]:
        for one in port["classes"]:
            del one["limit_frames"]
    octets = Exported(document).of(queue)
    assert octets == {"typename": '"DropTailQueue"', "packetCapacity": "-1", "dataCapacity": "5000B"}


def test_hosts_and_stations_with_two_ports_are_pairs() -> None:
    found = inet(
        LINE.replace("bridges: [s]", "hosts: {h: {processing: 5 us}}\n  bridges: [s, a_host]").replace(
            "s--c]", "s--c, a--a_host, a_host--s, s--h, h--c]"
        )
        + "streams:\n"
        "  x: {from: a, to: c, pcp: 7, period: 1 ms, frame: 100 B, via: [a_host, s, h]}\n"
        "  y: {from: h, to: b, pcp: 7, period: 1 ms, frame: 100 B}\n"
        "  z: {from: a, to: h, pcp: 7, period: 1 ms, frame: 100 B}\n"
    )
    assert " a: TsnSwitch { gates: ethg[3]; }" in found.ned
    # Another node already has the name a_host.
    assert " a_host_2: TsnDevice { gates: ethg[1]; }" in found.ned
    assert " h: TsnSwitch { gates: ethg[3]; }" in found.ned
    assert " b: TsnDevice { gates: ethg[1]; }" in found.ned
    assert (
        " h.ethg[2] <--> EthernetLink { datarate = 1000000000000000bps; delay = 0ps; } <--> h_host.ethg[0];"
        in found.ned
    )
    assert [one["io.destAddress"] for one in found.apps("a_host_2")] == ['"c_host%eth0"', '"h_host%eth0"']
    assert found.lines["*.h.eth[2].bitrate"] == found.lines["*.h_host.eth[0].bitrate"]
    # The address belongs to the applications' module; the addresses of the switch stay automatic.
    assert re.fullmatch(r'"02:00:00:\d\d:00:01"', found.lines["*.h_host.eth[0].address"])
    assert not any(key.startswith("*.h.eth[") and key.endswith(".address") for key in found.lines)
    assert found.lines["*.h_host.hasEgressTrafficShaping"] == "true"
    assert "*.h_host.eth[0].macLayer.queue.numTrafficClasses" in found.lines
    # Frames for the node's own applications do not wait for the processing delay of the bridge.
    assert found.of("*.h.eth[0].processingDelayLayer.") == {
        "typename": '"ProcessingDelayLayer"',
        "ingress.delay": "5000ns",
        "egress.typename": '""',
    }
    assert "*.h.bridging.directionReverser.delayer.delay" not in found.lines
    assert "processing of nodes that pass on and listen (h (5000 ns too late))" in found.notes
    arrive(found)


def arrive(found: Exported) -> int:
    """By the tables of INET's bridges, every stream reaches its listeners and no other node."""
    links = {}
    for left, one, right, other in re.findall(
        r"(\w+)\.ethg\[(\d+)\] <--> EthernetLink .* <--> (\w+)\.ethg\[(\d+)\];", found.ned
    ):
        links[left, int(one)] = right
        links[right, int(other)] = left
    switches = set(re.findall(r"(\w+): TsnSwitch", found.ned))
    tables: dict[str, list[tuple[str, int, int]]] = {
        name: [
            (address, int(vlan), int(interface))
            for address, vlan, interface in re.findall(
                r'\{address: "([^"]+)", vlan: (\d+), interface: "eth(\d+)"\}',
                found.lines.get(f"*.{name}.macTable.forwardingTable", ""),
            )
        ]
        for name in switches
    }
    device = dict(re.findall(r'\*\.(\w+)\.eth\[0\]\.address = ("[^"]+")', found.ini))
    devices = set(re.findall(r"(\w+): TsnDevice", found.ned))
    sinks = {
        name: {one["io.localPort"] for one in found.apps(name, "UdpSinkApp")}
        for name in devices
        if f"*.{name}.numApps" in found.lines
    }
    streams = 0
    for talker in sinks:
        encoders = dict(
            re.findall(
                r'\{stream: "([^"]+)", pcp: \d, vlan: (\d+)\}',
                found.lines.get(f"*.{talker}.bridging.streamCoder.encoder.mapping", ""),
            )
        )
        for app in {one["io.destPort"]: one for one in found.apps(talker)}.values():
            name = app["display-name"].strip('"')
            to = app["io.destAddress"].strip('"')
            if to.endswith("%eth0"):
                address, wanted = device[to.removesuffix("%eth0")].strip('"'), {to.removesuffix("%eth0")}
            else:
                parts = [int(one) for one in to.split(".")]
                address = f"01:00:5e:{parts[1] & 127:02x}:{parts[2]:02x}:{parts[3]:02x}"
                wanted = {one for one, ports in sinks.items() if app["io.destPort"] in ports}
            reached: set[str] = set()
            frames = [(links[talker, 0], int(encoders.get(name, 0)))]
            while frames:
                node, vlan = frames.pop()
                if node in devices:
                    reached.add(node)
                    continue
                split = re.findall(
                    rf'"{re.escape(name)}": \[([^\]]*)\]',
                    found.lines.get(f"*.{node}.bridging.streamRelay.splitter.mapping", ""),
                )
                if split:
                    coded = dict(
                        re.findall(
                            r'\{stream: "([^"]+)", pcp: \d, vlan: (\d+)\}',
                            found.lines[f"*.{node}.bridging.streamCoder.encoder.mapping"],
                        )
                    )
                    vlans = [int(coded[one.strip('"')]) for one in split[0].split(", ")]
                else:
                    vlans = [vlan]
                out = [
                    (links[node, interface], own)
                    for own in vlans
                    for to_address, to_vlan, interface in tables[node]
                    if (to_address, to_vlan) == (address, own)
                ]
                assert out, (name, node, vlan)
                frames += out
            assert reached == wanted, name
            assert all(app["io.destPort"] in sinks[one] for one in wanted)
            streams += 1
    assert streams == len(found.document["streams"])
    return streams


@pytest.mark.parametrize(
    ("name", "only", "count"),
    [
        ("papers/engine/ex-ucc.yaml", None, 26),
        ("papers/engine/ex-cs1.yaml", None, None),
        ("tutorial/3-cbs-line.yaml", None, None),
        ("tutorial/7-frer-and-faults.yaml", None, 3),
        ("tutorial/11-scheduled.yaml", None, 6),
        ("tutorial/6-ats-or-cqf.yaml", "ats", 3),
    ],
)
def test_every_stream_arrives_by_the_tables(name: str, only: str | None, count: int | None) -> None:
    """The talkers of EX_UCC also forward frames; once this kept its 26 streams out of the export."""
    found = arrive(shipped(name, only))
    assert found > 0
    assert count in (None, found)


def test_streams_to_one_address_on_two_paths_have_two_vlans() -> None:
    found = inet(
        LINE.replace("bridges: [s]", "bridges: [s, u, v]").replace("s--c", "s--u, s--v, u--c, v--c")
        + "streams:\n"
        "  x: {from: a, to: c, pcp: 3, vlan: 7, period: 1 ms, frame: 100 B, via: [s, u]}\n"
        "  y: {from: b, to: c, pcp: 3, vlan: 7, period: 1 ms, frame: 100 B, via: [s, v]}\n"
        "  z: {from: b, to: c, pcp: 3, vlan: 7, period: 1 ms, frame: 100 B, via: [s, u]}\n"
    )  # fmt: skip
    assert found.lines["*.a.bridging.streamCoder.encoder.mapping"] == '[{stream: "x", pcp: 3, vlan: 7}]'
    assert found.lines["*.b.bridging.streamCoder.encoder.mapping"] == (
        '[{stream: "y", pcp: 3, vlan: 4094}, {stream: "z", pcp: 3, vlan: 7}]'
    )
    assert "paths part (y: 4094 for 7)" in found.notes
    assert "cure: a `vlan` of its own for each of them" in found.notes
    assert arrive(found) == 3
    document = found.document
    document["streams"][1]["vid"] = 8
    assert "paths part" not in Exported(document).notes


def test_sources_stop_when_the_plan_says() -> None:
    """Tutorial 1 releases 200 frames, not 399."""
    found = shipped("tutorial/1-first-link.yaml")
    (app, *_) = found.apps("sensor") if "*.sensor.numApps" in found.lines else found.apps(
        re.findall(r"(\w+): TsnDevice", found.ned)[0]
    )  # fmt: skip
    assert app["source.productionInterval"].startswith("simTime() < 99499999.5ns ? 500000ns : ")
    document = found.document
    assert len(releases(app, document["duration_ns"] + document["drain_ns"])) == 200


def test_frames_of_a_unit_leave_together_and_sizes_in_turn() -> None:
    found = inet(
        LINE + "streams:\n"
        "  u: {from: a, to: c, pcp: 3, period: 1 ms, units: [4000 B]}\n"
        "  t: {from: b, to: c, pcp: 3, period: 1 ms, offset: 7 us, units: [100 B, 300 B], stop: 5 ms}\n"
    )
    unit = found.apps("a")
    assert len({one["io.destPort"] for one in unit}) == 1
    (whole, again, rest) = [int(one["source.packetLength"].removesuffix("B")) for one in unit]
    assert whole == again > rest
    assert whole + again + rest >= 4000
    assert [releases(one, 10**7) for one in unit] == [[n * 1_000_000 for n in range(10)]] * 3
    turns = found.apps("b")
    assert [releases(one, 10**8) for one in turns] == [
        [7_000, 2_007_000, 4_007_000],
        [1_007_000, 3_007_000],
    ]
    assert "data units of several sizes (t)" in found.notes
    assert len(found.apps("c", "UdpSinkApp")) == 2


def test_a_token_bucket_has_its_burst_and_then_one_source() -> None:
    """2,500 octets hold two frames of 1,000; 500 more come in 4 ms at 1 Mbit/s, 1,000 in 8 ms."""
    bucket = "arrivals: {burst: 2500 B, rate: 1 Mbit/s}, phy: 1000 B, start: 1 ms"
    found = inet(LINE.replace("10 ms", "22 ms") + f"streams: {{s: {{from: a, to: c, {bucket}}}}}\n")
    assert [releases(one, 22_000_000) for one in found.apps("a")] == [
        [1_000_000], [1_000_000], [5_000_000, 13_000_000, 21_000_000],
    ]  # fmt: skip


def test_a_recording_has_a_source_for_every_release() -> None:
    found = shipped("tutorial/10-trace-replay.yaml")
    checked = 0
    for stream in found.document["streams"]:
        pattern = stream["pattern"]
        if pattern["kind"] != "trace":
            continue
        at, wanted = stream["start_ns"], []
        for turn in range(pattern["passes"]):
            at = stream["start_ns"] + turn * pattern["cycle_ns"]
            for gap in pattern["gaps_ns"]:
                at += gap
                wanted.append(at)
        port = str(stream["udp_port"])
        sent = sorted(
            instant
            for name in re.findall(r"(\w+): TsnDevice", found.ned)
            if f"*.{name}.numApps" in found.lines
            for app in found.apps(name)
            if app["io.destPort"] == port
            for instant in releases(app, found.document["duration_ns"] + found.document["drain_ns"])
        )
        assert sent == [one for one in wanted if one < stream["stop_ns"]]
        checked += len(sent)
    assert checked > 10


def test_random_releases_are_drawn_by_inet() -> None:
    found = inet(
        LINE + "streams:\n"
        "  j: {from: a, to: c, pcp: 3, period: 1 ms, offset: 20 us, jitter: 100 us, frame: 100 B}\n"
        "  p: {from: a, to: c, pcp: 2, poisson: 10 Mbit/s, frame: 1000 B, start: 1 ms}\n"
        "  s: {from: b, to: c, pcp: 0, saturating: true, frame: 1000 B}\n"
    )
    jitter, poisson = found.apps("a")
    assert jitter["source.initialProductionOffset"] == "20000ns + uniform(0s, 100000ns)"
    # The last frame is released at 9.02 ms.
    assert jitter["source.productionInterval"] == (
        "simTime() < 9019999.5ns ? "
        "(floor((simTime() - 20000ns) / 1000000ns + 1e-9) + 1) * 1000000ns + 20000ns "
        f"+ uniform(0s, 100000ns) - simTime() : {2 * (10**7 + found.document['drain_ns'])}ns"
    )
    mean = re.escape(f"exponential({found.document['streams'][1]['pattern']['mean_interval_ps']}ps)")
    assert re.fullmatch(
        rf"simTime\(\) < 9999999\.5ns \? {mean} : \d+ns", poisson["source.productionInterval"]
    )
    assert re.fullmatch(rf"1000000ns \+ {mean}", poisson["source.initialProductionOffset"])
    saturating = found.document["streams"][2]["pattern"]
    own = found.document["ports"][found.document["streams"][2]["route"][0]["port"]]["pcp_to_class"][0]
    queue = found.of(f"*.b.eth[0].macLayer.queue.queue[{own}].")
    assert queue == {"typename": '"DropTailQueue"', "packetCapacity": str(saturating["backlog"])}


def test_several_listeners_share_a_group() -> None:
    found = inet(LINE + "streams: {m: {from: a, to: [b, c], pcp: 3, period: 1 ms, frame: 100 B}}\n")
    (app,) = found.apps("a")
    group = found.document["streams"][0]["destination_ipv4"]
    assert app["io.destAddress"] == f'"{group}"'
    assert app["io.multicastInterface"] == '"eth0"'
    assert app["io.interfaceTableModule"] == '"^.^.interfaceTable"'
    assert found.lines["*.a.numLoInterfaces"] == "0"
    for node in ("b", "c"):
        (sink,) = found.apps(node, "UdpSinkApp")
        assert sink["io.multicastAddresses"] == f'["{group}"]'
        assert found.lines[f"*.{node}.ethernet.macHeaderChecker.promiscuous"] == "true"
    assert arrive(found) == 1


def test_credits_have_the_plans_limits() -> None:
    found = Exported(rich())
    (cbs,) = [one["cbs"] for port in found.document["ports"] for one in port["classes"] if "cbs" in one]
    own = found.of("*.right.eth[1].macLayer.queue.transmissionSelectionAlgorithm[2].")
    assert own == {
        "typename": '"Ieee8021qCreditBasedShaper"',
        "idleSlope": f"{cbs['idle_slope_bps']}bps",
        "sendSlope": f"{cbs['send_slope_bps']}bps",
        "minCredit": str(cbs["lo_credit_bits"]),
        "maxCredit": str(cbs["hi_credit_bits"]),
        "accumulateCreditInGuardBand": "true",
    }
    assert cbs["lo_credit_bits"] < 0 < cbs["hi_credit_bits"]


CUT = (
    LINE.replace(
        "bridges: [s]", "bridges: {s: {forwarding: {mode: cut-through, after: AFTER}}, t: {}}"
    ).replace("s--c", "s--t, t--c")
    + "streams: {x: {from: a, to: c, pcp: 7, period: 1 ms, frame: 900 B}}\n"
)


def test_cut_through_needs_the_streaming_layers_of_stations() -> None:
    found = inet(CUT.replace("AFTER", "64 B"))
    keys = list(found.lines)
    assert found.lines["*.t.hasCutthroughSwitching"] == "false"
    assert found.lines["*.t.eth[*].phyLayer.typename"] == '"EthernetStreamingPhyLayer"'
    # INET uses the first line that matches.
    assert keys.index("*.t.hasCutthroughSwitching") < keys.index("*.*.hasCutthroughSwitching")
    assert "s (368 ns too early)): INET decides after 18 octets" in found.notes
    cure = re.search(r"cure: forwarding: \{mode: cut-through, after: (.*)\}", found.notes)
    assert cure
    assert "cut through" not in inet(CUT.replace("AFTER", cure[1])).notes


def test_keywords_of_ned_are_not_used_as_names() -> None:
    for word in ("input", "output", "channel", "for", "network", "index"):
        assert identifier(word) == f"{word}_"
    assert identifier("bridge-1") == "bridge_1"


def test_a_meter_drops_what_the_plans_does() -> None:
    """Tutorial 5: with these parameters INET dropped the same 316 of 1,352 frames."""
    found = shipped("tutorial/5-policing.yaml", "meter")
    assert found.lines["*.sw.hasIngressTrafficFiltering"] == "true"
    assert found.lines["*.sw.bridging.streamCoder.decoder.mapping"] == (
        '[{packetFilter: expr(udp.destPort == 5001), interface: "eth0", stream: "video"}]'
    )
    assert found.of("*.sw.bridging.streamFilter.ingress.") == {
        "numStreams": "1",
        "classifier.mapping": '{"video": 0}',
        "meter[0].typename": '"TokenBucketMeter"',
        "meter[0].initialNumTokens": "24000",
        "meter[0].maxNumTokens": "24000",
        "meter[0].tokenProductionRate": "240000000",
        "meter[0].tokenConsumptionPerPacket": "176",
        "meter[0].tokenConsumptionPerBit": "1",
        "meter[0].label": '"green"',
        "meter[0].defaultLabel": '"red"',
    }
    assert "faults other than broken links (babble)" in found.notes


def test_asynchronous_shaping_has_a_note_about_groups() -> None:
    found = shipped("tutorial/6-ats-or-cqf.yaml", "ats")
    own = found.of("*.sw1.bridging.streamFilter.ingress.meter[1].")
    assert own == {
        "typename": '"EligibilityTimeMeter"',
        "packetOverheadLength": "336b",
        "committedInformationRate": "15666667bps",
        "committedBurstSize": "3760b",
    }
    assert found.lines["*.sw1.bridging.streamFilter.ingress.filter[1].typename"] == '"EligibilityTimeFilter"'
    queue = found.of("*.sw1.eth[0].macLayer.queue.")
    assert queue["queue[5].typename"] == '"EligibilityTimeQueue"'
    assert queue["transmissionSelectionAlgorithm[5].typename"] == '"Ieee8021qAsynchronousShaper"'
    assert "groups of ATS schedulers (3: sw1, sw2, sw3)" in found.notes


def test_member_streams_are_split_and_merged_and_links_break() -> None:
    """Tutorial 7: INET treats the stream `both` as the simulator does."""
    found = shipped("tutorial/7-frer-and-faults.yaml")
    split, merge = found.of("*.bridge1.bridging."), found.of("*.bridge4.bridging.")
    assert split["streamIdentifier.identifier.mapping"] == (
        '[{stream: "both", packetFilter: expr(udp.destPort == 5003), sequenceNumbering: true}]'
    )
    assert split["streamRelay.splitter.mapping"] == '{"both": ["both.copy1", "both.copy2"]}'
    assert split["streamCoder.encoder.mapping"] == (
        '[{stream: "both.copy1", pcp: 0, vlan: 4094}, {stream: "both.copy2", pcp: 0, vlan: 4093}]'
    )
    assert merge["streamCoder.decoder.mapping"] == (
        '[{stream: "both.copy1", vlan: 4094}, {stream: "both.copy2", vlan: 4093}]'
    )
    # With the output stream "both" the R-TAG would stay in the frame.
    assert merge["streamRelay.merger.mapping"] == '{"both.copy1": "", "both.copy2": ""}'
    assert merge["directionReverser.reverser.excludeEncapsulationProtocols"] == '["ieee8021rtag"]'
    assert "excludeEncapsulationProtocols" not in str(split)
    assert "scenarioManager: ScenarioManager;" in found.ned
    (fault,) = [one for one in found.document["faults"] if one["kind"] == "link-down"]
    script = found.ini.split('xml("')[1].split('")')[0]
    assert (
        script.count(f"<at t='{fault['from_ns']}ns'>") == script.count(f"<at t='{fault['until_ns']}ns'>") == 1
    )
    assert script.count("par='disabled' value='true'") == script.count("value='false'") == 2
    assert all(line.endswith(" \\") for line in script.splitlines()[:-1])
    assert "other paths (standby)" in found.notes
    assert "histories of sequence recovery (both)" in found.notes


def test_the_cure_of_a_history_removes_its_note() -> None:
    text = (HERE / "rich.yaml").read_text()
    assert "cure: frer: {history: 10}" in inet(text).notes
    cured = inet(text.replace("left], [right, detour, left]]", "left], [right, detour, left]], history: 10"))
    assert "histories" not in cured.notes


def test_pre_emption_is_not_exported_with_a_reason() -> None:
    found = Exported(rich())
    assert "hasFramePreemption" not in found.ini
    assert (
        "pre-emption (right -> left), because INET's pre-empting MAC takes every tagged frame" in found.notes
    )


def test_an_export_without_any_stream_is_an_error() -> None:
    document = document_of(LINE + "streams: {x: {from: a, to: c, pcp: 7, period: 1 ms, frame: 90 B}}\n")
    document["streams"][0]["stop_ns"] = 0
    with pytest.raises(InputError) as raised:
        export(document, ["inet"])
    expected = "inet: expected a stream that INET can send, found none among 1"
    assert str(raised.value) == f"{expected}\n  hint: leave inet out of --as"


def test_the_ini_says_how_it_is_run() -> None:
    text = shipped("tutorial/1-first-link.yaml").ini
    assert text.startswith("# Run it in this folder, with INET's setenv sourced: inet -n . -u Cmdenv\n")
    recording = [line for line in text.splitlines() if "recording" in line]
    assert recording[-1] == "**.vector-recording = false"
